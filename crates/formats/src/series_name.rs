//! Names of series, as Prometheus writes them: `name{label="value",…}`, the labels in the order of their names.
//!
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::fmt;
use std::sync::Arc;

use crate::labels::Labels;

/// The label that holds the name of the metric.
pub const METRIC: &str = "__name__";

/// A series by its labels, the metric's name among them. No value is empty: an empty label is none. A copy shares its labels until one of
/// both is changed: an expression copies its series several times.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesName(Arc<Labels>);

/// Why a text is not a series, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesNameError {
    /// Bytes before it.
    pub place: usize,
    /// The text that is expected there.
    pub wanted: &'static str,
}

impl fmt::Display for SeriesNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} after {} bytes", self.wanted, self.place)
    }
}

impl std::error::Error for SeriesNameError {}

impl SeriesName {
    /// A metric without labels.
    pub fn new(metric: &str) -> Self {
        let mut name = Self::default();
        name.set(METRIC, metric);
        name
    }

    /// Parses a series.
    ///
    /// # Errors
    /// Where the text is none, and what is expected there.
    pub fn parse(text: &str) -> Result<Self, SeriesNameError> {
        let mut rest = Rest { text, place: 0 };
        let mut name = Self::default();
        rest.skip_blanks();
        let metric = rest.name(is_metric_letter);
        name.set(METRIC, metric);
        rest.skip_blanks();
        if rest.take('{') {
            loop {
                rest.skip_blanks();
                if rest.take('}') {
                    break;
                }
                let label = rest.name(is_label_letter);
                if label.is_empty() {
                    return Err(rest.expected("the name of a label or }"));
                }
                rest.skip_blanks();
                if !rest.take('=') {
                    return Err(rest.expected("="));
                }
                rest.skip_blanks();
                let value = rest.quoted()?;
                if !name.get(label).is_empty() {
                    return Err(rest.expected("a label that is not there already"));
                }
                name.set(label, &value);
                rest.skip_blanks();
                if !rest.take(',') && !rest.text[rest.place..].starts_with('}') {
                    return Err(rest.expected(", or }"));
                }
            }
        }
        rest.skip_blanks();
        match rest.place == text.len() {
            _ if name.0.is_empty() => Err(rest.expected("a series, such as up{job=\"node\"}")),
            true => Ok(name),
            false => Err(rest.expected("the end")),
        }
    }

    /// The value of a label; empty if there is none.
    pub fn get(&self, label: &str) -> &str {
        self.0.get(label).unwrap_or_default()
    }

    /// The name of the metric.
    pub fn metric(&self) -> &str {
        self.get(METRIC)
    }

    /// Gives a label a value. An empty one removes it.
    pub fn set(&mut self, label: &str, value: &str) {
        match value {
            "" => drop(self.take(label)),
            value => Arc::make_mut(&mut self.0).insert(label, value),
        }
    }

    /// Removes a label, and returns its value; empty if there was none.
    pub fn take(&mut self, label: &str) -> String {
        let value = self.get(label).to_owned();
        self.retain(|known| known != label);
        value
    }

    /// All labels in order, the metric's name among them.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter()
    }

    /// Returns its approximate size in memory.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }

    /// Removes the labels for which `is_kept` returns `false`.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&str) -> bool) {
        if !self.0.iter().all(|(label, _)| is_kept(label)) {
            self.0 = Arc::new(self.0.kept(is_kept));
        }
    }
}

impl fmt::Display for SeriesName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.metric())?;
        let mut before = '{';
        for (label, value) in self.labels().filter(|(label, _)| *label != METRIC) {
            write!(f, "{before}{label}=\"")?;
            before = ',';
            for letter in value.chars() {
                match letter {
                    '\\' => f.write_str("\\\\")?,
                    '"' => f.write_str("\\\"")?,
                    '\n' => f.write_str("\\n")?,
                    letter => write!(f, "{letter}")?,
                }
            }
            f.write_str("\"")?;
        }
        match before {
            '{' => Ok(()),
            _ => f.write_str("}"),
        }
    }
}

/// The name of the metric in a series as it is written: what stands before its labels.
pub fn metric_of(series: &str) -> &str {
    series.split_once('{').map_or(series, |(metric, _)| metric)
}

/// Returns whether a text can be the name of a label.
pub fn is_label(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(is_label_letter)
}

/// Returns whether a text can be the name of a metric.
pub fn is_metric(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(is_metric_letter)
}

fn is_label_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn is_metric_letter(letter: char) -> bool {
    is_label_letter(letter) || letter == ':'
}

/// A text that is parsed from the left to the right.
struct Rest<'t> {
    text: &'t str,
    place: usize,
}

impl<'t> Rest<'t> {
    fn expected(&self, wanted: &'static str) -> SeriesNameError {
        SeriesNameError { place: self.place, wanted }
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.place..];
        self.place += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, letter: char) -> bool {
        let is_next = self.text[self.place..].starts_with(letter);
        self.place += if is_next { letter.len_utf8() } else { 0 };
        is_next
    }

    /// A name that begins with no digit; empty if there is none.
    fn name(&mut self, is_letter: fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.place..];
        let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
        let name = if rest.starts_with(|first: char| first.is_ascii_digit()) { "" } else { &rest[..end] };
        self.place += name.len();
        name
    }

    fn quoted(&mut self) -> Result<String, SeriesNameError> {
        if !self.take('"') {
            return Err(self.expected("a value in quotes"));
        }
        let mut value = String::new();
        let mut letters = self.text[self.place..].char_indices();
        while let Some((place, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.place += place + 1;
                    return Ok(value);
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, letter @ ('\\' | '"'))) => value.push(letter),
                    // As in Prometheus: before any other letter a backslash is a letter itself.
                    Some((_, letter)) => value.extend(['\\', letter]),
                    None => {}
                },
                letter => value.push(letter),
            }
        }
        self.place = self.text.len();
        Err(self.expected("the closing quote"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn series_are_parsed() {
        for (text, expected) in [
            ("up", "up"),
            (" a:b { x = \"1\" , y=\"\\\\ \\\" \\n\" , } ", "a:b{x=\"1\",y=\"\\\\ \\\" \\n\"}"),
            ("{__name__=\"up\",job=\"a\"}", "up{job=\"a\"}"),
            ("up{a=\"\\x\"}", "up{a=\"\\\\x\"}"),
            ("up{z=\"1\",a=\"2\",empty=\"\"}", "up{a=\"2\",z=\"1\"}"),
        ] {
            assert_eq!(SeriesName::parse(text).unwrap().to_string(), expected);
        }
        for (text, place) in [("", 0), ("1up", 0), ("up{a}", 4), ("up{a=b}", 5), ("up{a=\"", 6), ("up x", 3)]
        {
            assert_eq!(SeriesName::parse(text).unwrap_err().place, place, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_can_be_parsed(labels: Vec<(String, String)>) {
            let mut name = SeriesName::new("up");
            for (number, (_, value)) in labels.iter().enumerate() {
                name.set(&format!("label_{number}"), value);
            }
            prop_assert_eq!(SeriesName::parse(&name.to_string()), Ok(name));
        }

        #[test]
        fn nothing_panics(text: String) {
            let _ = SeriesName::parse(&text);
        }
    }
}
