// The present view as a file: a page by itself, without scripts, for those who have no agent to ask.

import { link, made } from "./element";

/** What changes the view, or leads to others. */
const LIVE = "script, link, nav, form, dialog, input, textarea, select, button, [hidden], #spans, #tools";

/** Saves it; `address` is that of the same view, and `title` what it shows. */
export async function save_report(address: string, title: string): Promise<void> {
  const url = URL.createObjectURL(new Blob([await report(address, title)], { type: "text/html" }));
  made("a", { href: url, download: `${title.replace(/[^\w.-]+/g, "-")}.html` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

async function report(address: string, title: string): Promise<string> {
  const style = await (await fetch("style.css")).text();
  const root = document.documentElement;
  const copy = root.cloneNode(true) as HTMLElement;
  const plots = [...document.querySelectorAll("canvas")];
  copy.querySelectorAll("canvas").forEach((canvas, place) => canvas.replaceWith(picture(plots[place]!)));
  // Headings of tables are buttons, which sort; what is the matter and what happened are buttons, which lead there.
  for (const button of copy.querySelectorAll("th button, #verdict button, #signs button")) {
    button.replaceWith(made("span", { className: button.className }, button.textContent ?? ""));
  }
  for (const one of copy.querySelectorAll(LIVE)) one.remove();
  // Links lead to the agent, wherever the file is.
  copy.querySelectorAll<HTMLAnchorElement>("a[href]").forEach((one) => (one.href = new URL(one.getAttribute("href")!, location.href).href));
  const source = link(new URL(address, location.href).href, "the same view of the agent");
  copy.querySelector("header")!.append(made("p", {}, `${title}: `, source));
  copy.querySelector("title")!.textContent = title;
  copy.querySelector("head")!.append(made("style", {}, style));
  // Plots have the colours of now, whatever those of the reader are.
  copy.style.cssText = colours(root);
  return `<!doctype html>\n${copy.outerHTML}\n`;
}

function picture(plot: HTMLCanvasElement): HTMLImageElement {
  const alt = plot.closest("[aria-label]")?.getAttribute("aria-label") ?? "";
  const image = made("img", { src: plot.toDataURL(), alt });
  image.style.width = `${plot.clientWidth}px`;
  image.style.height = `${plot.clientHeight}px`;
  return image;
}

/** The colours of the style sheet as they are now. */
function colours(root: HTMLElement): string {
  const computed = getComputedStyle(root);
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const of_root = rules.filter((rule) => rule instanceof CSSStyleRule && rule.selectorText === ":root") as CSSStyleRule[];
  const names = of_root.flatMap(({ style }) => [...style]).filter((name) => name.startsWith("--"));
  return [...new Set(names)].map((name) => `${name}: ${computed.getPropertyValue(name)}`).join("; ");
}
