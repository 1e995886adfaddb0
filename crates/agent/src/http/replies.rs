//! Answers to the page beside series. `web/src/replies.ts` has the same types: `WHIT_WRITE_TYPES=1 cargo test -p agent replies` writes it.

use std::collections::BTreeMap;

use serde::Serialize;
#[cfg(test)]
use ts_rs::TS;

/// What there is of the history.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Status {
    /// The first tick, in milliseconds since 1970.
    pub(super) first_ms: Option<i64>,
    /// The last one.
    pub(super) last_ms: Option<i64>,
    /// The distance of ticks at the beginning of the window that was asked for.
    pub(super) tick_ms: i64,
    /// Of whit.
    pub(super) version: &'static str,
    /// Whether what all tasks did together is shown, or what those of one user did.
    pub(super) sees_all: bool,
    /// Whether there is a feed reader.
    pub(super) has_reader: bool,
    /// Whether there is a view of the fleet.
    pub(super) has_fleet: bool,
    /// The times in which something was recorded, from and to, in order.
    pub(super) spans: Vec<[i64; 2]>,
}

/// The answers to several expressions, at the same times.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Answers {
    /// The first time, in milliseconds since 1970.
    pub(super) from_ms: i64,
    /// From one to the next.
    pub(super) step_ms: i64,
    pub(super) count: usize,
    pub(super) answers: Vec<Curves>,
}

/// The answer to one.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Curves {
    /// What the values are: a name in the table of units.
    pub(super) measure: &'static str,
    pub(super) curves: Vec<Curve>,
    pub(super) fault: Option<Fault>,
}

/// One series.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Curve {
    pub(super) labels: BTreeMap<String, String>,
    /// A value a time; `null`: there is none.
    pub(super) values: Vec<Option<f32>>,
}

/// What is wrong with an expression.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Fault {
    pub(super) message: String,
    /// The characters before it, as far as that is known.
    pub(super) place: Option<u32>,
}

/// A mark.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct MarkEntry {
    /// In milliseconds since 1970.
    pub(super) at_ms: i64,
    pub(super) text: String,
}

/// How checks stand.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Checks {
    pub(super) ok: usize,
    pub(super) warning: usize,
    pub(super) critical: usize,
    pub(super) unknown: usize,
    /// Those that have no result yet.
    pub(super) pending: usize,
    /// How many were found, of which the first are here.
    pub(super) count: usize,
    pub(super) rows: Vec<CheckEntry>,
    /// All checks, whatever was looked for, if a grid was asked for and they are not too many.
    pub(super) cells: Vec<CheckCell>,
}

/// One check of a grid.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct CheckCell {
    pub(super) host: String,
    pub(super) service: String,
    /// `null`: there was no result yet.
    pub(super) state: Option<&'static str>,
    pub(super) is_acknowledged: bool,
}

/// How one check stands.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct CheckEntry {
    /// HOST/NAME, a host's own HOST, or NAME of this machine.
    pub(super) name: String,
    pub(super) host: String,
    pub(super) service: String,
    /// `null`: there was no result yet.
    pub(super) state: Option<&'static str>,
    /// The result is certain.
    pub(super) is_hard: bool,
    /// How many results in sequence show the problem, until it is hard.
    pub(super) attempt: u32,
    /// So many make it certain.
    pub(super) attempts: u32,
    /// In milliseconds since 1970.
    pub(super) since_ms: i64,
    /// When the last result came.
    pub(super) result_ms: i64,
    pub(super) text: String,
    pub(super) is_flapping: bool,
    pub(super) is_stale: bool,
    pub(super) is_acknowledged: bool,
    /// The labels that select its series.
    pub(super) selector: String,
}

/// What is known of one check.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct CheckDetail {
    pub(super) entry: CheckEntry,
    pub(super) long_text: String,
    /// Its performance data, as it was written.
    pub(super) figures: String,
    /// The figures in it.
    pub(super) measured: Vec<FigureEntry>,
    /// Who knows of the problem, and what is done about it.
    pub(super) acknowledgement: Option<String>,
    /// When it is done next; `null`: others submit its results.
    pub(super) next_ms: Option<i64>,
    /// Those that are for it.
    pub(super) downtimes: Vec<DowntimeEntry>,
}

/// A figure that a check measures.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct FigureEntry {
    pub(super) name: String,
    /// That of its series: seconds, bytes, ratio, or as the plugin writes it.
    pub(super) unit: String,
}

/// An alert began or ended, or the hard state of a check changed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct ChangeEntry {
    pub(super) name: String,
    /// The new state.
    pub(super) state: String,
    pub(super) text: String,
    pub(super) at_ms: i64,
}

/// A time without notifications of some alerts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct SilenceEntry {
    /// By which it is ended.
    pub(super) number: i64,
    /// The name of a rule, or a selector of alerts.
    pub(super) selector: String,
    pub(super) since_ms: i64,
    pub(super) until_ms: i64,
    pub(super) comment: String,
}

/// A receiver of remote write.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct ReceiverEntry {
    pub(super) name: String,
    /// Where requests go, without a password.
    pub(super) url: String,
    /// The version of the protocol that it takes; null: it was not asked yet.
    pub(super) version: Option<String>,
    /// How far it is behind the last tick; null: it is new.
    pub(super) behind_ms: Option<u64>,
    /// Samples that it has taken.
    pub(super) taken: u64,
    /// Samples that it refuses.
    pub(super) refused: u64,
    /// Requests that failed and were made again.
    pub(super) failures: u64,
    pub(super) sent_bytes: u64,
    /// What is wrong now.
    pub(super) trouble: Option<String>,
    /// The series that it refused last.
    pub(super) refused_last: Option<RefusedEntry>,
}

/// A series that a receiver refused, and what it said.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct RefusedEntry {
    pub(super) series: String,
    pub(super) message: String,
}

/// A downtime.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct DowntimeEntry {
    /// By which it is ended.
    pub(super) number: i64,
    pub(super) since_ms: i64,
    pub(super) until_ms: i64,
    /// Only at these times of the week; empty: always.
    pub(super) every: String,
    /// Who says so, and why.
    pub(super) text: String,
}

/// What can be part of an expression.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Language {
    pub(super) functions: Vec<&'static str>,
    pub(super) metrics: Vec<MetricEntry>,
}

/// A metric.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct MetricEntry {
    pub(super) name: String,
    /// What it is; empty if that is not known.
    pub(super) help: &'static str,
    /// The names of its labels.
    pub(super) labels: Vec<String>,
}

/// What was wrong, with the fields of `whit why --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Why {
    pub(super) sentences: Vec<Sentence>,
    pub(super) missing: Vec<String>,
}

/// One of them, and the expressions of its figures.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Sentence {
    pub(super) trouble: &'static str,
    pub(super) weight_ratio: f64,
    pub(super) lost_ratio: Option<f64>,
    pub(super) text: String,
    /// Who caused it.
    pub(super) culprit: Option<String>,
    /// What that is: a program, a cgroup or a filesystem.
    pub(super) culprit_kind: Option<&'static str>,
    /// Their tasks, as a selector; `null` if it is no task.
    pub(super) of: Option<String>,
    pub(super) evidence: Vec<Evidence>,
}

/// An expression, and its value at the end of the window.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Evidence {
    pub(super) expression: String,
    pub(super) value: f64,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use text::plot::Measure;
    use ts_rs::Config;

    use super::super::task_replies::*;
    use super::*;
    use crate::inspection::{FileCount, Inspection, LinkEntry, OpenFiles, Outcome};

    /// A type as TypeScript has it, with what it is.
    fn declaration<T: TS>() -> String {
        let config = Config::new().with_large_int("number");
        format!("{}export {}\n", T::docs().unwrap_or_default(), T::decl(&config))
    }

    /// Compares a generated file of the page with what it should be, or writes it.
    fn check(path: &str, text: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web").join(path);
        if std::env::var_os("WHIT_WRITE_TYPES").is_some() {
            std::fs::write(&path, text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }

    #[test]
    fn the_page_has_the_same_units() {
        let mut text = "// The units in which values are written: from text/src/plot/axis.rs.\n\n\
            /** Each unit and its name, the smallest first. */\nexport const MEASURES = {\n"
            .to_owned();
        let mut cases = Vec::new();
        for (measure, name) in Measure::ALL {
            let units = serde_json::to_string(measure.units()).unwrap();
            text.push_str(&format!("  {name}: {units},\n"));
            for value in [0.0, 0.001234, -0.5, 0.9996, 1.0, 9.995, 59.99, 99.95, 1023.9, 1e6, 1.5e13, 2e22] {
                cases.push(serde_json::json!([name, value, measure.write(value)]));
            }
        }
        text.push_str("} satisfies Record<string, [number, string][]>;\n");
        check("src/measures.ts", &text);
        let cases: Vec<String> = cases.iter().map(ToString::to_string).collect();
        check("tests/written.json", &format!("[\n{}\n]\n", cases.join(",\n")));
    }

    #[test]
    fn the_page_has_the_same_types() {
        let types = [
            declaration::<Status>(),
            declaration::<Answers>(),
            declaration::<Curves>(),
            declaration::<Curve>(),
            declaration::<Fault>(),
            declaration::<Tasks>(),
            declaration::<ActiveTasks>(),
            declaration::<TaskEntry>(),
            declaration::<ProcessDetail>(),
            declaration::<RelativeEntry>(),
            declaration::<ThreadEntry>(),
            declaration::<WaitCount>(),
            declaration::<Inspection>(),
            declaration::<Outcome>(),
            declaration::<LinkEntry>(),
            declaration::<OpenFiles>(),
            declaration::<FileCount>(),
            declaration::<Exits>(),
            declaration::<ExitEntry>(),
            declaration::<MarkEntry>(),
            declaration::<Checks>(),
            declaration::<CheckEntry>(),
            declaration::<CheckCell>(),
            declaration::<CheckDetail>(),
            declaration::<DowntimeEntry>(),
            declaration::<FigureEntry>(),
            declaration::<ChangeEntry>(),
            declaration::<SilenceEntry>(),
            declaration::<ReceiverEntry>(),
            declaration::<RefusedEntry>(),
            declaration::<Language>(),
            declaration::<MetricEntry>(),
            declaration::<Why>(),
            declaration::<Sentence>(),
            declaration::<Evidence>(),
        ];
        let text =
            format!("// What the agent replies: from agent/src/http/replies.rs.\n\n{}", types.join("\n"));
        check("src/replies.ts", &text);
    }
}
