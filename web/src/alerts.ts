// Rules, and the alerts that they raise.

import * as agent from "./agent";
import type { Rule, RuleAlert } from "./agent";
import { element, link, made } from "./element";
import { duration, time, type Zone } from "./units";

/** The order in which rules are listed. */
const STATES = ["firing", "pending", "inactive"];
const HEADINGS = ["alert", "state", "since", "says", "holds for", "expression"];
/** The colours are those of checks. */
const AS_CHECKS: Record<string, string> = { firing: "critical", pending: "warning", inactive: "ok" };

/** Shows all rules, those that fire first. `address` is that of an expression. */
export async function show_alerts(address: (expression: string) => string, zone: Zone, signal: AbortSignal): Promise<void> {
  const { groups } = await agent.rules(signal);
  const rules = groups.flatMap(({ rules }) => rules);
  rules.sort((one, other) => STATES.indexOf(one.state) - STATES.indexOf(other.state) || one.name.localeCompare(other.name));
  const counts = STATES.map((state) => `${rules.filter((rule) => rule.state === state).length} ${state}`);
  const every = groups[0] ? `, evaluated every ${duration(1000 * groups[0].interval)}` : "";
  element("alerts-state").textContent = rules.length === 0 ? "Nothing is watched for." : `${counts.join(", ")}${every}.`;
  const head = made("tr", {}, ...HEADINGS.map((heading) => made("th", { scope: "col" }, heading)));
  const rows = rules.flatMap((rule) => lines(rule, address, zone));
  const table = made("table", { className: "alerts" }, made("thead", {}, head), made("tbody", {}, ...rows));
  const scroller = made("div", { className: "scroller whole", tabIndex: 0, role: "region", ariaLabel: "Alerts" }, table);
  element("alerts").replaceChildren(...(rules.length > 0 ? [scroller] : []));
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
