// What people ask first, each with at most three clicks.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";

import { finally_end, launch, need, page_of, prepare, test, until, watch } from "./browser.mjs";
import { Machine, rest } from "./machine.mjs";

need("the first questions");

const [HOSTS, SERVICES, BROKEN] = [30, 10, 12];
const MAX_CLICKS = 3;
const WRITER = "page-writer";
/** The one that people ask about. Here it only sleeps. */
const SERVER = "nginx";

let machine, browser, agent, written_ms;
const complaints = [];
/** Question, clicks, seconds. */
const answers = [];

/** Checks of many hosts; every 25th is broken. */
const checks = () =>
  Array.from({ length: HOSTS * SERVICES }, (_, number) => {
    const [host, service] = [Math.floor(number / SERVICES) + 1, number % SERVICES];
    const status = number % (HOSTS * SERVICES / BROKEN) === 0 ? 2 : 0;
    return `[[check]]\nname = "service${service}"\nhost = "host${host}"\ncommand = ["sh", "-c", "exit ${status}"]\ninterval = "20s"\nattempts = 1\n`;
  }).join("");

/** Writes to the disk for some seconds, piece by piece, as a program of its own name. */
async function write_to_disk() {
  const path = join(machine.directory, WRITER);
  copyFileSync("/bin/dd", path);
  const writer = machine.start(path, "if=/dev/zero", `of=${join(machine.directory, "written")}`, "bs=64k", "oflag=dsync");
  await rest(3000);
  written_ms = Date.now();
  await rest(3000);
  writer.kill();
}

prepare(async () => {
  machine = new Machine();
  agent = await machine.agent(9171, checks());
  const server = join(machine.directory, SERVER);
  copyFileSync("/bin/sleep", server);
  machine.start(server, "3600");
  await rest(5000);
  await write_to_disk();
  browser = await launch();
});

finally_end(() => ({ browsers: [browser], machine }));

/** Opens the page, and counts clicks in it. */
async function open() {
  const page = await page_of(browser, { viewport: { width: 1400, height: 900 } });
  watch(page, complaints);
  await page.addInitScript(() => addEventListener("click", (event) => event.isTrusted && (window.clicks = (window.clicks ?? 0) + 1), true));
  await page.goto(`${agent.address}/`);
  return page;
}

/** Asks a question, and notes what it took. */
function question(words, ask) {
  test(words, async () => {
    const page = await open();
    const begun = Date.now();
    await ask(page);
    const clicks = await page.evaluate(() => window.clicks ?? 0);
    answers.push([words, clicks, ((Date.now() - begun) / 1000).toFixed(1)]);
    await page.close();
    assert.ok(clicks <= MAX_CLICKS, `${clicks} clicks`);
  });
}

question("is it healthy?", async (page) => {
  await until("a verdict", async () => /^(Healthy|No findings|\d+ findings?)$/.test(await page.locator("#verdict > *").first().textContent()));
});

question("who wrote to the disk then?", async (page) => {
  const over = page.locator('figure[aria-label^="Disks:"] .u-over');
  await over.waitFor();
  const [from, to] = (await page.locator("#window").textContent()).split(" – ").map((text) => new Date(`${new Date().toDateString()} ${text.slice(-8)}`).getTime());
  const { width, height } = await over.boundingBox();
  await over.click({ position: { x: (width * (written_ms - from)) / (to - from), y: height / 2 } });
  await page.locator("#tasks th.written_bytes button").click();
  // Others may write more on this machine.
  await until("it is among the first", async () => (await page.locator("#tasks tbody td.name").allTextContents()).includes(WRITER));
});

question("which of 300 services are broken, and since when?", async (page) => {
  await page.locator("#to-checks").click();
  // Those of the other tests' configuration, and the broken ones.
  await until("all broken ones", async () => (await page.locator("#checks tbody tr").count()) === BROKEN + 1);
  const since = await page.locator("#checks tbody tr td:nth-child(4)").allTextContents();
  assert.ok(since.every((text) => /\d/.test(text)), since.join());
});

question("these ten are known", async (page) => {
  await page.locator("#to-checks").click();
  await until("broken ones", async () => (await page.locator("#checks tbody tr").count()) >= BROKEN);
  await page.keyboard.press("/");
  await page.keyboard.type("host2");
  // host2, host20 and the others that begin so; each of which has none, one or several.
  const shown = () => page.locator("#checks tbody tr").count();
  await until("those that are meant", async () => (await shown()) < BROKEN);
  const count = await shown();
  await page.locator("#checks thead input").click();
  await page.getByLabel("Who says so, of all that are chosen").focus();
  await page.keyboard.type("ann");
  await page.locator("#check-actions button", { hasText: "acknowledge" }).click();
  await until("they are", async () => (await page.locator("#checks tbody tr.known").count()) === count);
  const said = spawnSync(process.env.WHIT, ["check", "list", "--json", "--data", agent.data]).stdout.toString();
  assert.equal(JSON.parse(said).checks.filter(({ acknowledgement }) => acknowledgement !== null).length, count);
});

question("what does nginx wait for?", async (page) => {
  await page.locator("#tasks tbody td.name").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type(SERVER);
  await page.locator(`#tasks tbody a:text-is("${SERVER}")`).click();
  await until("a reason", async () => /timer|sleep/.test(await page.locator("#inspection").textContent()));
});

test("no page complained, and this is what it took", () => {
  for (const [words, clicks, seconds] of answers) console.log(`${words} ${clicks} clicks, ${seconds} s`);
  assert.deepEqual(complaints, []);
  assert.equal(answers.length, 5);
});
