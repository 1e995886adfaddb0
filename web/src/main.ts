// The page: what is in the address, shown.

import * as agent from "./agent";
import { PANELS } from "./panels";
import { Plot, type Window } from "./plot";
import type { Why } from "./replies";
import { TaskTable } from "./task_table";
import { time, written } from "./units";
import { GROUPINGS, SPANS, read, write, type View } from "./view";

const REFRESH_MS = 5_000;
const SHORTEST_SPAN_MS = 10_000;

const element = (id: string) => document.getElementById(id)!;

let view = read(location.hash);
let asked = new AbortController();

const plots = PANELS.map(
  (panel) =>
    new Plot(panel, {
      zoomed: ({ from_ms, to_ms }) => {
        const span_ms = Math.max(SHORTEST_SPAN_MS, to_ms - from_ms);
        go({ span_ms, end_ms: to_ms, at_ms: null });
      },
      chosen: (at_ms) => go({ at_ms }),
    }),
);
const table = new TaskTable(element("tasks"), (sort) => go({ sort }));

/** Shows something else, and lets the address say so. */
function go(change: Partial<View>): void {
  view = { ...view, ...change };
  history.pushState(null, "", write(view));
  void show();
}

async function show(): Promise<void> {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  mark_controls();
  try {
    const { first_ms, last_ms } = await agent.status(signal);
    if (first_ms === null || last_ms === null) throw new agent.Refused("nothing is recorded yet");
    const to_ms = view.end_ms ?? last_ms;
    const window: Window = { from_ms: Math.max(first_ms, to_ms - view.span_ms), to_ms };
    const at_ms = view.at_ms ?? to_ms;
    element("window").textContent = `${time(window.from_ms)} – ${time(to_ms)}${view.at_ms === null ? "" : `, tasks at ${time(at_ms)}`}`;
    const parts = [
      ...plots.map((plot) => plot.show(window, signal)),
      agent.tasks(at_ms, view.by, signal).then((tasks) => table.show(tasks, view.sort)),
      agent.why(window.from_ms, window.to_ms, signal).then(show_why),
      show_own_cost(signal),
    ];
    await Promise.all(parts);
    say(null);
  } catch (error) {
    if (!signal.aborted) say(error instanceof Error ? error.message : String(error));
  }
}

/** What whit itself uses, always. */
async function show_own_cost(signal: AbortSignal): Promise<void> {
  const [cpu, memory] = await Promise.all([
    agent.value("rate(whit_agent_cpu_seconds_total[1m])", signal),
    agent.value("whit_agent_resident_bytes", signal),
  ]);
  element("own-cost").textContent = `whit uses ${written(cpu, "percent")} of a CPU, ${written(memory, "bytes")}`;
}

function show_why({ sentences, missing }: Why): void {
  const texts = sentences.map(({ text }) => text);
  if (texts.length === 0) texts.push("Nothing is wrong.");
  texts.push(...missing.map((text) => `Not known: ${text}`));
  element("why").replaceChildren(
    ...texts.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }),
  );
}

function say(trouble: string | null): void {
  const place = element("trouble");
  place.hidden = trouble === null;
  place.textContent = trouble;
}

function button(text: string, pressed: () => boolean, act: () => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.textContent = text;
  button.addEventListener("click", act);
  controls.push(() => button.setAttribute("aria-pressed", String(pressed())));
  return button;
}

const controls: (() => void)[] = [];
const mark_controls = () => controls.forEach((mark) => mark());

function begin(): void {
  element("plots").append(...plots.map((plot) => plot.element));
  element("spans").append(
    ...SPANS.map(([name, span_ms]) => button(name, () => view.span_ms === span_ms, () => go({ span_ms }))),
    button("now", () => view.end_ms === null && view.at_ms === null, () => go({ end_ms: null, at_ms: null })),
  );
  const groupings = document.createElement("div");
  groupings.className = "groupings";
  groupings.append(...GROUPINGS.map((by) => button(`by ${by}`, () => view.by === by, () => go({ by }))));
  element("tasks").prepend(groupings);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach((plot) => plot.begin()));
  addEventListener("popstate", () => {
    view = read(location.hash);
    void show();
  });
  setInterval(() => {
    if (view.end_ms === null && !document.hidden) void show();
  }, REFRESH_MS);
  void show();
}

begin();
