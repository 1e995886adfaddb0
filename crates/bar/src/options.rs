//! Options of the bar alone: formats, conditions and colours.

use std::ops::Range;

use toml::de::DeValue;

use super::Color;
use configuration::{Fault, Options, Value, text};
use text::template::{self, Condition, Field, Template};

/// Options that only segments have.
pub(crate) trait SegmentOptions {
    /// Returns whether one of some fields is named anywhere in the segment's table: fields that are not shown need not be read.
    fn mentions(&self, usual_format: &str, fields: &[&str]) -> bool;
    /// A colour.
    fn color(&self, key: &str) -> Result<Option<Color>, Fault>;
    /// A format.
    fn template(&self, key: &str, fields: &[Field]) -> Result<Option<Template>, Fault>;
    /// A format without sparklines, which remember the values of the segment's own format alone.
    fn plain_template(&self, key: &str, fields: &[Field]) -> Result<Option<Template>, Fault>;
    /// A condition, such as `available < 2Gi`.
    fn condition(&self, key: &str, fields: &[Field]) -> Result<Option<Condition>, Fault>;
}

impl SegmentOptions for Options<'_, '_> {
    fn mentions(&self, usual_format: &str, fields: &[&str]) -> bool {
        let named = |text: &str| {
            let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
            text.split(|character| !is_part(character)).any(|word| fields.contains(&word))
        };
        let mut texts = Vec::new();
        self.iter().for_each(|(_, value)| collect_texts(value.get_ref(), &mut texts));
        let built_in = if self.get("format").is_none() { Some(usual_format) } else { None };
        // A built-in threshold on a field that is not shown is not worth a system call.
        texts.into_iter().chain(built_in).any(named)
    }

    fn color(&self, key: &str) -> Result<Option<Color>, Fault> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        word.parse().map(Some).map_err(|()| self.fault_of(key, "a colour is #rrggbb or #rrggbbaa"))
    }

    fn template(&self, key: &str, fields: &[Field]) -> Result<Option<Template>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let read = Template::new(text(value)?, fields);
        read.map(Some).map_err(|fault| within(value, &fault))
    }

    fn plain_template(&self, key: &str, fields: &[Field]) -> Result<Option<Template>, Fault> {
        let template = self.template(key, fields)?;
        match template {
            Some(template) if template.has_sparklines() => {
                Err(self.fault_of(key, "sparklines stand in the segment's format alone"))
            }
            template => Ok(template),
        }
    }

    fn condition(&self, key: &str, fields: &[Field]) -> Result<Option<Condition>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let read = Condition::new(text(value)?, fields);
        read.map(Some).map_err(|fault| within(value, &fault))
    }
}

/// All texts within a value.
fn collect_texts<'t>(value: &'t DeValue<'_>, texts: &mut Vec<&'t str>) {
    match value {
        DeValue::String(text) => texts.push(text),
        DeValue::Array(array) => array.iter().for_each(|value| collect_texts(value.get_ref(), texts)),
        DeValue::Table(table) => table.iter().for_each(|(_, value)| collect_texts(value.get_ref(), texts)),
        _ => {}
    }
}

/// A fault inside a text. Its quote is a byte before it; escapes, which are rare there, shift it.
fn within(value: Value<'_, '_>, fault: &template::Fault) -> Fault {
    let Range { start, end } = value.span();
    let at = (start + 1 + fault.offset).min(end.saturating_sub(1)).max(start);
    Fault::new(at..at + 1, fault.message.clone())
}
