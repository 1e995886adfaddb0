// What needs no browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { source } from "./source.mjs";

const { written, tick, time } = await source("units");
const { read, write, selector, selected } = await source("view");
const { context } = await source("completion");
const { grouped } = await source("grouping");
const { steps_of } = await source("plots");
const { for_grafana } = await source("explore");

test("values are written as the terminal writes them", () => {
  for (const [measure, value, text] of JSON.parse(readFileSync(new URL("written.json", import.meta.url)))) {
    assert.equal(written(value, measure), text, `${measure} ${value}`);
  }
  assert.equal(written(null, "bytes"), "–");
});

test("times are in the zone that was chosen", () => {
  assert.equal(time(0, "utc"), "1970-01-01 00:00:00");
  assert.equal(tick(1_700_000_000_000, 1, "utc"), "22:13:20");
  assert.equal(tick(1_700_000_000_000, 3600, "utc"), "22:13");
  assert.equal(tick(1_700_000_000_000, 86_400, "utc"), "11-14");
});

test("an address holds what is shown", () => {
  const usual = read("");
  assert.equal(write(usual), "#");
  const view = { ...usual, place: "tasks", of: selector("comm", 'a "b" \\ <img>&='), span_ms: null, end_ms: 5, at_ms: 4, by: "user", sort: "name", zone: "utc" };
  assert.deepEqual(read(write(view)), view);
  const parts = { ...usual, parts: "disks" };
  assert.deepEqual(read(write(parts)), parts);
  assert.equal(read("#parts=nothing").parts, null);
  assert.deepEqual(selected(view.of), { label: "comm", value: 'a "b" \\ <img>&=' });
  // What somebody made up is as usual.
  assert.deepEqual(read("#span=-1&end=x&by=nobody&place=nowhere&zone=mars"), usual);
  assert.equal(selected('{a="b",c="d"}'), null);
});

test("completion knows what stands before the cursor", () => {
  assert.deepEqual(context("sum(rate(node_c"), { kind: "name", word: "node_c", metric: "", label: "" });
  assert.deepEqual(context("rate(node_cpu{mo"), { kind: "label", word: "mo", metric: "node_cpu", label: "" });
  assert.deepEqual(context('node_cpu{a="b",mode=~"us'), { kind: "value", word: "us", metric: "node_cpu", label: "mode" });
  assert.equal(context('node_cpu{mode="user"}[5m]) + s').kind, "name");
});

test("groups add what is known", () => {
  const task = (name, pid, on_cpu) => ({
    name, pid, user: "u", cgroup: "/c", cgroup_name: "c.service", threads: 1, is_ended: false, on_cpu, run_queue: null, block_io: 0,
    resident_bytes: 1, read_bytes: 0, written_bytes: 0,
  });
  const tasks = [task("a", 1, 0.5), task("a", 2, null), task("b", 3, 0.25)];
  const by_program = grouped(tasks, "program");
  assert.deepEqual(by_program.map(({ name, on_cpu, run_queue, threads }) => [name, on_cpu, run_queue, threads]), [["a", 0.5, null, 2], ["b", 0.25, null, 1]]);
  assert.equal(grouped(tasks, "user").length, 1);
  assert.equal(grouped(tasks, "process")[0].of, '{pid="1"}');
  assert.equal(tasks[0].threads, 1, "the tasks stay as they are");
});

test("rates follow the steps of Grafana", () => {
  for (const [expression, expected] of [
    ['sum by (comm) (rate(whit_task_on_cpu_seconds_total{comm=~"a[0-9]"}[5m]))', 'sum by (comm) (rate(whit_task_on_cpu_seconds_total{comm=~"a[0-9]"}[$__rate_interval]))'],
    // An increase is over its range.
    ["increase( node_forks_total [1h] ) / irate( x [30s])", "increase( node_forks_total [1h] ) / irate( x [$__rate_interval])"],
    ['rate(x{path=~"/a{2}"}[5m])', 'rate(x{path=~"/a{2}"}[$__rate_interval])'],
    ["rate(x{path=~`a{2}`}[5m])", "rate(x{path=~`a{2}`}[$__rate_interval])"],
    ['label_replace(x, "a", "rate(y[5m])", "", "")', 'label_replace(x, "a", "rate(y[5m])", "", "")'],
    // A maximum over an hour is one over an hour, and a subquery has steps of its own.
    ["max_over_time(node_load1[1h])", "max_over_time(node_load1[1h])"],
    ["rate(node_load1[1h:1m])", "rate(node_load1[1h:1m])"],
  ]) {
    assert.equal(for_grafana(expression), expected);
  }
});

test("steps are whole seconds and no shorter than ticks", () => {
  assert.deepEqual(steps_of({ from_ms: 1, to_ms: 60_500 }, 1001), { from_ms: 1000, to_ms: 60_000, step_ms: 1000 });
  assert.equal(steps_of({ from_ms: 0, to_ms: 60_000 }, 10_001).step_ms, 10_000);
  assert.equal(steps_of({ from_ms: 0, to_ms: 604_800_000 }, 60_001).step_ms, 1_512_000);
});
