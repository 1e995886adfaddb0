//! Where the view is in the past.

use command::past::PastView;
use command::time_zone::written;

/// A tick of a history.
pub(super) struct PastPlace {
    pub(super) view: PastView,
    /// The tick that is shown, in nanoseconds since 1970.
    pub(super) at_ns: i64,
}

impl PastPlace {
    /// The tick's time, as it is written.
    pub(super) fn time(&self) -> String {
        written(self.at_ns)
    }
}
