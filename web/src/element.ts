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

/** A link to another view of the page. */
export const link = (href: string, text: string) => made("a", { href }, text);

/** A button. */
export const button = (text: string, onclick: () => void, title = "") =>
  made("button", { type: "button", onclick, title }, text);
