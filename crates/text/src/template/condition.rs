//! Conditions on fields: `percent >= 80`, `state == discharging and percent < 20`, `address`, `not address`.

use super::field::{Fault, Field};
use super::parse::field_index;
use super::value::{Unit, Value};
use crate::quantity;
use facts::unit::Nanos;

/// Comparisons that must all hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(Vec<Comparison>);

#[derive(Clone, Debug, PartialEq)]
struct Comparison {
    field: usize,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    Present,
    Absent,
    Number(Operator, Number),
    /// `number` is set if the word is an unquoted number, since a field may hold either.
    Word {
        word: String,
        number: Option<Number>,
        is_equal: bool,
    },
}

/// A number as it was written: what its letters mean depends on the field's unit, which its value has.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Number {
    /// Prefixes of 1000.
    plain: Option<f64>,
    /// Prefixes of 1024.
    bytes: Option<f64>,
    seconds: Option<f64>,
}

impl Number {
    /// `None` if it is none of them.
    fn new(text: &str) -> Option<Self> {
        let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |digits| (-1.0, digits));
        let plain = quantity::number(digits.strip_suffix('%').unwrap_or(digits)).ok();
        let bytes = quantity::size(digits).ok().map(|bytes| bytes.0 as f64);
        let seconds = quantity::duration(digits).ok().map(Nanos::as_secs_f64);
        let is_any = plain.is_some() || bytes.is_some() || seconds.is_some();
        let signed = |number: Option<f64>| number.map(|number| sign * number);
        is_any.then(|| Self { plain: signed(plain), bytes: signed(bytes), seconds: signed(seconds) })
    }

    /// As it compares with a value of this unit; `None` if it is no such quantity.
    fn of(self, unit: Unit) -> Option<f64> {
        match unit {
            Unit::Bytes | Unit::BytesPerSecond => self.bytes,
            Unit::Seconds | Unit::HoursMinutes => self.seconds,
            _ => self.plain,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

const OPERATORS: [(&str, Operator); 6] = [
    ("<", Operator::Less),
    ("<=", Operator::LessOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    (">", Operator::Greater),
];

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// Returns a [`Fault`] for a syntax error and for an unknown field.
    pub fn new(text: &str, fields: &[Field]) -> Result<Self, Fault> {
        let mut comparisons = Vec::new();
        let mut words = words(text).peekable();
        loop {
            let Some((mut offset, mut name)) = words.next() else {
                let message =
                    "not a condition; write FIELD < NUMBER, FIELD == WORD, FIELD or not FIELD".to_owned();
                return Err(Fault { offset: text.len(), message });
            };
            let is_negated = name == "not";
            if is_negated {
                let message = "no field follows \"not\"".to_owned();
                (offset, name) = words.next().ok_or(Fault { offset, message })?;
            }
            if let Some(sign) = name.find(['<', '>', '=', '!']).filter(|sign| *sign > 0) {
                let message = format!("write blanks around the operator: {} … ", &name[..sign]);
                return Err(Fault { offset: offset + sign, message: message.trim_end().to_owned() });
            }
            let field = field_index(name, offset, fields)?;
            let test = match words.peek() {
                None | Some((_, "and")) => {
                    if is_negated {
                        Test::Absent
                    } else {
                        Test::Present
                    }
                }
                Some((offset, operator)) => {
                    let (offset, operator) = (*offset, *operator);
                    words.next();
                    comparison(text, offset, operator, words.next(), is_negated)?
                }
            };
            comparisons.push(Comparison { field, test });
            match words.next() {
                None => return Ok(Self(comparisons)),
                Some((_, "and")) => {}
                Some((offset, word)) => {
                    let message = format!("expected \"and\", not \"{word}\"");
                    return Err(Fault { offset, message });
                }
            }
        }
    }

    /// Returns true if it holds. Comparisons with absent values are false.
    pub fn holds(&self, values: &[Value<'_>]) -> bool {
        self.0.iter().all(|comparison| {
            let value = values[comparison.field];
            match &comparison.test {
                Test::Present => !value.is_absent(),
                Test::Absent => value.is_absent(),
                Test::Number(operator, number) => match value {
                    Value::Number(value, unit) => {
                        number.of(unit).is_some_and(|number| operator.holds(value, number))
                    }
                    _ => false,
                },
                Test::Word { word, number, is_equal } => match value {
                    Value::Text(text) | Value::Markup(text) => (text == word) == *is_equal,
                    Value::Number(value, unit) => number
                        .and_then(|number| number.of(unit))
                        .is_some_and(|number| (value == number) == *is_equal),
                    Value::Absent => false,
                },
            }
        })
    }
}

impl Operator {
    fn holds(self, value: f64, number: f64) -> bool {
        match self {
            Self::Less => value < number,
            Self::LessOrEqual => value <= number,
            Self::GreaterOrEqual => value >= number,
            Self::Greater => value > number,
            // These are parsed to `Test::Word`.
            Self::Equal | Self::NotEqual => false,
        }
    }
}

fn comparison(
    text: &str,
    offset: usize,
    word: &str,
    operand: Option<(usize, &str)>,
    is_negated: bool,
) -> Result<Test, Fault> {
    let fault = |offset, message: &str| Err(Fault { offset, message: message.to_owned() });
    let Some((_, operator)) = OPERATORS.iter().find(|(known, _)| *known == word) else {
        return fault(offset, "not an operator; write < <= == != >= or >");
    };
    if is_negated {
        return fault(offset, "\"not\" takes a field, not a comparison; invert the operator instead");
    }
    let Some((offset, operand)) = operand else { return fault(offset, "nothing follows the operator") };
    let is_quoted = text[..offset].ends_with(['"', '\'']);
    if is_quoted && !text[offset + operand.len()..].starts_with(['"', '\'']) {
        return fault(offset - 1, "this quote is not closed");
    }
    let number = Number::new(operand).filter(|_| !is_quoted);
    match (operator, number) {
        (Operator::Equal | Operator::NotEqual, number) => {
            Ok(Test::Word { word: operand.to_owned(), number, is_equal: *operator == Operator::Equal })
        }
        (operator, Some(number)) => Ok(Test::Number(*operator, number)),
        (_, None) => fault(offset, "not a number: 5, 80%, 10G, 1m30s"),
    }
}

/// Words and quoted strings, with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let (skipped, length) = match first {
            '"' | '\'' => (1, rest[1..].find(first).unwrap_or(rest.len() - 1)),
            _ => (0, rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        let start = at + skipped;
        at = (start + length + skipped).min(text.len());
        Some((start, &text[start..start + length]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [Field; 2] = [Field { name: "percent", help: "" }, Field { name: "state", help: "" }];

    fn holds(text: &str, percent: Value<'_>, state: &str) -> bool {
        Condition::new(text, &FIELDS).unwrap().holds(&[percent, Value::Text(state)])
    }

    #[test]
    fn conditions_hold_or_not() {
        let half = Value::percent(50.0);
        assert!(holds("percent >= 50 and state == full", half, "full"));
        assert!(!holds("percent >= 50 and state == full", half, "empty"));
        assert!(holds("percent < 51%", half, ""));
        assert!(holds("percent > 1Gi", Value::Number(2e9, Unit::Bytes), ""));
        assert!(!holds("percent < 2G", Value::Number(2.1e9, Unit::Count), ""));
        assert!(holds("percent < 2G", Value::Number(2.1e9, Unit::Bytes), ""));
        assert!(holds("percent < 1h30m", Value::Number(5_399.0, Unit::HoursMinutes), ""));
        assert!(holds("percent > -5", Value::Number(0.0, Unit::Celsius), ""));
        // No temperature is a size.
        assert!(!holds("percent < 5KiB", Value::Number(0.0, Unit::Celsius), ""));
        assert!(holds("state != 'not charging'", half, "full"));
        assert!(holds("state == 0 and percent == 50", half, "0"));
        assert!(holds("state == '5G' and percent != 5", half, "5G"));
        assert!(!holds("percent == '50'", half, ""));
        assert!(holds("not percent", Value::Absent, ""));
        assert!(!holds("percent < 5", Value::Absent, ""));
    }

    #[test]
    fn faults_have_a_place() {
        let offset = |text: &str| Condition::new(text, &FIELDS).unwrap_err().offset;
        assert_eq!(offset("percnt > 5"), 0);
        assert_eq!(offset("percent > many"), 10);
        assert_eq!(offset("percent is 5"), 8);
        assert_eq!(offset("percent > 5 or state"), 12);
        for text in [
            "",
            "not",
            "percent >",
            "percent > 5 and",
            "not percent > 5",
            "\"",
            "percent == 1 '",
            "state == \"x",
            "percent>5",
        ] {
            assert!(Condition::new(text, &FIELDS).is_err(), "{text}");
        }
    }
}
