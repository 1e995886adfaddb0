//! The kinds of segments there are: one table for the configuration, its errors and the reference.

use super::kind::Kind;
use super::segments;

/// All there are, in the order of the reference.
pub(crate) const KINDS: &[&Kind] = &[
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
    &segments::checks::KIND,
    #[cfg(feature = "feeds")]
    &segments::feeds::KIND,
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
    use text::template::{Condition, Template};

    #[test]
    fn every_row_of_the_table_can_be_parsed() {
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
