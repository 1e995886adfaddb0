//! Expressions that read the series of one machine alone.

use promql_parser::label::{MatchOp, Matcher};
use promql_parser::parser::{Expr, VectorSelector};

use crate::error::Fault;
use crate::parse::parse;

/// Adds a matcher to each selector of an expression.
pub(crate) fn restricted(text: &str, label: &str, value: &str) -> Result<String, Fault> {
    // What is not in the subset is refused with its place.
    parse(text)?;
    let mut parsed = promql_parser::parser::parse(text).map_err(Fault::new)?;
    restrict(&mut parsed, &Matcher::new(MatchOp::Equal, label, value))?;
    Ok(parsed.to_string())
}

fn restrict(expression: &mut Expr, matcher: &Matcher) -> Result<(), Fault> {
    match expression {
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) => Ok(()),
        Expr::VectorSelector(selector) => restrict_selector(selector, matcher),
        Expr::MatrixSelector(selector) => restrict_selector(&mut selector.vs, matcher),
        Expr::Paren(inner) => restrict(&mut inner.expr, matcher),
        Expr::Unary(inner) => restrict(&mut inner.expr, matcher),
        Expr::Subquery(inner) => restrict(&mut inner.expr, matcher),
        Expr::Binary(binary) => {
            restrict(&mut binary.lhs, matcher)?;
            restrict(&mut binary.rhs, matcher)
        }
        Expr::Aggregate(aggregate) => {
            restrict(&mut aggregate.expr, matcher)?;
            aggregate.param.as_mut().map_or(Ok(()), |parameter| restrict(parameter, matcher))
        }
        Expr::Call(call) => call.args.args.iter_mut().try_for_each(|argument| restrict(argument, matcher)),
        Expr::Extension(_) => Err(Fault::new("this cannot be asked of one machine")),
    }
}

fn restrict_selector(selector: &mut VectorSelector, matcher: &Matcher) -> Result<(), Fault> {
    // Alternatives between braces are no part of the subset.
    if !selector.matchers.or_matchers.is_empty() {
        return Err(Fault::new("this cannot be asked of one machine"));
    }
    selector.matchers.matchers.push(matcher.clone());
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
            let restricted = restricted(text, "instance", machine).unwrap();
            assert_eq!(restricted.matches("instance=").count(), selectors, "{restricted}");
            let mut found = 0;
            parse(&restricted).unwrap().each_selector(&mut |matchers| {
                found += 1;
                let own = matchers.iter().find(|matcher| matcher.label == "instance").unwrap();
                assert!(own.accepts(machine) && !own.accepts("web1"), "{restricted}");
            });
            assert_eq!(found, selectors);
        }
        assert!(restricted("sum(", "instance", "a").is_err());
    }
}
