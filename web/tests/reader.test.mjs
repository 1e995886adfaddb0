// The feed reader in Chromium: two users in two browsers, and feeds that attack their readers.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

import { finally_end, is_accessible, launch, need, page_of, picture, prepare, test, until, watch } from "./browser.mjs";
import { Machine, rest } from "./machine.mjs";

const CORPUS = new URL("../../crates/syndication/tests/corpus/", import.meta.url);
const ROWS = JSON.parse(readFileSync(new URL("expected.json", CORPUS), "utf8"));

need("the reader in a browser");

const news = () => `<rss version="2.0"><channel><title>Village news</title><link>http://example.org/</link>
  ${["Bridge closed", "Market on Sunday", "Library opens"].map((title, place) => `<item><guid>${title}</guid><title>${title}</title>
    <link>http://example.org/${place}</link><pubDate>Mon, ${20 - place} Jul 2026 10:00:00 GMT</pubDate>
    <description>&lt;p&gt;All about: ${title.toLowerCase()}.&lt;/p&gt;&lt;img src="http://127.0.0.1:${port}/picture.png" alt="a bridge"&gt;</description></item>`).join("")}
  </channel></rss>`;
/** One pixel. */
const PICTURE = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

let machine, agent, feeds, port;
const browsers = [];
/** What pages complained about. */
let complaints = [];

prepare(async () => {
  // Each document has a host of its own: requests to one host are seconds apart.
  feeds = createServer((request, reply) => {
    const name = request.url.slice(1);
    const row = ROWS.find(({ file }) => file === name);
    if (row) reply.writeHead(200, row.type ? { "content-type": row.type } : {}).end(readFileSync(new URL(name, CORPUS)));
    else if (name === "news") reply.writeHead(200, { "content-type": "application/rss+xml" }).end(news());
    else if (name === "picture.png") reply.writeHead(200, { "content-type": "image/png" }).end(PICTURE);
    else if (name === "village") reply.writeHead(200, { "content-type": "text/html" }).end('<link rel=alternate type="application/rss+xml" href=news>');
    else reply.writeHead(404).end();
  });
  await new Promise((resolve) => feeds.listen(0, "0.0.0.0", resolve));
  port = feeds.address().port;
  machine = new Machine();
  agent = await machine.agent(9161, '[feeds]\nallow = ["127.0.0.0/8"]\n');
  for (const name of ["ann", "bob"]) {
    const added = spawnSync(process.env.WHIT, ["feeds", "user", "add", name, "--data", agent.data], { input: `a long password of ${name}\n` });
    assert.equal(added.status, 0, String(added.stderr));
  }
});

finally_end(() => ({ browsers, machine }));

/** A browser of its own, in which a user has signed in. */
async function sign_in(name, options = {}) {
  const browser = await launch();
  browsers.push(browser);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await page_of(context);
  watch(page, complaints);
  await page.goto(`${agent.address}/feeds/`);
  await page.fill("[name=name]", name);
  await page.fill("[name=password]", `a long password of ${name}`);
  await page.click("button:text('Sign in')");
  await page.locator("nav.feeds").waitFor();
  return page;
}

const unread = async (page) => Number(await page.locator("nav.feeds b").first().textContent());
const titles = (page) => page.locator(".entries .title").allTextContents();

/** Loads a page until it has what is looked for: feeds are polled meanwhile. */
async function reload_until(page, address, selector) {
  await until(`${selector} at ${address}`, async () => {
    await page.goto(`${agent.address}${address}`);
    return (await page.locator(selector).count()) > 0;
  });
}

/** Clicks what leads to another page, until all of that is there: a click alone ends when it begins to arrive. */
async function follow(locator) {
  await locator.click();
  await locator.page().waitForLoadState();
}

test("two users read, star, search and keep their own", async () => {
  const [ann, bob] = [await sign_in("ann"), await sign_in("bob")];
  for (const [page, folder] of [[ann, "Home"], [bob, ""]]) {
    await page.click("a:text('Manage')");
    // The feed is that of a page.
    await page.fill("[name=url]", `http://127.0.0.1:${port}/village`);
    await page.fill("main form [name=folder] >> nth=0", folder);
    await page.click("button:text-is('Add')");
    await page.locator(".manage li").waitFor();
    await reload_until(page, "/feeds/", ".entries li");
    assert.deepEqual(await titles(page), ["Bridge closed", "Market on Sunday", "Library opens"]);
  }
  assert.equal(await ann.locator("nav.feeds h2 a").textContent(), "Home 3");
  assert.match(await ann.locator(".entries .excerpt").first().textContent(), /^All about: bridge closed\.\s*\[a bridge\]$/);
  // The feed was polled just now, which is soon enough: nothing is asked for again.
  await follow(ann.locator("button:text-is('Refresh')"));
  await ann.locator("button:text-is('Refresh')").waitFor();
  await picture(ann, "reader-list");

  // One entry on its own page: it is read, and its picture is shown when it is asked for.
  await ann.click("a:text('Market on Sunday')");
  await ann.locator("article :text('All about: market on sunday.')").waitFor();
  assert.equal(await ann.locator("article img[src]").count(), 0);
  await ann.click("a:text('Show images')");
  await until("the picture", () => ann.evaluate(() => document.querySelector("article img")?.naturalWidth === 1));
  await ann.click("button:text-is('Star')");
  await ann.locator("button:text-is('Remove star')").waitFor();
  await picture(ann, "reader-entry");
  await ann.goto(`${agent.address}/feeds/`);
  assert.deepEqual(await titles(ann), ["Bridge closed", "Library opens"]);
  await follow(ann.locator("nav.feeds a:text('Starred')"));
  assert.deepEqual(await titles(ann), ["Market on Sunday"]);

  // Search looks at everything, by parts of words.
  await ann.fill("[type=search]", "librar");
  await ann.keyboard.press("Enter");
  await ann.locator("h2:text('Search: librar')").waitFor();
  assert.deepEqual(await titles(ann), ["Library opens"]);

  // bob has read nothing, starred nothing, and cannot guess ann's entries: his are the same ones, and his alone.
  await bob.goto(`${agent.address}/feeds/`);
  assert.equal(await unread(bob), 3);
  await follow(bob.locator("nav.feeds a:text('Starred')"));
  assert.deepEqual(await titles(bob), []);
  assert.deepEqual(complaints, []);
});

test("the keyboard does everything", async () => {
  const page = await sign_in("bob");
  await reload_until(page, "/feeds/", ".entries li");
  const state = (place) => page.locator(".entries > li").nth(place).evaluate((row) => [row.dataset.read, row.dataset.starred]);
  await page.keyboard.press("j");
  await page.locator(".entries > li:nth-child(1) article").waitFor();
  await page.keyboard.press("j");
  await page.locator(".entries > li:nth-child(2) article").waitFor();
  assert.equal(await page.locator(".entries article").count(), 1);
  await until("both are read", async () => (await state(0))[0] === "1" && (await state(1))[0] === "1");
  await until("they are not counted any more", async () => (await unread(page)) === 1);
  // Keys that are faster than the server open an entry once, or close it.
  await page.route("**/feeds/entry/*", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return route.continue();
  });
  for (const expected of [0, 1, 0]) {
    for (const key of expected ? ["o", "o", "o"] : ["o"]) await page.keyboard.press(key);
    const count = () => page.locator(".entries article").count();
    await until("it is open or closed", async () => (await count()) === expected);
    await page.waitForTimeout(400);
    assert.equal(await count(), expected, "it stays so");
  }
  await page.unroute("**/feeds/entry/*");
  await page.keyboard.press("m");
  await until("unread again", async () => (await state(1))[0] === "0");
  await page.keyboard.press("s");
  await until("starred", async () => (await state(1))[1] === "1");
  await page.keyboard.press("k");
  await page.locator(".entries > li:nth-child(1).chosen").waitFor();
  await page.context().route("http://example.org/**", (route) => route.fulfill({ body: "its own page" }));
  const popup = page.waitForEvent("popup");
  await page.keyboard.press("v");
  await (await popup).locator("text=its own page").waitFor();
  assert.equal((await popup).url(), "http://example.org/0");
  await (await popup).close();
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement?.name), "q");
  await page.keyboard.press("Escape");
  // The next page has what the keys have done.
  await page.goto(`${agent.address}/feeds/`);
  assert.deepEqual(await titles(page), ["Market on Sunday", "Library opens"]);
  await follow(page.locator("nav.feeds a:text('Starred')"));
  assert.deepEqual(await titles(page), ["Market on Sunday"]);
  // Everything is read by one key, which sends the form of the page.
  await page.goto(`${agent.address}/feeds/?all=1`);
  const loaded = page.waitForEvent("load");
  await page.keyboard.press("Shift+A");
  await loaded;
  assert.ok(await page.locator(".entries > li").evaluateAll((rows) => rows.every((row) => row.dataset.read === "1")));
  await page.keyboard.press("j");
  await page.locator(".entries > li:nth-child(1) article").waitFor();
  await page.keyboard.press("m");
  await until("unread again", async () => (await state(0))[0] === "0");
  // All are from July: older than a day.
  await page.goto(`${agent.address}/feeds/`);
  await page.click("button:text('older than a day')");
  await page.locator("text=Nothing here.").waitFor();
  assert.equal(await unread(page), 0);
  assert.deepEqual(complaints, []);
});

test("it works without script", async () => {
  const page = await sign_in("ann", { javaScriptEnabled: false });
  await page.goto(`${agent.address}/feeds/?all=1`);
  const star = page.locator(".entries li button").last();
  assert.equal((await star.textContent()).trim(), "☆");
  await follow(star);
  assert.equal((await page.locator(".entries li button").last().textContent()).trim(), "★");
  await page.click(".entries .title >> nth=0");
  await page.click("button:text('Mark as unread')");
  await page.goto(`${agent.address}/feeds/`);
  const before = await unread(page);
  assert.ok(before > 0);
  await follow(page.locator("button:text('Mark all as read')"));
  assert.equal(await unread(page), 0);
  await page.click("button:text('Sign out')");
  await page.locator("[name=password]").waitFor();
});

test("an account sets its own password, which ends its other sessions", async () => {
  const [page, other] = [await sign_in("bob"), await sign_in("bob")];
  const change = async (old, first, again) => {
    await page.goto(`${agent.address}/feeds/manage`);
    await page.click("summary:text('Change the password')");
    for (const [name, value] of [["old", old], ["new", first], ["again", again]]) await page.fill(`[name=${name}]`, value);
    await page.click("button:text-is('Change')");
  };
  await change("a long password of bob", "another password", "another one");
  await page.locator("[role=status]:text('not the same')").waitFor();
  await change("a long password of bob", "short", "short");
  await page.locator("[role=status]:text('8 to 1024')").waitFor();
  await change("a long password of bob", "another password", "another password");
  await page.locator("nav.feeds").waitFor();
  await other.goto(`${agent.address}/feeds/`);
  await other.locator("[name=password]").waitFor();
  await change("another password", "a long password of bob", "a long password of bob");
  await page.locator("nav.feeds").waitFor();
  // A wrong one keeps its account waiting, as when signing in.
  await change("another password", "a long password of bob", "a long password of bob");
  await page.locator("[role=status]:text('old password is wrong')").waitFor();
});

test("OPML goes in and out, and no feed runs anything", async () => {
  const page = await sign_in("ann");
  const outline = ({ file }, place) => `<outline text="${file}" xmlUrl="http://127.0.${1 + (place >> 7)}.${1 + (place & 127)}:${port}/${file}"/>`;
  const path = join(machine.directory, "feeds.opml");
  writeFileSync(path, `<opml version="2.0"><body><outline text="Difficult">${ROWS.map(outline).join("\n")}</outline></body></opml>`);
  await page.goto(`${agent.address}/feeds/manage`);
  await page.setInputFiles("[type=file]", path);
  await page.click("button:text('Import')");
  await page.locator(`h2:text('${ROWS.length + 1} feeds')`).waitFor();
  await until("all are fetched", async () => {
    const reply = await page.request.get(`${agent.address}/feeds/manage`);
    return reply.ok() && !(await reply.text()).includes("not fetched yet");
  });
  await page.goto(`${agent.address}/feeds/manage`);
  assert.deepEqual(await page.locator(".manage [role=alert]").allTextContents(), []);
  const addresses = await page.locator(".manage li .about").allTextContents();
  for (const { file } of ROWS) assert.ok(addresses.some((address) => address.includes(`/${file};`)), file);
  await is_accessible(page);

  // The export is what was imported.
  const download = page.waitForEvent("download");
  await page.click("a:text('Export as OPML')").catch(() => {});
  const exported = readFileSync(await (await download).path(), "utf8");
  const of = (text) => [...text.matchAll(/xmlUrl="([^"]*)"/g)].map((match) => match[1]).sort();
  assert.deepEqual(of(exported).filter((url) => !url.endsWith("/news")), of(readFileSync(path, "utf8")));
  assert.ok(exported.includes('text="Difficult"') && exported.includes('text="Home"'));

  // Every entry, without pictures and with them; only these may come from elsewhere.
  const loaded = [];
  await page.route("**/*", (route) => {
    const request = route.request();
    if (request.url().startsWith(agent.address)) return route.continue();
    loaded.push(`${request.resourceType()} ${request.url()}`);
    return route.abort();
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => console.log(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  complaints = [];
  const links = new Map();
  await page.goto(`${agent.address}/feeds/?folder=Difficult&all=1`);
  for (;;) {
    for (const [link, title] of await page.locator(".entries .title").evaluateAll((found) => found.map((one) => [one.getAttribute("href"), one.textContent]))) {
      links.set(link, title);
    }
    const next = page.locator("a[rel=next]");
    if ((await next.count()) === 0) break;
    await follow(next);
  }
  const expected = ROWS.reduce((sum, { entries }) => sum + entries.length, 0);
  assert.equal(links.size, expected);
  // Six hundred of one feed are alike.
  const others = [...links].filter(([, title]) => !/^T\d+$/.test(title)).map(([link]) => link);
  const with_images = [];
  for (const images of ["", "?images=1"]) {
    for (const link of images ? with_images : others) {
      await page.goto(`${agent.address}${link}${images}`, { waitUntil: "domcontentloaded" });
      const { ran, url, outer, has_images } = await page.evaluate(() => {
        const unwanted = "script, style, iframe, object, embed, svg, math, base, meta, link, template, form form, [id], [style]";
        const found = [...document.querySelectorAll("main > article")].map((article) => [...article.querySelectorAll(unwanted)]);
        const has_images = [...document.querySelectorAll("a")].some((anchor) => anchor.textContent.includes("Show images"));
        return { ran: window.ran, url: location.href, outer: found.map((elements) => elements.map((element) => element.outerHTML)), has_images };
      });
      assert.equal(ran, undefined, link);
      assert.equal(url, `${agent.address}${link}${images}`);
      assert.deepEqual(outer, [[]], link);
      if (!images) assert.deepEqual(loaded, [], link);
      assert.ok(loaded.every((what) => /^(image|media) /.test(what)), `${link}: ${loaded}`);
      if (!images && has_images) with_images.push(link);
    }
  }
  // A page that goes away asks for nothing any more.
  await page.goto("about:blank");
  assert.ok(loaded.every((what) => /^(image|media) /.test(what)), `${loaded}`);
  loaded.length = 0;
  complaints = complaints.filter((complaint) => !complaint.startsWith("Failed to load resource"));
  assert.deepEqual(complaints, []);

  // Below the sanitiser there is the policy: what comes to the page as it is runs nothing, and loads nothing.
  await page.goto(`${agent.address}/feeds/`);
  for (const { file } of ROWS.filter(({ file }) => file.startsWith("hostile-") && file !== "hostile-meta-refresh.xml")) {
    const raw = readFileSync(new URL(file, CORPUS), "utf8");
    const text = raw.match(/<description>marker (.*)<\/description>/s)?.[1];
    if (!text) continue;
    await page.evaluate((escaped) => {
      const place = document.createElement("div");
      const decoded = new DOMParser().parseFromString(escaped, "text/html").documentElement.textContent;
      place.innerHTML = decoded;
      document.querySelector("main").append(place);
    }, text);
  }
  await rest(300);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  assert.deepEqual(loaded.filter((what) => !what.startsWith("document")), []);
}, 600_000);

test("dark, narrow, and both are readable", async () => {
  for (const [name, options] of [
    ["dark", { colorScheme: "dark" }],
    ["narrow", { viewport: { width: 360, height: 800 } }],
    ["narrow-dark", { viewport: { width: 360, height: 800 }, colorScheme: "dark" }],
  ]) {
    const page = await sign_in("ann", options);
    await page.goto(`${agent.address}/feeds/?all=1`);
    const entry = await page.locator(".entries .title").first().getAttribute("href");
    for (const [view, address] of [["list", "/feeds/?all=1"], ["entry", entry], ["manage", "/feeds/manage"]]) {
      await page.goto(`${agent.address}${address}`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= page.viewportSize().width, `${name}: ${view} has ${width} pixels`);
      if (view !== "manage") await is_accessible(page);
      await picture(page, `reader-${name}-${view}`);
    }
    await page.context().close();
  }
});
