// Rules, the alerts that they raise, and times without their notifications.

import * as agent from "./agent";
import type { Rule, RuleAlert } from "./agent";
import { AS_CHECKS, change_log } from "./changes";
import { button, during, element, keep_focus, kept_field, link, made } from "./element";
import { show_receivers } from "./receivers";
import type { SilenceEntry } from "./replies";
import { duration, time, type Zone } from "./units";

/** The order in which rules are listed. */
const STATES = ["firing", "pending", "inactive"];
const HEADINGS = ["alert", "state", "since", "says", "holds for", "expression"];

/** Shows all rules, those that fire first. `address` is that of an expression. */
export async function show_alerts(address: (expression: string) => string, zone: Zone, signal: AbortSignal): Promise<void> {
  // Those who see their own tasks alone are told of the rules alone.
  const unless_denied = (error: unknown) => {
    if (error instanceof agent.Denied) return null;
    throw error;
  };
  const [{ groups }, silences, receivers, changes] = await Promise.all([
    agent.rules(signal),
    agent.silences(signal).catch(unless_denied),
    // Alerts are of use without them.
    agent.receivers(signal).catch(() => null),
    agent.changes("alerts", null, signal).catch(unless_denied),
  ]);
  const rules = groups.flatMap(({ rules }) => rules);
  rules.sort((one, other) => STATES.indexOf(one.state) - STATES.indexOf(other.state) || one.name.localeCompare(other.name));
  const counts = STATES.map((state) => `${rules.filter((rule) => rule.state === state).length} ${state}`);
  const every = groups[0] ? `, evaluated every ${duration(1000 * groups[0].interval)}` : "";
  element("alerts-state").textContent = rules.length === 0 ? "Nothing is watched for." : `${counts.join(", ")}${every}.`;
  const head = made("tr", {}, ...HEADINGS.map((heading) => made("th", { scope: "col" }, heading)));
  const rows = rules.flatMap((rule) => lines(rule, address, zone));
  const table = made("table", { className: "alerts" }, made("thead", {}, head), made("tbody", {}, ...rows));
  const scroller = made("div", { className: "scroller whole", tabIndex: 0, role: "region", ariaLabel: "Alerts" }, table);
  const list = element("alerts");
  keep_focus(list, () => list.replaceChildren(...(rules.length > 0 ? [scroller] : [])));
  const names = rules.map((rule) => rule.name);
  if (silences) show_silences(silences, names, zone);
  show_receivers(receivers ?? []);
  const of_rule = (name: string) => address(rules.find((rule) => rule.name === name)?.query ?? `ALERTS{alertname=${JSON.stringify(name)}}`);
  const log = element("alert-changes");
  keep_focus(log, () => log.replaceChildren(...(changes ? [change_log(changes, zone, of_rule)] : [])));
}

/** What was written into the form, which is made anew while it is shown. */
const written = { selector: "", minutes: "120", comment: "" };

/** Those that last, each with its end, and a form for another one. */
function show_silences(silences: SilenceEntry[], names: string[], zone: Zone): void {
  const place = element("silences");
  // A form with the focus is being filled in.
  if (place.querySelector("form")?.contains(document.activeElement)) return;
  const trouble = made("p", { className: "trouble", role: "status" });
  const change = (asked: Promise<SilenceEntry[]>) =>
    during(place, asked).then(
      (left) => {
        (document.activeElement as HTMLElement | null)?.blur();
        show_silences(left, names, zone);
      },
      (error: Error) => (trouble.textContent = error.message),
    );
  const rows = silences.map(({ number, selector, until_ms, comment }) =>
    made("p", {}, `No notifications of ${selector} until ${time(until_ms, zone)}. ${comment} `, button("end it", () => void change(agent.end_silence(number)))),
  );
  const options = names.map((value) => made("option", { value }));
  const selector = kept_field(written, "selector", { placeholder: "alert, or {label=\"value\"}", ariaLabel: "Alert, or a selector", required: true });
  selector.setAttribute("list", "alert-names");
  const minutes = kept_field(written, "minutes", { type: "number", min: "1", ariaLabel: "Minutes", required: true });
  const comment = kept_field(written, "comment", { placeholder: "why", ariaLabel: "Why" });
  const form = made("form", { className: "asks" }, selector, made("datalist", { id: "alert-names" }, ...options), minutes, comment);
  form.append(made("button", { type: "submit" }, "minutes without notifications"));
  form.onsubmit = (event) => {
    event.preventDefault();
    const asked = agent.silence(selector.value, Number(minutes.value), comment.value);
    asked.then(() => Object.assign(written, { selector: "", comment: "" }), () => undefined);
    void change(asked);
  };
  keep_focus(place, () => place.replaceChildren(made("h3", {}, "Silences"), ...rows, form, trouble));
}

/** A line for each alert of a rule, or one for the rule. */
function lines(rule: Rule, address: (expression: string) => string, zone: Zone): HTMLElement[] {
  const alerts: (RuleAlert | null)[] = rule.alerts.length > 0 ? rule.alerts : [null];
  return alerts.map((alert) => {
    const state = alert?.state ?? rule.state;
    const since_ms = alert ? Date.parse(alert.activeAt) : NaN;
    const at = Number.isFinite(since_ms) ? { title: time(since_ms, zone) } : {};
    const says = rule.lastError ?? alert?.annotations.summary ?? "";
    return made(
      "tr",
      {},
      made("td", {}, rule.name),
      made("td", {}, made("span", { className: `state state-${AS_CHECKS[state] ?? "unknown"}` }, state)),
      made("td", at, Number.isFinite(since_ms) ? duration(Date.now() - since_ms) : ""),
      made("td", { title: says }, says),
      made("td", {}, rule.duration > 0 ? duration(1000 * rule.duration) : ""),
      made("td", { title: rule.query }, link(address(rule.query), rule.query)),
    );
  });
}
