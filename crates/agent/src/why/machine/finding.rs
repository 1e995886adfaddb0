//! What examining a trouble gives.

use query::QueryError;

use crate::why::sentence::{Evidence, Sentence, Trouble};

/// A sentence, if there is such a trouble.
pub(super) type Found = Result<Option<Sentence>, QueryError>;

/// What a trouble costs.
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
    /// Of a trouble that makes tasks wait, by what they waited for, as far as that is known.
    pub(super) fn of(waits: impl IntoIterator<Item = Option<Evidence>>) -> Self {
        /// The cost if no wait is known, or a shorter one.
        const UNKNOWN: f64 = 0.3;
        Self::Within(waits.into_iter().flatten().map(|wait| wait.value).fold(UNKNOWN, f64::max))
    }
}

pub(super) fn sentence(
    trouble: Trouble,
    cost: Cost,
    text: String,
    culprit: Option<String>,
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
