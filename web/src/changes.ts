// What changed: alerts that began and ended, and states of checks that are certain.

import { link, made } from "./element";
import type { ChangeEntry } from "./replies";
import { duration, time, type Zone } from "./units";

const HEADINGS = ["when", "what", "is", "for", "says"];
/** The states of alerts have the colours of those of checks. */
export const AS_CHECKS: Record<string, string> = { firing: "critical", pending: "warning", inactive: "ok", over: "ok" };

/** The newest first; `address` leads to what has a name. What is shown of one thing alone does not name it. */
export function change_log(changes: ChangeEntry[], zone: Zone, address?: (name: string) => string): HTMLElement {
  const heading = made("h3", {}, "What changed");
  if (changes.length === 0) return made("section", {}, heading, made("p", {}, "Nothing is known to have changed."));
  const is_shown = (name: string) => address !== undefined || name !== "what";
  const head = made("tr", {}, ...HEADINGS.filter(is_shown).map((name) => made("th", { scope: "col" }, name)));
  const rows = changes.map((change, place) => {
    const { name, state, text, at_ms } = change;
    const next_ms = changes.slice(0, place).findLast((later) => later.name === name)?.at_ms ?? Date.now();
    const kind = AS_CHECKS[state] ?? state.toLowerCase();
    return made(
      "tr",
      {},
      made("td", {}, time(at_ms, zone)),
      ...(address ? [made("td", {}, link(address(name), name))] : []),
      made("td", {}, made("span", { className: `state state-${kind}` }, state)),
      made("td", {}, duration(next_ms - at_ms)),
      made("td", { title: text }, text),
    );
  });
  const table = made("table", { className: "changes" }, made("thead", {}, head), made("tbody", {}, ...rows));
  return made("section", {}, heading, made("div", { className: "scroller log", tabIndex: 0, role: "region", ariaLabel: "What changed" }, table));
}
