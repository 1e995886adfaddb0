// Chromium, and what its tests look at.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import * as node from "node:test";

import { chromium } from "playwright-core";

import { rest } from "./machine.mjs";

const CHROMIUM = "/usr/bin/chromium";
const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/** Ends the tests of a file as skipped if something is missing. `more` is a list of [whether it is there, its name]. */
export function need(what, more = []) {
  const missing = [
    [process.env.WHIT, "WHIT: the binary"],
    [existsSync(CHROMIUM), CHROMIUM],
    [process.getuid() === 0, "root: Chromium's sandbox is switched off"],
    ...more,
  ].find(([is_there]) => !is_there);
  if (!missing) return;
  assert.ok(!process.env.WHIT_NO_SKIP, `missing: ${missing[1]}`);
  console.log(`skipped: ${what} needs ${missing[1]}`);
  process.exit(0);
}

/** A test that fails if it does not end. */
export const test = (name, body, timeout_ms = 300_000) => node.test(name, { timeout: timeout_ms }, body);

/** Prepares the tests of a file, which fail if this does not end. */
export const prepare = (body) => node.before(body, { timeout: 150_000 });

/** Closes browsers and ends a machine when all tests of a file have ended. A browser that does not close is killed with the process. */
export const finally_end = (what) => node.after(async () => {
  const { browsers, machine } = what();
  await machine?.end();
  await Promise.race([Promise.all(browsers.map((browser) => browser?.close())), rest(10_000)]);
}, { timeout: 60_000 });

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });

/** Opens a page of a browser or of a context. What it waits for comes within the time of a test, on a machine of any speed. */
export async function page_of(place, options) {
  const page = await place.newPage(options);
  opened = page;
  page.setDefaultTimeout(MAX_WAIT_MS);
  page.context().setDefaultTimeout(MAX_WAIT_MS);
  return page;
}

/** The longest that a page waits for something. */
const MAX_WAIT_MS = 120_000;

/** The page that was opened last: where it is stands in a failure. */
let opened;

/** What the browser itself says of an agent that answers others first. */
const BUSY = "the server responded with a status of 503";

/** Adds to a list what a page complains about. */
export function watch(page, complaints) {
  page.on("console", (message) => message.text().includes(BUSY) || complaints.push(`${message.text()} ${message.location().url}`));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
}

/** Waits until a function returns something. */
export async function until(what, look) {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const found = await look();
    if (found) return found;
    await rest(100);
  }
  assert.fail(`never: ${what}${opened ? `, at ${opened.url()}` : ""}`);
}

/** Presses something where `hover` leads the mouse. What comes above it between a move and the press moves it away: then something else is
 * pressed, and let go where nothing is. */
export async function press(page, locator, hover) {
  await until("it is pressed", async () => {
    await page.mouse.move(0, 0);
    await page.mouse.up();
    await hover();
    await page.mouse.down();
    return locator.evaluate((element) => element.matches(":active"));
  });
}

/** No serious finding of axe-core. */
export async function is_accessible(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => axe.run());
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), []);
}

/** Keeps a picture of a page in the directory WHIT_PICTURES, if that is set. */
export async function picture(page, name, options = {}) {
  const place = process.env.WHIT_PICTURES;
  if (!place) return;
  mkdirSync(place, { recursive: true });
  await page.screenshot({ path: `${place}/${name}.png`, ...options });
}
