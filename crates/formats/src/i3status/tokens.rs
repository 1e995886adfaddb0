//! Words, quoted or not, and the signs between them.

use crate::placed_error::PlacedError;

/// Values of the environment, by names.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Equals,
    PlusEquals,
    Open,
    Close,
    Comma,
}

pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// Where the last token began.
    began: usize,
    environment: Environment<'a>,
    /// Names that were looked up in it.
    variables: Vec<String>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str, environment: Environment<'a>) -> Self {
        Self { text, at: 0, began: 0, environment, variables: Vec::new() }
    }

    pub(super) fn into_variables(self) -> Vec<String> {
        self.variables
    }

    /// `NAME}`, or `NAME:-what else}`: the value, and the bytes that this takes.
    fn variable(&mut self, text: &str) -> Option<(String, usize)> {
        let (inside, _) = text.split_once('}')?;
        let (name, usual) = inside.split_once(":-").unwrap_or((inside, ""));
        self.variables.push(name.to_owned());
        let value = (self.environment)(name).unwrap_or_else(|| usual.to_owned());
        Some((value, inside.len() + 1))
    }

    /// The last token's line, from 1.
    pub(super) fn line(&self) -> usize {
        1 + self.text[..self.began].matches('\n').count()
    }

    /// Returns an error at the last token, which says what was expected there.
    pub(super) fn error<T>(&self, expected: &str) -> Result<T, PlacedError> {
        let line_start = self.text[..self.began].rfind('\n').map_or(0, |at| at + 1);
        let column = 1 + self.text[line_start..self.began].chars().count();
        Err(PlacedError { line: self.line(), column, message: format!("expected {expected}") })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn next(&mut self) -> Result<Option<Token>, PlacedError> {
        self.skip_blanks()?;
        self.began = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let sign = |token, length| (Some(token), length);
        let (token, length) = match first {
            '=' => sign(Token::Equals, 1),
            '+' if rest.starts_with("+=") => sign(Token::PlusEquals, 2),
            '{' => sign(Token::Open, 1),
            '}' => sign(Token::Close, 1),
            ',' => sign(Token::Comma, 1),
            _ => (None, 0),
        };
        self.at += length;
        match (token, first) {
            (Some(token), _) => Ok(Some(token)),
            (None, '"' | '\'') => self.quoted(first).map(Some),
            (None, _) => {
                let is_end = |character: char| character.is_whitespace() || "={},\"'#".contains(character);
                let mut length = rest.find(is_end).unwrap_or(rest.len());
                // "name+=value": the sign belongs to what follows.
                if rest[length..].starts_with('=') && rest[..length].ends_with('+') && length > 1 {
                    length -= 1;
                }
                // A sign that begins nothing must not hold the reading up.
                length = length.max(first.len_utf8());
                if let Some(after) = rest.strip_prefix("${")
                    && let Some((value, length)) = self.variable(after)
                {
                    self.at += length + 2;
                    return Ok(Some(Token::Word(value)));
                }
                self.at += length;
                Ok(Some(Token::Word(rest[..length].to_owned())))
            }
        }
    }

    fn skip_blanks(&mut self) -> Result<(), PlacedError> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let length = if trimmed.starts_with('#') || trimmed.starts_with("//") {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                self.began = self.at;
                match trimmed.find("*/") {
                    Some(length) => length + 2,
                    None => return self.error("\"*/\" at the end of this comment"),
                }
            } else {
                return Ok(());
            };
            self.at += length;
        }
    }

    /// In double quotes a backslash stands before what is meant otherwise; in single ones nothing is.
    fn quoted(&mut self, quote: char) -> Result<Token, PlacedError> {
        let mut word = String::new();
        let rest = self.rest();
        let mut characters = rest.char_indices().skip(1);
        // What a variable took.
        let mut from = 0;
        while let Some((at, character)) = characters.next() {
            match character {
                _ if at < from => {}
                '$' if quote == '"' && rest[at..].starts_with("${") => match self.variable(&rest[at + 2..]) {
                    Some((value, length)) => {
                        word.push_str(&value);
                        from = at + 2 + length;
                    }
                    None => word.push(character),
                },
                _ if character == quote => {
                    self.at += at + 1;
                    return Ok(Token::Word(word));
                }
                '\\' if quote == '"' => match characters.next() {
                    Some((_, 'n')) => word.push('\n'),
                    Some((_, 't')) => word.push('\t'),
                    Some((_, escaped)) => word.push(escaped),
                    None => break,
                },
                _ => word.push(character),
            }
        }
        self.error("the quote that closes this one")
    }
}
