//! tmpfiles.d(5), as far as it is about age: which directories are cleaned of what, and which paths are left alone.
//!
//! Compared with systemd-tmpfiles 252. If the program differs from its manual page, whit does the same as the program: a backslash in
//! a path only quotes the next byte, and an age of zero does not delete files whose times are in the future.

mod age;
mod fields;
mod job;

use std::fmt;

pub use age::{Age, Times};
pub use job::{Configuration, Job, Protection};

use fields::{Fields, Wrong};

/// A line that counts here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The type: `d`, `e`, `x` …
    pub kind: u8,
    /// Its path, normalized; a pattern for types that take one.
    pub path: String,
    /// The age from which entries are deleted, and the times that it is computed from; `None` if the line has no age.
    pub age: Option<Age>,
    /// Mode, user, group, age, the modifier `~` and argument, as written. A second owning line for the path counts only if these are
    /// equal.
    identity: Vec<String>,
    /// The line only protects its path and cleans nothing, because its user or group is unknown on this machine.
    pub is_only_protecting: bool,
    /// Its type and modifiers, if one of them is of a newer systemd than this knows: the path is protected with all below it, which is
    /// the most that the line could mean for what is there.
    pub unknown: Option<String>,
    /// From 1.
    pub number: usize,
}

/// A malformed line. Parsing stops there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// From 1.
    pub line: usize,
    /// From 1, in bytes.
    pub column: usize,
    /// The description of the error.
    pub what: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}

/// Properties of the machine that a configuration depends on.
pub struct Machine<'a> {
    /// Returns the value of a specifier such as `%b`, or `None` if it is unknown.
    pub specifier: &'a dyn Fn(char) -> Option<String>,
    /// Returns whether a path exists. A dangling symlink exists.
    pub exists: &'a dyn Fn(&str) -> bool,
    /// Returns whether a user is known.
    pub has_user: &'a dyn Fn(&str) -> bool,
    /// Returns whether a group is known.
    pub has_group: &'a dyn Fn(&str) -> bool,
}

/// Types whose path is one path.
const LITERAL: &[u8] = b"fFdDvqQpLcbC";
/// Types whose path is a pattern.
const PATTERNS: &[u8] = b"wexXrRzZtThHaAm";
/// Owning types: a second line for the same path is ignored, unless its fields are equal.
const OWNING: &[u8] = b"fFdDvqQpLcbCwexXrR";
/// Types that require an argument.
const WITH_ARGUMENT: &[u8] = b"cbwtTaAhH";

impl Line {
    /// Returns whether its path is a pattern, which stands for several paths.
    pub fn is_pattern(&self) -> bool {
        PATTERNS.contains(&self.kind)
    }

    fn is_owning(&self) -> bool {
        OWNING.contains(&self.kind)
    }
}

/// Parses a file. Skips lines that do not apply: those with the modifier `!` (only at boot) or `^` (credentials), and `C` lines whose
/// source does not exist.
///
/// # Errors
/// Returns the first malformed line. systemd-tmpfiles skips such a line, and then no longer protects its path.
pub fn parse(text: &str, machine: &Machine<'_>) -> Result<Vec<Line>, Malformed> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.split(['\n', '\r', '\0'])) {
        let start = line.trim_start_matches([' ', '\t']);
        if start.is_empty() || start.starts_with('#') {
            continue;
        }
        // A carriage return ends a line as well, but line numbers in errors count only newlines, as editors do.
        let number = if text.contains('\r') { line_of(text, line) } else { number };
        let parsed = parse_line(line, machine);
        let parsed = parsed.map_err(|(column, what)| Malformed { line: number, column: column + 1, what })?;
        lines.extend(parsed.map(|line| Line { number, ..line }));
    }
    Ok(lines)
}

/// Returns the number of the line where `part`, a slice of `text`, begins. Counts from 1.
fn line_of(text: &str, part: &str) -> usize {
    let offset = part.as_ptr() as usize - text.as_ptr() as usize;
    1 + text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count()
}

fn parse_line(line: &str, machine: &Machine<'_>) -> Result<Option<Line>, Wrong> {
    let mut fields = Fields::new(line);
    let (_, kind_text) = fields.next()?.ok_or((0, "a type is missing".to_owned()))?;
    let (path_at, path) = fields.next()?.ok_or((line.len(), "the path is missing".to_owned()))?;
    let Some((kind, modifiers)) = kind_of(&kind_text) else {
        if !kind_text.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            return Err((0, format!("\"{kind_text}\" is not a type")));
        }
        let path = absolute(&path, machine).map_err(|what| (path_at, what))?;
        return Ok(Some(Line {
            kind: b'x',
            path,
            age: None,
            identity: Vec::new(),
            is_only_protecting: false,
            unknown: Some(kind_text),
            number: 0,
        }));
    };
    if modifiers.contains('!') {
        // At boot alone.
        return Ok(None);
    }
    let path = absolute(&path, machine).map_err(|what| (path_at, what))?;
    let mut given: [Option<(usize, String)>; 4] = [const { None }; 4];
    for field in &mut given {
        *field = fields.next()?;
    }
    let [mode, user, group, age] =
        given.map(|field| field.filter(|(_, text)| !text.is_empty() && text != "-"));
    let argument = fields.rest();
    if let Some((at, text)) = mode.as_ref().filter(|(_, text)| !is_mode(text)) {
        return Err((*at, format!("\"{text}\" is not a mode")));
    }
    let age_text = age.as_ref().map_or("", |(_, text)| text).to_owned();
    let age = age.map(|(at, text)| Age::parse(&text).map_err(|what| (at, what))).transpose()?;
    match (modifiers.contains('^'), argument.is_empty()) {
        (true, true) => {
            return Err((0, "the modifier ^ needs the name of a credential as the argument".to_owned()));
        }
        // The argument is a credential, which systemd passes only to services. whit is not a service, so the line does not apply.
        (true, false) => return Ok(None),
        (false, _) => {}
    }
    if modifiers.contains('~') && !is_base64(argument) {
        return Err((0, "the modifier ~ needs an argument in base64".to_owned()));
    }
    if argument.is_empty() && WITH_ARGUMENT.contains(&kind) {
        return Err((line.len(), format!("a line of type {} needs an argument", char::from(kind))));
    }
    if kind == b'C' {
        let at = line.len() - argument.len();
        let source = match argument {
            "" | "-" => format!("/usr/share/factory{path}"),
            argument if argument.contains('\\') => {
                return Err((at, "a source with a backslash is not supported".to_owned()));
            }
            argument => absolute(argument, machine).map_err(|what| (at, what))?,
        };
        if !(machine.exists)(&source) {
            return Ok(None);
        }
    }
    let name = |field: &Option<(usize, String)>| field.as_ref().map_or("", |(_, text)| text).to_owned();
    let (mode, user, group) = (name(&mode), name(&user), name(&group));
    let is_known = |name: &str, has: &dyn Fn(&str) -> bool| {
        let name = name.strip_prefix(':').unwrap_or(name);
        match name.bytes().all(|byte| byte.is_ascii_digit()) {
            // -1 in 32 and in 16 bits is reserved for "no ID": user_namespaces(7).
            true => name.is_empty() || name.parse::<u32>().is_ok_and(|id| ![u32::MAX, 65_535].contains(&id)),
            false => has(name),
        }
    };
    let is_only_protecting = !is_known(&user, machine.has_user) || !is_known(&group, machine.has_group);
    let tilde = modifiers.contains('~').to_string();
    let identity = vec![mode, user, group, age_text, tilde, argument.to_owned()];
    Ok(Some(Line { kind, path, age, identity, is_only_protecting, unknown: None, number: 0 }))
}

/// Splits a type into its letter and its modifiers (`$` is for `--purge`, `?` for `L`). Returns `None` if one is unknown or a modifier is
/// repeated.
fn kind_of(text: &str) -> Option<(u8, &str)> {
    let kind = text.bytes().next().filter(|kind| LITERAL.contains(kind) || PATTERNS.contains(kind))?;
    let modifiers = &text[1..];
    let is_known =
        |(at, letter): (usize, char)| "+!-=~^$?".contains(letter) && !modifiers[..at].contains(letter);
    modifiers.char_indices().all(is_known).then_some((kind, modifiers))
}

/// Expands the specifiers of an absolute path, removes empty and `.` components, and replaces `/var/run/` by `/run/`. Keeps `..`,
/// because paths are compared as text.
fn absolute(path: &str, machine: &Machine<'_>) -> Result<String, String> {
    let mut expanded = String::new();
    let mut letters = path.chars();
    while let Some(letter) = letters.next() {
        match (letter, if letter == '%' { letters.next() } else { None }) {
            ('%', Some('%') | None) => expanded.push('%'),
            ('%', Some(specifier)) => match (machine.specifier)(specifier) {
                Some(value) => expanded.push_str(&value),
                None => return Err(format!("%{specifier} is not known")),
            },
            (letter, _) => expanded.push(letter),
        }
    }
    if !expanded.starts_with('/') {
        return Err(format!("\"{expanded}\" is not an absolute path"));
    }
    let parts: Vec<&str> = expanded.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let path = format!("/{}", parts.join("/"));
    Ok(match path.strip_prefix("/var/run/") {
        Some(rest) => format!("/run/{rest}"),
        None => path,
    })
}

/// Returns whether the text is an octal mode. It may begin with `~` (mask it with the existing mode) and `:` (only for newly created
/// entries).
fn is_mode(text: &str) -> bool {
    let digits = text.trim_start_matches(['~', ':']);
    let is_octal = !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    text.len() - digits.len() <= 2
        && is_octal
        && u32::from_str_radix(digits, 8).is_ok_and(|mode| mode <= 0o7777)
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.len().is_multiple_of(4) && text.len() - body.len() <= 2 && body.bytes().all(is_letter)
}

#[cfg(test)]
mod tests;
