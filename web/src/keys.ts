// Everything by the keyboard.

import { element, made } from "./element";

export interface Key {
  keys: string[];
  /** What it does, for the list. */
  words: string;
  act: () => void;
}

/** Returns whether a key moves a table that has more than it shows. */
function is_scrolled_by(key: string, table: Element | null): boolean {
  if (table === null) return false;
  if (key === "ArrowLeft" || key === "ArrowRight") return table.scrollWidth > table.clientWidth;
  return (key === "PageUp" || key === "PageDown") && table.scrollHeight > table.clientHeight;
}

/** Listens for keys, and lists them on `?`. Fields get what is typed in them. */
export function listen(keys: Key[]): void {
  const help = element<HTMLDialogElement>("help");
  const all: Key[] = [...keys, { keys: ["?"], words: "this list", act: () => help.showModal() }];
  const lines = all.flatMap(({ keys, words }) => [
    made("dt", {}, ...keys.flatMap((key) => [made("kbd", {}, key), " "])),
    made("dd", {}, words),
  ]);
  element("keys").replaceChildren(...lines);
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const is_typed_into = (input: HTMLInputElement) => input.type !== "checkbox";
    const is_field = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && is_typed_into(target));
    if (is_field && event.key === "Escape") target.blur();
    if (is_scrolled_by(event.key, target.closest(".scroller"))) return;
    if (is_field || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const found = all.find(({ keys }) => keys.includes(event.key));
    if (!found) return;
    event.preventDefault();
    found.act();
  });
}
