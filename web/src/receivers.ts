// Who is sent what this agent records, and how far each is.

import { keep_focus, element, made } from "./element";
import type { ReceiverEntry } from "./replies";
import { duration, written } from "./units";

const HEADINGS = ["receiver", "behind", "taken", "refused", "sent", "failures", "trouble"];

/** Shows a table of them; nothing if there are none. */
export function show_receivers(receivers: ReceiverEntry[]): void {
  const place = element("receivers");
  if (receivers.length === 0) return void place.replaceChildren();
  const head = made("tr", {}, ...HEADINGS.map((heading) => made("th", { scope: "col" }, heading)));
  const rows = receivers.map((receiver) => {
    const { name, url, version, behind_ms, taken, refused, sent_bytes, failures } = receiver;
    const says = said(receiver);
    return made(
      "tr",
      {},
      made("th", { scope: "row", title: version === null ? url : `${url}, remote write ${version}` }, name),
      made("td", {}, behind_ms === null ? "–" : duration(behind_ms)),
      made("td", {}, taken.toLocaleString("en")),
      made("td", {}, refused.toLocaleString("en")),
      made("td", {}, written(sent_bytes, "bytes")),
      made("td", {}, failures.toLocaleString("en")),
      made("td", { className: receiver.trouble === null ? "" : "bad", title: says }, says),
    );
  });
  const table = made("table", { className: "changes receivers" }, made("thead", {}, head), made("tbody", {}, ...rows));
  const scroller = made("div", { className: "scroller whole", tabIndex: 0, role: "region", ariaLabel: "Remote write" }, table);
  keep_focus(place, () => place.replaceChildren(made("section", {}, made("h3", {}, "Remote write"), scroller)));
}

/** What is wrong now, else what was refused last. */
function said({ trouble, refused_last }: ReceiverEntry): string {
  return trouble ?? (refused_last === null ? "" : `it refused ${refused_last.series}: ${refused_last.message}`);
}
