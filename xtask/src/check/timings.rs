//! Reads how long tests took and what was repeated, from the logs of steps and the report of the live trials.

use serde_json::Value;

/// A test or trial, and its time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Timing {
    pub(super) name: String,
    pub(super) seconds: f64,
}

/// A live trial.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) is_passed: bool,
    pub(super) seconds: f64,
    /// The messages of the failed attempts, and the share of a CPU that a hypervisor took meanwhile.
    pub(super) failed: Vec<(String, f64)>,
}

/// Numbers of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

/// Reads the lines of a log that name a test and its time: `test a::b ... ok <0.120s>` of Rust's harness, `✔ words (12.5ms)` of
/// Node's.
pub(super) fn of_log(log: &str) -> Vec<Timing> {
    log.lines().filter_map(|line| of_rust(line).or_else(|| of_node(line))).collect()
}

fn of_rust(line: &str) -> Option<Timing> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let seconds = rest.split_once('<')?.1.strip_suffix("s>")?.parse().ok()?;
    Some(Timing { name: name.to_owned(), seconds })
}

fn of_node(line: &str) -> Option<Timing> {
    let (name, rest) = line.trim_start().strip_prefix("✔ ")?.rsplit_once(" (")?;
    let milliseconds: f64 = rest.strip_suffix("ms)")?.parse().ok()?;
    Some(Timing { name: name.to_owned(), seconds: milliseconds / 1e3 })
}

/// Adds up the closing lines of a log: `test result: ok. 3 passed; 0 failed; 1 ignored; …`, and `ℹ pass 3`.
pub(super) fn counts(log: &str) -> Counts {
    let mut counts = Counts::default();
    for line in log.lines() {
        if let Some(rest) = line.strip_prefix("test result: ") {
            let of = |what: &str| {
                let part = rest.split([';', '.']).map(str::trim).find_map(|part| part.strip_suffix(what));
                part.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0)
            };
            counts.passed += of(" passed");
            counts.failed += of(" failed");
            counts.skipped += of(" ignored");
        }
        for (word, count) in [
            ("ℹ pass ", &mut counts.passed),
            ("ℹ fail ", &mut counts.failed),
            ("ℹ skipped ", &mut counts.skipped),
        ] {
            *count += line.strip_prefix(word).and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    counts
}

/// Reads the report of the live trials, a JSON object a line.
pub(super) fn trials(lines: &str) -> Result<Vec<Trial>, String> {
    let read = |(at, line): (usize, &str)| {
        let record: Value =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let failed = record["failed_attempts"].as_array().map_or(&[][..], Vec::as_slice);
        Ok(Trial {
            name: text(&record["name"]),
            kind: text(&record["kind"]),
            is_passed: record["passed"] == true,
            seconds: record["seconds"].as_f64().unwrap_or(0.0),
            failed: failed
                .iter()
                .map(|one| (text(&one["message"]), one["stolen_ratio"].as_f64().unwrap_or(0.0)))
                .collect(),
        })
    };
    lines.lines().enumerate().map(read).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn times_and_counts_are_read_from_logs() {
        let log = "running 2 tests\ntest a::b ... ok <0.120s>\ntest c ... ignored\n✔ the page (1250.5ms)\n\
                   test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
                   test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured\nℹ pass 7\nℹ fail 0\nℹ skipped 1\n";
        let timing = |name: &str, seconds| Timing { name: name.to_owned(), seconds };
        assert_eq!(of_log(log), [timing("a::b", 0.12), timing("the page", 1.2505)]);
        assert_eq!(counts(log), Counts { passed: 18, failed: 2, skipped: 2 });
    }

    #[test]
    fn trials_are_read_and_a_cut_line_is_an_error() {
        let line = r#"{"name":"a","kind":"timed","passed":true,"seconds":1.5,"failed_attempts":[{"message":"late","stolen_ratio":0.5}]}"#;
        let trials = trials(line).unwrap();
        assert_eq!((trials[0].kind.as_str(), trials[0].is_passed), ("timed", true));
        assert_eq!(trials[0].failed, [("late".to_owned(), 0.5)]);
        assert!(super::trials(&line[..20]).is_err());
    }
}
