//! The result of examining a trouble.

use query::QueryError;

use super::sentence::{Culprit, Evidence, Sentence, Trouble};

/// A sentence, if there is such a trouble.
pub(super) type Found = Result<Option<Sentence>, QueryError>;

/// The cost of a trouble.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cost {
    /// Something failed: time cannot measure it.
    Failure,
    /// Time that tasks lost, in seconds in each second.
    Lost(f64),
    /// How much of what tasks lost is its own is not known; it comes before what costs so much.
    Within(f64),
    /// Nothing.
    None,
}

impl Cost {
    /// Returns the cost of a trouble that makes tasks wait, by what they waited for, as far as that is known.
    pub(super) fn of(waits: impl IntoIterator<Item = Option<Evidence>>) -> Self {
        /// The cost if no wait is known.
        const UNKNOWN: f64 = 0.3;
        let known = waits.into_iter().flatten().map(|wait| wait.value);
        Self::Within(known.reduce(f64::max).unwrap_or(UNKNOWN))
    }

    /// Returns the cost of scarce memory. Evicted pages are read from disks again: if the waits for memory are at least half as long as
    /// those for disks, they come first.
    pub(super) fn of_memory(waited: Option<Evidence>, for_disks: Option<Evidence>) -> Self {
        let is_much =
            |disks: &Evidence| waited.as_ref().is_none_or(|waited| waited.value > disks.value / 2.0);
        let for_disks = for_disks.filter(is_much);
        Self::of([waited, for_disks])
    }
}

pub(super) fn sentence(
    trouble: Trouble,
    cost: Cost,
    text: String,
    culprit: Option<Culprit>,
    evidence: impl IntoIterator<Item = Evidence>,
) -> Sentence {
    let (weight, lost) = match cost {
        Cost::Failure => (1.0, None),
        Cost::Lost(lost) => (lost / (1.0 + lost), Some(lost)),
        Cost::Within(lost) => (lost / (1.0 + lost), None),
        Cost::None => (0.0, Some(0.0)),
    };
    Sentence { trouble, weight, lost, text, culprit, evidence: evidence.into_iter().collect() }
}
