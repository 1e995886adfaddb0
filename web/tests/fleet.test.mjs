// The view of a fleet in Chromium: an agent whose store has a thousand machines.

import assert from "node:assert/strict";
import { createServer } from "node:http";

import { finally_end, is_accessible, launch, need, page_of, picture, prepare, test, until, watch } from "./browser.mjs";
import { Machine } from "./machine.mjs";

need("the fleet in a browser");

const COUNT = 1000;
const HOSTILE = '<img src=x onerror=alert(1)>"\\';
const NAMES = [HOSTILE, ...Array.from({ length: COUNT - 1 }, (_, place) => `web${place + 1}`)];
/** This one is silent, and this one's disk is full. */
const [SILENT, FULL] = ["web100", "web10"];
/** Questions that an answer may take, however many machines there are. */
const MAX_QUESTIONS = 20;

let machine, browser, agent, store;
const complaints = [];
/** What the store was asked: instants, times, and samples. */
const instants = [];
const times = [];
/** The samples of one machine. */
const ranges = [];

/** Answers as Prometheus does. */
async function answer(request, response) {
  let body = "";
  for await (const part of request) body += part;
  const url = new URL(request.url, "http://store");
  const form = new URLSearchParams(body);
  const query = form.get("query");
  let data;
  if (url.pathname.endsWith("/write")) data = null;
  else if (url.pathname.endsWith("/values")) data = NAMES;
  else if (query.startsWith("last_over_time(whit_build_info{")) {
    data = { resultType: "vector", result: [{ metric: { instance: HOSTILE, version: "0.1.0" }, value: [Number(form.get("time")), "1"] }] };
  } else if (query.endsWith("ms]")) {
    ranges.push(`${query} at ${form.get("time")}`);
    const [end, is_life] = [Number(form.get("time")), query.startsWith("whit_agent_cpu_seconds_total{")];
    const values = Array.from({ length: 60 }, (_, place) => [end - 590 + 10 * place, String(place)]);
    data = { resultType: "matrix", result: is_life ? [{ metric: { instance: HOSTILE }, values }] : [] };
  } else if (url.pathname.endsWith("/query")) {
    instants.push(query);
    data = { resultType: "vector", result: values(query, Number(form.get("time"))) };
  } else {
    const is_of_all = query.includes("by (instance)");
    if (!is_of_all) times.push(query);
    const [start, end, step] = ["start", "end", "step"].map((name) => Number(form.get(name)));
    const steps = Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, place) => [start + place * step, "0.5"]);
    const machines = is_of_all ? NAMES.filter((name) => name !== SILENT) : [null];
    const of = (place) => steps.map(([at, value], step) => [at, is_of_all ? String((place + step) % 100) : value]);
    data = { resultType: "matrix", result: machines.map((name, place) => ({ metric: name === null ? {} : { instance: name }, values: of(place) })) };
  }
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ status: "success", data }));
}

function values(query, time_s) {
  // What is asked about one machine is answered of it.
  const names = query.includes("{instance=") ? [HOSTILE] : NAMES.filter((name) => name !== SILENT);
  const all = (value, labels = () => ({})) =>
    names.map((name, place) => ({
      metric: { instance: name, ...labels(name, place) },
      value: [time_s, String(typeof value === "function" ? value(name, place) : value)],
    }));
  if (query.includes("timestamp(")) return all(time_s - 2);
  if (query.includes("whit_build_info")) return all(1, () => ({ version: "0.1.0" }));
  if (query.startsWith("count by (instance) (node_cpu")) return all(4);
  if (query.includes("node_cpu_seconds_total")) return all((_, place) => (place % 40) / 10);
  if (query.includes("whit_tasks_seconds_total")) return all((_, place) => (place % 7) / 10, () => ({ state: "block_io" }));
  if (query.includes("MemTotal")) return all(8 * 2 ** 30);
  if (query.includes("MemAvailable")) return all((_, place) => (1 + (place % 6)) * 2 ** 30);
  if (query.includes("node_filesystem")) return all((name) => (name === FULL ? 0.01 : 0.5), () => ({ mountpoint: "/srv" }));
  return [];
}

prepare(async () => {
  const server = createServer((request, response) => void answer(request, response));
  store = server.listen(0, "127.0.0.1");
  await new Promise((ready) => server.once("listening", ready));
  machine = new Machine();
  const url = `http://127.0.0.1:${store.address().port}`;
  agent = await machine.agent(9154, `[fleet]\nurl = "${url}"\n[[remote_write]]\nurl = "${url}/api/v1/write"\nname = "own"\ninterval = "1s"\n`);
  browser = await launch();
});

finally_end(() => ({ browsers: [browser], machine: { end: async () => (store?.close(), store?.closeAllConnections(), await machine?.end()) } }));

async function open(hash, options = {}) {
  const page = await page_of(browser, { viewport: { width: 1400, height: 900 }, ...options });
  watch(page, complaints);
  await page.goto(`${agent.address}/${hash}`);
  await page.locator("#own-cost:has-text('whit:')").waitFor();
  return page;
}

const rows = (page) => page.locator("#fleet tbody tr");
const field = (page) => page.locator("#fleet-find");
const first = (page) => rows(page).first().locator("td").first();

test("a thousand machines, those in trouble first, by a fixed number of questions", async () => {
  const page = await open("#place=fleet");
  await rows(page).first().waitFor();
  assert.equal(await rows(page).count(), COUNT);
  assert.equal(await first(page).textContent(), SILENT);
  assert.equal(await rows(page).nth(1).locator("td").first().textContent(), FULL);
  assert.match(await rows(page).nth(1).textContent(), /critical \/srv has 1 % left/);
  assert.match(await page.locator("#fleet-state").textContent(), /^1000 machines, 2 critical, 0 in warning\.$/);
  assert.ok(instants.length <= MAX_QUESTIONS, `${instants.length} questions`);
  await page.locator("#fleet .sparkline").first().waitFor();
  assert.equal(await page.locator("#fleet .sparkline").count(), COUNT - 1, "one that is silent has no line");
  assert.match(await page.locator("#fleet .sparkline").first().getAttribute("aria-label"), /^CPU in the last hour: \d+ % on average, at most \d+ %$/);
  // A second page asks nothing more.
  const asked = instants.length;
  const other = await open("#place=fleet");
  await rows(other).first().waitFor();
  assert.ok(instants.length === asked || instants.length <= 2 * asked, "what is fresh is not asked for again");
  await other.close();
  await picture(page, "fleet");
  // The rules look at each cell for milliseconds: these eleven rows have one that is silent and one in trouble.
  await field(page).fill("web10");
  await until("eleven are left", async () => (await rows(page).count()) === 11);
  await is_accessible(page);
  await page.close();
});

test("machines are found and ordered", async () => {
  const page = await open("#place=fleet");
  await rows(page).first().waitFor();
  await field(page).fill("web99");
  await until("eleven are left", async () => (await rows(page).count()) === 11);
  assert.equal(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("find"), "web99");
  await field(page).fill("");
  await page.getByRole("button", { name: "machine", exact: true }).click();
  await until("by name", async () => (await rows(page).nth(2).locator("td").first().textContent()) === "web2");
  await page.getByRole("button", { name: "CPU", exact: true }).click();
  await until("the busiest first", async () => (await rows(page).first().textContent()).includes("3.90 of 4"));
  await page.close();
});

test("a machine has the plots of this one, of its own series alone", async () => {
  const page = await open("#place=fleet");
  await rows(page).first().waitFor();
  await field(page).fill("<img");
  await until("it is left", async () => (await rows(page).count()) === 1);
  times.length = 0;
  await first(page).locator("a").click();
  await page.locator('figure[aria-label^="CPU:"]').waitFor();
  assert.equal(await page.locator("#fleet-title").textContent(), HOSTILE);
  await until("it is asked for", () => times.length > 0);
  const wanted = `instance=${JSON.stringify(HOSTILE)}`;
  await page.locator("#why .missing", { hasText: "has no recorded expressions" }).waitFor();
  assert.ok(ranges.length > 20, `${ranges.length} questions`);
  // Why it is so is asked once in a minute.
  assert.equal(new Set(ranges).size, ranges.length);
  for (const query of [...times, ...ranges]) {
    const selectors = (query.match(/node_\w+|whit_\w+/g) ?? []).length;
    assert.ok(selectors > 0 && query.split(wanted).length - 1 === selectors, query);
  }
  await is_accessible(page);
  await page.close();
});

test("the receivers of what is recorded are among the alerts", async () => {
  const page = await open("#place=alerts");
  const row = page.locator("#receivers tbody tr");
  const taken = async () => Number((await row.locator("td").nth(1).textContent()).replaceAll(",", ""));
  await until("samples are taken", async () => (await taken()) > 1000);
  assert.match(await row.locator("th").getAttribute("title"), /\/api\/v1\/write, remote write 1\.0$/);
  await is_accessible(page);
  await page.close();
});

test("dark, narrow, and both are readable", async () => {
  for (const [name, options] of [
    ["fleet-dark", { colorScheme: "dark" }],
    ["fleet-narrow", { viewport: { width: 360, height: 800 } }],
  ]) {
    const page = await open("#place=fleet&find=web10", options);
    await rows(page).first().waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= page.viewportSize().width, `${name}: ${width} pixels`);
    await is_accessible(page);
    await picture(page, name);
    await page.close();
  }
});

test("a store that is gone is said to be", async () => {
  const page = await open("#place=fleet");
  await rows(page).first().waitFor();
  store.close();
  store.closeAllConnections();
  await until("the page says so", async () => {
    await page.reload();
    return page.locator("#trouble").isVisible();
  });
  assert.match(await page.locator("#trouble").textContent(), /127\.0\.0\.1/);
  await page.close();
});

test("no page complained", () => {
  // What is not answered is no defect of the page.
  assert.deepEqual(complaints.filter((complaint) => !complaint.includes("502")), []);
});
