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

    /// What it is if it is set to this after it was another text, which this may begin with, by its name.
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

/// A text in quotation marks, in which a backslash stands before what is meant otherwise.
fn quoted(source: &str) -> Option<(String, &str)> {
    let quote = source.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let mut text = String::new();
    let mut letters = source.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == quote => return Some((text, &source[at + 1..])),
            '\\' => match letters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, other)) => text.push(other),
                None => break,
            },
            _ => text.push(letter),
        }
    }
    Some((text, ""))
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
