//! From text to an expression of which every part is known.

use std::time::{Duration, UNIX_EPOCH};

use formats::re2::WholeRegex;
use formats::series_name::METRIC;
use promql_parser::label::{MatchOp, Matchers};
use promql_parser::parser::token::{self, TokenId};
use promql_parser::parser::{
    AggregateExpr, AtModifier, BinModifier, BinaryExpr, Call, Expr, LabelModifier, Offset,
    VectorMatchCardinality, VectorSelector,
};

use crate::error::Fault;
use crate::expression::{
    Aggregate, Aggregation, Arithmetic, At, Binary, Cardinality, Comparison, Condition, Expression,
    LabelChoice, Matcher, Matching, Operator, Range, RangeOf, Selector, SetOperator, Shift,
};
use crate::function::Function;
use crate::kind::Kind;
use crate::{patterns, place};

/// Longer expressions are refused: each operator takes room on the stack.
pub(crate) const MAX_BYTES: usize = 8192;

/// Parses an expression.
pub(crate) fn parse(text: &str) -> Result<Expression, Fault> {
    if text.len() > MAX_BYTES {
        return Err(Fault::new(format!("an expression may have {MAX_BYTES} bytes")));
    }
    place::check_depth(text)?;
    patterns::check(text)?;
    let parsed = promql_parser::parser::parse(text).map_err(|message| place::of_message(text, message))?;
    expression(&parsed).map_err(|fault| match fault.place {
        Some(_) => fault,
        None => place::of_message(text, fault.message),
    })
}

/// Parses a selector of series, as the API takes them: `up{job="node"}`.
pub(crate) fn parse_selector(text: &str) -> Result<Vec<Matcher>, Fault> {
    match parse(text)? {
        Expression::Select(Selector { matchers, shift }) if shift == Shift::default() => Ok(matchers),
        _ => Err(Fault::new("expected a selector of series, such as up{job=\"node\"}")),
    }
}

/// Parses a duration, such as `1h30m`.
pub(crate) fn parse_duration(text: &str) -> Result<i64, Fault> {
    // Longer ones are none.
    let duration =
        if text.len() < 64 { promql_parser::util::parse_duration(text) } else { Err(String::new()) };
    milliseconds(duration.map_err(|_| Fault::new(format!("\"{text}\" is no duration")))?)
}

fn expression(parsed: &Expr) -> Result<Expression, Fault> {
    Ok(match parsed {
        Expr::NumberLiteral(number) => Expression::Number(number.val),
        Expr::StringLiteral(text) => Expression::Text(text.val.clone()),
        Expr::Paren(inner) => expression(&inner.expr)?,
        Expr::Unary(inner) => Expression::Negate(Box::new(expression(&inner.expr)?)),
        Expr::VectorSelector(selector) => Expression::Select(Selector {
            matchers: matchers(selector)?,
            shift: shift(selector.offset.as_ref(), selector.at.as_ref())?,
        }),
        Expr::MatrixSelector(selector) => Expression::Range(Range {
            of: RangeOf::Series(matchers(&selector.vs)?),
            length_ms: range_length(selector.range)?,
            shift: shift(selector.vs.offset.as_ref(), selector.vs.at.as_ref())?,
        }),
        Expr::Subquery(subquery) => Expression::Range(Range {
            of: RangeOf::Expression {
                inner: Box::new(expression(&subquery.expr)?),
                step_ms: subquery.step.map(range_length).transpose()?,
            },
            length_ms: range_length(subquery.range)?,
            shift: shift(subquery.offset.as_ref(), subquery.at.as_ref())?,
        }),
        Expr::Binary(parsed) => Expression::Binary(Box::new(binary(parsed)?)),
        Expr::Aggregate(parsed) => Expression::Aggregate(Box::new(aggregate(parsed)?)),
        Expr::Call(parsed) => call(parsed)?,
        Expr::Extension(extension) => return Err(Fault::not_in_subset(extension.expr.name())),
    })
}

fn milliseconds(duration: Duration) -> Result<i64, Fault> {
    i64::try_from(duration.as_millis())
        .ok()
        .filter(|milliseconds| *milliseconds < i64::MAX / 1000)
        .ok_or_else(|| Fault::new("a duration of more than 292 thousand years"))
}

fn range_length(duration: Duration) -> Result<i64, Fault> {
    match milliseconds(duration)? {
        0 => Err(Fault::new("duration must be greater than 0")),
        milliseconds => Ok(milliseconds),
    }
}

fn shift(offset: Option<&Offset>, at: Option<&AtModifier>) -> Result<Shift, Fault> {
    let offset_ms = match offset {
        None => 0,
        Some(Offset::Pos(duration)) => milliseconds(*duration)?,
        Some(Offset::Neg(duration)) => -milliseconds(*duration)?,
    };
    let at = match at {
        None => None,
        Some(AtModifier::Start) => Some(At::Start),
        Some(AtModifier::End) => Some(At::End),
        Some(AtModifier::At(time)) => Some(At::Time(match time.duration_since(UNIX_EPOCH) {
            Ok(since) => milliseconds(since)?,
            Err(before) => -milliseconds(before.duration())?,
        })),
    };
    Ok(Shift { offset_ms, at })
}

fn matchers(selector: &VectorSelector) -> Result<Vec<Matcher>, Fault> {
    let Matchers { matchers, or_matchers } = &selector.matchers;
    if !or_matchers.is_empty() {
        return Err(Fault::not_in_subset("or between matchers"));
    }
    let metric = selector
        .name
        .iter()
        .map(|name| Ok(Matcher { label: METRIC.to_owned(), condition: Condition::Equal(name.clone()) }));
    let others = matchers.iter().map(|matcher| {
        let value = || matcher.value.clone();
        let regex = || {
            WholeRegex::new(&matcher.value).map_err(|message| {
                Fault::new(format!("\"{}\" is no regular expression: {message}", matcher.value))
            })
        };
        let condition = match matcher.op {
            MatchOp::Equal => Condition::Equal(value()),
            MatchOp::NotEqual => Condition::NotEqual(value()),
            MatchOp::Re(_) => Condition::Match(regex()?),
            MatchOp::NotRe(_) => Condition::NoMatch(regex()?),
        };
        Ok(Matcher { label: matcher.name.clone(), condition })
    });
    metric.chain(others).collect()
}

fn operator(id: TokenId) -> Option<Operator> {
    Some(match id {
        token::T_ADD => Operator::Arithmetic(Arithmetic::Add),
        token::T_SUB => Operator::Arithmetic(Arithmetic::Subtract),
        token::T_MUL => Operator::Arithmetic(Arithmetic::Multiply),
        token::T_DIV => Operator::Arithmetic(Arithmetic::Divide),
        token::T_MOD => Operator::Arithmetic(Arithmetic::Remainder),
        token::T_POW => Operator::Arithmetic(Arithmetic::Power),
        token::T_EQLC => Operator::Comparison(Comparison::Equal),
        token::T_NEQ => Operator::Comparison(Comparison::NotEqual),
        token::T_LSS => Operator::Comparison(Comparison::Less),
        token::T_LTE => Operator::Comparison(Comparison::LessOrEqual),
        token::T_GTR => Operator::Comparison(Comparison::Greater),
        token::T_GTE => Operator::Comparison(Comparison::GreaterOrEqual),
        token::T_LAND => Operator::Set(SetOperator::And),
        token::T_LOR => Operator::Set(SetOperator::Or),
        token::T_LUNLESS => Operator::Set(SetOperator::Unless),
        _ => return None,
    })
}

fn binary(parsed: &BinaryExpr) -> Result<Binary, Fault> {
    let operator = operator(parsed.op.id()).ok_or_else(|| Fault::not_in_subset(&parsed.op.to_string()))?;
    let usual = BinModifier::default();
    let modifier = parsed.modifier.as_ref().unwrap_or(&usual);
    if modifier.fill_values.lhs.is_some() || modifier.fill_values.rhs.is_some() {
        return Err(Fault::not_in_subset("fill"));
    }
    let (cardinality, included) = match &modifier.card {
        VectorMatchCardinality::OneToOne | VectorMatchCardinality::ManyToMany => {
            (Cardinality::OneToOne, Vec::new())
        }
        VectorMatchCardinality::ManyToOne(labels) => (Cardinality::ManyToOne, labels.labels.clone()),
        VectorMatchCardinality::OneToMany(labels) => (Cardinality::OneToMany, labels.labels.clone()),
    };
    let labels = modifier.matching.as_ref().map_or(LabelChoice::Without(Vec::new()), label_choice);
    Ok(Binary {
        left: expression(&parsed.lhs)?,
        right: expression(&parsed.rhs)?,
        operator,
        is_bool: modifier.return_bool,
        matching: Matching { labels, cardinality, included },
    })
}

fn label_choice(modifier: &LabelModifier) -> LabelChoice {
    match modifier {
        LabelModifier::Include(labels) => LabelChoice::Only(labels.labels.clone()),
        LabelModifier::Exclude(labels) => LabelChoice::Without(labels.labels.clone()),
    }
}

fn aggregate(parsed: &AggregateExpr) -> Result<Aggregate, Fault> {
    let argument = || match &parsed.param {
        Some(argument) => expression(argument),
        None => Err(Fault::new(format!("{} needs an argument", parsed.op))),
    };
    let operation = match parsed.op.id() {
        token::T_SUM => Aggregation::Sum,
        token::T_AVG => Aggregation::Average,
        token::T_COUNT => Aggregation::Count,
        token::T_MIN => Aggregation::Minimum,
        token::T_MAX => Aggregation::Maximum,
        token::T_GROUP => Aggregation::Group,
        token::T_STDDEV => Aggregation::StandardDeviation,
        token::T_STDVAR => Aggregation::Variance,
        token::T_TOPK => Aggregation::Top(argument()?),
        token::T_BOTTOMK => Aggregation::Bottom(argument()?),
        token::T_QUANTILE => Aggregation::Quantile(argument()?),
        token::T_COUNT_VALUES => match argument()? {
            Expression::Text(label) => Aggregation::CountValues(label),
            _ => return Err(Fault::new("count_values needs the name of a label, such as \"value\"")),
        },
        _ => return Err(Fault::not_in_subset(&parsed.op.to_string())),
    };
    let groups = parsed.modifier.as_ref().map_or(LabelChoice::Only(Vec::new()), label_choice);
    Ok(Aggregate { operation, of: expression(&parsed.expr)?, groups })
}

fn call(parsed: &Call) -> Result<Expression, Fault> {
    let function = Function::find(parsed.func.name).ok_or_else(|| Fault::not_in_subset(parsed.func.name))?;
    let arguments: Vec<Expression> =
        parsed.args.args.iter().map(|argument| expression(argument)).collect::<Result<_, _>>()?;
    // The parser leaves out this check for logarithms of constants.
    if let Function::Elementwise(_) = function
        && arguments.first().is_some_and(|first| first.kind() != Kind::Vector)
    {
        return Err(Fault::new(format!(
            "expected type instant vector in call to function '{}', got scalar",
            parsed.func.name
        )));
    }
    Ok(Expression::Call(function, arguments))
}
