//! The parser of format strings.

use super::field::{Fault, Field};
use super::spec::Spec;
use crate::nearest::did_you_mean;

/// The deepest nesting of brackets.
const DEEPEST: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Literal(String),
    /// `index` is its place among the fields. The options are apart, since most fields have none.
    Field {
        index: usize,
        spec: Option<Box<Spec>>,
    },
    /// Left out if a field in it is absent.
    Group(Vec<Part>),
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    fields: &'a [Field],
    sparklines: usize,
}

/// Parses a format string. Returns the number of its sparklines as well.
pub(super) fn parts(text: &str, fields: &[Field]) -> Result<(Vec<Part>, usize), Fault> {
    let mut parser = Parser { text, at: 0, fields, sparklines: 0 };
    let parts = parser.parts(0)?;
    Ok((parts, parser.sparklines))
}

/// Returns the index of the field with this name.
pub(super) fn field_index(name: &str, offset: usize, fields: &[Field]) -> Result<usize, Fault> {
    fields.iter().position(|field| field.name == name).ok_or_else(|| {
        let names = fields.iter().map(|field| field.name);
        Fault { offset, message: format!("there is no field \"{name}\"{}", did_you_mean(name, names)) }
    })
}

impl Parser<'_> {
    fn fault<T>(&self, offset: usize, message: &str) -> Result<T, Fault> {
        Err(Fault { offset, message: message.to_owned() })
    }

    /// Parses up to the end of the text, or to the bracket that closes this group.
    fn parts(&mut self, depth: usize) -> Result<Vec<Part>, Fault> {
        let (mut parts, mut literal) = (Vec::new(), String::new());
        let opened_at = self.at.saturating_sub(1);
        loop {
            let rest = &self.text[self.at..];
            let Some(character) = rest.chars().next() else {
                if depth > 0 {
                    return self
                        .fault(opened_at, "this \"[\" is not closed; write \"[[\" for a literal bracket");
                }
                break;
            };
            let is_doubled = rest[character.len_utf8()..].starts_with(character);
            match character {
                // Within a group, `]]` closes the group instead of escaping a bracket.
                '{' | '}' | '[' | ']' if is_doubled && !(character == ']' && depth > 0) => {
                    literal.push(character);
                    self.at += 2;
                }
                '{' => {
                    flush(&mut parts, &mut literal);
                    parts.push(self.field()?);
                }
                '[' if depth == DEEPEST => return self.fault(self.at, "brackets are nested too deeply"),
                '[' => {
                    flush(&mut parts, &mut literal);
                    self.at += 1;
                    parts.push(Part::Group(self.parts(depth + 1)?));
                }
                ']' if depth > 0 => {
                    self.at += 1;
                    break;
                }
                '}' => return self.fault(self.at, "this brace has no beginning (write }} for a brace)"),
                ']' => return self.fault(self.at, "this bracket has no beginning (write ]] for a bracket)"),
                _ => {
                    literal.push(character);
                    self.at += character.len_utf8();
                }
            }
        }
        flush(&mut parts, &mut literal);
        Ok(parts)
    }

    fn field(&mut self) -> Result<Part, Fault> {
        let start = self.at + 1;
        let Some(length) = self.text[start..].find('}') else {
            return self.fault(self.at, "this \"{\" is not closed; write \"{{\" for a literal brace");
        };
        let inner = &self.text[start..start + length];
        let (name, options) = match inner.split_once(':') {
            Some((name, options)) => (name, Some(options)),
            None => (inner, None),
        };
        let index = field_index(name, start, self.fields)?;
        let mut spec = Spec::DEFAULT;
        if let Some(options) = options {
            let mut offset = start + name.len() + 1;
            for option in options.split(',') {
                spec.add(option, &mut self.sparklines).map_err(|message| Fault { offset, message })?;
                offset += option.len() + 1;
            }
        }
        self.at = start + length + 1;
        Ok(Part::Field { index, spec: (spec != Spec::DEFAULT).then(|| Box::new(spec)) })
    }
}

fn flush(parts: &mut Vec<Part>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(Part::Literal(std::mem::take(literal)));
    }
}
