//! Metrics as exporters write them: the text formats of Prometheus and OpenMetrics, a line at a time.
//!
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>, <https://prometheus.io/docs/specs/om/open_metrics_spec/>

use std::collections::HashMap;

/// Parses lines, and knows which metrics are counters by the lines before.
#[derive(Debug, Default)]
pub struct ExpositionLines {
    /// True for metrics that are counters, by the metric's name.
    counters: HashMap<String, bool>,
}

/// A sample as its line has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpositionSample<'t> {
    /// The series, which may be written in several ways.
    pub series: &'t str,
    /// The value.
    pub value: f64,
    /// The time, if there is one.
    pub time: Option<&'t str>,
}

/// The endings of the names of series that are counters, by the type of their metric.
const COUNTERS: [(&str, &[&str]); 3] = [
    // OpenMetrics names a counter without its ending.
    ("counter", &["", "_total"]),
    ("histogram", &["_bucket", "_count", "_sum"]),
    ("summary", &["_count", "_sum"]),
];

impl ExpositionLines {
    /// Takes the next line, without its end; `None` if it has no sample.
    ///
    /// # Errors
    /// The description of the error.
    pub fn take<'t>(&mut self, line: &'t str) -> Result<Option<ExpositionSample<'t>>, String> {
        let line = line.trim_matches(is_blank);
        if let Some(comment) = line.strip_prefix('#') {
            self.take_comment(comment);
            return Ok(None);
        }
        if line.is_empty() {
            return Ok(None);
        }
        let (series, rest) = line.split_at(series_end(line)?);
        let mut words = rest.split(is_blank).filter(|word| !word.is_empty());
        let value = words.next().ok_or("expected a value behind the series")?;
        let value = value.parse().map_err(|_| format!("expected a number, found {value}"))?;
        // An exemplar may follow.
        let time = words.next().filter(|word| *word != "#");
        match words.next().filter(|word| time.is_some() && *word != "#") {
            Some(more) => Err(format!("expected the end, found {more}")),
            None => Ok(Some(ExpositionSample { series: series.trim_end_matches(is_blank), value, time })),
        }
    }

    /// Returns whether a series only goes up, until it is reset: by its type, otherwise by its name.
    pub fn is_counter(&self, metric: &str) -> bool {
        self.counters.get(metric).copied().unwrap_or_else(|| metric.ends_with("_total"))
    }

    fn take_comment(&mut self, comment: &str) {
        let mut words = comment.split(is_blank).filter(|word| !word.is_empty());
        let (Some("TYPE"), Some(metric), Some(kind)) = (words.next(), words.next(), words.next()) else {
            return;
        };
        match COUNTERS.into_iter().find(|(name, _)| *name == kind) {
            Some((_, endings)) => {
                let counters = endings.iter().map(|ending| (format!("{metric}{ending}"), true));
                self.counters.extend(counters);
            }
            // Its name says more.
            None if matches!(kind, "untyped" | "unknown") => {}
            None => drop(self.counters.insert(metric.to_owned(), false)),
        }
    }
}

const fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t')
}

/// The length of the series at the beginning of a line. Values of labels may contain anything.
fn series_end(line: &str) -> Result<usize, String> {
    let name_end = line.find(|letter| is_blank(letter) || letter == '{').unwrap_or(line.len());
    let rest = &line[name_end..];
    if !rest.trim_start_matches(is_blank).starts_with('{') {
        return Ok(name_end);
    }
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (place, byte) in rest.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'}' if !is_quoted => return Ok(name_end + place + 1),
            _ => {}
        }
    }
    Err("expected } behind the labels".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The series, the value as it is written, and the time.
    type Sample<'t> = (&'t str, String, Option<&'t str>);

    fn sample(line: &str) -> Result<Option<Sample<'_>>, String> {
        let found = ExpositionLines::default().take(line)?;
        Ok(found.map(|sample| (sample.series, sample.value.to_string(), sample.time)))
    }

    #[test]
    fn a_line_has_a_series_a_value_and_perhaps_a_time() {
        for (line, series, value, time) in [
            ("up 1", "up", "1", None),
            ("  up\t 1.5e3 ", "up", "1500", None),
            ("up 1 1500000000000", "up", "1", Some("1500000000000")),
            ("a{b=\"}\\\" {\"} +Inf", "a{b=\"}\\\" {\"}", "inf", None),
            ("a {b=\"c\",} NaN -5", "a {b=\"c\",}", "NaN", Some("-5")),
            ("a_bucket{le=\"1\"} 8 # {trace=\"}\"} 0.6 1.5", "a_bucket{le=\"1\"}", "8", None),
            ("a_bucket{le=\"1\"} 8 15.2 # {trace=\"}\"} 0.6", "a_bucket{le=\"1\"}", "8", Some("15.2")),
        ] {
            assert_eq!(sample(line), Ok(Some((series, value.to_owned(), time))), "{line}");
        }
        for line in ["", "  ", "# HELP up Whether", "# EOF", "#"] {
            assert_eq!(sample(line), Ok(None), "{line}");
        }
        for (line, message) in [
            ("up", "expected a value behind the series"),
            ("up one", "expected a number, found one"),
            ("up 1 2 3", "expected the end, found 3"),
            ("up{a=\"} 1", "expected } behind the labels"),
        ] {
            assert_eq!(sample(line), Err(message.to_owned()), "{line}");
        }
    }

    #[test]
    fn the_type_says_what_counts() {
        let mut lines = ExpositionLines::default();
        for kind in ["a counter", "b histogram", "c summary", "d_total gauge", "e gauge", "f_total untyped"] {
            lines.take(&format!("# TYPE {kind}")).unwrap();
        }
        for metric in
            ["a", "a_total", "b_bucket", "b_count", "b_sum", "c_sum", "c_count", "f_total", "unknown_total"]
        {
            assert!(lines.is_counter(metric), "{metric}");
        }
        for metric in ["b", "c", "d_total", "e", "unknown"] {
            assert!(!lines.is_counter(metric), "{metric}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(line in "\\PC*", labels in "[ab{}=,\"\\\\ #]*") {
            let _ = sample(&line);
            let _ = sample(&labels);
        }
    }
}
