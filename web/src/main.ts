// The page: what is in the address, shown. Only this module knows the address; it hands every other module what that needs.

import * as about from "./about";
import * as agent from "./agent";
import type { Window } from "./agent";
import { show_alerts } from "./alerts";
import { Checks } from "./checks";
import { Controls } from "./controls";
import { element } from "./element";
import { show_exits } from "./exits";
import { Explore } from "./explore";
import { Fleet } from "./fleet";
import { FleetReasons } from "./fleet_reasons";
import { show_inspection } from "./inspection";
import { Live } from "./live";
import { ask_for_mark } from "./mark";
import { Pace } from "./pace";
import { check_panels, machine_panels, task_panels } from "./panels";
import { parts_panels, type Parts } from "./parts";
import type { PlotEvents } from "./plot";
import { Plots } from "./plots";
import { watch_presses } from "./press";
import type { CheckDetail, Curves, Status } from "./replies";
import { save_report } from "./report";
import { signs_in } from "./signs";
import { TaskTable } from "./task_table";
import { Timeline } from "./timeline";
import { time, written } from "./units";
import { of_tasks, read, selected, write, type View } from "./view";
import { OF_VERDICT, Verdict } from "./verdict";
import { renew_why } from "./why";

const MIN_SPAN_MS = 10_000;
/** Tasks under the mouse are asked for when it rests. */
const REST_MS = 150;
/** As `whit why --at` has it. */
const AROUND_MS = 60_000;
const KEEP_UP_MS = 5_000;
const MIN_REFRESH_MS = 15_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** From this length on a minute more or less is the same window. */
const MIN_WHOLE_MS = 5 * MINUTE_MS;
/** Only tasks that did something come by themselves. One that ended while nothing came would stay in the table. */
const ALL_TASKS_MS = 60_000;
/** What whit itself uses. */
const OWN_COST = ["rate(whit_agent_cpu_seconds_total[30s])", "whit_agent_resident_bytes"];
/** What is said of the present beside the plots. */
const OF_NOW = [...OWN_COST, ...OF_VERDICT];

let view = read(location.hash);
let status: Status = { first_ms: null, last_ms: null, tick_ms: 0, version: "", sees_all: true, has_reader: false, has_fleet: false, spans: [] };
let shown: Window = { from_ms: 0, to_ms: 0 };
let asked = new AbortController();
let is_in_trouble = false;
/** What is shown is being asked for. */
let is_asking = false;
/** Before this nothing is asked again of an agent that is busy. */
let patient_until_ms = 0;
let pointed: number | null = null;
/** The table of the tasks is wanted, above which the plots of the machine are not drawn yet. */
let is_bound_for_tasks = false;
/** How often tasks were asked for: the last answer counts. */
let task_questions = 0;
let rest = 0;

const events: PlotEvents = {
  zoomed: (window) => zoom(window),
  chosen: (at_ms) => go({ at_ms }),
  pointed: (at_ms) => {
    pointed = at_ms;
    clearTimeout(rest);
    rest = setTimeout(() => void show_tasks(), REST_MS);
  },
};
const table = new TaskTable(element("tasks"), {
  sorted: (sort) => go({ sort }),
  address: (of, started_ms) => address_of(of, started_ms),
});
const explore = new Explore(
  events,
  (expression) => go({ place: "explore", expression }),
  (expression) => write({ ...view, place: "explore", expression }),
  fixed_address,
);
const checks = new Checks({
  asked: (change) => go(change),
  changed: () => void show(),
  address: (check) => write({ ...view, place: "checks", check }),
});
const fleet = new Fleet({
  address: (machine) => write({ ...view, place: "fleet", machine }),
  found: (find) => {
    view = { ...view, find };
    history.replaceState(null, "", write(view));
  },
});
const fleet_reasons = new FleetReasons();
const timeline = new Timeline({
  zoomed: (window) => zoom(window),
  chosen: ({ from_ms, to_ms }) => go({ at_ms: from_ms, end_ms: Math.max(to_ms, from_ms + (view.span_ms ?? 0) / 2) }),
});
const verdict = new Verdict({
  checks: (state) => go({ place: "checks", check: "", find: "", state }),
  alerts: () => go({ place: "alerts" }),
  tasks: (sort) => {
    if (sort !== view.sort) go({ place: "machine", sort });
    to_tasks();
  },
});
const live = new Live({
  values: (answers) => {
    move_to(answers.from_ms);
    show_present(answers.answers.splice(-OF_NOW.length));
    // Ticks are missing: before the stream began, or where it was interrupted. What is asked for already has them.
    if (plots?.push(answers) === false && !is_asking && Date.now() >= patient_until_ms) void fill();
  },
  tasks: (tasks) => {
    if (view.at_ms === null && pointed === null) table.push(tasks);
  },
  resumed: () => {
    table.forget();
    void show();
  },
});
const controls = new Controls({
  view: () => view,
  go,
  move: (spans) => move(spans * (view.span_ms ?? shown.to_ms - shown.from_ms)),
  step,
  scale,
  mark: () => void mark(),
  save: () => void save(),
  address: fixed_address,
  find: () => {
    if (view.place === "machine") table.focus_filter();
    else if (view.place === "checks") element("check-find").focus();
    else if (view.place === "fleet") element("fleet-find").focus();
  },
  explore: () => {
    go({ place: "explore" });
    // It may be hidden until the agent has answered.
    element("explore").hidden = false;
    explore.focus();
  },
});
const [signs_pace, why_pace, view_pace] = [new Pace(), new Pace(), new Pace()];
const [troubles_pace, inspection_pace, tasks_pace] = [new Pace(), new Pace(), new Pace()];
/** The tasks whose name stands above them. */
let named = "";
/** The process that is shown runs at the end of the window: its number is that of no other. */
let is_running = false;
/** Those of the machine or of some tasks, and whose. */
let plots: Plots | null = null;
let plotted = "";
/** The check whose plots they are. */
let plotted_check = "";

/** Leads to the table of the tasks. */
function to_tasks(): void {
  element("tasks-section").scrollIntoView();
  table.focus();
}

/** The address of the page of some tasks, or of the process that started then. */
const address_of = (of: string, started_ms: number | null = null) => write({ ...view, ...of_tasks(of, started_ms) });

/** Shows something else, and lets the address say so. */
function go(change: Partial<View>): void {
  if (change.place !== "machine") is_bound_for_tasks = false;
  view = { ...view, ...change };
  patient_until_ms = 0;
  // What is chosen already, or typed letter by letter, is no step to go back.
  const is_same = write(view) === write(read(location.hash));
  const is_typed = Object.keys(change).join() === "find";
  if (is_typed) history.replaceState(null, "", write(view));
  else if (!is_same) history.pushState(null, "", write(view));
  void show();
}

function zoom({ from_ms, to_ms }: Window): void {
  const span_ms = Math.max(MIN_SPAN_MS, to_ms - from_ms);
  const is_now = to_ms >= (status.last_ms ?? 0) - 1000;
  go({ span_ms, end_ms: is_now ? null : to_ms, at_ms: null });
}

const is_live = () => view.end_ms === null && !document.hidden;
/** Processes, unless each thread is a row. */
const rows_by = () => (view.by === "thread" ? "thread" : "process");

function window_of(): Window {
  const { first_ms, last_ms } = status;
  if (first_ms === null || last_ms === null) throw new agent.Refused("Nothing is recorded yet.");
  const to_ms = Math.min(view.end_ms ?? last_ms, Math.max(last_ms, first_ms + MIN_SPAN_MS));
  const from_ms = Math.max(first_ms, to_ms - (view.span_ms ?? Infinity));
  // What was marked with the mouse lies between milliseconds.
  return { from_ms: Math.round(from_ms), to_ms: Math.round(to_ms) };
}

/** The store has more than the history here. */
function window_of_fleet(): Window {
  const to_ms = Math.round(view.end_ms ?? Date.now());
  return { from_ms: Math.round(to_ms - (view.span_ms ?? DAY_MS)), to_ms };
}

async function show(): Promise<void> {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  is_asking = true;
  // What comes by itself is of the present.
  if (!is_live()) live.end();
  try {
    status = await agent.status(view.span_ms, view.end_ms, signal);
    shown = view.place === "fleet" ? window_of_fleet() : window_of();
    show_frame();
    // What still comes is of the rows before.
    if (table.arranged(view.by, view.sort)) live.end();
    if (view.place === "checks") return await show_checks(signal);
    if (view.place === "alerts") return await show_rules(signal);
    if (view.place === "fleet") return await show_fleet(signal);
    if (view.place !== "explore") prepare_plots();
    if (view.place !== "machine") watch();
    // Which time is shown depends on it. Without an answer it is the whole window, and the trouble is said at the end.
    const about_trouble = view.place === "tasks" ? await show_about(signal).then(() => null, (error: unknown) => error) : null;
    signal.throwIfAborted();
    const parts = [signs_pace.work(() => show_signs(signal)), ask_present(signal)];
    if (view.place === "explore") parts.push(explore.show(view.expression, shown, status.tick_ms, view.zone, signal));
    else parts.push(plots!.show(shown, status.tick_ms, view.zone, signal).then(watch), why_pace.work(() => show_reasons(signal)));
    if (view.place === "machine") parts.push(show_tasks());
    if (view.place === "tasks") {
      parts.push(inspection_pace.work(() => inspect(signal)));
      parts.push(agent.exits(view.of, shown, signal).then((exits) => show_exits(exits, view.zone, address_of)));
    }
    await Promise.all(parts);
    if (is_bound_for_tasks && view.place === "machine") to_tasks();
    is_bound_for_tasks = false;
    if (about_trouble !== null) throw about_trouble;
    say(null);
  } catch (error) {
    say_error(error, signal);
  } finally {
    if (!signal.aborted) is_asking = false;
  }
}

/** Asks for the plots alone: ticks of theirs are missing. */
async function fill(): Promise<void> {
  const { signal } = asked;
  is_asking = true;
  try {
    await plots?.show(shown, status.tick_ms, view.zone, signal).then(watch);
  } catch (error) {
    say_error(error, signal);
  } finally {
    if (!signal.aborted) is_asking = false;
  }
}

/** Says why there is no answer, unless it is not wanted any more. */
function say_error(error: unknown, signal: AbortSignal): void {
  if (signal.aborted) return;
  if (error instanceof agent.Busy) patient_until_ms = Date.now() + 1000 * error.retry_after_s;
  if (error instanceof agent.Denied) patient_until_ms = Infinity;
  say(error instanceof Error ? error.message : String(error));
}

/** The list, or one of them with its plots. */
async function show_checks(signal: AbortSignal): Promise<void> {
  const { check, find, state, zone } = view;
  watch();
  const one = async () => {
    const detail = await checks.show_one(check, zone, signal);
    prepare_plots(detail);
    plotted_check = check;
    element("plots").hidden = false;
    await plots!.show(shown, status.tick_ms, zone, signal);
  };
  const list = () => checks.show_list(find, state, shown, zone, signal);
  await Promise.all([check === "" ? list() : one(), signs_pace.work(() => show_signs(signal)), ask_present(signal)]);
  say(null);
}

/** What is watched for. */
async function show_rules(signal: AbortSignal): Promise<void> {
  watch();
  const address = (expression: string) => write({ ...view, place: "explore", expression });
  await Promise.all([show_alerts(address, view.zone, signal), signs_pace.work(() => show_signs(signal)), ask_present(signal)]);
  say(null);
}

/** All machines, or one of them with its plots. */
async function show_fleet(signal: AbortSignal): Promise<void> {
  const { machine, find, zone } = view;
  watch();
  const one = async () => {
    if (plotted !== `fleet ${machine}`) {
      plots?.end();
      plots = new Plots(element("plots"), machine_panels(true), events, agent.fleet_plots(machine));
      plotted = `fleet ${machine}`;
      plotted_check = "";
    }
    await Promise.all([fleet.show_one(machine, view.end_ms, zone, signal), plots!.show(shown, 1000, zone, signal)]);
    void fleet_reasons.show(machine, shown, view.end_ms === null, zone, signal);
  };
  await Promise.all([machine === "" ? fleet.show_list(find, signal) : one(), ask_present(signal)]);
  say(null);
}

/** What is around the plots. */
function show_frame(): void {
  element("explore").hidden = view.place !== "explore";
  const is_of_checks = view.place === "checks";
  const is_of_alerts = view.place === "alerts";
  element("alerts-section").hidden = !is_of_alerts;
  element("to-feeds").hidden = !status.has_reader;
  const is_of_fleet = view.place === "fleet";
  element("to-fleet").hidden = !status.has_fleet;
  element("fleet-section").hidden = !is_of_fleet;
  // The time line is that of the history here, and a list is of the present.
  element("timeline").hidden = element("signs").hidden = is_of_fleet;
  element("spans").hidden = element("window").hidden = is_of_alerts || (is_of_fleet && view.machine === "");
  element("fleet-tools").hidden = view.machine !== "";
  element("fleet-title").textContent = is_of_fleet && view.machine !== "" ? view.machine : "Fleet";
  element("checks-section").hidden = !is_of_checks;
  element("check-tools").hidden = view.check !== "";
  element("plots").hidden = view.place === "explore" || is_of_alerts || (is_of_fleet && view.machine === "") || (is_of_checks && (view.check === "" || plotted_check !== view.check));
  element("why-section").hidden = view.place === "explore" || is_of_alerts || is_of_checks || (is_of_fleet && view.machine === "");
  element("tasks-section").hidden = element("verdict").hidden = view.place !== "machine";
  element("exits-section").hidden = element("of-section").hidden = view.place !== "tasks";
  const named_now = `${view.of} ${view.started_ms}`;
  if (view.place !== "tasks") document.title = "whit";
  else if (named !== named_now) {
    const target = selected(view.of);
    about.name_target(target ? `${target.label} ${target.value}` : view.of);
    element("about").replaceChildren();
    element("inspection").replaceChildren();
  }
  named = view.place === "tasks" ? named_now : "";
  for (const to of ["to-machine", "to-tasks"]) element<HTMLAnchorElement>(to).href = write({ ...view, place: "machine", parts: null });
  // What is looked for among checks is no machine, and the other way round.
  const find_in = (place: string) => (view.place === place ? view.find : "");
  element<HTMLAnchorElement>("to-checks").href = write({ ...view, place: "checks", check: "", find: find_in("checks") });
  element<HTMLAnchorElement>("to-explore").href = write({ ...view, place: "explore" });
  element<HTMLAnchorElement>("to-alerts").href = write({ ...view, place: "alerts" });
  element<HTMLAnchorElement>("to-fleet").href = write({ ...view, place: "fleet", machine: "", find: find_in("fleet") });
  for (const place of ["machine", "checks", "alerts", "explore", "fleet"]) {
    element(`to-${place}`).ariaCurrent = view.place === place ? "page" : null;
  }
  controls.show();
  const at = view.at_ms === null ? "" : `, tasks at ${time(view.at_ms, view.zone)}`;
  element("window").textContent = `${time(shown.from_ms, view.zone)} – ${time(shown.to_ms, view.zone)}${at}`;
}

/** Other plots where another thing is shown. */
function prepare_plots(check: CheckDetail | null = null): void {
  const of_machine = () => `${view.parts ?? ""} ${status.sees_all}`;
  const of_check = check && `${check.entry.selector} ${JSON.stringify(check.measured)}`;
  const wanted = of_check ?? (view.place === "tasks" ? view.of : of_machine());
  if (check === null) plotted_check = "";
  if (plots && plotted === wanted) return;
  plots?.end();
  // The mouse leaves no plot that is not there any more.
  pointed = null;
  const of_parts = () => (view.parts ? parts_panels(view.parts) : machine_panels(status.sees_all));
  const of_place = () => (view.place === "tasks" ? task_panels(view.of) : of_parts());
  const panels = check ? check_panels(check.entry.selector, check.measured) : of_place();
  const address = (parts: Parts) => write({ ...view, place: "machine", parts });
  plots = new Plots(element("plots"), panels, { ...events, address });
  plotted = wanted;
}

/** Which tasks they are. A number of a process is used again: what is shown is one of them, while it ran. */
async function show_about(signal: AbortSignal): Promise<void> {
  const detail = await about.process(view.of, view.started_ms, shown, signal);
  const pid = selected(view.of)?.value ?? "";
  is_running = detail !== null && detail.ended_ms === null && view.end_ms === null;
  if (detail === null && view.started_ms !== null) return about.show_none(pid);
  if (detail === null) return about.show_tasks_of(view.of, shown, signal);
  if (view.started_ms === null) {
    view = { ...view, started_ms: detail.started_ms };
    history.replaceState(null, "", write(view));
  }
  shown = about.life_in(shown, detail, status.tick_ms);
  show_frame();
  about.show_process(pid, detail, view.zone, address_of);
}

/** What a process that runs does at this moment. */
async function inspect(signal: AbortSignal): Promise<void> {
  // Without it the page is as good.
  const outcome = is_running ? await agent.inspection(selected(view.of)?.value ?? "", signal).catch(() => "gone" as const) : "gone";
  if (!signal.aborted) show_inspection(outcome, address_of);
}

/** Those whose values come by themselves: not what is summed over one user's tasks, nor over a long time. */
const live_expressions = () => (view.place === "machine" && status.sees_all ? (plots?.live() ?? []) : []);

/** Lets values come by themselves, or not. */
function watch(): void {
  if (is_live() && view.place === "machine") live.watch([...live_expressions(), ...OF_NOW], rows_by());
  else live.end();
}

/** The window goes with the time. */
function move_to(at_ms: number): void {
  status.last_ms = at_ms;
  shown = window_of();
  show_frame();
}

/** The tasks of the instant under the mouse, else of the one that was chosen, else of the end of the window. */
async function show_tasks(): Promise<void> {
  if (view.place !== "machine") return;
  const question = ++task_questions;
  const at_ms = pointed ?? view.at_ms ?? shown.to_ms;
  const tasks = await agent.tasks(at_ms, rows_by(), asked.signal).catch(() => null);
  // An answer that comes late is about an instant that is not shown any more.
  if (tasks && question === task_questions) table.show(tasks, is_live() && pointed === null && view.at_ms === null);
}

/** What is asked about: the window, or the minute around the instant that was chosen. What goes with the time begins at a whole minute. */
function around(): Window {
  const { at_ms } = view;
  // That of a task is its life.
  const is_whole = view.place === "machine" && view.end_ms === null && shown.to_ms - shown.from_ms >= MIN_WHOLE_MS;
  const minute_ms = Math.floor(shown.from_ms / MINUTE_MS) * MINUTE_MS;
  if (at_ms === null) return is_whole && minute_ms > (status.first_ms ?? 0) ? { ...shown, from_ms: minute_ms } : shown;
  const [first_ms, last_ms] = [status.first_ms ?? 0, status.last_ms ?? at_ms];
  return { from_ms: Math.max(first_ms, at_ms - AROUND_MS / 2), to_ms: Math.min(last_ms, at_ms + AROUND_MS / 2) };
}

async function show_reasons(signal: AbortSignal): Promise<void> {
  fleet_reasons.forget();
  const of = view.place === "tasks" ? selected(view.of) : null;
  // It takes what is a number for a process, a path for a cgroup and all else for a program.
  const target = of && ["pid", "comm", "cgroup"].includes(of.label) ? of.value : "";
  const window = around();
  // Of one tick nothing can be said.
  if (window.from_ms >= window.to_ms) return void (element("why-state").textContent = "");
  const whose = view.place === "tasks" && target === "" ? " of the whole machine" : "";
  const title = `Why${whose}, ${time(window.from_ms, view.zone)} – ${time(window.to_ms, view.zone)}`;
  // There are sums of whole minutes, which need the last tick before them; what is besides is read tick by tick.
  const before_ms = window.from_ms % MINUTE_MS === 0 ? Math.max(1000, status.tick_ms) : 0;
  const from_ms = Math.max(status.first_ms ?? 0, window.from_ms - before_ms);
  const ask = async () => {
    const why = await agent.why({ from_ms, to_ms: window.to_ms }, target, signal);
    if (view.place === "machine") verdict.find(why.sentences);
    return why;
  };
  const again_s = await renew_why(target, title, ask, {
    plot: (expression) => write({ ...view, place: "explore", expression: expression.replace(/\[\d+m?s\]/g, `[${evidence_range_s()}s]`) }),
    tasks: address_of,
  });
  if (again_s > 0) setTimeout(() => !signal.aborted && void why_pace.work(() => show_reasons(signal)).catch(() => undefined), 1000 * again_s);
}

/** Evidence is of the whole window; its plot of a part of that at each step. */
const evidence_range_s = () => Math.max(10, 2 * Math.round((plots?.step_ms ?? 0) / 1000));

async function show_signs(signal: AbortSignal): Promise<void> {
  const whole = { from_ms: status.first_ms!, to_ms: status.last_ms! };
  const found = await signs_in(whole, signal);
  timeline.show(status.spans, shown, found, view.zone);
  const chosen = view.at_ms === null ? [] : [{ kind: "chosen" as const, from_ms: view.at_ms, to_ms: view.at_ms, text: "" }];
  plots?.sign([...found, ...chosen]);
  explore.sign(found);
}

async function ask_present(signal: AbortSignal): Promise<void> {
  const steps = { from_ms: shown.to_ms, to_ms: shown.to_ms, step_ms: 1000 };
  const present = agent.plots(OF_NOW, steps, signal).then(({ answers }) => show_present(answers));
  await Promise.all([present, troubles_pace.work(() => count_troubles(signal))]);
}

/** Checks and alerts have ticks of their own, seconds apart. What was not answered stays as it was. */
async function count_troubles(signal: AbortSignal): Promise<void> {
  // The first line is that of the machine.
  if (view.place !== "machine") return;
  const [checks, rules] = await Promise.allSettled([agent.check_counts(signal), agent.rules(signal)]);
  if (checks.status === "fulfilled") verdict.count_checks(checks.value);
  if (rules.status === "fulfilled") verdict.count_alerts(rules.value.groups.flatMap((group) => group.rules));
}

/** The newest answers to [`OF_NOW`]. */
function show_present(answers: Curves[]): void {
  show_own_cost(answers.slice(0, OWN_COST.length));
  verdict.show(answers.slice(OWN_COST.length));
}

/** What whit itself uses, always. */
function show_own_cost(answers: Curves[]): void {
  const [cpu, memory] = answers.map(({ curves }) => curves[0]?.values[0]);
  element("own-cost").textContent = `whit: ${written(cpu, "ratio")}, ${written(memory, "bytes")}`;
}

function say(trouble: string | null): void {
  is_in_trouble = trouble !== null;
  const place = element("trouble");
  place.hidden = trouble === null;
  place.textContent = trouble;
}

/** Moves the window, or the chosen instant, by some time. */
function move(by_ms: number): void {
  const to_ms = shown.to_ms + by_ms;
  if (view.place === "fleet") return go({ end_ms: to_ms >= Date.now() ? null : to_ms });
  // The first window is as long as all others.
  const end_ms = Math.max(to_ms, (status.first_ms ?? 0) + (view.span_ms ?? 0));
  go({ end_ms: end_ms >= (status.last_ms ?? 0) ? null : end_ms });
}

function step(count: number): void {
  const at_ms = (view.at_ms ?? shown.to_ms) + count * (plots?.step_ms ?? 1000);
  go({ at_ms: Math.min(Math.max(at_ms, shown.from_ms), shown.to_ms) });
}

/** Around the chosen instant, or from the end of the window. */
function scale(factor: number): void {
  const span_ms = Math.max(MIN_SPAN_MS, (shown.to_ms - shown.from_ms) * factor);
  const middle_ms = view.at_ms;
  if (middle_ms === null) return go({ span_ms });
  const end_ms = middle_ms + span_ms / 2;
  go({ span_ms, end_ms: end_ms >= (status.last_ms ?? 0) ? null : end_ms });
}

/** What is shown, which ends where it ends now. */
const fixed = () => write({ ...view, end_ms: view.end_ms ?? shown.to_ms });

/** The address of that. */
function fixed_address(): string {
  return new URL(fixed(), location.href).href;
}

/** The window of the file, and of its link to here, ends where it ends now. */
async function save(): Promise<void> {
  const until = new Date(shown.to_ms).toISOString().slice(0, 16).replace("T", " ");
  await save_report(fixed(), `${document.title} ${location.hostname} until ${until} UTC`).catch((error: Error) => say(error.message));
}

async function mark(): Promise<void> {
  // By the clock of the machine, not that of the browser.
  if (await ask_for_mark(view.at_ms ?? status.last_ms ?? Date.now(), view.zone)) await show();
}

function begin(): void {
  watch_presses();
  controls.begin();
  element("to-tasks").addEventListener("click", (event) => {
    // Another window has no table to lead to.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (view.place === "machine") return to_tasks();
    is_bound_for_tasks = true;
    go({ place: "machine", parts: null });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    plots?.redraw();
    explore.redraw();
  });
  addEventListener("popstate", () => {
    is_bound_for_tasks = false;
    view = read(location.hash);
    patient_until_ms = 0;
    void show();
  });
  document.addEventListener("visibilitychange", () => (document.hidden ? live.end() : void show()));
  setInterval(keep_up, KEEP_UP_MS);
  void show();
}

/** Asks again for what does not come by itself. */
function keep_up(): void {
  // The agent did not answer, or has not recorded anything: then it is asked again and again.
  if (Date.now() < patient_until_ms) return;
  if (is_in_trouble && !document.hidden) return is_asking ? undefined : void show();
  if (!is_live()) return;
  const { signal } = asked;
  const parts = [troubles_pace.keep(() => count_troubles(signal))];
  // A machine of the fleet has signs of its own, which are not known here.
  if (view.place !== "fleet") parts.push(signs_pace.keep(() => show_signs(signal)));
  if (view.place === "machine" || view.place === "tasks") parts.push(why_pace.keep(() => show_reasons(signal)));
  if (view.place === "tasks") parts.push(inspection_pace.keep(() => inspect(signal)));
  if (view.place === "machine" && !table.is_scrolled) parts.push(tasks_pace.keep(show_tasks, ALL_TASKS_MS));
  const comes_by_itself = live.is_open && live_expressions().length > 0;
  if (!comes_by_itself) parts.push(view_pace.keep(show, Math.max(MIN_REFRESH_MS, plots?.step_ms ?? 0)));
  Promise.all(parts).catch(() => undefined);
}

begin();
