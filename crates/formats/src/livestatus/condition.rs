//! Values of columns, and what filters say of them.

use regex::{Regex, RegexBuilder};

/// The value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number: states, times in seconds since 1970, flags.
    Integer(i64),
    /// Another number.
    Float(f64),
    /// A text.
    Text(String),
    /// Names.
    List(Vec<String>),
}

impl Value {
    pub(super) fn number(&self) -> f64 {
        match self {
            Self::Integer(number) => *number as f64,
            Self::Float(number) => *number,
            Self::Text(_) | Self::List(_) => 0.0,
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Integer(i64::from(flag))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A filter on one column, or several together.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    /// A column by its place in the request's list.
    Column(usize, Test),
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
}

/// A test that compares a column with a value.
#[derive(Clone, Debug)]
pub(super) struct Test {
    operator: Operator,
    is_negated: bool,
    text: String,
    number: f64,
    pattern: Option<Regex>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    EqualIgnoringCase,
    Matches,
    Less,
    Greater,
}

/// A pattern compiles to at most this: it comes from outside.
const MAX_PATTERN_BYTES: usize = 1 << 20;

impl Test {
    /// Reads `OPERATOR VALUE`.
    pub(super) fn parse(operator: &str, text: &str) -> Result<Self, String> {
        let (positive, is_negated) = match operator.strip_prefix('!') {
            Some(rest) => (rest, true),
            None => (operator, false),
        };
        // Less or equal is not greater.
        let (operator, is_negated) = match positive {
            "=" => (Operator::Equal, is_negated),
            "=~" => (Operator::EqualIgnoringCase, is_negated),
            "~" | "~~" => (Operator::Matches, is_negated),
            "<" => (Operator::Less, is_negated),
            ">" => (Operator::Greater, is_negated),
            "<=" => (Operator::Greater, !is_negated),
            ">=" => (Operator::Less, !is_negated),
            _ => return Err(format!("invalid operator '{operator}'")),
        };
        let pattern = match operator {
            Operator::Matches => {
                let built = RegexBuilder::new(text)
                    .case_insensitive(positive == "~~")
                    .size_limit(MAX_PATTERN_BYTES)
                    .build();
                Some(built.map_err(|_| format!("invalid regular expression '{text}'"))?)
            }
            _ => None,
        };
        Ok(Self { operator, is_negated, text: text.to_owned(), number: text.parse().unwrap_or(0.0), pattern })
    }

    pub(super) fn holds(&self, value: &Value) -> bool {
        let is_so = match value {
            Value::Integer(_) | Value::Float(_) => self.holds_number(value.number()),
            Value::Text(text) => self.holds_text(text),
            Value::List(list) => self.holds_list(list),
        };
        is_so != self.is_negated
    }

    fn holds_number(&self, number: f64) -> bool {
        match self.operator {
            Operator::Equal | Operator::EqualIgnoringCase => number == self.number,
            Operator::Less => number < self.number,
            Operator::Greater => number > self.number,
            Operator::Matches => self.matches(&number.to_string()),
        }
    }

    fn holds_text(&self, text: &str) -> bool {
        match self.operator {
            Operator::Equal => text == self.text,
            Operator::EqualIgnoringCase => text.to_lowercase() == self.text.to_lowercase(),
            Operator::Less => text < self.text.as_str(),
            Operator::Greater => text > self.text.as_str(),
            Operator::Matches => self.matches(text),
        }
    }

    /// `=` is for the empty list, `>=` says that a name is in the list, and `<` that it is not.
    fn holds_list(&self, list: &[String]) -> bool {
        let has_name = || list.contains(&self.text);
        match self.operator {
            Operator::Equal => {
                list.is_empty() == self.text.is_empty() && (self.text.is_empty() || has_name())
            }
            Operator::EqualIgnoringCase => list.iter().any(|name| name.eq_ignore_ascii_case(&self.text)),
            Operator::Less => !has_name(),
            Operator::Greater => has_name(),
            Operator::Matches => list.iter().any(|name| self.matches(name)),
        }
    }

    fn matches(&self, text: &str) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
    }
}

impl Condition {
    /// Returns whether it holds for a row, by the value of a column.
    pub(super) fn holds(&self, value: &dyn Fn(usize) -> Value) -> bool {
        match self {
            Self::Column(place, test) => test.holds(&value(*place)),
            Self::And(all) => all.iter().all(|one| one.holds(value)),
            Self::Or(all) => all.iter().any(|one| one.holds(value)),
            Self::Not(one) => !one.holds(value),
        }
    }
}
