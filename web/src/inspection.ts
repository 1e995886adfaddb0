// What a process does at this moment: whom it waits for, link by link, and its open files.

import { element, keep_focus, link, made } from "./element";
import type { FileCount, Inspection, LinkEntry, OpenFiles, Outcome } from "./replies";
import { selector } from "./view";

/** Why a process was not looked at. */
const SENTENCES: Partial<Record<Outcome & string, string>> = {
  refused: "What it does at this moment is shown to root: the agent may not look at it for you.",
  hangs: "What it does at this moment cannot be read: the kernel does not answer.",
  busy: "What it does at this moment was not read: processes that were asked for before do not answer.",
  failed: "What it does at this moment could not be read: the agent's log says why.",
};

/** Shows it; nothing of a process that does not run. */
export function show_inspection(outcome: Outcome, address: (of: string) => string): void {
  const place = element("inspection");
  keep_focus(place, () => place.replaceChildren(...(typeof outcome === "string" ? reason(outcome) : parts(outcome.found, address))));
}

function reason(outcome: Outcome & string): HTMLElement[] {
  const sentence = SENTENCES[outcome];
  return sentence === undefined ? [] : [made("h3", {}, "Now"), made("p", {}, sentence)];
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
