//! A value of Lua that is text: literals, and what stands between them.

/// The literals one after the other, and what is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LuaText {
    pub(super) text: String,
    /// Operands that are no literals.
    pub(super) computed: Vec<String>,
}

impl LuaText {
    /// A text that is written as it is.
    pub(super) fn of(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Returns the text of a variable that is set to this after it was set to `before`. This may begin with the variable itself, by its
    /// name.
    pub(super) fn after(mut self, before: Self, name: &str) -> Self {
        if self.computed.first().is_some_and(|first| first == name) {
            self.computed.splice(..1, before.computed);
            self.text.insert_str(0, &before.text);
        }
        self
    }

    /// Reads operands with `..` between them, up to what is none.
    pub(super) fn read(source: &str) -> Self {
        let (mut read, mut rest) = (Self::default(), source);
        loop {
            let literal = long_bracket(rest).or_else(|| quoted(rest));
            let after = match literal {
                Some((text, after)) => {
                    read.text.push_str(&text);
                    after
                }
                None => {
                    let (expression, after) = rest.split_at(expression_length(rest));
                    if !expression.trim().is_empty() {
                        read.computed.push(expression.trim().to_owned());
                    }
                    after
                }
            };
            match after.trim_start().strip_prefix("..") {
                Some(next) => rest = next.trim_start(),
                None => return read,
            }
        }
    }
}

/// Lua's code without its comments, `-- …` and `--[[ … ]]`; what is in literals stays.
pub(super) fn without_comments(source: &str) -> String {
    let (mut code, mut rest) = (String::with_capacity(source.len()), source);
    while let Some(at) = rest.find(['-', '[', '"', '\'']) {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        let after = match rest.strip_prefix("--") {
            Some(comment) => match long_bracket(comment) {
                Some((_, after)) => after,
                None => &comment[comment.find('\n').unwrap_or(comment.len())..],
            },
            None => {
                let after =
                    long_bracket(rest).or_else(|| quoted(rest)).map_or(&rest[1..], |(_, after)| after);
                code.push_str(&rest[..rest.len() - after.len()]);
                after
            }
        };
        rest = after;
    }
    code.push_str(rest);
    code
}

/// `[[…]]`, `[=[…]=]`. As in Lua, a line's end right behind the bracket is none of the text.
fn long_bracket(source: &str) -> Option<(String, &str)> {
    let after = source.strip_prefix('[')?;
    let level = after.len() - after.trim_start_matches('=').len();
    let text = after[level..].strip_prefix('[')?;
    let end = format!("]{}]", "=".repeat(level));
    let text = text.strip_prefix('\n').unwrap_or(text);
    Some(match text.split_once(&end) {
        Some((text, after)) => (text.to_owned(), after),
        None => (text.to_owned(), ""),
    })
}

/// A text in quotation marks, with escape sequences.
fn quoted(source: &str) -> Option<(String, &str)> {
    let quote = source.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    // Lua's texts are bytes, and a letter may be written as several escape sequences.
    let (mut bytes, mut rest) = (Vec::new(), &source[1..]);
    while let Some(at) = rest.find([quote, '\\']) {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let is_end = rest[at..].starts_with(quote);
        rest = &rest[at + 1..];
        if is_end {
            return Some((String::from_utf8_lossy(&bytes).into_owned(), rest));
        }
        rest = escape(rest, &mut bytes);
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some((String::from_utf8_lossy(&bytes).into_owned(), ""))
}

/// Reads what stands behind a backslash, and returns the rest. Section 3.1 of Lua's manual has the sequences.
fn escape<'s>(source: &'s str, bytes: &mut Vec<u8>) -> &'s str {
    let Some(letter) = source.chars().next() else { return source };
    let after = &source[letter.len_utf8()..];
    let digits = |text: &'s str, most: usize, radix: u32| {
        let length = text.chars().take(most).take_while(|digit| digit.is_digit(radix)).count();
        (u32::from_str_radix(&text[..length], radix).unwrap_or(0), &text[length..])
    };
    match letter {
        'a' => bytes.push(0x07),
        'b' => bytes.push(0x08),
        'f' => bytes.push(0x0c),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'v' => bytes.push(0x0b),
        'z' => return after.trim_start(),
        'x' => {
            let (byte, after) = digits(after, 2, 16);
            bytes.push(byte as u8);
            return after;
        }
        'u' => {
            let (code, after) = digits(after.strip_prefix('{').unwrap_or(after), 8, 16);
            let letter = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            return after.strip_prefix('}').unwrap_or(after);
        }
        '0'..='9' => {
            let (byte, after) = digits(source, 3, 10);
            bytes.push(byte as u8);
            return after;
        }
        _ => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
    }
    after
}

/// Returns the length of an operand that is not a literal. It ends at `..` or at the end of its line, outside parentheses and quotation
/// marks.
fn expression_length(source: &str) -> usize {
    let (mut depth, mut quote) = (0_usize, None);
    for (at, letter) in source.char_indices() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(letter),
            ('(', None) => depth += 1,
            (')', None) => depth = depth.saturating_sub(1),
            ('.', None) if depth == 0 && source[at..].starts_with("..") => return at,
            ('\n', None) if depth == 0 && !source[at..].trim_start().starts_with("..") => return at,
            _ => {}
        }
    }
    source.len()
}
