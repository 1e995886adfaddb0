// Elements of the page.

/** One that index.html has. */
export const element = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

/** A new one. What it contains is text, whatever the text is. */
export function made<K extends keyof HTMLElementTagNameMap>(
  kind: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...content);
  return made;
}

/** Replaces what is in a place; the box or link that had the focus has it again. */
export function keep_focus(place: HTMLElement, change: () => void): void {
  const focused = place.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
  const [check, href] = [focused?.dataset["check"], focused?.getAttribute("href")];
  change();
  const candidates = [...place.querySelectorAll<HTMLElement>("a, input")];
  const same = candidates.find((one) => (check !== undefined ? one.dataset["check"] === check : href !== null && one.getAttribute("href") === href));
  if (focused) same?.focus({ preventScroll: true });
}

/** A link to another view of the page. */
export const link = (href: string, text: string) => made("a", { href }, text);

/** A button. */
export const button = (text: string, onclick: () => void, title = "") =>
  made("button", { type: "button", onclick, title }, text);
