//! tmpfiles.d(5), as far as it is about age: which directories are cleaned of what, and which paths are left alone.

use std::fmt;

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// What lies below a directory and is older goes.
    Clean(Clean),
    /// A path that is left alone, a pattern.
    Spare {
        /// The pattern, of the whole path.
        pattern: String,
        /// What is below it is left alone, too.
        with_content: bool,
    },
}

/// A directory that is cleaned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clean {
    /// Its path, a pattern where `is_pattern`.
    pub path: String,
    /// Whether it stands for several directories.
    pub is_pattern: bool,
    /// From this age on, in nanoseconds.
    pub age_ns: u64,
    /// Letters of the times of files that count: `a`, `b`, `c`, `m`.
    pub times: String,
    /// Whether what lies directly in it stays.
    pub keeps_first_level: bool,
}

/// A line that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// From 1.
    pub line: usize,
    /// From 1, in bytes.
    pub column: usize,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}

/// Fields of a line: type, path, mode, user, group, age, argument.
const AGE_FIELD: usize = 5;
/// What counts unless a line says otherwise.
const ALL_TIMES: &str = "abcm";

/// Reads a configuration. Lines of other kinds ask for nothing here, but the paths they make are left alone.
///
/// # Errors
/// At the first line that means nothing.
pub fn parse(text: &str) -> Result<Vec<Rule>, Malformed> {
    let mut rules = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let start = line.trim_start();
        if start.is_empty() || start.starts_with('#') {
            continue;
        }
        rules.push(parse_line(line).map_err(|(column, what)| Malformed {
            line: number,
            column: column + 1,
            what,
        })?);
    }
    Ok(rules)
}

type Wrong = (usize, String);

fn parse_line(line: &str) -> Result<Rule, Wrong> {
    let mut fields = Fields { line, at: 0 };
    let (_, kind) = fields.next()?.ok_or((0, "a type".to_owned()))?;
    let letter = kind.bytes().next().unwrap_or(0);
    let (path_at, path) = fields.next()?.ok_or((line.len(), "the path is missing".to_owned()))?;
    // What is left alone may be left alone a little more; what is cleaned must be meant.
    let is_spared = !is_cleaning(letter) || kind.contains('!');
    let path = expand(&path, is_spared).map_err(|what| (path_at, what))?;
    if !path.starts_with('/') {
        return Err((path_at, format!("\"{path}\" is no absolute path")));
    }
    let path = normalized(&path);
    let mut age = None;
    for index in 2..=AGE_FIELD {
        match fields.next()? {
            Some(field) if index == AGE_FIELD => age = Some(field).filter(|(_, text)| text != "-"),
            Some(_) => {}
            None => break,
        }
    }
    if !letter.is_ascii_alphabetic() {
        return Err((0, format!("\"{kind}\" is no type")));
    }
    // Others than these name one path.
    let pattern = if b"xXerR".contains(&letter) { path.clone() } else { literal(&path) };
    match (letter, age) {
        // At boot alone, and this is not boot.
        _ if kind.contains('!') => Ok(Rule::Spare { pattern, with_content: true }),
        (b'X', _) => Ok(Rule::Spare { pattern, with_content: false }),
        (letter, Some((at, text))) if is_cleaning(letter) => {
            let (keeps_first_level, rest) = match text.strip_prefix('~') {
                Some(rest) => (true, rest),
                None => (false, text.as_str()),
            };
            let (times, span) = rest.split_once(':').unwrap_or((ALL_TIMES, rest));
            if !times.bytes().all(|letter| b"aAbBcCmM".contains(&letter)) || times.is_empty() {
                return Err((at, format!("\"{times}\" are not times: a, b, c, m, capital for directories")));
            }
            let age_ns =
                span_ns(span).ok_or((at, format!("\"{span}\" is no age, such as 10d, 12h or 1w2d")))?;
            let mut times: String = times.chars().filter(char::is_ascii_lowercase).collect();
            if times.is_empty() {
                times = ALL_TIMES.to_owned();
            }
            let is_pattern = letter == b'e';
            Ok(Rule::Clean(Clean { path, is_pattern, age_ns, times, keeps_first_level }))
        }
        // Whoever has a line of its own is nobody else's.
        _ => Ok(Rule::Spare { pattern, with_content: true }),
    }
}

/// Types whose age means that what is below is cleaned.
fn is_cleaning(letter: u8) -> bool {
    b"dDevqQC".contains(&letter)
}

/// Without slashes that mean nothing.
fn normalized(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/")).replacen("//", "/", 1)
}

/// A pattern that means this path.
fn literal(path: &str) -> String {
    let mut pattern = String::new();
    for letter in path.chars() {
        if "*?[]{}!\\".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// Words between blanks, with quotes and their escapes undone.
struct Fields<'a> {
    line: &'a str,
    at: usize,
}

impl Fields<'_> {
    fn next(&mut self) -> Result<Option<(usize, String)>, Wrong> {
        let bytes = self.line.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        let start = self.at;
        let mut word = Vec::new();
        let mut quote = None;
        while let Some(byte) = bytes.get(self.at) {
            self.at += 1;
            match (*byte, quote) {
                (byte, Some(open)) if byte == open => quote = None,
                (b'"' | b'\'', None) => quote = Some(*byte),
                (b'\\', _) => word.push(self.escaped()?),
                (byte, None) if byte.is_ascii_whitespace() => break,
                (byte, _) => word.push(byte),
            }
        }
        if quote.is_some() {
            return Err((start, "a quote that is not closed".to_owned()));
        }
        if word.is_empty() && self.at == start {
            return Ok(None);
        }
        let word = String::from_utf8(word).map_err(|_| (start, "no UTF-8".to_owned()))?;
        Ok(Some((start, word)))
    }

    fn escaped(&mut self) -> Result<u8, Wrong> {
        let at = self.at - 1;
        let byte = *self.line.as_bytes().get(self.at).ok_or((at, "an escape at the end".to_owned()))?;
        self.at += 1;
        match byte {
            b'n' => Ok(b'\n'),
            b't' => Ok(b'\t'),
            b'x' => {
                let digits = self.line.get(self.at..self.at + 2);
                self.at += 2;
                digits
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                    .filter(|byte| *byte != 0)
                    .ok_or((at, "\\x wants two hexadecimal digits".to_owned()))
            }
            other => Ok(other),
        }
    }
}

/// Specifiers that say the same on every machine.
fn expand(path: &str, is_spared: bool) -> Result<String, String> {
    let mut expanded = String::new();
    let mut letters = path.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            expanded.push(letter);
            continue;
        }
        expanded.push_str(match letters.next() {
            Some('%') => "%",
            Some('t') => "/run",
            Some('T') => "/tmp",
            Some('V') => "/var/tmp",
            Some('S') => "/var/lib",
            Some('C') => "/var/cache",
            Some('L') => "/var/log",
            // The machine's or the boot's id, or whatever else: all of them.
            Some(_) if is_spared => "*",
            other => {
                let other = other.map_or(String::new(), String::from);
                return Err(format!("%{other} is not known: %t, %T, %V, %S, %C, %L and %% are"));
            }
        });
    }
    Ok(expanded)
}

/// `10d`, `1w2d`, `0`; without a unit seconds, as systemd.time(7) has it.
fn span_ns(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut sum = 0_u64;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).len();
        let unit_ns = match &rest[..letters] {
            "us" => 1_000,
            "ms" => 1_000_000,
            "" | "s" | "sec" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" | "hr" => 3_600_000_000_000,
            "d" | "day" | "days" => 86_400_000_000_000,
            "w" | "week" | "weeks" => 604_800_000_000_000,
            _ => return None,
        };
        rest = &rest[letters..];
        sum = sum.checked_add(number.checked_mul(unit_ns)?)?;
    }
    (!text.is_empty()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_NS: u64 = 86_400_000_000_000;

    fn clean(path: &str, age_ns: u64) -> Clean {
        Clean {
            path: path.to_owned(),
            is_pattern: false,
            age_ns,
            times: ALL_TIMES.to_owned(),
            keeps_first_level: false,
        }
    }

    #[test]
    fn what_distributions_write_is_read() {
        let text = "# a comment\n\
            q /tmp 1777 root root 10d\n\
            \tQ  /var/tmp 1777 root root 30d\n\
            x /tmp/systemd-private-%b-*\n\
            X /tmp/keep*\n\
            e /var/cache/*/old - - - am:1w2d\n\
            d %C/man - - - ~12h -\n\
            D! /tmp/.X11-unix/ 1777 root root 0\n\
            d /tmp//a[b]/ - - - -\n\
            L /run/log - - - - /var/log\n\
            d \"/var/with space\" - - - -\n";
        let rules = parse(text).unwrap();
        let spare = |pattern: &str, with_content| Rule::Spare { pattern: pattern.to_owned(), with_content };
        let expected = [
            Rule::Clean(clean("/tmp", 10 * DAY_NS)),
            Rule::Clean(clean("/var/tmp", 30 * DAY_NS)),
            spare("/tmp/systemd-private-*-*", true),
            spare("/tmp/keep*", false),
            Rule::Clean(Clean {
                is_pattern: true,
                times: "am".to_owned(),
                ..clean("/var/cache/*/old", 9 * DAY_NS)
            }),
            Rule::Clean(Clean { keeps_first_level: true, ..clean("/var/cache/man", DAY_NS / 2) }),
            spare("/tmp/.X11-unix", true),
            spare("/tmp/a\\[b\\]", true),
            spare("/run/log", true),
            spare("/var/with space", true),
        ];
        assert_eq!(rules, expected);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, place, what) in [
            ("d", (1, 2), "missing"),
            ("\nd tmp", (2, 3), "absolute"),
            ("d /tmp - - - 10x", (1, 14), "no age"),
            ("d /tmp - - - xy:1d", (1, 14), "not times"),
            ("d /%b - - - 1d", (1, 3), "%b is not known"),
            ("d \"/tmp", (1, 3), "not closed"),
            ("d /a\\xg0", (1, 5), "hexadecimal"),
            ("9 /tmp", (1, 1), "no type"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!((error.line, error.column), place, "{text}");
            assert!(error.what.contains(what), "{error}");
        }
    }
}
