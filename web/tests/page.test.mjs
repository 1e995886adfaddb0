// The page in Chromium, against an agent that records a machine under load.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { finally_end, is_accessible, launch, need, page_of, picture, prepare, press, test, until, watch } from "./browser.mjs";
import { HOSTILE, LOAD, Machine, rest } from "./machine.mjs";

const TOKEN = "0123456789abcdef0123456789abcdef";

need("the page in a browser");

let machine, browser, agent, load;
/** What pages complained about. */
const complaints = [];

prepare(async () => {
  machine = new Machine();
  agent = await machine.agent(9151);
  machine.hostile();
  await rest(6000);
  load = machine.load();
  await rest(6000);
  browser = await launch();
});

finally_end(() => ({ browsers: [browser], machine }));

/** Opens a view, and waits until it is shown. */
async function open(hash = "", options = {}) {
  const page = await page_of(browser, { viewport: { width: 1280, height: 900 }, ...options });
  watch(page, complaints);
  await page.goto(`${agent.address}/${hash}`);
  await page.locator("#own-cost:has-text('whit:')").waitFor();
  return page;
}

const shown = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));
const plot = (page, title) => page.locator(`figure[aria-label^="${title}:"]`);
const row = (page, name) => page.locator(`#tasks tbody tr:has(a:text-is("${name}"))`).first();
/** Leads the mouse over a part of a plot, where it is then: answers that come meanwhile may move it. */
async function hover(over, part) {
  const { width, height } = await over.boundingBox();
  await over.hover({ position: { x: width * part, y: height / 2 } });
}

test("plots and tasks go on with every tick", async () => {
  const page = await open();
  await row(page, LOAD).waitFor();
  const on_cpu = async () => parseFloat(await row(page, LOAD).locator("td.on_cpu").textContent());
  await until("the load uses a CPU", async () => (await on_cpu()) > 5);
  const before = await page.locator("#window").textContent();
  const words = await plot(page, "CPU").getAttribute("aria-label");
  await until("the window moves", async () => (await page.locator("#window").textContent()) !== before);
  await until("the plot moves", async () => (await plot(page, "CPU").getAttribute("aria-label")) !== words);
  // What it did lately grows with every tick.
  await until("a sparkline", async () => /^on a CPU in the last \d+ readings/.test((await row(page, LOAD).locator(".sparkline").getAttribute("aria-label")) ?? ""));
  await is_accessible(page);
  await picture(page, "machine", { fullPage: true });
  await page.close();
});

test("the cursor shows the tasks under it, a click keeps them", async () => {
  const page = await open();
  await row(page, LOAD).waitFor();
  const over = plot(page, "CPU").locator(".u-over");
  // Before the load there was none: it began some seconds after the first tick, of some minutes at most.
  const early = async () => {
    const { width, height } = await over.boundingBox();
    return { position: { x: width * 0.04, y: height / 2 } };
  };
  const asked = page.waitForResponse((response) => response.url().includes("/api/page/tasks"));
  await over.hover(await early());
  await asked;
  await until("no load then", async () => (await row(page, LOAD).count()) === 0);
  await over.click(await early());
  await until("the instant in the address", () => shown(page).get("at"));
  await page.mouse.move(5, 5);
  await rest(1500);
  assert.equal(await row(page, LOAD).count(), 0, "the instant stays");
  await page.keyboard.press("Escape");
  await row(page, LOAD).waitFor();
  await page.close();
});

test("dragging zooms where text is selected", async () => {
  const page = await open();
  const all_is_selected = () => page.evaluate(() => getSelection().selectAllChildren(document.body));
  await all_is_selected();
  const over = plot(page, "Memory").locator(".u-over");
  await press(page, over, () => hover(over, 0.1));
  await hover(over, 0.4);
  await page.mouse.up();
  await until("a window in the address", () => shown(page).get("end"));
  await all_is_selected();
  const { x, y, width } = await page.locator("#timeline svg").boundingBox();
  const before = page.url();
  await page.mouse.move(x + width * 0.6, y + 5);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.8, y + 5, { steps: 5 });
  await page.mouse.up();
  await until("a part of the strip", () => page.url() !== before);
  await page.close();
});

test("dragging zooms, and all of history is a click away", async () => {
  const page = await open();
  const over = plot(page, "Memory").locator(".u-over");
  await press(page, over, () => hover(over, 0.1));
  // Slowly: while a part is marked, nothing may be drawn anew.
  for (const part of [0.2, 0.3, 0.4]) {
    await hover(over, part);
    await rest(2000);
  }
  await page.mouse.up();
  await until("a window in the address", () => shown(page).get("end"));
  assert.ok(Number(shown(page).get("span")) <= 600_000);
  await page.getByRole("button", { name: "all", exact: true }).click();
  await until("all in the address", () => shown(page).get("span") === "all" && !shown(page).get("end"));
  await page.goBack();
  await until("the window again", () => shown(page).get("end"));
  const before = page.url();
  const strip = page.locator("#timeline svg");
  const whole_ms = async () => {
    const { data } = await (await fetch(`${agent.address}/api/page/status`)).json();
    return data.last_ms - data.first_ms;
  };
  const before_ms = await whole_ms();
  // Far from the window before: both are ten seconds long at least, and could be the same.
  await strip.click({ position: { x: (await strip.boundingBox()).width * 0.8, y: 5 } });
  await until("a part around it", () => page.url() !== before);
  // A tenth of all, but ten seconds at least.
  const span_ms = Number(shown(page).get("span"));
  assert.ok(span_ms >= Math.max(10_000, before_ms / 10 - 1) && span_ms <= Math.max(10_000, (await whole_ms()) / 10 + 1), `${span_ms} of ${before_ms}`);
  await page.close();
});

test("from a task's row to its page", async () => {
  const page = await open();
  await row(page, LOAD).locator("a").click();
  await page.locator("#of:has-text('pid')").waitFor();
  await page.locator("#about", { hasText: "runs since" }).waitFor();
  assert.ok(Number(shown(page).get("started")) > 0);
  await page.locator("#about dt", { hasText: "Started by" }).waitFor();
  await until("its time", async () => /on a CPU [1-9]/.test((await plot(page, "Where the time of tasks went, sleep apart").getAttribute("aria-label")) ?? ""));
  await page.locator("#why li", { hasText: "It was on a CPU" }).waitFor();
  await page.locator("#inspection li", { hasText: `${LOAD} (` }).waitFor();
  await page.locator("#inspection p", { hasText: /^\d+ open files, of at most [\d,]+: / }).waitFor();
  await is_accessible(page);
  await picture(page, "task", { fullPage: true });
  await page.close();
});

test("a press that lasts over several ticks is a click", async () => {
  const page = await open();
  const TROUBLE = { status: "error", error: "A disk is full." };
  let is_troubled = false;
  await page.route("**/api/page/status*", (route) => (is_troubled ? route.fulfill({ json: TROUBLE }) : route.continue()));
  const link = row(page, LOAD).locator("a");
  // The press itself takes the focus from the field.
  await page.getByLabel("Find tasks").fill(LOAD);
  await press(page, link, () => link.hover());
  const place = await link.boundingBox();
  // Trouble of the agent is announced above all else, but not now.
  is_troubled = true;
  await page.evaluate(() => dispatchEvent(new PopStateEvent("popstate")));
  await rest(2500);
  assert.deepEqual(await link.boundingBox(), place);
  is_troubled = false;
  await page.mouse.up();
  await page.locator("#of:has-text('pid')").waitFor();
  await page.close();
});

test("exits are listed", async () => {
  spawnSync("sh", ["-c", "exit 3"], { argv0: "sh" });
  await rest(2500);
  const page = await open("#place=tasks&of=%7Bcomm%3D%22sh%22%7D");
  await page.locator("#exits td", { hasText: "status 3" }).first().waitFor();
  await page.locator("#exits tr", { hasText: "status 3" }).first().locator("a").click();
  await page.locator("#about", { hasText: "not running since" }).waitFor();
  // Its own end is in the time that is shown, also where another time was asked for.
  await page.locator("#exits td", { hasText: "status 3" }).first().waitFor();
  const address = page.url();
  await page.goto(`${address}&span=10000&end=${Number(shown(page).get("started")) - 5000}`);
  await page.reload();
  await page.locator("#exits td", { hasText: "status 3" }).first().waitFor();
  await page.goto(address.replace(/started=\d+/, "started=1000"));
  await page.locator("#about", { hasText: "not recorded" }).waitFor();
  await page.close();
});

test("the first line says how the machine is", async () => {
  const more = machine.load(1);
  const page = await open("#span=10000");
  const chips = () => page.locator("#verdict > *").allTextContents();
  // A check is critical and an alert fires.
  const found = await until("a verdict", async () => {
    const found = await chips();
    return /^\d+ findings?$/.test(found[0]) && /^CPU [0-9.]+ %$/.test(found[1]) && found;
  });
  assert.match(found[2], /^memory [0-9.]+ [MG]iB of [0-9.]+ GiB$/);
  // Then the time line, why, plots, tasks.
  const tops = await Promise.all(["#verdict", "#timeline", "#why-section", "#plots", "#tasks-section"].map(async (id) => (await page.locator(id).boundingBox()).y));
  assert.deepEqual(tops, tops.toSorted((one, other) => one - other));
  // What is said agrees with the list below.
  const [first, count] = await page.evaluate(() => [document.querySelector("#verdict > *").textContent, document.querySelectorAll("#why li").length]);
  assert.ok(count >= parseInt(first, 10), `${first}, ${count}`);
  more.kill();
  await is_accessible(page);
  // Its parts lead to who it is: a press, and the tasks are there in this order.
  const is_seen = async () =>
    (await page.locator("#tasks-section").isVisible()) && page.evaluate(() => document.getElementById("tasks-section").getBoundingClientRect().top < innerHeight);
  await page.locator("#verdict button", { hasText: "memory" }).click();
  await until("tasks by memory", async () => (await page.locator("#tasks th.resident_bytes").getAttribute("aria-sort")) === "descending" && (await is_seen()));
  // The keys are those of the table.
  assert.equal(await page.evaluate(() => document.activeElement?.className), "scroller");
  // Figures change nearly each second, and the button still has the focus.
  await page.locator('#verdict [data-name="cpu"]').focus();
  const figures = await page.locator("#verdict").textContent();
  await until("other figures", async () => (await page.locator("#verdict").textContent()) !== figures);
  assert.equal(await page.evaluate(() => document.activeElement?.dataset.name), "cpu");
  await page.goto(`${agent.address}/#place=alerts`);
  await until("no spans where they do nothing", async () => !(await page.locator("#spans").isVisible()));
  await page.locator("#to-tasks").click();
  await until("the tasks", is_seen);
  await page.close();
});

test("the parts of the machine are a click away", async () => {
  const page = await open("#span=60000");
  const captions = () => page.locator("#plots figcaption").allTextContents();
  const link = page.locator("#plots figcaption a", { hasText: "by CPU" });
  await link.click();
  await until("CPUs", async () => shown(page).get("parts") === "cpus" && (await captions())[0].startsWith("Busy, by CPU"));
  assert.equal(shown(page).get("span"), "60000");
  // Curves of zeros are left out, but this machine is busy enough for one.
  await until("a curve", async () => /CPU \d+/.test(await page.locator("#plots figure").first().textContent()));
  await is_accessible(page);
  await page.locator("#to-machine").click();
  await until("the machine", async () => !shown(page).get("parts") && (await captions()).some((caption) => caption.startsWith("Memory")));
  await page.close();
});

test("why in words leads to a plot", async () => {
  const more = [machine.load(1), machine.load(1)];
  await rest(8000);
  const page = await open("#span=10000");
  // Who the culprit is depends on what else runs here.
  await page.locator("#why a").first().click();
  await until("an expression", () => shown(page).get("place") === "explore" && shown(page).get("expression"));
  await page.locator("#explore-plot figure").waitFor();
  for (const child of more) child.kill();
  await page.close();
});

test("explore completes, draws, and says what is wrong where", async () => {
  const page = await open("#place=explore");
  const field = page.getByRole("combobox", { name: "Expression" });
  await field.pressSequentially("rate(node_context");
  await page.getByRole("option", { name: "node_context_switches_total" }).waitFor();
  await field.press("ArrowDown");
  await field.press("Enter");
  assert.equal(await field.inputValue(), "rate(node_context_switches_total");
  await field.press("Enter");
  await page.locator("#fault").waitFor();
  const [line, below] = (await page.locator("#fault").textContent()).split("\n");
  assert.equal(line.slice(0, 5), "rate(");
  assert.ok(below.includes("^ ") && below.includes("not closed"), below);
  await is_accessible(page);
  await field.fill('rate(node_cpu_seconds_total{mode="user"}[5s])');
  await field.press("Enter");
  // Series are named by what tells them apart.
  await page.locator("#explore-table td", { hasText: '{cpu="0"}' }).first().waitFor();
  assert.equal(await page.locator("#fault").isVisible(), false);
  for (const [kind, begins] of [["csv", "realtime_ns,series,value\n"], ["svg", "<svg"]]) {
    const reply = await fetch(new URL(await page.locator(`#download-${kind}`).getAttribute("href"), agent.address));
    assert.equal(reply.status, 200);
    assert.ok((await reply.text()).startsWith(begins), kind);
  }
  await is_accessible(page);
  await picture(page, "explore", { fullPage: true });
  await page.close();
});

test("the last answer stays while another is made, or if there is none", async () => {
  const page = await open();
  // The browser itself complains about the status 503.
  page.removeAllListeners("console");
  await page.locator("#why li").first().waitFor();
  const state = page.locator("#why-state");
  let is_busy = false;
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route("**/api/page/why*", async (route) => {
    if (is_busy) return route.fulfill({ status: 503, headers: { "retry-after": "1" }, body: "{}" });
    await released;
    return route.continue();
  });
  await page.keyboard.press("2");
  await state.filter({ hasText: "is added up" }).waitFor();
  assert.match(await page.locator("#why-title").textContent(), /^Why, /);
  assert.ok((await page.locator("#why li").count()) > 0);
  // Its title may be the same, if less than a second has passed.
  const answer = page.waitForResponse((response) => response.url().includes("/api/page/why") && response.ok());
  release();
  await answer;
  await until("it is shown", async () => (await state.textContent()) === "");
  is_busy = true;
  await page.keyboard.press("1");
  await state.filter({ hasText: "may succeed in 1 s" }).waitFor();
  assert.ok((await page.locator("#why li").count()) > 0);
  is_busy = false;
  await until("it is asked again", async () => (await state.textContent()) === "");
  await page.close();
});

test("alerts and marks are on the time line", async () => {
  const page = await open();
  await page.locator("#signs .alert", { hasText: "busy" }).first().waitFor();
  await page.keyboard.press("m");
  await page.getByLabel("What happened").fill("deployed <b>2.3</b>");
  await page.keyboard.press("Enter");
  await page.locator("#signs .mark", { hasText: "deployed <b>2.3</b>" }).waitFor();
  const listed = spawnSync(process.env.WHIT, ["mark", "--data", agent.data]).stdout.toString();
  assert.match(listed, /deployed <b>2\.3<\/b>/);
  spawnSync(process.env.WHIT, ["mark", "--data", agent.data, "by the command"]);
  await page.reload();
  await page.locator("#signs .mark", { hasText: "by the command" }).waitFor();
  await page.close();
});

test("checks: what is wrong first, one with its figures, and somebody knows", async () => {
  const page = await open("#place=checks");
  const line = page.locator("#checks tbody tr");
  await page.locator('#checks a:text-is("web1/broken")').waitFor();
  assert.equal(await line.count(), 1);
  assert.match(await line.first().innerText(), /CRITICAL[^]*<b>it<\/b> is broken/);
  await until("its history", async () => (await page.locator("#checks .strip .state-2").count()) > 0);
  await page.locator("#check-states button:has-text('all')").click();
  await until("all of them", async () => (await line.count()) === 2);
  await page.locator("#check-find").fill("well");
  await until("what was looked for", async () => (await line.count()) === 1 && (await line.first().innerText()).includes("fine"));
  await page.locator('#checks a:text-is("fine")').click();
  const says = /wells 3, warning 5, critical 8/;
  await until("its figure and the limits", async () => says.test((await plot(page, "wells").getAttribute("aria-label")) ?? ""));
  await page.locator("#check-states button:has-text('all checks')").click();
  await page.locator("#check-find").fill("");
  await page.locator('#checks a:text-is("web1/broken")').click();
  await page.locator("#checks pre:has-text('in long')").waitFor();
  // What changed of it, and of no other check.
  const change = page.locator("#check-changes tbody tr");
  assert.equal(await change.count(), 1);
  assert.match(await change.innerText(), /CRITICAL[^]*<b>it<\/b> is broken/);
  await page.locator('[aria-label="Who says so"]').fill("ann");
  await page.locator('[aria-label="Why"]').fill("on its way");
  await page.locator("button:text-is('acknowledge')").click();
  await page.locator("#checks dd:has-text('ann: on its way')").waitFor();
  await page.locator("button:has-text('minutes of downtime')").click();
  await page.locator("#checks p:has-text('Downtime until')").waitFor();
  await page.locator("button:text-is('end it')").click();
  await until("it is over", async () => (await page.locator("#checks p:has-text('Downtime until')").count()) === 0);
  await is_accessible(page);
  await picture(page, "check", { fullPage: true });
  await page.close();
});

test("checks at one glance, and something is done about several at once", async () => {
  const page = await open("#place=checks&state=all");
  const square = (name) => page.locator(`#check-squares a[aria-label^="${name}: "]`);
  await square("web1/broken").filter({ hasText: "C" }).waitFor();
  assert.equal(await page.locator("#check-squares a").count(), 2);
  assert.equal(await page.locator("#check-actions").isVisible(), false);
  await page.getByLabel("Choose web1/broken").check();
  await page.getByLabel("Choose fine").check();
  await page.locator("#check-actions output:text-is('2 checks')").waitFor();
  assert.ok(await page.getByLabel("Choose all of these").isChecked());
  // What is chosen stays while the list is made anew.
  await page.locator("#check-states button:has-text('all')").click();
  await until("the boxes", async () => (await page.locator("#checks [data-check]:checked").count()) === 2);
  // They stay when one of them is looked at, and what has the focus keeps it.
  await page.locator('#checks a:text-is("web1/broken")').click();
  await page.locator("#checks h3").waitFor();
  assert.equal(await page.locator("#check-actions").isVisible(), false);
  await page.goBack();
  await page.locator("#check-actions output:text-is('2 checks')").waitFor();
  await page.getByLabel("Choose fine").focus();
  const strip = await page.locator("#checks .strip").first().elementHandle();
  await page.locator("#check-states button:has-text('all')").dispatchEvent("click");
  await until("the list is made anew", async () => !(await strip.evaluate((old) => old.isConnected)));
  assert.equal(await page.evaluate(() => document.activeElement?.dataset.check), "fine");
  // Nothing is done without a name.
  await page.getByRole("button", { name: "acknowledge them" }).click();
  assert.equal(await page.locator("#check-actions output").textContent(), "2 checks");
  await page.getByLabel("Who says so, of all").fill("bob");
  await is_accessible(page);
  await picture(page, "checks", { fullPage: true });
  await page.getByRole("button", { name: "acknowledge them" }).click();
  await square("web1/broken").and(page.locator(".known")).waitFor();
  await page.locator("#check-actions").waitFor({ state: "hidden" });
  await until("it is dimmed", async () => (await page.locator("#checks tr.known").count()) === 1);
  // The first line of the machine counts checks, also when ticks come by themselves.
  await page.keyboard.press("o");
  const chip = page.locator("#verdict button", { hasText: "1 check critical" });
  await chip.waitFor();
  const alert = page.locator("#verdict button", { hasText: "1 alert fires" });
  await alert.waitFor();
  for (let tick = 0; tick < 3; tick += 1) {
    const before = await page.locator("#window").textContent();
    await until("a tick", async () => (await page.locator("#window").textContent()) !== before);
    assert.ok((await chip.isVisible()) && (await alert.isVisible()), `after ${tick} ticks`);
  }
  await chip.click();
  await until("the critical ones", () => shown(page).get("state") === "critical");
  await page.close();
});

test("alerts are listed with what is watched for", async () => {
  const page = await open("#place=alerts");
  const line = page.locator("#alerts tbody tr");
  await line.first().waitFor();
  assert.ok((await line.count()) > 5);
  await until("one fires", async () => /^busy\s+firing/.test(await line.first().innerText()));
  await page.locator("#alert-changes tbody tr", { hasText: /busy.*firing/ }).first().waitFor();
  // A silence is added and ended; one of no selector is refused.
  const silence = async (selector) => {
    await page.getByLabel("Alert, or a selector").fill(selector);
    await page.locator('#silences [aria-label="Why"]').fill("we know");
    await page.locator("button:text-is('minutes without notifications')").click();
  };
  const wrong = await fetch(`${agent.address}/api/page/silences`, { method: "POST", body: new URLSearchParams({ selector: "{busy", minutes: "5" }) });
  assert.equal(wrong.status, 400);
  await silence("busy");
  const silent = page.locator("#silences p", { hasText: "No notifications of busy until" });
  await silent.filter({ hasText: "we know" }).waitFor();
  assert.match(spawnSync(process.env.WHIT, ["alert", "--data", agent.data]).stdout.toString(), /busy[^]*we know/);
  await silent.locator("button").click();
  await silent.waitFor({ state: "detached" });
  await is_accessible(page);
  await picture(page, "alerts", { fullPage: true });
  await line.first().locator("a").click();
  await until("its expression", () => shown(page).get("place") === "explore" && shown(page).get("expression"));
  await page.close();
});

test("exploring begins with questions and metrics, and a wrong name gets the nearest ones", async () => {
  const page = await open("#place=explore");
  await page.locator(".suggested a").first().waitFor();
  assert.ok((await page.locator(".suggested a").count()) >= 10);
  // Each of them can be asked.
  for (const expression of await page.locator(".suggested code").allTextContents()) {
    const reply = await fetch(`${agent.address}/api/v1/query?${new URLSearchParams({ query: expression })}`);
    assert.equal(reply.status, 200, expression);
  }
  await page.locator("#metric-find").fill("context switches");
  const metrics = page.locator("#explore-table tbody tr:visible a");
  assert.deepEqual(await metrics.allTextContents(), ["node_context_switches_total"]);
  await is_accessible(page);
  await picture(page, "explore-start", { fullPage: true });
  await metrics.click();
  await until("its growth", () => shown(page).get("expression") === "rate(node_context_switches_total[1m])");
  await page.goto(`${agent.address}/#place=explore&expression=node_lod1`);
  await page.getByText("No series of node_lod1 is recorded").waitFor();
  await page.locator("#explore-table a:text-is('node_load1')").click();
  await page.locator("#explore-plot .u-over").waitFor();
  await page.close();
});

test("the keyboard is enough", async () => {
  const page = await open();
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("find what is listed").waitFor();
  await is_accessible(page);
  await page.keyboard.press("Escape");
  for (const [key, name, value] of [["3", "span", "3600000"], ["u", "zone", "utc"], ["g", "by", "thread"], ["e", "place", "explore"]]) {
    await page.keyboard.press(key);
    await until(`${key} is ${value}`, () => shown(page).get(name) === value);
  }
  // The field has the focus now.
  await page.keyboard.press("Escape");
  await page.keyboard.press("o");
  await until("the machine", () => shown(page).get("place") === null);
  await page.keyboard.press("ArrowLeft");
  await until("an instant", () => shown(page).get("at"));
  // The field comes with the tasks of the instant.
  await until("the field", async () => {
    await page.keyboard.press("/");
    return page.evaluate(() => document.activeElement?.tagName === "INPUT");
  });
  await page.keyboard.type(LOAD);
  await until("one program", async () => !(await page.locator("#tasks tbody").textContent()).includes("whit"));
  // From the field to the first row, and into it.
  await until("a link", async () => {
    await page.keyboard.press("Tab");
    return page.evaluate((name) => document.activeElement?.textContent === name, LOAD);
  });
  await page.keyboard.press("Enter");
  await until("its page", () => shown(page).get("place") === "tasks");
  await page.close();
});

test("dark, narrow, and both are readable", async () => {
  for (const [name, options] of [
    ["dark", { colorScheme: "dark" }],
    ["narrow", { viewport: { width: 360, height: 800 } }],
    ["narrow-dark", { viewport: { width: 360, height: 800 }, colorScheme: "dark" }],
  ]) {
    const page = await open("", options);
    await row(page, LOAD).waitFor();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= page.viewportSize().width, `${name}: ${width} pixels`);
    await is_accessible(page);
    await picture(page, name);
    if (options.viewport) {
      // The name, what it uses and its time are in two lines, and nothing is to the right of them.
      // Rows come and go with each tick, also while this looks.
      await until("a task has two lines", async () => (await row(page, LOAD).boundingBox())?.height === 48);
      const scroller = page.locator("#tasks .scroller");
      assert.ok(await scroller.evaluate((one) => one.scrollWidth <= one.clientWidth), "the tasks fit");
      for (const cell of ["name", "on_cpu", "resident_bytes", "bar", "waits_for"]) assert.ok(await row(page, LOAD).locator(`td.${cell}`).isVisible(), cell);
    }
    await page.goto(`${agent.address}/#place=checks&state=all`);
    await page.locator('#checks a:text-is("web1/broken")').waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= page.viewportSize().width, `${name}: checks have ${wide} pixels`);
    await is_accessible(page);
    await picture(page, `${name}-checks`, { fullPage: true });
    await page.close();
  }
});

test("names are names", async () => {
  const page = await open();
  await page.getByLabel("Find tasks").fill("<img");
  await row(page, HOSTILE).waitFor();
  await row(page, HOSTILE).locator("a").click();
  await page.locator("#of", { hasText: `${HOSTILE} · pid ` }).waitFor();
  assert.equal(await page.locator("img").count(), 0);
  await page.goto(`${agent.address}/#place=tasks&of=${encodeURIComponent(`{comm=${JSON.stringify(HOSTILE)}}`)}`);
  await page.locator("#of", { hasText: HOSTILE }).waitFor();
  await page.close();
});

test("an agent that is gone is said to be, and comes back", async () => {
  const other = await machine.agent(9152);
  const page = await page_of(browser);
  await page.goto(other.address);
  await page.locator("#own-cost:has-text('whit:')").waitFor();
  await page.route("**/api/**", (route) => route.abort());
  await page.keyboard.press("2");
  await page.keyboard.press("3");
  await page.locator("#trouble", { hasText: "does not answer" }).waitFor();
  await page.unroute("**/api/**");
  await page.keyboard.press("2");
  await until("it answers", async () => !(await page.locator("#trouble").isVisible()));
  await page.close();
});

test("without the token there is the sign-in alone", async () => {
  const guarded = await machine.agent(9153, `[http]\nlisten = "127.0.0.1:9153"\ntoken = "${TOKEN}"\n`);
  const get = (path, headers = {}) => fetch(guarded.address + path, { headers, redirect: "manual" });
  for (const path of ["/page.js", "/style.css", "/metrics", "/api/page/status", "/api/v1/query?query=1", "/-/ready"]) {
    assert.equal((await get(path)).status, 401, path);
  }
  const page = await page_of(browser);
  await page.goto(guarded.address);
  await is_accessible(page);
  const sign_in = async (token, answer) => {
    await page.getByLabel("Token").fill(token);
    await Promise.all([page.waitForEvent("domcontentloaded"), page.keyboard.press("Enter")]);
    await page.getByText(answer).first().waitFor();
  };
  await sign_in("wrong", "This is not the token.");
  // Each wrong one doubles the wait, so that the second try comes within it on a machine of any speed.
  let slowed;
  do {
    await sign_in("wrong", /This is not the token|A wrong token came from here/);
    slowed = await get("/metrics", { authorization: "Bearer wrong" });
  } while (slowed.status !== 429 || !await page.getByText("A wrong token came from here").isVisible());
  await rest(1000 * (Number(slowed.headers.get("retry-after")) + 1));
  await page.getByLabel("Token").fill(TOKEN);
  await page.keyboard.press("Enter");
  await page.locator("#own-cost:has-text('whit:')").waitFor();
  await page.locator("#tasks tbody a").first().waitFor();
  const cookie = (await page.context().cookies())[0];
  assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
  await page.close();
  assert.equal((await get("/metrics", { authorization: `Bearer ${TOKEN}` })).status, 200);
});

test("other hosts and origins get nothing", async () => {
  const status = async (headers, method = "GET") => {
    // fetch does not let a host be pretended.
    const words = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", method, ...headers.flatMap((header) => ["-H", header])];
    return spawnSync("curl", [...words, `${agent.address}/api/page/status`]).stdout.toString();
  };
  assert.equal(await status([]), "200");
  assert.equal(await status(["Host: evil.example"]), "403");
  assert.equal(await status(["Origin: http://evil.example"]), "403");
  assert.equal(await status(["Origin: null"], "POST"), "403");
});

test("a view is a file that needs no agent", async () => {
  const page = await open("");
  await plot(page, "CPU").waitFor();
  await page.locator("#tasks tbody a").first().waitFor();
  await page.locator("#signs li").first().waitFor();
  const asked = page.waitForEvent("download");
  await page.keyboard.press("s");
  const download = await asked;
  assert.match(download.suggestedFilename(), /^whit-127\.0\.0\.1-until-[\d-]+-UTC\.html$/);
  const file = await download.path();
  const saved = await page_of(browser);
  watch(saved, complaints);
  const requests = [];
  saved.on("request", (request) => requests.push(request.url()));
  await saved.setContent(readFileSync(file, "utf8"));
  const plots = saved.locator('figure img[alt^="CPU"]');
  assert.ok((await plots.first().evaluate((image) => image.naturalWidth)) > 100);
  assert.ok((await saved.locator("#tasks tbody a").count()) > 0);
  assert.match(await saved.locator("#tasks thead").innerText(), /CPU|cpu/);
  assert.equal(await saved.locator("script, form, button").count(), 0);
  // What was a button says what it said.
  const signs = await saved.locator("#signs li").allInnerTexts();
  assert.ok(signs.length > 0 && signs.every((text) => text.trim() !== ""), signs.join("; "));
  assert.match(await saved.locator("#verdict").innerText(), /CPU/);
  // It asks for nothing but what is in it, and its link is that of a window that has ended.
  assert.deepEqual(requests.filter((url) => !url.startsWith("data:")), []);
  const address = await saved.locator("header p a").getAttribute("href");
  assert.ok(address.startsWith(agent.address) && new URLSearchParams(address.split("#")[1]).get("end") !== null, address);
  await picture(saved, "report", { fullPage: true });
  await saved.close();
  await page.close();
});

test("no page complained", () => {
  assert.deepEqual(complaints, []);
});
