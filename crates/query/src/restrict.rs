//! Expressions that read the series of one machine alone.

use formats::series_name::METRIC;
use promql_parser::label::{MatchOp, Matcher};
use promql_parser::parser::{Expr, VectorSelector};

use crate::error::Fault;
use crate::parse::parse;

/// Adds a matcher to each selector of an expression, and others as they stand between braces.
pub(crate) fn restricted(text: &str, (label, value): (&str, &str), others: &str) -> Result<String, Fault> {
    // What is not in the subset is refused with its place.
    parse(text)?;
    let mut parsed = promql_parser::parser::parse(text).map_err(Fault::new)?;
    let mut matchers = match promql_parser::parser::parse(&format!("up{{{others}}}")) {
        Ok(Expr::VectorSelector(selector)) => selector.matchers.matchers,
        _ => return Err(Fault::new("expected matchers")),
    };
    matchers.retain(|matcher| matcher.name != METRIC);
    matchers.push(Matcher::new(MatchOp::Equal, label, value));
    restrict(&mut parsed, &matchers)?;
    // Not all that can be read is written as it was: an empty list of labels is left out.
    let written = parsed.to_string();
    match promql_parser::parser::parse(&written).is_ok_and(|read| read == parsed) {
        true => Ok(written),
        false => Err(Fault::new("this cannot be asked of one machine: write it in another way")),
    }
}

fn restrict(expression: &mut Expr, matchers: &[Matcher]) -> Result<(), Fault> {
    match expression {
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) => Ok(()),
        Expr::VectorSelector(selector) => restrict_selector(selector, matchers),
        Expr::MatrixSelector(selector) => restrict_selector(&mut selector.vs, matchers),
        Expr::Paren(inner) => restrict(&mut inner.expr, matchers),
        Expr::Unary(inner) => restrict(&mut inner.expr, matchers),
        Expr::Subquery(inner) => restrict(&mut inner.expr, matchers),
        Expr::Binary(binary) => {
            restrict(&mut binary.lhs, matchers)?;
            restrict(&mut binary.rhs, matchers)
        }
        Expr::Aggregate(aggregate) => {
            restrict(&mut aggregate.expr, matchers)?;
            aggregate.param.as_mut().map_or(Ok(()), |parameter| restrict(parameter, matchers))
        }
        Expr::Call(call) => call.args.args.iter_mut().try_for_each(|argument| restrict(argument, matchers)),
        Expr::Extension(_) => Err(Fault::new("this cannot be asked of one machine")),
    }
}

fn restrict_selector(selector: &mut VectorSelector, matchers: &[Matcher]) -> Result<(), Fault> {
    // Alternatives between braces are no part of the subset.
    if !selector.matchers.or_matchers.is_empty() {
        return Err(Fault::new("this cannot be asked of one machine"));
    }
    selector.matchers.matchers.extend(matchers.iter().cloned());
    // As they are written.
    selector.matchers.matchers.sort_by_key(ToString::to_string);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_selector_has_the_matcher() {
        let machine = "web\"1\\x";
        for (text, selectors) in [
            ("1 + 2", 0),
            ("up", 1),
            ("-sum by (a) (rate(x{b=\"c\"}[5m] offset 1m)) / on (a) group_left count(y)", 2),
            ("topk(scalar(z), max_over_time(rate(x[1m])[5m:30s]))", 2),
            ("clamp_min(a - (b + c or 0 * d), 0)", 4),
            ("{__name__=~\"a|b\"} == bool 3", 1),
        ] {
            let restricted = restricted(text, ("instance", machine), "env=~\"a|b\", rack!=\"c\",").unwrap();
            assert_eq!(restricted.matches("instance=").count(), selectors, "{restricted}");
            let mut found = 0;
            parse(&restricted).unwrap().each_selector(&mut |matchers| {
                found += 1;
                let own = matchers.iter().find(|matcher| matcher.label == "instance").unwrap();
                assert!(own.accepts(machine) && !own.accepts("web1"), "{restricted}");
                let other = matchers.iter().find(|matcher| matcher.label == "env").unwrap();
                assert!(other.accepts("b") && !other.accepts("c"), "{restricted}");
            });
            assert_eq!(found, selectors);
        }
        assert!(restricted("sum(", ("instance", "a"), "").is_err());
        // It would be written without its labels, which means something else.
        assert!(restricted("x * ignoring () group_left y", ("instance", "a"), "").is_err());
        assert!(restricted("up", ("instance", "a"), "} or up{").is_err());
    }
}
