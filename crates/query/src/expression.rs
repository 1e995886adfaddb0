//! Expressions after they were parsed: every name in them is known.

use formats::re2::WholeRegex;
use formats::series_name::{METRIC, SeriesName};

use crate::function::Function;
use crate::kind::Kind;

/// A parsed expression.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Number(f64),
    Text(String),
    /// The newest sample of each series.
    Select(Selector),
    /// All samples of each series in a range.
    Range(Range),
    Negate(Box<Expression>),
    Binary(Box<Binary>),
    Aggregate(Box<Aggregate>),
    Call(Function, Vec<Expression>),
}

impl Expression {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Number(_) => Kind::Scalar,
            Self::Text(_) => Kind::Text,
            Self::Select(_) | Self::Aggregate(_) => Kind::Vector,
            Self::Range(_) => Kind::Range,
            Self::Negate(of) => of.kind(),
            Self::Binary(binary)
                if binary.left.kind() == Kind::Scalar && binary.right.kind() == Kind::Scalar =>
            {
                Kind::Scalar
            }
            Self::Binary(_) => Kind::Vector,
            Self::Call(function, _) => function.kind(),
        }
    }
}

impl Expression {
    /// Calls `each` with the conditions of every selector in it.
    pub(crate) fn each_selector(&self, each: &mut dyn FnMut(&[Matcher])) {
        match self {
            Self::Number(_) | Self::Text(_) => {}
            Self::Select(selector) => each(&selector.matchers),
            Self::Range(range) => match &range.of {
                RangeOf::Series(matchers) => each(matchers),
                RangeOf::Expression { inner, .. } => inner.each_selector(each),
            },
            Self::Negate(of) => of.each_selector(each),
            Self::Binary(binary) => {
                binary.left.each_selector(each);
                binary.right.each_selector(each);
            }
            Self::Aggregate(aggregate) => {
                aggregate.of.each_selector(each);
                match &aggregate.operation {
                    Aggregation::Top(argument)
                    | Aggregation::Bottom(argument)
                    | Aggregation::Quantile(argument) => argument.each_selector(each),
                    _ => {}
                }
            }
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.each_selector(each)),
        }
    }
}

/// Which series, and when.
#[derive(Clone, Debug)]
pub(crate) struct Selector {
    pub(crate) matchers: Vec<Matcher>,
    pub(crate) shift: Shift,
}

/// A condition on a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Matcher {
    /// The label; `__name__` is the metric.
    pub label: String,
    /// The condition that its value must meet.
    pub condition: Condition,
}

/// A condition that a label's value must meet. A label that is not there is empty.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// This text.
    Equal(String),
    /// Any other text.
    NotEqual(String),
    /// A text that an expression matches as a whole.
    Match(WholeRegex),
    /// A text that it does not.
    NoMatch(WholeRegex),
}

/// The metric that conditions name, if they name one.
pub(crate) fn metric_of(matchers: &[Matcher]) -> Option<&str> {
    matchers.iter().find_map(|matcher| match &matcher.condition {
        Condition::Equal(name) if matcher.label == METRIC => Some(name.as_str()),
        _ => None,
    })
}

impl Matcher {
    /// That a label has this value.
    pub fn equal(label: &str, value: &str) -> Self {
        Self { label: label.to_owned(), condition: Condition::Equal(value.to_owned()) }
    }

    /// Returns whether a series fulfils it.
    pub fn is_met_by(&self, series: &SeriesName) -> bool {
        self.accepts(series.get(&self.label))
    }

    /// Returns whether a value of the label fulfils it.
    pub fn accepts(&self, value: &str) -> bool {
        match &self.condition {
            Condition::Equal(wanted) => value == wanted,
            Condition::NotEqual(wanted) => value != wanted,
            Condition::Match(regex) => regex.is_match(value),
            Condition::NoMatch(regex) => !regex.is_match(value),
        }
    }
}

/// Other times than those that are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shift {
    /// Milliseconds into the past.
    pub(crate) offset_ms: i64,
    pub(crate) at: Option<At>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Milliseconds since 1970.
    Time(i64),
    /// The first time that is asked for.
    Start,
    /// The last one.
    End,
}

/// A range before each time.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub(crate) of: RangeOf,
    pub(crate) length_ms: i64,
    pub(crate) shift: Shift,
}

impl Range {
    /// Returns true if its series differ by more than the name of the metric.
    pub(crate) fn is_of_one_metric(&self) -> bool {
        let names_it =
            |matcher: &Matcher| matcher.label == METRIC && matches!(matcher.condition, Condition::Equal(_));
        matches!(&self.of, RangeOf::Series(matchers) if matchers.iter().any(names_it))
    }
}

#[derive(Clone, Debug)]
pub(crate) enum RangeOf {
    Series(Vec<Matcher>),
    /// An expression, at every multiple of a step.
    Expression {
        inner: Box<Expression>,
        step_ms: Option<i64>,
    },
}

/// An operation on two values.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    pub(crate) left: Expression,
    pub(crate) right: Expression,
    pub(crate) operator: Operator,
    /// A comparison is 0 or 1, and leaves nothing out.
    pub(crate) is_bool: bool,
    pub(crate) matching: Matching,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Arithmetic(Arithmetic),
    Comparison(Comparison),
    Set(SetOperator),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetOperator {
    And,
    Or,
    Unless,
}

/// Which series of two vectors belong together.
#[derive(Clone, Debug)]
pub(crate) struct Matching {
    pub(crate) labels: LabelChoice,
    pub(crate) cardinality: Cardinality,
    /// Labels that the side with many takes from the other one.
    pub(crate) included: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cardinality {
    OneToOne,
    /// `group_left`
    ManyToOne,
    /// `group_right`
    OneToMany,
}

/// `on` or `by`: these labels; `ignoring` or `without`: all but these and the metric's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelChoice {
    /// These.
    Only(Vec<String>),
    /// All but these and the metric's name.
    Without(Vec<String>),
}

impl LabelChoice {
    /// Returns whether no label is chosen.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Only(labels) if labels.is_empty())
    }

    /// Returns whether a label is chosen.
    pub fn contains(&self, label: &str) -> bool {
        match self {
            Self::Only(labels) => labels.iter().any(|one| one == label),
            Self::Without(labels) => {
                label != formats::series_name::METRIC && labels.iter().all(|one| one != label)
            }
        }
    }

    /// The labels of a series that are chosen.
    pub fn of(&self, series: &SeriesName) -> SeriesName {
        let mut chosen = series.clone();
        chosen.retain(|label| self.contains(label));
        chosen
    }
}

/// One value of many series.
#[derive(Clone, Debug)]
pub(crate) struct Aggregate {
    pub(crate) operation: Aggregation,
    pub(crate) of: Expression,
    pub(crate) groups: LabelChoice,
}

#[derive(Clone, Debug)]
pub(crate) enum Aggregation {
    Sum,
    Average,
    Count,
    Minimum,
    Maximum,
    Group,
    StandardDeviation,
    Variance,
    Top(Expression),
    Bottom(Expression),
    Quantile(Expression),
    CountValues(String),
}
