//! Patterns of whole paths: fnmatch(3) with FNM_PATHNAME and FNM_PERIOD in the C locale, and the braces of glob(3).
//!
//! `*`, `?` and `[…]` match bytes, never a slash, and never a dot at the beginning of a name. Braces are no pattern here;
//! [`alternatives`] expands them.

/// Returns whether a pattern matches a whole path.
pub fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (mut patterns, mut names) = (pattern.split(|byte| *byte == b'/'), path.split(|byte| *byte == b'/'));
    loop {
        match (patterns.next(), names.next()) {
            (None, None) => return true,
            (Some(pattern), Some(name)) if matches_name(pattern, name) => {}
            _ => return false,
        }
    }
}

/// Returns whether a pattern matches one name of a path.
pub fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    // A dot at the beginning is matched by a dot alone.
    let is_hidden = name.first() == Some(&b'.');
    let begins_with_dot = pattern.first() == Some(&b'.') || pattern.starts_with(b"\\.");
    (!is_hidden || begins_with_dot) && matches_rest(pattern, name)
}

fn matches_rest(pattern: &[u8], name: &[u8]) -> bool {
    // Where to go on if what follows the last star does not fit: one byte further.
    let mut retry: Option<(usize, usize)> = None;
    let (mut at, mut place) = (0, 0);
    loop {
        let is_step = match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, place));
                at += 1;
                continue;
            }
            None if place == name.len() => return true,
            None => None,
            Some(_) => name.get(place).and_then(|byte| Some(at + match_one(&pattern[at..], *byte)?)),
        };
        match (is_step, retry) {
            (Some(next), _) => (at, place) = (next, place + 1),
            (None, Some((after_star, from))) if from < name.len() => {
                retry = Some((after_star, from + 1));
                (at, place) = (after_star, from + 1);
            }
            (None, _) => return false,
        }
    }
}

/// How many bytes of the pattern stand for this byte; none if they do not.
fn match_one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'\\', quoted, ..] => (*quoted == byte).then_some(2),
        // At the end it stands for nothing.
        [b'\\'] => None,
        [b'[', rest @ ..] => match set(rest) {
            Some(set) => set.has(byte).then_some(1 + set.length),
            // Not closed: a bracket.
            None => (byte == b'[').then_some(1),
        },
        [own, ..] => (*own == byte).then_some(1),
        [] => None,
    }
}

/// A bracket expression behind its opening.
struct Set<'a> {
    members: &'a [u8],
    is_negated: bool,
    /// With the closing bracket.
    length: usize,
}

fn set(rest: &[u8]) -> Option<Set<'_>> {
    let is_negated = matches!(rest.first(), Some(b'!' | b'^'));
    let start = usize::from(is_negated);
    // A bracket that comes first is a member.
    let mut at = start + usize::from(rest.get(start) == Some(&b']'));
    loop {
        match rest.get(at..)? {
            [b']', ..] => break,
            [b'\\', _, ..] => at += 2,
            [b'[', kind @ (b':' | b'=' | b'.'), inner @ ..] => {
                let end = inner.windows(2).position(|window| window == [*kind, b']']);
                at += end.map_or(1, |end| end + 4);
            }
            [_, ..] => at += 1,
            [] => return None,
        }
    }
    Some(Set { members: &rest[start..at], is_negated, length: at + 1 })
}

impl Set<'_> {
    fn has(&self, byte: u8) -> bool {
        let mut members = self.members;
        let mut found = false;
        while let [first, rest @ ..] = members {
            if let ([b'[', kind @ (b':' | b'=' | b'.'), inner @ ..], true) = (members, *first == b'[')
                && let Some(end) = inner.windows(2).position(|window| window == [*kind, b']'])
            {
                found |= match kind {
                    b':' => is_in_class(&inner[..end], byte),
                    _ => inner[..end] == [byte],
                };
                members = &inner[end + 2..];
                continue;
            }
            let (low, rest) = match (first, rest) {
                (b'\\', [quoted, rest @ ..]) => (*quoted, rest),
                (first, rest) => (*first, rest),
            };
            let (high, rest) = match rest {
                [b'-', b'\\', high, rest @ ..] | [b'-', high, rest @ ..] => (*high, rest),
                rest => (low, rest),
            };
            found |= (low..=high).contains(&byte);
            members = rest;
        }
        found != self.is_negated
    }
}

fn is_in_class(class: &[u8], byte: u8) -> bool {
    match class {
        b"alpha" => byte.is_ascii_alphabetic(),
        b"digit" => byte.is_ascii_digit(),
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"upper" => byte.is_ascii_uppercase(),
        b"lower" => byte.is_ascii_lowercase(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"punct" => byte.is_ascii_punctuation(),
        b"print" => matches!(byte, b' '..=b'~'),
        b"graph" => byte.is_ascii_graphic(),
        b"cntrl" => byte.is_ascii_control(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => false,
    }
}

/// Returns whether there is anything in a name that [`matches_name`] takes for more than itself.
pub fn is_pattern(name: &[u8]) -> bool {
    name.iter().any(|byte| b"*?[".contains(byte))
}

/// A name without the backslashes that quote its bytes.
pub fn unquoted(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(byte) = bytes.next() {
        out.extend(if *byte == b'\\' { bytes.next() } else { Some(byte) });
    }
    out
}

/// Returns the texts that braces stand for: `a{b,c}d` for `abd` and `acd`. A brace that is not closed stands for itself; more than `most`
/// alternatives are not expanded.
pub fn alternatives(pattern: &[u8], most: usize) -> Vec<Vec<u8>> {
    let mut done = Vec::new();
    let mut todo = vec![pattern.to_vec()];
    while let Some(pattern) = todo.pop() {
        match first_brace(&pattern) {
            Some((start, parts, end)) if done.len() + todo.len() + parts.len() <= most => {
                // Reversed, since the last is taken first.
                for part in parts.into_iter().rev() {
                    todo.push([&pattern[..start], &part[..], &pattern[end..]].concat());
                }
            }
            _ => done.push(pattern),
        }
    }
    done
}

/// The first brace that is closed: where it is, its alternatives, and what is behind it.
fn first_brace(pattern: &[u8]) -> Option<(usize, Vec<Vec<u8>>, usize)> {
    for start in (0..pattern.len()).filter(|start| pattern[*start] == b'{' && !is_quoted(pattern, *start)) {
        let (mut depth, mut parts, mut from) = (0, Vec::new(), start + 1);
        for at in (start..pattern.len()).filter(|at| !is_quoted(pattern, *at)) {
            match pattern[at] {
                b'{' => depth += 1,
                b',' if depth == 1 => {
                    parts.push(pattern[from..at].to_vec());
                    from = at + 1;
                }
                b'}' if depth == 1 => {
                    parts.push(pattern[from..at].to_vec());
                    return Some((start, parts, at + 1));
                }
                b'}' => depth -= 1,
                _ => {}
            }
        }
    }
    None
}

fn is_quoted(pattern: &[u8], at: usize) -> bool {
    pattern[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_matched_as_fnmatch_does() {
        for (pattern, path, is_match) in [
            ("/t/*", "/t/a", true),
            ("/t/*", "/t/.a", false),
            ("/t/.*", "/t/.a", true),
            ("/t/?a", "/t/.a", false),
            ("/t/[.]a", "/t/.a", false),
            ("/t/*", "/t/a/b", false),
            ("/t/**", "/t/ab", true),
            ("/t/a*b*c", "/t/axxbyyc", true),
            ("/t/a*b*c", "/t/axxbyy", false),
            ("/t/?", "/t/é", false),
            ("/t/??", "/t/é", true),
            ("/t/[!a]x", "/t/bx", true),
            ("/t/[^a]x", "/t/ax", false),
            ("/t/[]a]x", "/t/]x", true),
            ("/t/[b-d]", "/t/c", true),
            ("/t/[d-b]", "/t/c", false),
            ("/t/[[:digit:]]*", "/t/7up", true),
            ("/t/[[=a=]]x", "/t/ax", true),
            ("/t/[a", "/t/[a", true),
            ("/t/a\\*b", "/t/a*b", true),
            ("/t/a\\*b", "/t/axb", false),
            ("/t/a\\b", "/t/ab", true),
            ("/t/a\\", "/t/a\\", false),
            ("/t/{a,b}", "/t/{a,b}", true),
            ("/t/{a,b}", "/t/a", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), path.as_bytes()), is_match, "{pattern} {path}");
        }
    }

    #[test]
    fn braces_are_expanded_for_those_who_want_them() {
        let expanded = |pattern: &str| -> Vec<String> {
            let all = alternatives(pattern.as_bytes(), 100);
            all.into_iter().map(|one| String::from_utf8(one).unwrap()).collect()
        };
        assert_eq!(expanded("/s/{a,b}/c"), ["/s/a/c", "/s/b/c"]);
        assert_eq!(expanded("{a,b{c,d}}{x,}"), ["ax", "a", "bcx", "bc", "bdx", "bd"]);
        assert_eq!(expanded("/s/{a"), ["/s/{a"]);
        assert_eq!(expanded("/s/\\{a,b}"), ["/s/\\{a,b}"]);
        assert!(alternatives(b"{a,b}{a,b}{a,b}{a,b}", 5).len() <= 5);
    }

    proptest! {
        #[test]
        fn nothing_panics(pattern: Vec<u8>, path: Vec<u8>) {
            matches(&pattern, &path);
            alternatives(&pattern, 50);
        }
    }
}
