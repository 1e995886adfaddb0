//! Hides secrets in command lines: passwords, tokens.

use std::borrow::Cow;

use regex::{Captures, Regex, RegexBuilder};

use crate::re2::translate;

/// The text that replaces a secret.
const HIDDEN: &str = "***";
/// The most of a command line that is kept, in bytes.
const LONGEST: usize = 4096;

/// Regular expressions that find secrets. Of each match the first group is hidden, or all of it if the expression has no group.
#[derive(Clone, Debug)]
pub struct Redaction {
    patterns: Vec<Regex>,
}

impl PartialEq for Redaction {
    fn eq(&self, other: &Self) -> bool {
        self.patterns.iter().map(Regex::as_str).eq(other.patterns.iter().map(Regex::as_str))
    }
}

/// Expressions for texts that look like a secret: behind an option, a variable or a member of JSON that is named so; in the user part of a
/// URL; behind "Bearer"; the password of `-u user:password`. Between quotation marks it may have blanks.
pub const USUAL: [&str; 4] = [
    r#"(?i)(?:\bpass|passw(?:or)?d|pwd|passphrase|secret|token|\bauth|(?:api|access|private|secret)[-_]?key|credentials?)["']?[=:\s]+("[^"]*"?|'[^']*'?|\S+)"#,
    r"://[^/\s:@]*:([^/\s@]+)@",
    r"(?i)\b(?:bearer|basic)\s+(\S+)",
    r"\s(?:-u|--user)[=\s][^\s:/]+:(\S+)",
];

impl Redaction {
    /// Hides what these expressions match.
    ///
    /// # Errors
    /// The place in the list of the first that is none, or that matches an empty text, and what is wrong with it.
    pub fn new<'p>(patterns: impl Iterator<Item = &'p str>) -> Result<Self, (usize, String)> {
        let compiled = patterns.enumerate().map(|(place, pattern)| {
            let compiled = RegexBuilder::new(&translate(pattern)).size_limit(1 << 20).build();
            match compiled {
                Ok(regex) if regex.is_match("") => Err((place, "it matches everywhere".to_owned())),
                Ok(regex) => Ok(regex),
                Err(error) => Err((place, error.to_string().lines().last().unwrap_or_default().to_owned())),
            }
        });
        Ok(Self { patterns: compiled.collect::<Result<_, _>>()? })
    }

    /// A command line without what is to be hidden.
    pub fn apply(&self, line: &str) -> String {
        let end = (0..=LONGEST.min(line.len())).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
        let mut line = Cow::Borrowed(&line[..end]);
        for pattern in &self.patterns {
            line = Cow::Owned(pattern.replace_all(&line, hide).into_owned());
        }
        line.into_owned()
    }
}

fn hide(captures: &Captures<'_>) -> String {
    let Some(whole) = captures.get(0) else { return String::new() };
    let hidden = captures.get(1).unwrap_or(whole);
    let (before, after) = (hidden.start() - whole.start(), hidden.end() - whole.start());
    format!("{}{HIDDEN}{}", &whole.as_str()[..before], &whole.as_str()[after..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn secrets_are_hidden() {
        let usual = Redaction::new(USUAL.into_iter()).unwrap();
        for (line, expected) in [
            ("mysql --user=root --password=a b", "mysql --user=root --password=*** b"),
            ("tool --api-key k3y -v", "tool --api-key *** -v"),
            ("env DB_PASSWD=x:y PATH=/bin sh", "env DB_PASSWD=*** PATH=/bin sh"),
            ("curl https://me:pw@host/a", "curl https://me:***@host/a"),
            (
                "curl -H Authorization: Bearer abc.def http://a:80/",
                "curl -H Authorization: Bearer *** http://a:80/",
            ),
            ("ls /password/list", "ls /password/list"),
            (r#"post {"password": "a b", "user": "me"}"#, r#"post {"password": ***, "user": "me"}"#),
            ("tool --pass a --auth b --private-key=c", "tool --pass *** --auth *** --private-key=***"),
            ("env AWS_SECRET_ACCESS_KEY=a sh", "env AWS_SECRET_ACCESS_KEY=*** sh"),
            ("curl -H Authorization:Bearer abc", "curl -H Authorization:Bearer ***"),
            ("curl -u me:pw http://a", "curl -u me:*** http://a"),
            ("docker run -u 0:0 author compass north", "docker run -u 0:*** author compass north"),
        ] {
            assert_eq!(usual.apply(line), expected);
        }
        let own = Redaction::new([r"\d{4}"].into_iter()).unwrap();
        assert_eq!(own.apply("card 12345678"), "card ******");
        assert_eq!(Redaction::new(["a", "("].into_iter()), Err((1, "error: unclosed group".to_owned())));
    }

    proptest! {
        #[test]
        fn nothing_panics(line: String) {
            Redaction::new(USUAL.into_iter()).unwrap().apply(&line);
        }
    }
}
