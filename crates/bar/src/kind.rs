//! A kind of segment: what the configuration can say of it, and how one is made.

use std::time::Duration;

use super::{Segment, Tone};
use configuration::{Fault, Options};
use text::template::Field;

/// One kind.
pub(crate) struct Kind {
    /// Its `type` in the configuration.
    pub(crate) name: &'static str,
    /// A description of what it shows, in a sentence.
    pub(crate) about: &'static str,
    /// The fields that format strings and conditions can name, in the order in which the segment gives the values.
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
    /// The values that most kinds leave as they are.
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
