// The reader's keys. Everything works without them, too: forms and links.

const form = document.body.dataset.form ?? "";
const rows = [...document.querySelectorAll<HTMLElement>(".entries > li")];
const article = document.querySelector<HTMLElement>("article[data-entry]");
const keys = document.querySelector<HTMLDialogElement>("#keys");
let place = -1;
/** The row whose entry is on its way. */
let opening: HTMLElement | null = null;
/** Counts are asked for when nothing was marked for so long. */
const REST_MS = 300;
/** So long is a message seen. */
const SAID_MS = 6000;
let rest = 0;

let silence = 0;

/** Says something for some seconds. */
function say(text: string): void {
  const said = document.querySelector("#said");
  if (!said) return;
  said.textContent = text;
  clearTimeout(silence);
  silence = setTimeout(() => (said.textContent = ""), SAID_MS);
}

async function mark(entry: string, fields: Record<string, string>): Promise<boolean> {
  try {
    const body = new URLSearchParams({ form, entry, quiet: "1", ...fields });
    const reply = await fetch("/feeds/mark", { method: "POST", body });
    if (!reply.ok) say(await reply.text());
    return reply.ok;
  } catch {
    say("The agent cannot be reached: nothing was marked.");
    return false;
  }
}

function chosen(): HTMLElement | null {
  return article ?? rows[place] ?? null;
}

function choose(next: number): void {
  if (rows.length === 0) return;
  rows[place]?.classList.remove("chosen");
  place = Math.max(0, Math.min(rows.length - 1, next));
  rows[place]?.classList.add("chosen");
  rows[place]?.scrollIntoView({ block: "nearest" });
}

/** The counts beside the list are the server's: several folders may have the feed. */
function renew_counts(): void {
  if (article) return;
  clearTimeout(rest);
  rest = setTimeout(async () => {
    const reply = await fetch(location.href).catch(() => null);
    if (!reply?.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const [old, counted] = [document, page].map((from) => from.querySelector("nav.feeds"));
    if (old && counted && !old.contains(document.activeElement)) old.replaceWith(document.importNode(counted, true));
  }, REST_MS);
}

function show_read(row: HTMLElement, is_read: boolean): void {
  if (row.dataset.read !== (is_read ? "1" : "0")) renew_counts();
  row.dataset.read = is_read ? "1" : "0";
  if (row !== article) row.className = `${is_read ? "read" : "unread"}${row === rows[place] ? " chosen" : ""}`;
}

async function set_read(row: HTMLElement, is_read: boolean): Promise<void> {
  if (!(await mark(row.dataset.entry ?? "", { read: is_read ? "1" : "0" }))) return;
  show_read(row, is_read);
  // An entry's own page shows nothing of it.
  if (row === article) say(is_read ? "read" : "unread");
}

/** The last mark that was set. */
let marking: Promise<void> = Promise.resolve();

/** Sets a mark after the last one: what it is to be is computed from what that one left. */
const in_turn = (set: () => Promise<void>) => (marking = marking.then(set));

async function toggle_star(row: HTMLElement): Promise<void> {
  const is_starred = row.dataset.starred === "1";
  if (!(await mark(row.dataset.entry ?? "", { starred: is_starred ? "0" : "1" }))) return;
  row.dataset.starred = is_starred ? "0" : "1";
  const field = row.querySelector<HTMLInputElement>("input[name=starred]");
  if (field) field.value = is_starred ? "1" : "0";
  const sign = row.querySelector("button span");
  const words = field?.form?.querySelector("button");
  // In a list it is a sign, on the entry's own page words.
  if (sign) sign.textContent = is_starred ? "☆" : "★";
  else if (words) words.textContent = is_starred ? "Star" : "Remove star";
  say(is_starred ? "not starred" : "starred");
}

// The entry's own page, whose content the server has sanitised.
async function toggle(row: HTMLElement): Promise<void> {
  const open = row.querySelector("article");
  open?.remove();
  // One that is on its way is closed as well.
  const is_closed = open !== null || opening === row;
  opening = is_closed ? null : row;
  if (is_closed) return;
  for (const other of document.querySelectorAll(".entries article")) other.remove();
  try {
    const reply = await fetch(`/feeds/entry/${row.dataset.entry}`);
    if (!reply.ok) {
      say(reply.status === 401 ? "Your session has ended: sign in again." : await reply.text());
      return;
    }
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const content = page.querySelector("article");
    if (!content) throw new Error("no entry");
    // Another key was faster.
    if (opening !== row) return show_read(row, true);
    row.append(document.importNode(content, true));
    show_read(row, true);
    row.scrollIntoView({ block: "start" });
  } catch {
    say("The agent cannot be reached.");
  } finally {
    if (opening === row) opening = null;
  }
}

// The next page of the list; the last one has none.
function older(): boolean {
  const link = document.querySelector<HTMLAnchorElement>("a[rel=next]");
  link?.click();
  return link !== null;
}

async function press(key: string): Promise<boolean> {
  const row = chosen();
  switch (key) {
    case "j":
    case "k": {
      if (article) return false;
      if (key === "j" && place === rows.length - 1 && older()) return true;
      choose(place + (key === "j" ? 1 : -1));
      const next = rows[place];
      if (next && next !== opening && !next.querySelector("article")) await toggle(next);
      return true;
    }
    case "o":
    case "Enter":
      if (!row || article) return false;
      await toggle(row);
      return true;
    case "v":
      if (row?.dataset.link) window.open(row.dataset.link, "_blank", "noopener,noreferrer");
      return true;
    case "m":
      if (row) await in_turn(() => set_read(row, row.dataset.read === "0"));
      return true;
    case "s":
      if (row) await in_turn(() => toggle_star(row));
      return true;
    case "i":
      if (row) location.assign(`/feeds/entry/${row.dataset.entry}?images=1`);
      return true;
    case "n":
      return older();
    case "A":
      document.querySelector<HTMLFormElement>("form[action$=mark-all]")?.requestSubmit();
      return true;
    case "/":
      document.querySelector<HTMLInputElement>("[type=search]")?.focus();
      return true;
    case "?":
      keys?.showModal();
      return true;
  }
  return false;
}

document.addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.altKey || event.metaKey || keys?.open) return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (event.key === "Enter" && /^(A|BUTTON|SUMMARY|AUDIO|VIDEO)$/.test(target.tagName)) return;
  if (["j", "k", "o", "Enter", "v", "m", "s", "i", "n", "A", "/", "?"].includes(event.key)) {
    event.preventDefault();
    void press(event.key);
  }
});
// What j and k are without a keyboard.
if (rows.length > 0) {
  const steps = document.createElement("p");
  steps.className = "steps";
  for (const [key, label] of [["k", "Previous"], ["j", "Next"]] as const) {
    const step = document.createElement("button");
    step.type = "button";
    step.textContent = label;
    step.addEventListener("click", () => void press(key));
    steps.append(step);
  }
  document.querySelector("main")?.append(steps);
}
keys?.querySelector("button")?.addEventListener("click", () => keys.close());
