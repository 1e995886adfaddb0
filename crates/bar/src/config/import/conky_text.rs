//! From conky's text to segments: each variable is a segment with the words around it, those of one source together.

use formats::conky::{Configuration, Piece};

use super::conky_variables::{Source, Translated, difference, ignores, translate};
use super::segment::Segment;

/// The translation of a text.
pub(super) struct Carried {
    pub(super) segments: Vec<Segment>,
    /// Notes on what could not be carried over.
    pub(super) notes: Vec<String>,
    /// Notes on what is shown in another way.
    pub(super) differences: Vec<String>,
}

/// Makes segments of a text.
pub(super) fn import(configuration: &Configuration) -> Carried {
    let mut import = Import::default();
    for piece in &configuration.pieces {
        match piece {
            Piece::Text(text) => import.text(text),
            Piece::Variable { name, arguments } => import.variable(name, arguments),
            Piece::LineEnd => import.end_line(),
        }
    }
    let mut notes = import.notes;
    import.looks.sort_unstable();
    import.looks.dedup();
    for computed in &configuration.computed {
        notes.push(format!("{computed}, which Lua computes"));
    }
    if configuration.is_for_i3bar {
        notes.push("what i3bar's blocks have beside their text: colours, separators".to_owned());
    }
    if !import.looks.is_empty() {
        notes.push(format!("looks: {}", import.looks.join(", ")));
    }
    Carried { segments: import.segments, notes, differences: import.differences }
}

#[derive(Debug, Default)]
struct Import {
    segments: Vec<Segment>,
    notes: Vec<String>,
    differences: Vec<String>,
    /// Variables of colours, fonts and places, of which a line of text has none.
    looks: Vec<String>,
    /// The segment that is being put together.
    current: Option<(Source, String)>,
    /// Conditions that are open.
    conditions: usize,
    /// Words since the last variable.
    words: String,
}

impl Import {
    fn text(&mut self, text: &str) {
        if self.conditions > 0 {
            return;
        }
        for letter in text.chars() {
            match letter {
                '{' | '}' | '[' | ']' => self.words.extend([letter, letter]),
                _ => self.words.push(letter),
            }
        }
    }

    fn variable(&mut self, name: &str, arguments: &str) {
        // What stands under a condition would be shown in any case: all of it is left out, and named.
        if name.starts_with("if_") {
            self.conditions += 1;
            self.notes.push(format!(
                "${{{name} {arguments}}} and what stands under it: see variants and hide_when"
            ));
        }
        if self.conditions > 0 {
            self.conditions -= usize::from(name == "endif");
            return;
        }
        let all = format!("${{{name} {arguments}}}").replace(" }", "}");
        let translated = translate(name, arguments);
        // What is left out differs in nothing.
        if !matches!(translated, Translated::Unknown(_)) {
            let argument = ignores(name, arguments).then_some("its argument, as if it had none");
            let differences = difference(name).into_iter().chain(argument);
            self.differences.extend(differences.map(|difference| format!("{all}: {difference}")));
        }
        match translated {
            Translated::Field(source, field) => self.field(source, &field),
            Translated::Alone(segment) => {
                let label = self.end_with_words();
                if !label.is_empty() {
                    self.segments.push(words_segment(label.trim_end()));
                }
                self.segments.push(segment);
            }
            Translated::Look => self.looks.push(name.to_owned()),
            Translated::Unknown(hint) => {
                self.notes.push(format!("{all}{hint}"));
            }
        }
    }

    fn field(&mut self, source: Source, field: &str) {
        // What is of one source is one segment, with the words between.
        if let Some((current, format)) = &mut self.current
            && *current == source
        {
            format.push_str(&std::mem::take(&mut self.words));
            return format.push_str(field);
        }
        let label = self.end_with_words();
        self.current = Some((source, label + field));
    }

    /// Ends the segment that is being put together with the words close behind it; the others are the label of the next.
    fn end_with_words(&mut self) -> String {
        let words = std::mem::take(&mut self.words);
        let Some((_, format)) = &mut self.current else { return label(&words) };
        let (behind, before) = divide(&words);
        format.push_str(behind);
        self.end();
        label(before)
    }

    fn end_line(&mut self) {
        let words = std::mem::take(&mut self.words);
        match &mut self.current {
            Some((_, format)) => format.push_str(words.trim_end()),
            None if !words.trim().is_empty() => self.segments.push(words_segment(words.trim())),
            None => {}
        }
        self.end();
    }

    fn end(&mut self) {
        let Some((source, format)) = self.current.take() else { return };
        let mut segment = Segment::new(source.kind);
        for (name, value) in source.options {
            segment.raw(name, value);
        }
        segment.text("format", format.trim());
        self.segments.push(segment);
    }
}

fn words_segment(words: &str) -> Segment {
    let mut segment = Segment::new("text");
    segment.text("format", words);
    segment
}

/// Words between two variables: what stands close behind the first, and the rest, which is the label of the second.
fn divide(words: &str) -> (&str, &str) {
    let end = words.find(|letter: char| letter.is_whitespace() || letter == '|').unwrap_or(words.len());
    words.split_at(end)
}

/// A label without what separates it from the one before: the bar has separators of its own.
fn label(words: &str) -> String {
    let is_separator = |letter: char| letter.is_whitespace() || matches!(letter, '|' | '·' | '•' | ',');
    let mut label = words.trim_start_matches(is_separator);
    // One that stands alone; that of a path belongs to it.
    while let Some(after) =
        label.strip_prefix('/').filter(|after| !after.starts_with(|next: char| !next.is_whitespace()))
    {
        label = after.trim_start_matches(is_separator);
    }
    let label = label.strip_prefix("- ").unwrap_or(label);
    if label.trim().is_empty() { String::new() } else { label.to_owned() }
}
