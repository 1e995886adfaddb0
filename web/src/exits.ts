// The tasks that ended in a window.

import { element, keep_focus, link, made } from "./element";
import type { ExitEntry, Exits } from "./replies";
import { duration, time, written, type Zone } from "./units";
import { selector } from "./view";

const HEADINGS = ["ended", "lived", "how", "on a CPU", "waited for a CPU", "waited for a disk", "user", "pid", "name"];

/** `address` returns that of a process, by its selector and start. */
export function show_exits({ count, rows }: Exits, zone: Zone, address: (of: string, started_ms: number) => string): void {
  const head = made("tr", {}, ...HEADINGS.map((heading) => made("th", { scope: "col" }, heading)));
  const table = made("table", {}, made("thead", {}, head), made("tbody", {}, ...rows.map((row) => line(row, zone, address))));
  const more = count > rows.length ? `, the last ${rows.length} of them` : "";
  const words = count === 0 ? "None of them ended in this time." : `${count} ended in this time${more}:`;
  const scroller = made("div", { className: "scroller", tabIndex: 0, role: "region", ariaLabel: "Tasks that ended" }, table);
  const parts = [made("p", {}, words), ...(count > 0 ? [scroller] : [])];
  const place = element("exits");
  keep_focus(place, () => place.replaceChildren(...parts));
}

function line(row: ExitEntry, zone: Zone, address: (of: string, started_ms: number) => string): HTMLElement {
  const how = row.signal !== null ? `signal ${row.signal}` : `status ${row.status ?? "–"}`;
  const cells = [
    time(row.ended_ms, zone),
    duration(row.ended_ms - row.started_ms),
    how,
    written(row.on_cpu_s, "seconds"),
    written(row.run_queue_s, "seconds"),
    written(row.block_io_s, "seconds"),
    row.user,
    String(row.pid),
    row.is_thread ? `${row.name} (a thread)` : link(address(selector("pid", row.pid), row.started_ms), row.name),
  ];
  return made("tr", {}, ...cells.map((cell) => made("td", {}, cell)));
}
