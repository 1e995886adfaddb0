//! Conditions under which a load test fails: `p99>50ms`, `errors>0`, `rate<1000`.

use facts::unit::Nanos;

use super::sent::{PERCENTILES, Sent};

/// A figure of what was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// The latency that so many percent of all answers do not exceed, in nanoseconds.
    Percentile(f64),
    /// Connections and requests that failed, what was not answered, and answers with a status of 400 and above.
    Errors,
    /// Packets or requests a second.
    Rate,
}

/// Returns the percentile of a name.
fn percentile(name: &str) -> Option<f64> {
    let known = PERCENTILES.iter().find(|(_, known, _)| *known == name);
    known.map(|(percentile, ..)| *percentile).or_else(|| (name == "longest").then_some(100.0))
}

/// A figure that is above or below a limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    text: String,
    figure: Figure,
    is_above: bool,
    /// In nanoseconds for a latency.
    limit: f64,
}

impl Condition {
    /// Parses one.
    ///
    /// # Errors
    /// What is expected.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            "a figure, > or <, and a limit: 'p99>50ms' (p50, p90, p99, p99.9, longest), 'errors>0', 'rate<1000'"
                .to_owned()
        };
        let place = text.find(['>', '<']).ok_or_else(wrong)?;
        let (name, limit) = (text[..place].trim(), text[place + 1..].trim());
        let number = || text::quantity::number(limit).map_err(|_| wrong());
        let (figure, limit) = match (percentile(name), name) {
            (Some(percentile), _) => {
                // Who writes a number alone means milliseconds or seconds.
                if number().is_ok() && limit.ends_with(|last: char| last.is_ascii_digit()) {
                    return Err(format!("what unit? {limit}ms is milliseconds, {limit}s seconds"));
                }
                (Figure::Percentile(percentile), text::quantity::duration(limit)?.0 as f64)
            }
            (None, "errors") => (Figure::Errors, number()?),
            (None, "rate") => (Figure::Rate, number()?),
            (None, _) => return Err(wrong()),
        };
        Ok(Self { text: text.to_owned(), figure, is_above: &text[place..=place] == ">", limit })
    }

    /// Returns whether it is about how long answers took.
    pub(crate) fn is_of_latency(&self) -> bool {
        matches!(self.figure, Figure::Percentile(_))
    }

    /// Says that the condition holds, and by which value; `None` if it does not. Without any answer a latency is above each limit.
    pub(crate) fn violation(&self, sent: &Sent, rate: Option<f64>) -> Option<String> {
        let (value, written) = match self.figure {
            Figure::Percentile(_) if sent.latency_ns.is_empty() => (f64::INFINITY, "unknown".to_owned()),
            Figure::Percentile(percentile) => {
                let latency = sent.latency_ns.value_at_percentile(percentile);
                (latency as f64, text::units::Span(Nanos(latency)).to_string())
            }
            Figure::Errors => {
                let errors = sent.errors();
                (errors as f64, errors.to_string())
            }
            Figure::Rate => {
                // All that went out at one instant has no rate that could be too low.
                let unknown = if sent.packets > 0 { f64::INFINITY } else { 0.0 };
                let rate = rate.unwrap_or(unknown);
                (rate, format!("{rate:.2}"))
            }
        };
        let holds = if self.is_above { value > self.limit } else { value < self.limit };
        holds.then(|| format!("{}: it is {written}", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_above_or_below() {
        let mut sent = Sent::new().unwrap();
        let violation = |text: &str, sent: &Sent, rate| Condition::parse(text).unwrap().violation(sent, rate);
        assert_eq!(violation("p99>50ms", &sent, None), Some("p99>50ms: it is unknown".to_owned()));
        sent.latency_ns.record_n(1_000_000, 99).unwrap();
        sent.latency_ns.record(90_000_000).unwrap();
        assert_eq!(violation("p90>50ms", &sent, None), None);
        assert!(violation("longest > 50ms", &sent, None).unwrap().starts_with("longest > 50ms: it is 9"));
        assert_eq!(violation("errors>0", &sent, None), None);
        sent.statuses = [(200, 7), (404, 1), (503, 2)].into();
        sent.failed = 1;
        assert_eq!(violation("errors>0", &sent, None), Some("errors>0: it is 4".to_owned()));
        assert_eq!(violation("errors>4", &sent, None), None);
        assert_eq!(violation("rate<1k", &sent, Some(999.5)), Some("rate<1k: it is 999.50".to_owned()));
        assert_eq!(violation("rate<1k", &sent, Some(1000.0)), None);
        for wrong in ["p99", "p99>50", "p98>1s", "p99>x", "errors>x", "rate=1", ">", ""] {
            assert!(Condition::parse(wrong).is_err(), "{wrong}");
        }
    }
}
