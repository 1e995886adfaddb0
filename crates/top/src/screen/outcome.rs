//! What a key asks the loop for.

/// The next step of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Go,
    Quit,
    Suspend,
    /// Read at once.
    Now,
    /// Draw all of the screen anew: another program wrote on it.
    Redraw,
}
