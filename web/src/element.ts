// Elements of the page.

/** The namespace of drawings. */
export const SVG = "http://www.w3.org/2000/svg";

/** One that index.html has. */
export const element = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

/** The roles of the parts of a table, which some browsers forget where a narrow screen shows them as blocks. */
const ROLES: Partial<Record<keyof HTMLElementTagNameMap, string>> = { table: "table", thead: "rowgroup", tbody: "rowgroup", tr: "row", td: "cell" };

const role_of = (kind: keyof HTMLElementTagNameMap, scope: unknown) => (kind !== "th" ? ROLES[kind] : scope === "row" ? "rowheader" : "columnheader");

/** A new one. What it contains is text, whatever the text is. */
export function made<K extends keyof HTMLElementTagNameMap>(
  kind: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(kind), properties);
  made.role ??= role_of(kind, "scope" in properties ? properties.scope : null) ?? null;
  made.append(...content);
  return made;
}

/** Replaces what is in a place; the box, link, button or region that had the focus has it again. */
export function keep_focus(place: HTMLElement, change: () => void): void {
  const focused = place.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
  const [check, href] = [focused?.dataset["check"], focused?.getAttribute("href")];
  change();
  const kind = focused?.localName ?? "";
  const label = focused ? name_of(focused) : "";
  const candidates = [...place.querySelectorAll<HTMLElement>("a, input, button, [role=region]")];
  const same = candidates.find((one) => {
    if (check !== undefined) return one.dataset["check"] === check;
    if (href !== null && href !== undefined) return one.getAttribute("href") === href;
    return one.localName === kind && name_of(one) === label;
  });
  if (focused) same?.focus({ preventScroll: true });
}

/** The name by which a button or region is found again. A button whose text contains a figure has `data-name`. */
const name_of = (one: HTMLElement) => one.dataset["name"] ?? one.ariaLabel ?? one.textContent ?? "";

/** Switches off the fields and buttons of a place until something is over, so that a second press does nothing. */
export async function during<T>(place: HTMLElement, asked: Promise<T>): Promise<T> {
  const controls = [...place.querySelectorAll<HTMLInputElement | HTMLButtonElement>("input, button")];
  const focused = place.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
  for (const control of controls) control.disabled = true;
  try {
    return await asked;
  } finally {
    for (const control of controls) control.disabled = false;
    if (document.activeElement === document.body) focused?.focus({ preventScroll: true });
  }
}

/** A field of a form that is made anew while it is shown: what is written into it is kept elsewhere. */
export function kept_field<K extends string>(written: Record<K, string>, key: K, properties: Partial<HTMLInputElement>): HTMLInputElement {
  const input = made("input", { name: key, value: written[key], ...properties });
  input.oninput = () => (written[key] = input.value);
  return input;
}

/** A link to another view of the page. */
export const link = (href: string, text: string) => made("a", { href }, text);

/** A button. */
export const button = (text: string, onclick: () => void, title = "") =>
  made("button", { type: "button", onclick, title }, text);

/** How long a button says that it has copied. */
const COPIED_MS = 2000;

/** A button that copies a text. */
export function copies(words: string, text: () => string, title = ""): HTMLElement {
  const made = button(
    words,
    () => {
      const copied = text();
      const say = () => {
        made.textContent = "copied";
        setTimeout(() => (made.textContent = words), COPIED_MS);
      };
      // Pages over plain HTTP from another machine have no clipboard.
      const written = navigator.clipboard?.writeText(copied) ?? Promise.reject(new Error("no clipboard"));
      written.then(say, () => prompt(words, copied));
    },
    title,
  );
  return made;
}
