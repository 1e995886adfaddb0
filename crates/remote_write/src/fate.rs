//! What becomes of the requests of a shipment.

/// What receivers say of samples that are older than those that they have.
const LATE: [&str; 5] = ["out of order", "out-of-order", "duplicate sample", "out of bounds", "too old"];

/// What became of a request that was to be made at first, and of its parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fate {
    pub(crate) is_taken: bool,
    /// Pieces that were refused.
    pub(crate) refused: usize,
    /// Refused pieces whose samples are older than those that the receiver has, as it says. They are no sign of trouble in the receiver.
    pub(crate) late: usize,
}

/// Returns whether a receiver says that samples are older than those that it has.
pub(crate) fn is_late(message: &str) -> bool {
    LATE.iter().any(|words| message.contains(words))
}

/// The answer that something about the samples is wrong.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) is_too_large: bool,
}
