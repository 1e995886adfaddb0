//! Notices that the other end of a link reads nothing.

use facts::unit::Nanos;

/// How long nothing was taken although something is queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stall {
    sent_bytes: u64,
    /// On the boot clock.
    since: Option<Nanos>,
}

impl Stall {
    /// Takes what was sent in all and what is queued by now. Returns for how long nothing was sent.
    pub(super) fn after(&mut self, sent_bytes: u64, queued_bytes: usize, now: Nanos) -> Nanos {
        if queued_bytes == 0 || sent_bytes != self.sent_bytes {
            *self = Self { sent_bytes, since: None };
            return Nanos(0);
        }
        now.saturating_sub(*self.since.get_or_insert(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_with_each_byte() {
        let mut stall = Stall::default();
        let mut after = |second: u64, sent: u64, queued: usize| {
            stall.after(sent, queued, Nanos(second * Nanos::SECOND.0)).0 / Nanos::SECOND.0
        };
        assert_eq!([after(1, 500, 0), after(2, 900, 40), after(3, 900, 80)], [0, 0, 0]);
        assert_eq!([after(4, 900, 120), after(63, 900, 160)], [1, 60]);
        assert_eq!([after(64, 901, 160), after(65, 901, 200), after(70, 901, 200)], [0, 0, 5]);
        assert_eq!([after(71, 1101, 0), after(80, 1101, 40), after(81, 1101, 40)], [0, 0, 1]);
    }
}
