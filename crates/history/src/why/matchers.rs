//! Matchers on the labels of tasks.

/// A text between quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// The tasks of a cgroup and of those below it, by its path.
pub(super) fn of_cgroup(path: &str) -> String {
    format!("cgroup=~\"{}(/.*)?\"", literal(path.trim_end_matches('/')))
}

/// The tasks that are in none of some cgroups, nor below them.
pub(super) fn outside_of(paths: &[&str]) -> String {
    let each = paths.iter().map(|path| format!("{}(/.*)?", literal(path.trim_end_matches('/'))));
    format!("cgroup!~\"{}\"", each.collect::<Vec<_>>().join("|"))
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
    /// The letters that mean something in an expression. Behind a backslash other letters may mean something, or be refused.
    const SPECIAL: &str = "\\.+*?()|[]{}^$";
    let mut expression = String::new();
    for letter in text.chars() {
        if SPECIAL.contains(letter) {
            expression.push('\\');
        }
        expression.push(letter);
    }
    escaped(&expression)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use query::{Limits, Query, Selection, Series, Source};

    use super::*;

    /// A cgroup, and whether it was selected.
    struct Cgroup<'c>(&'c str, Cell<bool>);

    impl Source for Cgroup<'_> {
        fn select(&self, selection: &Selection<'_>) -> Result<Vec<Series>, String> {
            let mut matchers = selection.matchers.iter().filter(|matcher| matcher.label == "cgroup");
            self.1.set(matchers.all(|matcher| matcher.accepts(self.0)));
            Ok(Vec::new())
        }
    }

    fn accepts(matcher: &str, path: &str) -> bool {
        let cgroup = Cgroup(path, Cell::new(false));
        let query = Query::parse(&format!("x{{{matcher}}}")).unwrap();
        query.at(&cgroup, 0, &Limits::default()).unwrap();
        cgroup.1.get()
    }

    #[test]
    fn names_are_taken_literally() {
        assert_eq!(quoted("a \"b\\\n"), r#""a \"b\\\n""#);
        assert_eq!(of_cgroup("/system.slice/"), r#"cgroup=~"/system\\.slice(/.*)?""#);
        assert_eq!(of_cgroup("/"), r#"cgroup=~"(/.*)?""#);
        for path in ["/a+b \"c\"/{d}", "/dev\\x2d", "/a–b", "/a<b>", "/🦀", "/a\nb", "/^$|(x)[y]#~&"] {
            assert!(
                accepts(&of_cgroup(path), path) && accepts(&of_cgroup(path), &format!("{path}/b")),
                "{path}"
            );
            assert!(accepts(&of_unit(&path[1..]), &format!("/x{path}")), "{path}");
            assert!(
                !accepts(&of_cgroup(path), "/other") && !accepts(&outside_of(&["/x", path]), path),
                "{path}"
            );
        }
        assert!(accepts(&outside_of(&["/x", "/y"]), "/xy") && !accepts(&outside_of(&["/x", "/y"]), "/y/z"));
    }
}
