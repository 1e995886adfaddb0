//! Regular expressions as Prometheus and its kin understand them: RE2's syntax, and always the whole text.
//!
//! <https://github.com/google/re2/wiki/Syntax>. The `regex` crate differs in classes of letters, which are Unicode's there and ASCII's
//! in RE2, and in what stands for itself between brackets.

use regex::{Captures, Regex, RegexBuilder};

/// An expression that a whole text matches or does not.
#[derive(Clone, Debug)]
pub struct WholeRegex(Regex);

/// The largest size of a compiled expression, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

impl PartialEq for WholeRegex {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl WholeRegex {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Returns a line that describes the error if the expression is not valid.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let pattern = translate(pattern);
        let compile = |pattern: &str| RegexBuilder::new(pattern).size_limit(MAX_COMPILED_BYTES).build();
        // On its own first: a lone parenthesis must not close what is around it.
        compile(&pattern)
            .and_then(|_| compile(&format!("^(?:{pattern})$")))
            .map(Self)
            .map_err(|error| message(&error))
    }

    /// Returns whether a valid expression is too large.
    pub fn is_too_large(pattern: &str) -> bool {
        let built = RegexBuilder::new(&translate(pattern)).size_limit(MAX_COMPILED_BYTES).build();
        matches!(built, Err(regex::Error::CompiledTooBig(_)))
    }

    /// Returns whether a text matches.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Returns the groups of a text; `None` if it does not match.
    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.0.captures(text)
    }
}

/// A template with `$1`, `${1}` or `${name}` for what a group is, `$$` for a dollar. A dollar before anything else stands for itself.
pub fn expand(captures: &Captures<'_>, template: &str) -> String {
    let mut expanded = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            expanded.push('$');
            rest = after;
        } else if let Some((group, after)) = group(rest) {
            let found = match group.parse() {
                Ok(number) => captures.get(number),
                Err(_) => captures.name(group),
            };
            expanded.push_str(found.map_or("", |found| found.as_str()));
            rest = after;
        } else {
            expanded.push('$');
        }
    }
    expanded.push_str(rest);
    expanded
}

/// The group that is named behind a dollar in a template, and what follows; `None` if there is none.
pub(crate) fn group(after_dollar: &str) -> Option<(&str, &str)> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (name, rest) = match after_dollar.strip_prefix('{') {
        Some(inside) => inside.split_once('}')?,
        None => {
            after_dollar.split_at(after_dollar.find(|letter| !is_word(letter)).unwrap_or(after_dollar.len()))
        }
    };
    (!name.is_empty() && name.chars().all(is_word)).then_some((name, rest))
}

/// The crate draws the expression with a mark below; its last line is the message.
fn message(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "an expression that is too large".to_owned(),
        error => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.strip_prefix("error: ").unwrap_or(last).to_owned()
        }
    }
}

/// Returns an expression in the syntax of the regex crate.
pub(crate) fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    let mut is_in_class = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('Q') if !is_in_class => {
                    let rest: String = letters.clone().collect();
                    let literal = rest.split_once("\\E").map_or(rest.as_str(), |(literal, _)| literal);
                    out.push_str(&regex::escape(literal));
                    let taken = literal.chars().count() + if rest.len() > literal.len() { 2 } else { 0 };
                    letters.by_ref().take(taken).for_each(|_| {});
                }
                Some(escaped) => push_escaped(&mut out, escaped, is_in_class),
                None => out.push('\\'),
            },
            '[' if is_in_class && letters.peek() != Some(&':') => out.push_str("\\["),
            '[' if !is_in_class => {
                is_in_class = true;
                out.push('[');
                if letters.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                // The first one is itself.
                if letters.next_if_eq(&']').is_some() {
                    out.push_str("\\]");
                }
            }
            '[' => {
                // A class by its name, up to its own end.
                out.push('[');
                for letter in letters.by_ref() {
                    out.push(letter);
                    if letter == ']' {
                        break;
                    }
                }
            }
            ']' if is_in_class => {
                is_in_class = false;
                out.push(']');
            }
            '&' | '~' if is_in_class => {
                out.push('\\');
                out.push(letter);
            }
            letter => out.push(letter),
        }
    }
    out
}

fn push_escaped(out: &mut String, escaped: char, is_in_class: bool) {
    let ascii = match escaped {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        's' => "[\\t\\n\\f\\r ]",
        'S' => "[^\\t\\n\\f\\r ]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        'b' if !is_in_class => "(?-u:\\b)",
        'B' if !is_in_class => "(?-u:\\B)",
        other => {
            out.push('\\');
            return out.push(other);
        }
    };
    out.push_str(ascii);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn expressions_are_those_of_re2() {
        for (pattern, matching, other) in [
            ("a|b", "b", "ab"),
            (r"\d+", "42", "٤٢"),
            (r"\w+", "a_1", "ä"),
            (r"[^\W]", "a", "-"),
            (r"a\b.*", "a b", "ab"),
            ("[[a]", "[", "b"),
            ("[]a]+", "]a", "["),
            ("[a&&b]+", "&a", "c"),
            ("[[:alpha:]]+", "ab", "a1"),
            (r"\Qa.b\E+", "a.bb", "axb"),
            (r"\pL+", "äß", "1"),
            ("(?i)ä", "Ä", "a"),
            ("", "", "a"),
            ("a.c", "abc", "a\nc"),
        ] {
            let regex = WholeRegex::new(pattern).unwrap();
            assert!(regex.is_match(matching), "{pattern}");
            assert!(!regex.is_match(other), "{pattern}");
        }
        for (pattern, message) in [
            ("(", "unclosed group"),
            (")", "unopened group"),
            ("a)|(b", "unopened group"),
            ("[b", "unclosed character class"),
        ] {
            assert_eq!(WholeRegex::new(pattern).unwrap_err(), message);
        }
        assert!(WholeRegex::new("((a{1000}){1000}){1000}").is_err());
    }

    #[test]
    fn templates_are_expanded() {
        let regex = WholeRegex::new("(?P<first>a+)(b)?(.*)").unwrap();
        let captures = regex.captures("aaxyz").unwrap();
        for (template, expanded) in [
            ("$1", "aa"),
            ("${first}-$3", "aa-xyz"),
            ("$1x", ""),
            ("${1}x", "aax"),
            ("$2|$9|$$|$", "||$|$"),
            ("${}|${1|$-", "${}|${1|$-"),
        ] {
            assert_eq!(expand(&captures, template), expanded, "{template}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(pattern: String, text: String) {
            if let Ok(regex) = WholeRegex::new(&pattern) {
                regex.is_match(&text);
            }
        }
    }
}
