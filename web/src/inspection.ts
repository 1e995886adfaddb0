// What a process does at this moment: whom it waits for, link by link, and its open files.

import { element, keep_focus, link, made } from "./element";
import type { FileCount, Inspection, LinkEntry, OpenFiles } from "./replies";
import { selector } from "./view";

/** Shows it; nothing of a process that does not run. */
export function show_inspection(inspection: Inspection | null, address: (of: string) => string): void {
  const place = element("inspection");
  keep_focus(place, () => place.replaceChildren(...(inspection ? parts(inspection, address) : [])));
}

function parts({ links, open_files }: Inspection, address: (of: string) => string): HTMLElement[] {
  const item = ({ depth, pid, before, name, after }: LinkEntry) => {
    const item = made("li", {}, before, link(address(selector("pid", pid)), name), after);
    item.style.setProperty("--depth", String(depth));
    return item;
  };
  return [
    made("h3", {}, "Now"),
    made("ol", { className: "chain" }, ...links.map(item)),
    ...(open_files ? [made("p", {}, files(open_files))] : []),
  ];
}

const whole = (count: number) => count.toLocaleString("en");

function files({ count, most, kinds }: OpenFiles): string {
  const named = ({ kind, count }: FileCount) => (count === 1 || kind === "other" ? `${whole(count)} ${kind}` : `${whole(count)} ${kind}s`);
  const bound = most === null ? "" : `, of at most ${whole(most)}`;
  const all = kinds.length === 0 ? "" : `: ${kinds.map(named).join(", ")}`;
  return `${whole(count)} open file${count === 1 ? "" : "s"}${bound}${all}`;
}
