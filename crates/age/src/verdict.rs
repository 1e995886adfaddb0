//! The output of a Nagios plugin: one line with performance data, and an exit status.

use facts::age::{AgeSums, age_ns};
use facts::unit::{Bytes, Nanos};
use formats::perfdata::{self, Perfdata};

use super::options::{Measure, Threshold};
use super::report::{DirectoryReport, Outcome};
use super::scan::Counts;
use command::failure::Failure;
use command::output::Output;
use text::printable::printable_text;
use text::units::{Size, Span};

/// The line and the exit status: 0 fine, 1 warning, 2 critical, 3 unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) line: String,
    pub(super) code: u8,
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) oldest_ns: Option<u64>,
    pub(super) oldest_path: Option<Vec<u8>>,
    pub(super) failures: u64,
}

impl Verdict {
    /// As a plugin says it.
    pub(super) fn word(&self) -> &'static str {
        WORDS[usize::from(self.code)]
    }
}

/// The exit status where nothing can be said.
pub(super) const UNKNOWN: u8 = 3;

const WORDS: [&str; 4] = ["OK", "WARNING", "CRITICAL", "UNKNOWN"];

pub(super) fn judge(
    found: &[DirectoryReport],
    warn: &[Threshold],
    crit: &[Threshold],
    now_ns: i64,
    counts: &Counts,
) -> Verdict {
    let failures = counts.failures();
    let mut all = AgeSums::default();
    for found in found {
        if let Outcome::Sums { all: sums, .. } = &found.what {
            all.merge(sums);
        }
    }
    let oldest = all.oldest_ns.map(|time_ns| age_ns(time_ns, now_ns));
    let newest = all.newest_ns.map(|time_ns| age_ns(time_ns, now_ns));
    let value = |measure| match measure {
        Measure::Age => oldest.unwrap_or(0),
        Measure::Files => all.files,
        Measure::Bytes => all.bytes.0,
        // What is not there is older than anything.
        Measure::Newest => newest.unwrap_or(u64::MAX),
        Measure::FewerFiles => all.files,
    };
    let exceeded = |thresholds: &[Threshold]| -> Vec<String> {
        let is_exceeded = |threshold: &&Threshold| match threshold.measure {
            Measure::FewerFiles => value(threshold.measure) < threshold.limit,
            measure => value(measure) > threshold.limit,
        };
        thresholds.iter().filter(is_exceeded).map(words).collect()
    };
    let (code, reasons) = match (exceeded(crit), exceeded(warn)) {
        (reasons, _) if !reasons.is_empty() => (2, reasons),
        // What could not be looked at may be what is too old.
        (_, reasons) if failures > 0 => (UNKNOWN, reasons),
        (_, reasons) if !reasons.is_empty() => (1, reasons),
        _ => (0, Vec::new()),
    };
    let age = oldest.map_or("–".to_owned(), |oldest| Span(Nanos(oldest)).to_string());
    let mut line = format!("{} - ", WORDS[usize::from(code)]);
    if !reasons.is_empty() {
        line.push_str(&format!("{}: ", reasons.join(", ")));
    }
    line.push_str(&format!(
        "{} {}, {}, the oldest {age}",
        all.files,
        if all.files == 1 { "file" } else { "files" },
        Size(Bytes(all.bytes.0)),
    ));
    let oldest_path = oldest_path(found);
    if let Some(path) = &oldest_path {
        line.push_str(&format!(" ({})", printable_text(path).replace('|', "/")));
    }
    if failures > 0 {
        line.push_str(&format!(", {failures} not looked at"));
        // A bar would end the text, a line the output: the rest is on standard error.
        let reason = counts.first_failure().and_then(|reason| reason.lines().next());
        if let Some(reason) = reason {
            line.push_str(&format!(" ({})", printable_text(reason.replace('|', "/").as_bytes())));
        }
    }
    let asks_newest = warn.iter().chain(crit).any(|threshold| threshold.measure == Measure::Newest);
    if asks_newest {
        let age = newest.map_or("–".to_owned(), |newest| Span(Nanos(newest)).to_string());
        line.push_str(&format!(", the newest {age}"));
    }
    line.push_str(" |");
    for (label, measure, unit, scale) in [
        ("oldest", Measure::Age, "s", 1e9),
        ("newest", Measure::Newest, "s", 1e9),
        ("files", Measure::Files, "", 1.0),
        ("bytes", Measure::Bytes, "B", 1.0),
    ] {
        let limit = |thresholds: &[Threshold]| {
            // Of several the least is what counts.
            let of_measure = thresholds.iter().filter(|threshold| threshold.measure == measure);
            of_measure.map(|threshold| threshold.limit).min().map(|limit| limit as f64 / scale)
        };
        // What has no age has no figure.
        let is_absent = all.files == 0 && matches!(measure, Measure::Age | Measure::Newest);
        if is_absent || measure == Measure::Newest && !asks_newest {
            continue;
        }
        line.push(' ');
        let value = value(measure) as f64 / scale;
        let figure = Perfdata { label, value, unit, warn: limit(warn), crit: limit(crit), min: Some(0.0) };
        perfdata::push(&mut line, &figure);
    }
    line.push('\n');
    Verdict { line, code, files: all.files, bytes: all.bytes.0, oldest_ns: oldest, oldest_path, failures }
}

/// Prints the line of a plugin that cannot begin, where a monitoring system looks for it.
pub fn unknown(message: &str) -> Failure {
    let reason = message.lines().next().unwrap_or_default().replace('|', "/");
    let reason = printable_text(reason.trim_start_matches("error: ").as_bytes());
    // Who does not hear it sees the exit status.
    let _ = Output::stdout().write(format!("UNKNOWN - {reason}\n").as_bytes());
    Failure::silent(UNKNOWN)
}

/// A limit that was exceeded.
fn words(threshold: &Threshold) -> String {
    let limit = threshold.limit;
    match threshold.measure {
        Measure::Age => format!("the oldest over {}", Span(Nanos(limit))),
        Measure::Newest => format!("the newest over {}", Span(Nanos(limit))),
        Measure::Files => format!("more files than {limit}"),
        Measure::FewerFiles => format!("fewer files than {limit}"),
        Measure::Bytes => format!("more than {}", Size(Bytes(limit))),
    }
}

/// Returns the path of the oldest file of all directories.
fn oldest_path(found: &[DirectoryReport]) -> Option<Vec<u8>> {
    let of_each = found.iter().filter_map(|found| match &found.what {
        Outcome::Sums { extremes, .. } => extremes.oldest.as_ref(),
        _ => None,
    });
    of_each.min_by_key(|oldest| oldest.value).map(|oldest| oldest.path.clone())
}

#[cfg(test)]
mod tests {
    use facts::age::{AgeBy, Aged};

    use super::*;

    fn verdict(warn: &[Threshold], crit: &[Threshold], failures: u64) -> Verdict {
        let mut sums = AgeSums::default();
        let file = Aged { time_ns: Some(0), bytes: Bytes(2048), allocated: Bytes(4096) };
        sums.add(&file, 60_000_000_000);
        let found = DirectoryReport {
            path: "/x".to_owned(),
            older: None,
            newer: None,
            larger: None,
            by: AgeBy::MODIFIED,
            what: Outcome::Sums { all: Box::new(sums), extremes: Box::default(), by_directory: Vec::new() },
        };
        let counts = Counts::default();
        (0..failures).for_each(|_| counts.count_failure("/y|z: Permission denied".to_owned()));
        judge(&[found], warn, crit, 60_000_000_000, &counts)
    }

    #[test]
    fn the_worst_that_is_known_counts() {
        let age = |limit: u64| Threshold { measure: Measure::Age, limit: limit * 1_000_000_000 };
        let files = Threshold { measure: Measure::Files, limit: 0 };
        assert_eq!(verdict(&[age(60)], &[age(120)], 0).code, 0);
        assert_eq!(verdict(&[age(59)], &[age(120)], 0).code, 1);
        assert_eq!(verdict(&[age(59), files], &[files], 0).code, 2);
        let unknown = verdict(&[age(59)], &[], 1);
        assert_eq!(unknown.code, 3);
        assert!(unknown.line.contains(", 1 not looked at (/y/z: Permission denied) |"), "{unknown:?}");
        assert_eq!(verdict(&[], &[files], 1).code, 2);
        // A file that is not there is too old, and too few.
        let newest = |limit_s: u64| Threshold { measure: Measure::Newest, limit: limit_s * 1_000_000_000 };
        let fewer = |limit| Threshold { measure: Measure::FewerFiles, limit };
        assert_eq!((verdict(&[], &[newest(60)], 0).code, verdict(&[], &[newest(59)], 0).code), (0, 2));
        assert_eq!((verdict(&[], &[fewer(1)], 0).code, verdict(&[], &[fewer(2)], 0).code), (0, 2));
        let empty = judge(&[], &[], &[newest(60)], 0, &Counts::default());
        assert_eq!((empty.code, empty.line.contains("oldest=")), (2, false));
        assert_eq!(
            verdict(&[age(59)], &[files], 0).line,
            "CRITICAL - more files than 0: 1 file, 2.0 KiB, the oldest 1m00s | oldest=60s;59;;0 files=1;;0;0 bytes=2048B;;;0\n"
        );
    }
}
