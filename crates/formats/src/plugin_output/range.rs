//! Numbers and ranges in performance data.

use std::fmt;

/// Values that are fine: section 2.5 of the guidelines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PluginRange {
    /// From this one on.
    pub start: f64,
    /// Up to this one.
    pub end: f64,
    /// It is the other way around: values in it are not fine.
    pub is_inverted: bool,
}

impl PluginRange {
    /// Reads `10`, `10:`, `~:10`, `10:20` or `@10:20`; `None` if it is none of these.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_in(text, "")
    }

    /// Reads a range as [`Self::parse`] does, where the numbers may have the unit of the value.
    pub(super) fn parse_in(text: &str, unit: &str) -> Option<Self> {
        let number = |text| number_in(text, unit);
        let (is_inverted, text) = match text.strip_prefix('@') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (start, end) = match text.split_once(':') {
            None => (0.0, number(text)?),
            Some((start, end)) => {
                let start = match start {
                    "~" => f64::NEG_INFINITY,
                    "" => 0.0,
                    start => number(start)?,
                };
                (start, if end.is_empty() { f64::INFINITY } else { number(end)? })
            }
        };
        (start <= end).then_some(Self { start, end, is_inverted })
    }

    /// Returns whether a value is not fine.
    pub fn alerts(&self, value: f64) -> bool {
        (self.start..=self.end).contains(&value) == self.is_inverted
    }
}

/// In the shortest form.
impl fmt::Display for PluginRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_inverted {
            f.write_str("@")?;
        }
        if self.start == f64::NEG_INFINITY {
            f.write_str("~:")?;
        } else if self.start != 0.0 || self.end == f64::INFINITY {
            write!(f, "{}:", self.start)?;
        }
        if self.end == f64::INFINITY { Ok(()) } else { write!(f, "{}", self.end) }
    }
}

/// A number, with or without the unit.
pub(super) fn number_in(text: &str, unit: &str) -> Option<f64> {
    number(text).or_else(|| number(text.strip_suffix(unit)?.trim_end()))
}

/// Reads a number with a decimal point, or with the comma of plugins that use another language.
pub(super) fn number(text: &str) -> Option<f64> {
    let is_plain = text.starts_with(|letter: char| letter.is_ascii_digit() || "+-.,".contains(letter));
    let value: f64 = is_plain.then(|| text.replace(',', ".").parse().ok())??;
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_guidelines() {
        let alerts = |range: &str, value: f64| PluginRange::parse(range).unwrap().alerts(value);
        for (range, fine, wrong) in [
            ("10", &[0.0, 10.0][..], &[-1.0, 10.1][..]),
            ("10:", &[10.0, 1e9], &[9.9]),
            ("~:10", &[-1e9, 10.0], &[10.1]),
            ("10:20", &[10.0, 20.0], &[9.9, 20.1]),
            ("@10:20", &[9.9, 20.1], &[10.0, 20.0]),
        ] {
            assert!(fine.iter().all(|value| !alerts(range, *value)), "{range}");
            assert!(wrong.iter().all(|value| alerts(range, *value)), "{range}");
            assert_eq!(PluginRange::parse(range).unwrap().to_string(), range);
        }
        for wrong in ["", ":", "a", "20:10", "1:2:3", "~", "@", "inf", "nan"] {
            assert!(wrong == ":" || PluginRange::parse(wrong).is_none(), "{wrong}");
        }
    }
}
