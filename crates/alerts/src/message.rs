//! The message of an alert: text with `{label}` and `{value}` in it.

use facts::unit::{Bytes, Nanos};
use formats::series_name::{SeriesName, is_label};
use query::number::write_in_full;
use text::units::{Size, Span};

/// Text with the places of labels and of the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    source: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Label(String),
    Value(Form),
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Number,
    /// With so many decimals.
    Decimals(usize),
    /// A ratio.
    Percent,
    /// Bytes.
    Size,
    /// Seconds.
    Span,
}

/// A description of what is wrong with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFault(pub String);

/// The longest text that is made of a message.
const MAX_BYTES: usize = 1000;

impl Message {
    /// Parses `{mountpoint} has {value:size} left`; doubled braces stand for themselves.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, MessageFault> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                literal.push_str(brace);
                rest = after;
                continue;
            }
            let fault = |message: String| MessageFault(message);
            if brace == "}" {
                return Err(fault(
                    "there is a \"}\" without a \"{\" before it; \"}}\" stands for one".to_owned(),
                ));
            }
            let (field, after) =
                rest.split_once('}').ok_or_else(|| fault("there is a \"{\" without a \"}\"".to_owned()))?;
            rest = after;
            if !literal.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut literal)));
            }
            parts.push(field_part(field).map_err(fault)?);
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(Self { source: text.to_owned(), parts })
    }

    /// As it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The text for these labels and this value.
    pub fn write(&self, labels: &SeriesName, value: f64) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Label(label) => out.push_str(labels.get(label)),
                Part::Value(form) => out.push_str(&form.write(value)),
            }
        }
        let end = out.floor_char_boundary(MAX_BYTES);
        out.truncate(end);
        out
    }

    /// The same as a template of Prometheus' annotations. Numbers have the digits that Go's text/template gives them.
    pub fn prometheus_template(&self) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => template_of(text),
            Part::Label(label) => format!("{{{{ $labels.{label} }}}}"),
            Part::Value(Form::Number) => "{{ $value }}".to_owned(),
            Part::Value(Form::Decimals(decimals)) => format!("{{{{ printf \"%.{decimals}f\" $value }}}}"),
            Part::Value(Form::Percent) => "{{ $value | humanizePercentage }}".to_owned(),
            Part::Value(Form::Size) => "{{ $value | humanize1024 }}B".to_owned(),
            Part::Value(Form::Span) => "{{ $value | humanizeDuration }}".to_owned(),
        };
        self.parts.iter().map(part).collect()
    }
}

/// Text as a template of Go that stands for it.
pub fn template_of(text: &str) -> String {
    text.replace('{', "{{\"{\"}}")
}

fn field_part(field: &str) -> Result<Part, String> {
    let (name, form) = field.split_once(':').map_or((field, None), |(name, form)| (name, Some(form)));
    match (name, form) {
        ("value", form) => Ok(Part::Value(Form::parse(form)?)),
        (label, None) if is_label(label) => Ok(Part::Label(label.to_owned())),
        (label, Some(_)) if is_label(label) => {
            Err(format!("\"{{{field}}}\": a label is written as it is, without \":\""))
        }
        _ => Err(format!("\"{{{field}}}\" is no label; {{value}} is the value, {{{{ stands for a brace")),
    }
}

impl Form {
    fn parse(text: Option<&str>) -> Result<Self, String> {
        Ok(match text {
            None => Self::Number,
            Some("percent") => Self::Percent,
            Some("size") => Self::Size,
            Some("span") => Self::Span,
            Some(other) => {
                let decimals = other.strip_prefix('.').and_then(|digits| digits.parse().ok());
                Self::Decimals(decimals.filter(|digits| *digits < 10).ok_or_else(|| {
                    format!("\"{{value:{other}}}\": expected percent (of a ratio), size (bytes), span (seconds) or .1")
                })?)
            }
        })
    }

    fn write(self, value: f64) -> String {
        let is_amount = value.is_finite() && value >= 0.0;
        match self {
            Self::Percent if value.is_finite() => format!("{:.1} %", value * 100.0),
            Self::Decimals(decimals) if value.is_finite() => format!("{value:.decimals$}"),
            Self::Size if is_amount => Size(Bytes(value as u64)).to_string(),
            Self::Span if is_amount => Span(Nanos((value * 1e9) as u64)).to_string(),
            _ => write_in_full(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_values_are_written() {
        let mut labels = SeriesName::default();
        labels.set("mountpoint", "/srv");
        for (text, value, expected) in [
            ("{mountpoint} has {value:size} left", 3e9, "/srv has 2.8 GiB left"),
            ("{value:percent} of {{it}}", 0.256, "25.6 % of {it}"),
            ("{value}, {value:.1}, {value:span}{gone}", 90.25, "90.25, 90.2, 1m30s"),
            ("{value:size}", f64::NAN, "NaN"),
            ("", 1.0, ""),
        ] {
            assert_eq!(Message::parse(text).unwrap().write(&labels, value), expected, "{text}");
        }
        let long = Message::parse(&"ä".repeat(2000)).unwrap();
        assert_eq!(long.write(&labels, 0.0).len(), MAX_BYTES);
    }

    #[test]
    fn templates_say_the_same() {
        for (text, template) in [
            (
                "{mountpoint} has {value:size} left",
                "{{ $labels.mountpoint }} has {{ $value | humanize1024 }}B left",
            ),
            ("{value:.0} of {value}", "{{ printf \"%.0f\" $value }} of {{ $value }}"),
            (
                "{value:percent}, {value:span}",
                "{{ $value | humanizePercentage }}, {{ $value | humanizeDuration }}",
            ),
            ("{{{{no template}}}}", "{{\"{\"}}{{\"{\"}}no template}}"),
            ("{{{instance}}}", "{{\"{\"}}{{ $labels.instance }}}"),
        ] {
            assert_eq!(Message::parse(text).unwrap().prometheus_template(), template, "{text}");
        }
    }

    #[test]
    fn faults_say_what_would_be_right() {
        for text in ["{", "}", "{value:x}", "{a b}", "{mountpoint:size}", "{}", "{{}"] {
            assert!(Message::parse(text).is_err(), "{text}");
        }
    }
}
