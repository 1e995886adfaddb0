//! tmpfiles.d(5), as far as it is about age: which directories are cleaned of what, and which paths are left alone.
//!
//! Held against systemd-tmpfiles 252. Where the manual page says otherwise than the program does, this does what the program does:
//! a backslash in a path quotes the next byte and nothing else, and an age of zero does not take files dated in the future.

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
    /// From when on and by which times, if the line has an age.
    pub age: Option<Age>,
    /// Everything that a second line for the same path must repeat to count, as it was written.
    identity: Vec<String>,
    /// Not carried out, because its user or group is not known here: its path is protected all the same.
    pub is_only_protecting: bool,
}

/// A line that means nothing, or that stops everything.
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

/// What a configuration asks of the machine.
pub struct Machine<'a> {
    /// What a specifier (`%b`) stands for; none if it is not known.
    pub specifier: &'a dyn Fn(char) -> Option<String>,
    /// Whether a path exists, a symlink that leads nowhere included.
    pub exists: &'a dyn Fn(&str) -> bool,
    /// Whether a user is known.
    pub has_user: &'a dyn Fn(&str) -> bool,
    /// Whether a group is known.
    pub has_group: &'a dyn Fn(&str) -> bool,
}

/// Types whose path is one path.
const LITERAL: &[u8] = b"fFdDvqQpLcbC";
/// Types whose path is a pattern.
const PATTERNS: &[u8] = b"wexXrRzZtThHaAm";
/// Types of which a second line for a path does not count.
const OWNING: &[u8] = b"fFdDvqQpLcbCwexXrR";
/// Types that take an argument and mean nothing without it.
const WITH_ARGUMENT: &[u8] = b"cbwtTaAhH";

impl Line {
    /// Whether its path stands for several.
    pub fn is_pattern(&self) -> bool {
        PATTERNS.contains(&self.kind)
    }

    fn is_owning(&self) -> bool {
        OWNING.contains(&self.kind)
    }
}

/// Reads a file. Lines that mean nothing here (`!`, at boot; a `C` without its source) are left out.
///
/// # Errors
/// At the first malformed line. systemd-tmpfiles would go on without it, and without what it protects.
pub fn parse(text: &str, machine: &Machine<'_>) -> Result<Vec<Line>, Malformed> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.split(['\n', '\r', '\0'])) {
        let start = line.trim_start_matches([' ', '\t']);
        if start.is_empty() || start.starts_with('#') {
            continue;
        }
        // A carriage return ends a line, but people count newlines.
        let number = if text.contains('\r') { line_of(text, line) } else { number };
        let parsed = parse_line(line, machine);
        lines.extend(parsed.map_err(|(column, what)| Malformed {
            line: number,
            column: column + 1,
            what,
        })?);
    }
    Ok(lines)
}

/// The number of the line of a text that this part of it begins in.
fn line_of(text: &str, part: &str) -> usize {
    let offset = part.as_ptr() as usize - text.as_ptr() as usize;
    1 + text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count()
}

fn parse_line(line: &str, machine: &Machine<'_>) -> Result<Option<Line>, Wrong> {
    let mut fields = Fields::new(line);
    let (_, kind_text) = fields.next()?.ok_or((0, "a type is missing".to_owned()))?;
    let (path_at, path) = fields.next()?.ok_or((line.len(), "the path is missing".to_owned()))?;
    let (kind, modifiers) = kind_of(&kind_text).ok_or((0, format!("\"{kind_text}\" is not a type")))?;
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
        (true, true) => return Err((0, "the modifier ^ wants the name of a credential".to_owned())),
        // Credentials are passed to services; whit is none.
        (true, false) => return Ok(None),
        (false, _) => {}
    }
    if modifiers.contains('~') && !is_base64(argument) {
        return Err((0, "the modifier ~ wants an argument in base64".to_owned()));
    }
    if argument.is_empty() && WITH_ARGUMENT.contains(&kind) {
        return Err((line.len(), format!("a line of type {} wants an argument", char::from(kind))));
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
            // Two numbers mean "leave as it is": user_namespaces(7), and the same with 16 bits.
            true => name.is_empty() || name.parse::<u32>().is_ok_and(|id| ![u32::MAX, 65_535].contains(&id)),
            false => has(name),
        }
    };
    let is_only_protecting = !is_known(&user, machine.has_user) || !is_known(&group, machine.has_group);
    let tilde = modifiers.contains('~').to_string();
    let identity = vec![mode, user, group, age_text, tilde, argument.to_owned()];
    Ok(Some(Line { kind, path, age, identity, is_only_protecting }))
}

/// A letter and modifiers, each at most once.
fn kind_of(text: &str) -> Option<(u8, &str)> {
    let kind = text.bytes().next().filter(|kind| LITERAL.contains(kind) || PATTERNS.contains(kind))?;
    let modifiers = &text[1..];
    let is_known =
        |(at, letter): (usize, char)| "+!-=~^".contains(letter) && !modifiers[..at].contains(letter);
    modifiers.char_indices().all(is_known).then_some((kind, modifiers))
}

/// With its specifiers expanded, without slashes and dots that mean nothing. Two dots stay: paths are compared as they are written.
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

/// Octal, with `~` (masked by what is there) or `:` (only for what is made) before it.
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
