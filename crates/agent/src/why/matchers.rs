//! Matchers on the labels of tasks.

/// A text between quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// The tasks of a cgroup and of those below it, by its path.
pub(super) fn of_cgroup(path: &str) -> String {
    format!("cgroup=~\"{}(/.*)?\"", literal(path.trim_end_matches('/')))
}

/// The tasks of cgroups that end with a name, and of those below them.
pub(super) fn of_unit(name: &str) -> String {
    format!("cgroup=~\"(.*/)?{}(/.*)?\"", literal(name))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A text as a regular expression that matches only itself, between quotes.
fn literal(text: &str) -> String {
    let mut expression = String::new();
    for letter in text.chars() {
        if !letter.is_alphanumeric() && !"/_-:@ ".contains(letter) {
            expression.push('\\');
        }
        expression.push(letter);
    }
    escaped(&expression)
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::Query;

    #[test]
    fn names_are_taken_literally() {
        assert_eq!(quoted("a \"b\\\n"), r#""a \"b\\\n""#);
        assert_eq!(of_cgroup("/system.slice/"), r#"cgroup=~"/system\\.slice(/.*)?""#);
        assert_eq!(of_cgroup("/"), r#"cgroup=~"(/.*)?""#);
        for matcher in [of_cgroup("/a+b \"c\"/{d}"), of_unit("dev-disk\\x2d.mount")] {
            assert!(Query::parse(&format!("x{{{matcher}}}")).is_ok(), "{matcher}");
        }
    }
}
