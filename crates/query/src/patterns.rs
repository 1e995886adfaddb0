//! The size of the patterns in an expression. The parser compiles each with a limit that is ten times as high, and keeps all of them.

use formats::re2::WholeRegex;

use crate::error::Fault;

/// The most patterns of an expression.
const MAX_PATTERNS: usize = 32;

/// Checks patterns before anything compiles them without a limit of ours: their number, and the size of each. Those that are not valid are
/// left to the parser.
///
/// # Errors
/// Names the first that is too much, with its place.
pub(crate) fn check(text: &str) -> Result<(), Fault> {
    let mut count = 0;
    let mut rest = text.char_indices().peekable();
    let mut is_pattern = false;
    while let Some((place, letter)) = rest.next() {
        match letter {
            '"' | '\'' | '`' => {
                let value = quoted(&mut rest, letter);
                if std::mem::take(&mut is_pattern) {
                    count += 1;
                    if count > MAX_PATTERNS {
                        return Err(Fault::at(place, format!("more than {MAX_PATTERNS} patterns")));
                    }
                    if WholeRegex::is_too_large(&value) {
                        return Err(Fault::at(place, "this pattern is too large".to_owned()));
                    }
                }
            }
            '#' => drop(rest.find(|(_, letter)| *letter == '\n')),
            '=' | '!' if rest.next_if(|(_, next)| *next == '~').is_some() => is_pattern = true,
            letter if letter.is_whitespace() => {}
            _ => is_pattern = false,
        }
    }
    Ok(())
}

/// Takes a quoted text to its end, and returns what it stands for, as the parser reads it: Go's escapes, and none between backquotes.
fn quoted(rest: &mut impl Iterator<Item = (usize, char)>, quote: char) -> String {
    let mut value = String::new();
    while let Some((_, letter)) = rest.next() {
        match letter {
            letter if letter == quote => break,
            '\\' if quote != '`' => {
                let Some((_, escaped)) = rest.next() else { break };
                let mut number = |digits: usize, radix: u32, first: Option<char>| {
                    let more = rest.by_ref().take(digits).map(|(_, digit)| digit);
                    let digits: String = first.into_iter().chain(more).collect();
                    u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32).unwrap_or('?')
                };
                value.push(match escaped {
                    'x' => number(2, 16, None),
                    'u' => number(4, 16, None),
                    'U' => number(8, 16, None),
                    '0'..='7' => number(2, 8, Some(escaped)),
                    'a' => '\x07',
                    'b' => '\x08',
                    'f' => '\x0c',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'v' => '\x0b',
                    other => other,
                });
            }
            letter => value.push(letter),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_patterns_are_refused_before_they_are_parsed() {
        for text in [
            "up{a=~\"\\\\pL{2000}\"}",
            "up{a=~\"\\x5cpL{2000}\"}",
            "up{a=~\"\\134pL{2000}\"}",
            "up{b=~\"ok\"} or up{a !~  '\\\\pL{2000}'}",
            "sum(up{a=~`\\pL{2000}`})",
        ] {
            assert_eq!(
                check(text).map_err(|fault| fault.message),
                Err("this pattern is too large".to_owned()),
                "{text}"
            );
        }
        let many = |count| vec!["a=~\"b\""; count].join(",");
        assert_eq!(check(&many(MAX_PATTERNS)), Ok(()));
        assert!(check(&many(MAX_PATTERNS + 1)).is_err());
        for text in [
            "up{a=\"\\\\pL{2000}\"}",
            "up{a=~\"(\"}",
            "# a=~\"\\\\pL{2000}\"",
            "up{a=~\"[a-z]{20}\"}",
            "a=~\"",
            "a=~\"\\",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }
}
