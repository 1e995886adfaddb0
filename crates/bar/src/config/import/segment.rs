//! A segment of the imported configuration.

use formats::i3status::Section;

use super::format::{Placeholders, translate};
use crate::config::defaults::quoted;

/// One segment to be written, and what of the section it could not take.
#[derive(Debug, Default)]
pub(super) struct Segment {
    pub(super) kind: &'static str,
    /// Names, and values as TOML writes them.
    pub(super) options: Vec<(&'static str, String)>,
    pub(super) notes: Vec<String>,
    pub(super) differences: Vec<String>,
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

    /// Notes what is shown in another way.
    pub(super) fn differs(&mut self, what: &str) {
        self.differences.push(what.to_owned());
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// i3status' colours.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tone {
    Good,
    Degraded,
    Bad,
}

impl Segment {
    /// The format of an option, or i3status' own.
    pub(super) fn format(
        &mut self,
        section: &Section,
        option: &str,
        usual: &str,
        names: Placeholders<'_>,
    ) -> String {
        let (format, unknown) = translate(section.get(option).unwrap_or(usual), names);
        for placeholder in unknown {
            self.note(format!("{placeholder} in {option}"));
        }
        format
    }

    /// Notes options that nothing was made of.
    pub(super) fn note_others(&mut self, section: &Section, known: &[&str]) {
        // Looks of i3bar's that i3status passes through.
        const LOOKS: [&str; 4] = ["separator", "separator_block_width", "min_width", "align"];
        const COLORS: [&str; 3] = ["color_good", "color_degraded", "color_bad"];
        for (place, (name, value)) in section.options.iter().enumerate() {
            // Of an option that is given twice the last stands.
            if section.options[place + 1..].iter().any(|(later, _)| later == name) {
                continue;
            }
            if name == "align" && ["left", "center", "right"].contains(&value.as_str()) {
                self.text("align", value);
            } else if name == "min_width" && value.parse::<u32>().is_err() {
                self.text("min_width", value);
            } else if COLORS.contains(&name.as_str()) {
                if value.parse::<crate::Color>().is_err() {
                    self.note(format!("{name} = {value}"));
                }
            } else if LOOKS.contains(&name.as_str()) || !known.contains(&name.as_str()) {
                self.note(format!("{name} = {value}"));
            }
        }
    }

    pub(super) fn variant(&mut self, when: &str, format: &str) {
        self.variants(&[(when.to_owned(), format.to_owned())]);
    }

    /// Other formats by condition, the first that holds.
    pub(super) fn variants(&mut self, variants: &[(String, String)]) {
        let one = |(when, format): &(String, String)| {
            format!("{{ when = {}, format = {} }}", quoted(when), quoted(format))
        };
        if !variants.is_empty() {
            let all: Vec<String> = variants.iter().map(one).collect();
            self.raw("variants", format!("[{}]", all.join(", ")));
        }
    }

    /// Colours where these conditions hold, the first that does, as i3status paints: nothing of it is urgent.
    pub(super) fn paint(&mut self, section: &Section, general: &General, conditions: &[(Tone, &str)]) {
        // What is built in would be urgent.
        self.raw("urgent", "false");
        self.raw("warning", "false");
        let Some([good, degraded, bad]) = &general.colors else { return };
        let rows: Vec<String> = conditions
            .iter()
            .map(|(tone, when)| {
                let (option, usual) = match tone {
                    Tone::Good => ("color_good", good),
                    Tone::Degraded => ("color_degraded", degraded),
                    Tone::Bad => ("color_bad", bad),
                };
                // A section may have colours of its own.
                let own = section.get(option).filter(|color| color.parse::<crate::Color>().is_ok());
                let color = own.unwrap_or(usual);
                format!("{{ when = {}, color = {} }}", quoted(when), quoted(color))
            })
            .collect();
        if !rows.is_empty() {
            self.raw("thresholds", format!("[{}]", rows.join(", ")));
        }
    }
}

/// Returns true if a switch is on, as libConfuse reads it.
pub(super) fn is_true(section: &Section, name: &str) -> bool {
    section
        .get(name)
        .is_some_and(|value| ["true", "yes", "on"].iter().any(|word| value.eq_ignore_ascii_case(word)))
}

/// A number as conditions take it: finite, and of no more digits than a format writes.
pub(super) fn plain_number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| (-1e12..=1e12).contains(number))
}

/// Numbers as i3status reads them: what is none is the default.
pub(super) fn number(section: &Section, name: &str, usual: f64) -> f64 {
    section.get(name).and_then(plain_number).unwrap_or(usual)
}

/// A threshold as i3status reads it: the default if it is not a number, which is noted.
pub(super) fn threshold(segment: &mut Segment, section: &Section, name: &str, usual: f64) -> f64 {
    if let Some(value) = section.get(name).filter(|value| plain_number(value).is_none()) {
        segment.note(format!("{name} = {value}: no number, {usual} in its place"));
    }
    number(section, name, usual)
}

/// A section that nothing is made of, and why.
pub(super) fn unmatched(note: &str) -> Segment {
    let mut segment = Segment::default();
    segment.note(note);
    segment
}

/// The settings for all sections.
pub(super) struct General {
    /// Good, degraded and bad, where colours are on.
    pub(super) colors: Option<[String; 3]>,
    pub(super) is_markup: bool,
}
