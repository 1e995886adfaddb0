//! The series that the agent makes itself, beside those of the kernel's files and of tasks: sums over all tasks, its own cost, alerts, checks
//! and feeds.

use super::{Kind, Unit};

/// A series of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentMetric {
    /// Its name.
    pub name: &'static str,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// The unit of its values.
    pub unit: Unit,
    /// The kind of its values: a counter only grows.
    pub kind: Kind,
    /// A sentence that describes it.
    pub help: &'static str,
}

const fn row(
    name: &'static str,
    labels: &'static [&'static str],
    unit: Unit,
    kind: Kind,
    help: &'static str,
) -> AgentMetric {
    AgentMetric { name, labels, unit, kind, help }
}

/// All of them.
pub const AGENT_METRICS: [AgentMetric; 56] = [
    row(
        "ALERTS",
        &["alertname", "alertstate", "severity"],
        Unit::None,
        Kind::Gauge,
        "An alert that is pending or fires: 1, with the labels of its rule and of the series that it is about.",
    ),
    row(
        "whit_tasks_seconds_total",
        &["state"],
        Unit::Seconds,
        Kind::Counter,
        "Time of all tasks on a CPU, waiting for a cause, or on a CPU and in no record.",
    ),
    row(
        "whit_low_priority_run_queue_seconds_total",
        &[],
        Unit::Seconds,
        Kind::Counter,
        "Time that tasks waited for a CPU which are nice or of the policy SCHED_IDLE.",
    ),
    row(
        "whit_uninterruptible_tasks",
        &[],
        Unit::Count,
        Kind::Gauge,
        "Tasks in uninterruptible sleep, without those of the kernel.",
    ),
    row(
        "whit_agent_part_cpu_seconds_total",
        &["part"],
        Unit::Seconds,
        Kind::Counter,
        "CPU time of a part of the agent.",
    ),
    row(
        "whit_agent_cpu_seconds_total",
        &[],
        Unit::Seconds,
        Kind::Counter,
        "CPU time of the agent, that of its server included.",
    ),
    row(
        "whit_agent_tick_lateness_seconds",
        &[],
        Unit::Seconds,
        Kind::Gauge,
        "How much later than it should the last tick began.",
    ),
    row(
        "whit_agent_missed_ticks_total",
        &[],
        Unit::Count,
        Kind::Counter,
        "Ticks that were not taken, since the one before took too long.",
    ),
    row(
        "whit_agent_reading_system_calls_total",
        &[],
        Unit::Count,
        Kind::Counter,
        "System calls for reading the machine and its tasks.",
    ),
    row(
        "whit_agent_lost_exit_records_total",
        &[],
        Unit::Count,
        Kind::Counter,
        "Exit records that were lost.",
    ),
    row(
        "whit_agent_impossible_values_total",
        &[],
        Unit::Count,
        Kind::Counter,
        "Values that were left out because they cannot be true.",
    ),
    row(
        "whit_agent_lost_ticks_total",
        &[],
        Unit::Count,
        Kind::Counter,
        "Ticks that were given up because nothing could be written.",
    ),
    row("whit_agent_store_bytes", &[], Unit::Bytes, Kind::Gauge, "The size of the history."),
    row(
        "whit_agent_resident_bytes",
        &[],
        Unit::Bytes,
        Kind::Gauge,
        "Resident memory of the agent's recorder.",
    ),
    row(
        "whit_agent_ticks_between_task_readings",
        &[],
        Unit::Count,
        Kind::Gauge,
        "Ticks from one reading of all tasks to the next.",
    ),
    row(
        "whit_agent_server_cpu_seconds_total",
        &[],
        Unit::Seconds,
        Kind::Counter,
        "CPU time of the agent's server process: requests, alerts, checks and feeds.",
    ),
    row(
        "whit_agent_requests_cpu_seconds_total",
        &[],
        Unit::Seconds,
        Kind::Counter,
        "CPU time of answers to requests, since the server process started.",
    ),
    row(
        "whit_agent_server_resident_bytes",
        &[],
        Unit::Bytes,
        Kind::Gauge,
        "Resident memory of the agent's server process.",
    ),
    row(
        "whit_agent_server_peak_bytes",
        &[],
        Unit::Bytes,
        Kind::Gauge,
        "Peak of the resident memory of the agent's server process.",
    ),
    row(
        "whit_agent_server_starts_total",
        &[],
        Unit::Count,
        Kind::Counter,
        "Starts of the agent's server process.",
    ),
    row("whit_build_info", &["version"], Unit::Count, Kind::Gauge, "1, with the version of the agent."),
    row(
        "whit_container_info",
        &["container", "id", "engine", "image", "pod", "namespace"],
        Unit::Count,
        Kind::Gauge,
        "1 for each container with tasks that its engine's files describe; the labels container, pod and namespace are as those of its tasks.",
    ),
    row(
        "whit_check_state",
        &["host", "check"],
        Unit::None,
        Kind::Gauge,
        "The state of a check by its last result: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
    ),
    row(
        "whit_check_figure",
        &["host", "check", "figure"],
        Unit::None,
        Kind::Gauge,
        "What a plugin measured, in seconds, bytes, a ratio or the unit that it names.",
    ),
    row(
        "whit_check_threshold",
        &["host", "check", "figure", "state"],
        Unit::None,
        Kind::Gauge,
        "A bound beyond which a plugin warns of what it measures, in the same unit.",
    ),
    row(
        "whit_check_runs_total",
        &["check"],
        Unit::Count,
        Kind::Counter,
        "Runs of plugins, by the names of checks, of all hosts.",
    ),
    row(
        "whit_check_run_seconds_total",
        &["check"],
        Unit::Seconds,
        Kind::Counter,
        "Time from the start to the end of plugins.",
    ),
    row(
        "whit_check_spawn_seconds_total",
        &["check"],
        Unit::Seconds,
        Kind::Counter,
        "Time that starting plugins took.",
    ),
    row(
        "whit_check_cpu_seconds_total",
        &["check"],
        Unit::Seconds,
        Kind::Counter,
        "CPU time of plugins, with that of the children they waited for.",
    ),
    row(
        "whit_check_wait_seconds_total",
        &["check", "cause"],
        Unit::Seconds,
        Kind::Counter,
        "Time that plugins waited for a CPU, for disks, or for memory.",
    ),
    row(
        "whit_check_age_seconds",
        &["host", "check"],
        Unit::Seconds,
        Kind::Gauge,
        "Time since the last result of a check; in /metrics alone.",
    ),
    row(
        "whit_check_run_seconds",
        &["host", "check"],
        Unit::Seconds,
        Kind::Gauge,
        "How long the last run of a plugin took; in /metrics alone.",
    ),
    row("whit_checks", &["state"], Unit::Count, Kind::Gauge, "Checks by their states; in /metrics alone."),
    row("whit_check_plugins_running", &[], Unit::Count, Kind::Gauge, "Plugins that run; in /metrics alone."),
    row(
        "whit_check_plugins_started_total",
        &[],
        Unit::Count,
        Kind::Counter,
        "Plugins that were started; in /metrics alone.",
    ),
    row(
        "whit_check_skipped_total",
        &[],
        Unit::Count,
        Kind::Counter,
        "Times at which a check was too late, or still ran; in /metrics alone.",
    ),
    row(
        "whit_check_submitted_total",
        &[],
        Unit::Count,
        Kind::Counter,
        "Results that others submitted; in /metrics alone.",
    ),
    row("whit_feed_polls_total", &["result"], Unit::Count, Kind::Counter, "Polls of feeds."),
    row(
        "whit_feed_requests_total",
        &[],
        Unit::Count,
        Kind::Counter,
        "Requests to servers of feeds, those of redirects included.",
    ),
    row(
        "whit_feed_received_bytes_total",
        &[],
        Unit::Bytes,
        Kind::Counter,
        "Bytes of documents that were fetched, decompressed.",
    ),
    row("whit_feed_entries_total", &[], Unit::Count, Kind::Counter, "Entries of feeds that were new."),
    row(
        "whit_feed_unread_entries",
        &[],
        Unit::Count,
        Kind::Gauge,
        "Entries that were not read, summed over all accounts.",
    ),
    row(
        "whit_feed_unread",
        &["account"],
        Unit::Count,
        Kind::Gauge,
        "Entries that an account has not read; in the file of the last tick alone.",
    ),
    row(
        "whit_remote_write_behind_seconds",
        &["receiver"],
        Unit::Seconds,
        Kind::Gauge,
        "Time since the last tick that a receiver of remote write has taken.",
    ),
    row(
        "whit_remote_write_samples_total",
        &["receiver"],
        Unit::Count,
        Kind::Counter,
        "Samples that a receiver has taken.",
    ),
    row(
        "whit_remote_write_refused_samples_total",
        &["receiver"],
        Unit::Count,
        Kind::Counter,
        "Samples that a receiver refuses.",
    ),
    row(
        "whit_remote_write_sent_bytes_total",
        &["receiver"],
        Unit::Bytes,
        Kind::Counter,
        "Bodies of the requests that a receiver has taken, compressed.",
    ),
    row(
        "whit_remote_write_failures_total",
        &["receiver"],
        Unit::Count,
        Kind::Counter,
        "Requests that failed and were made again.",
    ),
    row(
        "whit_remote_write_clock_ahead_seconds",
        &["receiver"],
        Unit::Seconds,
        Kind::Gauge,
        "How far the own clock is ahead of that of a receiver, by the date of its answers; to half a second.",
    ),
    row(
        "whit_remote_write_rule_failures_total",
        &["receiver"],
        Unit::Count,
        Kind::Counter,
        "Evaluations of recording rules that had no answer.",
    ),
    row("up", &["job"], Unit::None, Kind::Gauge, "1 if an exporter answered, otherwise 0."),
    row(
        "scrape_duration_seconds",
        &["job"],
        Unit::Seconds,
        Kind::Gauge,
        "Time until an exporter's answer was read.",
    ),
    row("scrape_samples_scraped", &["job"], Unit::Count, Kind::Gauge, "Samples in an exporter's answer."),
    row(
        "scrape_samples_post_metric_relabeling",
        &["job"],
        Unit::Count,
        Kind::Gauge,
        "Samples of an exporter that are recorded.",
    ),
    row(
        "node_textfile_mtime_seconds",
        &["file"],
        Unit::Seconds,
        Kind::Gauge,
        "When a file with metrics was written, in seconds since 1970.",
    ),
    row(
        "node_textfile_scrape_error",
        &[],
        Unit::None,
        Kind::Gauge,
        "1 if a file with metrics, or their directory, could not be read; otherwise 0.",
    ),
];

/// Returns the row of a name.
pub fn agent_metric(name: &str) -> Option<&'static AgentMetric> {
    AGENT_METRICS.iter().find(|metric| metric.name == name)
}
