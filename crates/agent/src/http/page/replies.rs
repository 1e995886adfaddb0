//! What the page is told beside series. `web/src/replies.ts` has the same types: `WHIT_WRITE_TYPES=1 cargo test -p agent replies` writes it.

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
    /// Of whit.
    pub(super) version: &'static str,
}

/// What tasks did in the interval before an instant.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct Tasks {
    /// When they were read, in milliseconds since 1970.
    pub(super) at_ms: i64,
    pub(super) rows: Vec<TaskEntry>,
}

/// A process, a thread, a user or a cgroup. Times are seconds in each second; what is not known is `null`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(super) struct TaskEntry {
    pub(super) name: String,
    /// `null` if the row is several processes.
    pub(super) pid: Option<u32>,
    pub(super) user: String,
    pub(super) cgroup: String,
    pub(super) threads: u64,
    pub(super) is_ended: bool,
    pub(super) on_cpu: Option<f64>,
    pub(super) run_queue: Option<f64>,
    pub(super) block_io: Option<f64>,
    pub(super) sleeping: Option<f64>,
    pub(super) resident_bytes: Option<u64>,
    /// A second.
    pub(super) read_bytes: Option<f64>,
    /// A second.
    pub(super) written_bytes: Option<f64>,
}

/// What was wrong.
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
    pub(super) text: String,
    pub(super) culprit: Option<String>,
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

    use ts_rs::Config;

    use super::*;

    /// A type as TypeScript has it, with what it is.
    fn declaration<T: TS>() -> String {
        let config = Config::new().with_large_int("number");
        format!("{}export {}\n", T::docs().unwrap_or_default(), T::decl(&config))
    }

    #[test]
    fn the_page_has_the_same_types() {
        let types = [
            declaration::<Status>(),
            declaration::<Tasks>(),
            declaration::<TaskEntry>(),
            declaration::<Why>(),
            declaration::<Sentence>(),
            declaration::<Evidence>(),
        ];
        let text = format!(
            "// What the agent replies: from agent/src/http/page/replies.rs.\n\n{}",
            types.join("\n")
        );
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/replies.ts");
        if std::env::var_os("WHIT_WRITE_TYPES").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }
}
