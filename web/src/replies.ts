// What the agent replies: from agent/src/http/replies.rs.

/**
 * What there is of the history.
 */
export type Status = { 
/**
 * The first tick, in milliseconds since 1970.
 */
first_ms: number | null, 
/**
 * The last one.
 */
last_ms: number | null, 
/**
 * The distance of ticks at the beginning of the window that was asked for.
 */
tick_ms: number, 
/**
 * Of whit.
 */
version: string, 
/**
 * Whether what all tasks did together is shown, or what those of one user did.
 */
sees_all: boolean, 
/**
 * Whether there is a feed reader.
 */
has_reader: boolean, 
/**
 * Whether there is a view of the fleet.
 */
has_fleet: boolean, 
/**
 * The times in which something was recorded, from and to, in order.
 */
spans: Array<[number, number]>, };

/**
 * The answers to several expressions, at the same times.
 */
export type Answers = { 
/**
 * The first time, in milliseconds since 1970.
 */
from_ms: number, 
/**
 * From one to the next.
 */
step_ms: number, count: number, answers: Array<Curves>, };

/**
 * The answer to one.
 */
export type Curves = { 
/**
 * What the values are: a name in the table of units.
 */
measure: string, curves: Array<Curve>, fault: Fault | null, };

/**
 * One series.
 */
export type Curve = { labels: { [key in string]: string }, 
/**
 * A value a time; `null`: there is none.
 */
values: Array<number | null>, };

/**
 * What is wrong with an expression.
 */
export type Fault = { message: string, 
/**
 * The characters before it, as far as that is known.
 */
place: number | null, };

/**
 * What tasks did in the interval before an instant.
 */
export type Tasks = { 
/**
 * When they were read, in milliseconds since 1970.
 */
at_ms: number, rows: Array<TaskEntry>, };

/**
 * The tasks that did something in the last interval.
 */
export type ActiveTasks = { 
/**
 * In milliseconds since 1970.
 */
at_ms: number, rows: Array<TaskEntry>, 
/**
 * Those that there are no more.
 */
gone: Array<number>, };

/**
 * A process or a thread. Times are seconds in each second; what is not known is `null`.
 */
export type TaskEntry = { name: string, 
/**
 * `null` if the row is several processes, which have ended.
 */
pid: number | null, 
/**
 * In milliseconds since 1970; `null` where `pid` is.
 */
started_ms: number | null, user: string, 
/**
 * Its path.
 */
cgroup: string, 
/**
 * What people call it: a unit, a container.
 */
cgroup_name: string, threads: number, is_ended: boolean, on_cpu: number | null, run_queue: number | null, block_io: number | null, 
/**
 * The reason for which most of its threads sleep; `null` if none does or none is known.
 */
waits_for: string | null, resident_bytes: number | null, 
/**
 * A second.
 */
read_bytes: number | null, 
/**
 * A second.
 */
written_bytes: number | null, };

/**
 * A process, as it was at a time or, if it had ended, at its end. What is not known is `null`.
 */
export type ProcessDetail = { name: string, user: string, cgroup: string, cgroup_name: string, command_line: string | null, 
/**
 * In milliseconds since 1970.
 */
started_ms: number, 
/**
 * The same; `null` if it was running.
 */
ended_ms: number | null, status: number | null, signal: number | null, 
/**
 * Its parent, the parent of that one, and so on.
 */
ancestors: Array<RelativeEntry>, children_count: number, 
/**
 * The first of them.
 */
children: Array<RelativeEntry>, threads_count: number, 
/**
 * The first of them.
 */
threads: Array<ThreadEntry>, 
/**
 * How many of its threads sleep for which reason, the most first.
 */
waits: Array<WaitCount>, };

/**
 * A process that is an ancestor or a child.
 */
export type RelativeEntry = { pid: number, name: string, 
/**
 * In milliseconds since 1970.
 */
started_ms: number, };

/**
 * A thread of a process.
 */
export type ThreadEntry = { tid: number, name: string, 
/**
 * `null` if it does not sleep, or the reason is not known.
 */
waits_for: string | null, };

/**
 * Threads that sleep for one reason.
 */
export type WaitCount = { reason: string, threads: number, };

/**
 * A process at one instant. What may not be read is `null` or empty.
 */
export type Inspection = { 
/**
 * What its threads wait for: each stands before those that it waits for.
 */
links: Array<LinkEntry>, open_files: OpenFiles | null, };

/**
 * What became of a question.
 */
export type Outcome = { "found": Inspection } | "gone" | "refused" | "hangs" | "busy" | "failed";

/**
 * Threads of a process that do the same, in words.
 */
export type LinkEntry = { 
/**
 * How many links are above it.
 */
depth: number, pid: number, 
/**
 * What stands before the name.
 */
before: string, name: string, 
/**
 * What it does.
 */
after: string, };

/**
 * The open files of a process.
 */
export type OpenFiles = { count: number, 
/**
 * The most that it may have.
 */
most: number | null, 
/**
 * The most frequent kind first; empty if there are too many to be looked at.
 */
kinds: Array<FileCount>, };

/**
 * Open files of one kind.
 */
export type FileCount = { kind: string, count: number, };

/**
 * Tasks that ended.
 */
export type Exits = { 
/**
 * How many.
 */
count: number, 
/**
 * The last of them, the newest first.
 */
rows: Array<ExitEntry>, };

/**
 * A task that ended, and what it did in its life. What is not known is `null`.
 */
export type ExitEntry = { name: string, pid: number, user: string, 
/**
 * Whether it was not the main thread of its process.
 */
is_thread: boolean, 
/**
 * In milliseconds since 1970.
 */
started_ms: number, 
/**
 * The same.
 */
ended_ms: number, 
/**
 * `null` if a signal ended it.
 */
status: number | null, signal: number | null, on_cpu_s: number | null, run_queue_s: number | null, block_io_s: number | null, };

/**
 * A mark.
 */
export type MarkEntry = { 
/**
 * In milliseconds since 1970.
 */
at_ms: number, text: string, };

/**
 * How checks stand.
 */
export type Checks = { ok: number, warning: number, critical: number, unknown: number, 
/**
 * Those that have no result yet.
 */
pending: number, 
/**
 * How many were found, of which the first are here.
 */
count: number, rows: Array<CheckEntry>, 
/**
 * All checks, whatever was looked for, if a grid was asked for and they are not too many.
 */
cells: Array<CheckCell>, };

/**
 * How one check stands.
 */
export type CheckEntry = { 
/**
 * HOST/NAME, a host's own HOST, or NAME of this machine.
 */
name: string, host: string, service: string, 
/**
 * `null`: there was no result yet.
 */
state: string | null, 
/**
 * The result is certain.
 */
is_hard: boolean, 
/**
 * How many results in sequence show the problem, until it is hard.
 */
attempt: number, 
/**
 * So many make it certain.
 */
attempts: number, 
/**
 * In milliseconds since 1970.
 */
since_ms: number, 
/**
 * When the last result came.
 */
result_ms: number, text: string, is_flapping: boolean, is_stale: boolean, is_acknowledged: boolean, 
/**
 * The labels that select its series.
 */
selector: string, };

/**
 * One check of a grid.
 */
export type CheckCell = { host: string, service: string, 
/**
 * `null`: there was no result yet.
 */
state: string | null, is_acknowledged: boolean, };

/**
 * What is known of one check.
 */
export type CheckDetail = { entry: CheckEntry, long_text: string, 
/**
 * Its performance data, as it was written.
 */
figures: string, 
/**
 * The figures in it.
 */
measured: Array<FigureEntry>, 
/**
 * Who knows of the problem, and what is done about it.
 */
acknowledgement: string | null, 
/**
 * When it is done next; `null`: others submit its results.
 */
next_ms: number | null, 
/**
 * Those that are for it.
 */
downtimes: Array<DowntimeEntry>, };

/**
 * A downtime.
 */
export type DowntimeEntry = { 
/**
 * By which it is ended.
 */
number: number, since_ms: number, until_ms: number, 
/**
 * Only at these times of the week; empty: always.
 */
every: string, 
/**
 * Who says so, and why.
 */
text: string, };

/**
 * A figure that a check measures.
 */
export type FigureEntry = { name: string, 
/**
 * That of its series: seconds, bytes, ratio, or as the plugin writes it.
 */
unit: string, };

/**
 * An alert began or ended, or the hard state of a check changed.
 */
export type ChangeEntry = { name: string, 
/**
 * The new state.
 */
state: string, text: string, at_ms: number, };

/**
 * A time without notifications of some alerts.
 */
export type SilenceEntry = { 
/**
 * By which it is ended.
 */
number: number, 
/**
 * The name of a rule, or a selector of alerts.
 */
selector: string, since_ms: number, until_ms: number, comment: string, };

/**
 * A receiver of remote write.
 */
export type ReceiverEntry = { name: string, 
/**
 * Where requests go, without a password.
 */
url: string, 
/**
 * The version of the protocol that it takes; null: it was not asked yet.
 */
version: string | null, 
/**
 * How far it is behind the last tick; null: it is new.
 */
behind_ms: number | null, 
/**
 * Samples that it has taken.
 */
taken: number, 
/**
 * Samples that it refuses.
 */
refused: number, 
/**
 * Requests that failed and were made again.
 */
failures: number, sent_bytes: number, 
/**
 * What is wrong now.
 */
trouble: string | null, 
/**
 * The series that it refused last.
 */
refused_last: RefusedEntry | null, };

/**
 * A series that a receiver refused, and what it said.
 */
export type RefusedEntry = { series: string, message: string, };

/**
 * What can be part of an expression.
 */
export type Language = { functions: Array<string>, metrics: Array<MetricEntry>, };

/**
 * A metric.
 */
export type MetricEntry = { name: string, 
/**
 * What it is; empty if that is not known.
 */
help: string, 
/**
 * The names of its labels.
 */
labels: Array<string>, };

/**
 * What was wrong, with the fields of `whit why --json`.
 */
export type Why = { sentences: Array<Sentence>, missing: Array<string>, };

/**
 * One of them, and the expressions of its figures.
 */
export type Sentence = { trouble: string, weight_ratio: number, lost_ratio: number | null, text: string, 
/**
 * Who caused it.
 */
culprit: string | null, 
/**
 * What that is: a program, a cgroup or a filesystem.
 */
culprit_kind: string | null, 
/**
 * Their tasks, as a selector; `null` if it is no task.
 */
of: string | null, evidence: Array<Evidence>, };

/**
 * An expression, and its value at the end of the window.
 */
export type Evidence = { expression: string, value: number, };
