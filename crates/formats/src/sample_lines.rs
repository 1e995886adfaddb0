//! Samples as text, a line at a time: what `whit history export` writes, and the text formats of Prometheus and OpenMetrics with times.
//!
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>, <https://prometheus.io/docs/specs/om/open_metrics_spec/>

use serde::Deserialize;

use crate::exposition::{ExpositionLines, ExpositionSample};
use crate::placed_error::PlacedError;
use crate::samples::SampleSet;
use crate::series_name::SeriesName;

/// The first line of CSV.
pub const CSV_HEAD: &str = "realtime_ns,series,value";

/// The format, which is detected from the first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Csv,
    /// A document a line.
    Json,
    Exposition,
}

/// Reads lines.
#[derive(Debug, Default)]
pub struct SampleLines {
    samples: SampleSet,
    form: Option<Form>,
    line: usize,
    exposition: ExpositionLines,
}

/// A series of an export as JSON.
#[derive(Deserialize)]
struct SeriesDocument {
    series: String,
    kind: String,
    realtimes_ns: Vec<u64>,
    values: Vec<SampleValue>,
}

/// JSON has no NaN and no infinity: they are texts.
#[derive(Deserialize)]
#[serde(untagged)]
enum SampleValue {
    Number(f64),
    Text(String),
}

impl SampleValue {
    fn number(&self) -> Result<f64, String> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Text(text) => text.parse().map_err(|_| format!("expected a number, found {text}")),
        }
    }
}

impl SampleLines {
    /// Takes the next line, without its end.
    ///
    /// # Errors
    /// Returns an error if the line cannot be read.
    pub fn take(&mut self, text: &str) -> Result<(), PlacedError> {
        self.line += 1;
        let form = *self.form.get_or_insert_with(|| match text {
            _ if text.starts_with('{') && text.ends_with('}') => Form::Json,
            CSV_HEAD => Form::Csv,
            _ => Form::Exposition,
        });
        let taken = match form {
            _ if text.trim().is_empty() => Ok(()),
            Form::Csv if text == CSV_HEAD => Ok(()),
            Form::Csv => self.take_csv(text),
            Form::Json => self.take_json(text),
            Form::Exposition => self.take_exposition(text),
        };
        taken.map_err(|message| PlacedError { line: self.line, column: 0, message })
    }

    /// Returns the samples that were read.
    pub fn finish(self) -> SampleSet {
        self.samples
    }

    fn push(&mut self, series: &SeriesName, is_counter: bool, at: i64, value: f64) -> Result<(), String> {
        self.samples.push(&series.to_string(), is_counter, at, value).map_err(|refused| refused.to_string())
    }

    fn take_csv(&mut self, text: &str) -> Result<(), String> {
        let wanted = || format!("expected {CSV_HEAD}");
        let (at, rest) = text.split_once(',').ok_or_else(wanted)?;
        let (series, value) = rest.rsplit_once(',').ok_or_else(wanted)?;
        let series = match series.strip_prefix('"').and_then(|series| series.strip_suffix('"')) {
            Some(quoted) => quoted.replace("\"\"", "\""),
            None => series.to_owned(),
        };
        let series = SeriesName::parse(&series).map_err(|error| format!("{series}: {error}"))?;
        let at = at.parse().map_err(|_| format!("expected nanoseconds since 1970, found {at}"))?;
        let value = value.parse().map_err(|_| format!("expected a number, found {value}"))?;
        let is_counter = is_total(series.metric());
        self.push(&series, is_counter, at, value)
    }

    fn take_json(&mut self, text: &str) -> Result<(), String> {
        let document: SeriesDocument = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let series =
            SeriesName::parse(&document.series).map_err(|error| format!("{}: {error}", document.series))?;
        if document.realtimes_ns.len() != document.values.len() {
            return Err("as many times as values are expected".to_owned());
        }
        for (at, value) in document.realtimes_ns.iter().zip(&document.values) {
            let at = i64::try_from(*at).map_err(|_| format!("no time: {at}"))?;
            self.push(&series, document.kind == "counter", at, value.number()?)?;
        }
        Ok(())
    }

    fn take_exposition(&mut self, text: &str) -> Result<(), String> {
        let Some(ExpositionSample { series, value, time }) = self.exposition.take(text)? else {
            return Ok(());
        };
        let series = SeriesName::parse(series).map_err(|error| format!("{series}: {error}"))?;
        let time = time.ok_or_else(|| format!("{series}: expected a time behind the value"))?;
        let at = time_ns(time).ok_or_else(|| format!("expected a time, found {time}"))?;
        let is_counter = self.exposition.is_counter(series.metric());
        self.push(&series, is_counter, at, value)
    }
}

fn is_total(metric: &str) -> bool {
    metric.ends_with("_total")
}

/// Milliseconds since 1970 in Prometheus' format; seconds in OpenMetrics, with a point or too small for milliseconds.
fn time_ns(text: &str) -> Option<i64> {
    const EARLIEST_MS: i64 = 100_000_000_000;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole: i64 = whole.parse().ok()?;
    let is_milliseconds = !text.contains('.') && whole.abs() >= EARLIEST_MS;
    if is_milliseconds {
        return whole.checked_mul(1_000_000);
    }
    let digits = format!("{:0<9}", fraction.get(..fraction.len().min(9))?);
    let nanos: i64 = digits.parse().ok().filter(|nanos| *nanos >= 0)?;
    whole.checked_mul(1_000_000_000)?.checked_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<SampleSet, PlacedError> {
        let mut lines = SampleLines::default();
        text.lines().try_for_each(|line| lines.take(line))?;
        Ok(lines.finish())
    }

    #[test]
    fn all_forms_are_one() {
        let csv = "realtime_ns,series,value\n1500000000000000000,\"a_total{x=\"\"1,}\"\"}\",2\n1500000001000000000,\"b\",0.5\n";
        let json = "{\"series\":\"a_total{x=\\\"1,}\\\"}\",\"kind\":\"counter\",\"realtimes_ns\":[1500000000000000000],\"values\":[2]}\n\
            {\"series\":\"b\",\"kind\":\"gauge\",\"realtimes_ns\":[1500000001000000000],\"values\":[0.5]}\n";
        let prometheus = "# TYPE a_total counter\na_total{x=\"1,}\"} 2 1500000000000\n# TYPE b gauge\nb 0.5 1500000001000\n";
        let open = "# TYPE a counter\na_total{x=\"1,}\"} 2 1500000000.000\n# TYPE b gauge\nb 0.5 1500000001\n# EOF\n";
        let expected = read(csv).unwrap();
        assert!(expected.series()["a_total{x=\"1,}\"}"].is_counter && !expected.series()["b"].is_counter);
        assert_eq!(expected.series()["b"].samples, [(1_500_000_001_000_000_000, 0.5)]);
        for text in [json, prometheus, open] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn faults_have_their_line() {
        for (text, line, message) in [
            ("realtime_ns,series,value\n1,up\n", 2, "expected realtime_ns,series,value"),
            ("up 1 1500000000\n\nup{ 1 2\n", 3, "expected } behind the labels"),
            ("up 1\n", 1, "up: expected a time behind the value"),
            ("up one 1500000000\n", 1, "expected a number, found one"),
            ("up 1 yesterday\n", 1, "expected a time, found yesterday"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!((error.line, error.message.as_str()), (line, message), "{text}");
        }
        assert!(read("{\"series\":\"a\",\"kind\":\"gauge\",\"realtimes_ns\":[1],\"values\":[]}").is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics(text: String) {
            let _ = read(&text);
            let _ = read(&format!("realtime_ns,series,value\n{text}"));
            let _ = time_ns(&text);
        }
    }
}
