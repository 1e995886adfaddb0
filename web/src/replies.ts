// What the agent replies: from agent/src/http/page/replies.rs.

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
 * Of whit.
 */
version: string, };

/**
 * What tasks did in the interval before an instant.
 */
export type Tasks = { 
/**
 * When they were read, in milliseconds since 1970.
 */
at_ms: number, rows: Array<TaskEntry>, };

/**
 * A process, a thread, a user or a cgroup. Times are seconds in each second; what is not known is `null`.
 */
export type TaskEntry = { name: string, 
/**
 * `null` if the row is several processes.
 */
pid: number | null, user: string, cgroup: string, threads: number, is_ended: boolean, on_cpu: number | null, run_queue: number | null, block_io: number | null, sleeping: number | null, resident_bytes: number | null, 
/**
 * A second.
 */
read_bytes: number | null, 
/**
 * A second.
 */
written_bytes: number | null, };

/**
 * What was wrong.
 */
export type Why = { sentences: Array<Sentence>, missing: Array<string>, };

/**
 * One of them, and the expressions of its figures.
 */
export type Sentence = { text: string, culprit: string | null, evidence: Array<Evidence>, };

/**
 * An expression, and its value at the end of the window.
 */
export type Evidence = { expression: string, value: number, };
