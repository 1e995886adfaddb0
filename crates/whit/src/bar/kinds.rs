//! The kinds of segments: one table for the configuration, its errors and the reference.

use std::time::Duration;

use super::config::{Fault, Options};
use super::{Segment, Tone, segments};
use crate::show::template::Field;

/// One kind.
pub(crate) struct Kind {
    /// Its `type` in the configuration.
    pub(crate) name: &'static str,
    /// What it shows, in a sentence.
    pub(crate) about: &'static str,
    /// What format strings and conditions can name, in the order in which the segment gives the values.
    pub(crate) fields: &'static [Field],
    /// How it looks where nothing else is said.
    pub(crate) format: &'static str,
    /// Other formats, with when.
    pub(crate) variants: &'static [(&'static str, &'static str)],
    /// Tones, with when; the most urgent first.
    pub(crate) thresholds: &'static [(Tone, &'static str)],
    /// How often it is drawn where nothing else is said, and the bar is not slower; none: as often as the bar.
    pub(crate) interval: Option<Duration>,
    /// Its own options, and what they mean.
    pub(crate) options: &'static [(&'static str, &'static str)],
    /// Makes one from its options.
    pub(crate) make: fn(&Options<'_, '_>) -> Result<Box<dyn Segment>, Fault>,
}

impl Kind {
    /// What most kinds leave as it is.
    pub(crate) const DEFAULT: Self = Self {
        name: "",
        about: "",
        fields: &[],
        format: "",
        variants: &[],
        thresholds: &[],
        interval: None,
        options: &[],
        make: |options| Err(options.fault("no such segment")),
    };
}

/// All there are, in the order of the reference.
pub(crate) const KINDS: [&Kind; 21] = [
    &segments::net::KIND,
    &segments::mail::KIND,
    &segments::memory::KIND,
    &segments::swap::KIND,
    &segments::cpu::KIND,
    &segments::frequency::KIND,
    &segments::temperature::KIND,
    &segments::load::KIND,
    &segments::disk::KIND,
    &segments::disk_io::KIND,
    &segments::battery::KIND,
    &segments::backlight::KIND,
    &segments::pressure::KIND,
    &segments::delays::KIND,
    &segments::uptime::KIND,
    &segments::date::KIND,
    &segments::file::KIND,
    &segments::path::KIND,
    &segments::process::KIND,
    &segments::command::KIND,
    &segments::text::KIND,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::template::{Condition, Template};

    #[test]
    fn what_the_table_says_can_be_read() {
        for kind in KINDS {
            let is_valid = |text| Template::new(text, kind.fields).is_ok();
            assert!(kind.name == "date" || is_valid(kind.format), "{}: {}", kind.name, kind.format);
            for (when, format) in kind.variants {
                assert!(
                    is_valid(format) && Condition::new(when, kind.fields).is_ok(),
                    "{}: {when}",
                    kind.name
                );
            }
            for (_, when) in kind.thresholds {
                assert!(Condition::new(when, kind.fields).is_ok(), "{}: {when}", kind.name);
            }
            assert!(kind.about.ends_with('.'), "{}", kind.name);
            assert!(kind.thresholds.is_sorted_by(|a, b| a.0 >= b.0), "{}: the most urgent first", kind.name);
        }
    }

    #[test]
    fn names_are_unique() {
        for (index, kind) in KINDS.iter().enumerate() {
            assert!(KINDS[..index].iter().all(|other| other.name != kind.name), "{}", kind.name);
        }
    }
}
