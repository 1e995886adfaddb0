//! Relabelling: rules that change, keep or drop series by their labels.
//!
//! The semantics are those of Prometheus' relabel_config:
//! <https://prometheus.io/docs/prometheus/latest/configuration/configuration/#relabel_config>. Where versions differ, whit does as the
//! newer ones: the target of `lowercase` and `uppercase` must be the name of a label.

pub mod prometheus;
mod rule;

use crate::series_name::{SeriesName, is_metric};

pub use rule::{ACTIONS, Rule, RuleError, RuleOptions};

/// The result of relabelling a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relabelled {
    /// It has these labels.
    Series(SeriesName),
    /// A rule dropped it, the one with this place in the list.
    Dropped(usize),
    /// No metric's name is left, or one that is none.
    Nameless(SeriesName),
}

/// Rules, applied one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relabelling {
    rules: Vec<Rule>,
}

impl Relabelling {
    /// These rules.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules }
    }

    /// The rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Applies all rules. Calls `each` after each one, with its place and what the series is then.
    pub fn apply(&self, series: SeriesName, mut each: impl FnMut(usize, &SeriesName)) -> Relabelled {
        let mut series = series;
        for (place, rule) in self.rules.iter().enumerate() {
            if !rule.apply(&mut series) {
                return Relabelled::Dropped(place);
            }
            each(place, &series);
        }
        if is_metric(series.metric()) { Relabelled::Series(series) } else { Relabelled::Nameless(series) }
    }

    /// The name that a series gets; `None` if it is dropped. One that cannot be parsed stays as it is.
    pub fn rename(&self, series: &str) -> Option<String> {
        if self.is_empty() {
            return Some(series.to_owned());
        }
        let Ok(parsed) = SeriesName::parse(series) else { return Some(series.to_owned()) };
        match self.apply(parsed, |_, _| {}) {
            Relabelled::Series(series) => Some(series.to_string()),
            Relabelled::Dropped(_) | Relabelled::Nameless(_) => None,
        }
    }
}
