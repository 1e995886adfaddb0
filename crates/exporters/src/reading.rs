//! Texts of a target as samples. A series that was in the reading before costs one look-up: its name is not made again.

use std::collections::HashMap;

use formats::exposition::ExpositionLines;
use formats::relabel::{Relabelled, Relabelling};
use formats::series_name::SeriesName;
use history::past::metadata;
use store::SeriesKind;

use crate::options::TargetOptions;

/// The longest line, in bytes.
const MAX_LINE: usize = 1 << 13;
/// The label that names a machine where the series of several come together.
const INSTANCE: &str = "instance";
/// Names that are remembered beyond twice those of the last reading.
const NAMES_BEYOND: usize = 1000;

/// Makes samples of a target's texts.
#[derive(Debug)]
pub(crate) struct Reader {
    labels: Vec<(String, String)>,
    keeps_labels: bool,
    relabelling: Relabelling,
    most_samples: usize,
    /// The numbers of series, as they are written; `None`: it is dropped.
    numbers: HashMap<String, Option<u32>>,
    next: u32,
    /// Names that the last good reading looked up.
    before: usize,
}

/// What a target has at one time.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Numbers begin anew: those of earlier readings mean nothing any more.
    pub(crate) is_restarted: bool,
    /// The series that get the next numbers.
    pub(crate) new: Vec<NewSeries>,
    /// Numbers of series, and their values.
    pub(crate) samples: Vec<(u32, f64)>,
    /// Samples in the texts, those that were dropped included; before an error, if there is one.
    pub(crate) count: usize,
    /// Those that were not dropped.
    pub(crate) kept: usize,
}

/// A series that was not in an earlier reading.
#[derive(Debug, PartialEq)]
pub(crate) struct NewSeries {
    pub(crate) name: String,
    pub(crate) kind: SeriesKind,
}

impl Reader {
    pub(crate) fn new(options: &TargetOptions) -> Self {
        Self {
            labels: options.labels.clone(),
            keeps_labels: options.keeps_labels,
            relabelling: options.relabelling.clone(),
            most_samples: options.most_samples,
            numbers: HashMap::new(),
            next: 0,
            before: 0,
        }
    }

    /// Begins a reading.
    pub(crate) fn begin(&mut self) -> Reading {
        // An exporter may name its series otherwise each time.
        let is_restarted = self.numbers.len() > 2 * self.before + NAMES_BEYOND;
        if is_restarted {
            self.numbers.clear();
            self.next = 0;
        }
        Reading { is_restarted, ..Reading::default() }
    }

    /// Ends a reading that has samples: so many names are worth remembering.
    pub(crate) fn end(&mut self, reading: &Reading) {
        self.before = reading.count;
    }

    /// Adds the samples of a text: all or none.
    ///
    /// # Errors
    /// What is wrong in it, and in which line; or that there are too many samples.
    pub(crate) fn take(&mut self, reading: &mut Reading, text: &str) -> Result<(), String> {
        let samples = reading.samples.len();
        let taken = self.take_lines(reading, text);
        if taken.is_err() {
            reading.samples.truncate(samples);
        }
        taken
    }

    fn take_lines(&mut self, reading: &mut Reading, text: &str) -> Result<(), String> {
        let mut lines = ExpositionLines::default();
        for (line, number) in text.lines().zip(1..) {
            let failed = |message: String| format!("line {number}: {message}");
            // A comment that is longer is left out, as one that cannot be read.
            if line.len() > MAX_LINE && line.trim_start().starts_with('#') {
                continue;
            }
            if line.len() > MAX_LINE {
                return Err(failed(format!("more than {MAX_LINE} bytes")));
            }
            let Some(sample) = lines.take(line).map_err(failed)? else { continue };
            reading.count += 1;
            let series = match self.numbers.get(sample.series) {
                Some(number) => *number,
                None => {
                    let name = SeriesName::parse(sample.series)
                        .map_err(|error| failed(format!("{}: {error}", sample.series)))?;
                    let is_counter = lines.is_counter(name.metric());
                    let name = self.renamed(name);
                    self.add(reading, sample.series, name, is_counter)
                }
            };
            if let Some(series) = series {
                reading.samples.push((series, sample.value));
                reading.kept += 1;
            }
            if reading.kept > self.most_samples {
                return Err(format!("more than {} samples (the option samples)", self.most_samples));
            }
        }
        Ok(())
    }

    /// Adds a sample of whit's own, which no rule changes.
    pub(crate) fn push(&mut self, reading: &mut Reading, series: SeriesName, value: f64) {
        // No series of a text begins so.
        let key = format!("#{series}");
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None => {
                let name = self.labelled(series);
                self.add(reading, &key, Some(name), false)
            }
        };
        reading.samples.extend(number.map(|number| (number, value)));
    }

    fn add(
        &mut self,
        reading: &mut Reading,
        key: &str,
        name: Option<SeriesName>,
        is_counter: bool,
    ) -> Option<u32> {
        let number = name.map(|name| {
            let kind = if is_counter { SeriesKind::Counter } else { SeriesKind::Gauge };
            reading.new.push(NewSeries { name: name.to_string(), kind });
            self.next += 1;
            self.next - 1
        });
        self.numbers.insert(key.to_owned(), number);
        number
    }

    fn renamed(&self, series: SeriesName) -> Option<SeriesName> {
        match self.relabelling.apply(self.labelled(series), |_, _| {}) {
            // What whit measures itself would be counted twice by all that asks for it.
            Relabelled::Series(series) => metadata(series.metric()).is_none().then_some(series),
            Relabelled::Dropped(_) | Relabelled::Nameless(_) => None,
        }
    }

    /// Returns a series with the labels of the target.
    fn labelled(&self, mut series: SeriesName) -> SeriesName {
        for (label, value) in &self.labels {
            let own = series.take(label);
            if own.is_empty() {
                series.set(label, value);
            } else if self.keeps_labels {
                series.set(label, &own);
            } else {
                set_exported(&mut series, label, &own);
                series.set(label, value);
            }
        }
        // What goes out gets the name of this machine there, unless it has one.
        let has_instance = self.labels.iter().any(|(label, _)| label == INSTANCE);
        if !has_instance && !self.keeps_labels {
            let own = series.take(INSTANCE);
            if !own.is_empty() {
                set_exported(&mut series, INSTANCE, &own);
            }
        }
        series
    }
}

/// Sets a label that the target gave itself under another name, which it does not have yet.
fn set_exported(series: &mut SeriesName, label: &str, value: &str) {
    let mut exported = format!("exported_{label}");
    while !series.get(&exported).is_empty() {
        exported.insert_str(0, "exported_");
    }
    series.set(&exported, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(labels: &[(&str, &str)]) -> Reader {
        let mut options = TargetOptions::of_directory("/".into());
        options.labels =
            labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Reader::new(&options)
    }

    fn names(reading: &Reading) -> Vec<&str> {
        reading.new.iter().map(|series| series.name.as_str()).collect()
    }

    #[test]
    fn the_machine_names_its_series_itself() {
        let named = |reader: &mut Reader| {
            let mut reading = reader.begin();
            reader.take(&mut reading, "a{instance=\"own\"} 1\n").unwrap();
            names(&reading).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(named(&mut reader(&[("job", "db")])), ["a{exported_instance=\"own\",job=\"db\"}"]);
        assert_eq!(
            named(&mut reader(&[("instance", "db2")])),
            ["a{exported_instance=\"own\",instance=\"db2\"}"]
        );
        let mut keeping = reader(&[]);
        keeping.keeps_labels = true;
        assert_eq!(named(&mut keeping), ["a{instance=\"own\"}"]);
    }

    #[test]
    fn a_series_is_named_once() {
        let mut reader = reader(&[("job", "db")]);
        let mut first = reader.begin();
        reader.take(&mut first, "# TYPE a counter\na{x=\"1\",job=\"own\"} 1\nb 2\n").unwrap();
        reader.take(&mut first, "node_load1 1\n").unwrap();
        reader.push(&mut first, SeriesName::new("up"), 1.0);
        assert_eq!(
            names(&first),
            ["a{exported_job=\"own\",job=\"db\",x=\"1\"}", "b{job=\"db\"}", "up{job=\"db\"}"]
        );
        let kinds: Vec<SeriesKind> = first.new.iter().map(|series| series.kind).collect();
        assert_eq!(kinds, [SeriesKind::Counter, SeriesKind::Gauge, SeriesKind::Gauge]);
        assert_eq!((&first.samples[..], first.count), (&[(0, 1.0), (1, 2.0), (2, 1.0)][..], 3));
        let mut second = reader.begin();
        reader.take(&mut second, "c 1\nb 3\n").unwrap();
        assert_eq!((names(&second), &second.samples[..]), (vec!["c{job=\"db\"}"], &[(3, 1.0), (1, 3.0)][..]));
    }

    #[test]
    fn a_text_with_an_error_has_no_samples() {
        let mut reader = reader(&[]);
        let mut reading = reader.begin();
        reader.take(&mut reading, "a 1\n").unwrap();
        assert_eq!(
            reader.take(&mut reading, "b 1\nc one\n").unwrap_err(),
            "line 2: expected a number, found one"
        );
        assert_eq!(reading.samples, [(0, 1.0)]);
        let long = format!("a{{b=\"{}\"}} 1\n", "x".repeat(MAX_LINE));
        assert_eq!(reader.take(&mut reading, &long).unwrap_err(), "line 1: more than 8192 bytes");
        let many: String = (0..20).map(|number| format!("many{{n=\"{number}\"}} 1\n")).collect();
        assert_eq!(
            reader.take(&mut reading, &many).unwrap_err(),
            "more than 10 samples (the option samples)"
        );
        assert!(reader.take(&mut reading, "a{b=\"1\",b=\"2\"} 1\n").unwrap_err().starts_with("line 1: a{b="));
        assert_eq!(reading.samples.len(), 1);
    }

    #[test]
    fn names_that_change_each_time_are_forgotten_and_others_are_not() {
        let mut reader = reader(&[]);
        for round in 0..400 {
            let mut reading = reader.begin();
            let text: String = (0..5).map(|number| format!("a{{id=\"{round}-{number}\"}} 1\n")).collect();
            reader.take(&mut reading, &text).unwrap();
            reader.end(&reading);
            assert!(reader.numbers.len() <= NAMES_BEYOND + 20);
            assert!(reading.samples.iter().all(|(number, _)| *number < reader.next));
        }
        // Those that are dropped are looked up as well.
        let dropped: String = (0..5_000).map(|number| format!("node_load1{{id=\"{number}\"}} 1\n")).collect();
        let mut restarts = 0;
        for _ in 0..5 {
            let mut reading = reader.begin();
            restarts += u32::from(reading.is_restarted);
            reader.take(&mut reading, &dropped).unwrap();
            assert_eq!((reading.samples.len(), reading.count), (0, 5_000));
            reader.end(&reading);
        }
        assert!(restarts <= 1, "{restarts}");
    }

    #[test]
    fn no_label_is_lost() {
        let mut reader = reader(&[("job", "db")]);
        let mut reading = reader.begin();
        reader.take(&mut reading, "a{job=\"x\",exported_job=\"y\"} 1\n").unwrap();
        assert_eq!(names(&reading), ["a{exported_exported_job=\"x\",exported_job=\"y\",job=\"db\"}"]);
    }
}
