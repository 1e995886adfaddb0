//! A segment of the imported configuration.

use crate::bar::config::defaults::quoted;

/// One segment to be written, and what of the section it could not take.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) kind: &'static str,
    /// Names, and values as TOML writes them.
    pub(super) options: Vec<(&'static str, String)>,
    pub(super) notes: Vec<String>,
}

impl Segment {
    pub(super) fn new(kind: &'static str) -> Self {
        Self { kind, ..Self::default() }
    }

    pub(super) fn text(&mut self, name: &'static str, value: &str) {
        self.options.push((name, quoted(value)));
    }

    pub(super) fn raw(&mut self, name: &'static str, value: impl Into<String>) {
        self.options.push((name, value.into()));
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// What holds for all sections.
pub(super) struct General {
    /// Good, degraded and bad, where colours are on.
    pub(super) colors: Option<[String; 3]>,
    pub(super) is_markup: bool,
}
