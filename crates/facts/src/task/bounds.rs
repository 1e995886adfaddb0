//! Bounds for what a thread can have waited in a time, whatever the kernel charged it with.
//!
//! Since Linux 6.12 a wait for block I/O that was never stamped at its start is charged with the uptime or twice that. A task that
//! goes to wait may also stay on the run queue for a while (delayed dequeue), and the charge then covers time that it spent in the
//! run queue or on a CPU: those parts are known better. A charge that is too long and still fits is believed (through a loop device: 2.2 s
//! for 1.6 s in state D).
//!
//! `some` of /proc/pressure/io is no bound for one thread: it is a mean over CPUs, each weighted by the time that it was not idle. If a
//! thread that reads a disk is in state D for 4.3 of 5 s, the pressure is 4.3 s on an idle machine, and 2.2 s while another CPU computes.

use super::cause::Cause;
use super::figure::{Figure, Figures};
use crate::unit::Nanos;

/// A clock tick of CONFIG_HZ=100, the slowest: by so much may the clocks behind the figures disagree.
pub(crate) const CLOCK_SLACK: Nanos = Nanos(10_000_000);

/// The time that a charge belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spans {
    /// All of it.
    pub(crate) wall: Nanos,
    /// The part of it on a CPU.
    pub(crate) on_cpu: Nanos,
    /// The part of it in the run queue.
    pub(crate) run_queue: Nanos,
    /// Time before it in which the thread may have been waiting already: a wait is charged at its end.
    pub(crate) earlier: Nanos,
}

/// The result of checking a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It can be.
    Fits,
    /// It covers time that is known to be another part: so much is left for it.
    Bounded(Nanos),
    /// It is longer than the time.
    Impossible,
}

/// Judges the time that a cause was charged with.
pub(crate) fn judge(cause: Cause, charged: Nanos, spans: &Spans) -> Verdict {
    let room = match cause {
        Cause::BlockIo => spans.wall.saturating_sub(spans.on_cpu).saturating_sub(spans.run_queue),
        Cause::RunQueue => spans.wall.saturating_sub(spans.on_cpu),
        // Part of the time on a CPU or of block I/O, seen from another side.
        _ => spans.wall,
    } + spans.earlier;
    if charged <= room {
        Verdict::Fits
    } else if charged <= spans.wall + spans.earlier + CLOCK_SLACK {
        Verdict::Bounded(room)
    } else {
        Verdict::Impossible
    }
}

/// Drops delays that are longer than a thread can have waited in `wall`, and shortens those that overlap with a known part of that
/// time. `slack` is what the clocks may disagree by; `earlier` says how long the thread may have waited for a cause before, given
/// that its charge is of a single wait and longer than the time. Returns how many delays were dropped.
pub(crate) fn drop_impossible(
    figures: &mut Figures,
    wall: Nanos,
    slack: Nanos,
    earlier: impl Fn(Cause, bool) -> Nanos,
) -> u32 {
    let known = |figure| figures.get(figure).map(Nanos).unwrap_or_default();
    let (on_cpu, run_queue) = (known(Figure::ON_CPU), known(Figure::delay(Cause::RunQueue)).min(wall));
    let mut dropped = 0;
    for cause in Cause::ALL {
        let own = [Figure::delay(cause), Figure::maximum(cause)];
        // A maximum that cannot be true is in the total as well.
        let charged = own.into_iter().filter_map(|figure| figures.get(figure)).max();
        let Some(charged) = charged.filter(|charged| *charged > 0).map(Nanos) else { continue };
        let is_single = figures.get(Figure::count(cause)) == Some(1);
        let earlier = earlier(cause, is_single && charged > wall + slack);
        match judge(cause, charged, &Spans { wall: wall + slack, on_cpu, run_queue, earlier }) {
            Verdict::Fits => {}
            Verdict::Bounded(_) if earlier.0 > 0 => {}
            Verdict::Bounded(room) => {
                // The slack is only for judging: the parts must add up.
                let room = room.saturating_sub(slack).0;
                for figure in own {
                    figures.set(figure, figures.get(figure).map(|value| value.min(room)));
                }
            }
            Verdict::Impossible => {
                own.into_iter().for_each(|figure| figures.set(figure, None));
                dropped += 1;
            }
        }
    }
    dropped
}

/// Returns true if the ended threads of a process can have waited for a cause for `total`, in `count` waits. `wall` is how long the process
/// has lived, `start` when it started on the boot clock. How many threads they were is not known.
pub fn can_be_of_ended_threads(cause: Cause, total: Nanos, count: u64, wall: Nanos, start: Nanos) -> bool {
    // No thread can have waited longer each time than its process has lived.
    let most = Nanos(wall.0.saturating_mul(count));
    // A charge with the uptime is at least the uptime at its start: one of them may be in what is longer than both.
    let may_have_uptime = cause == Cause::BlockIo && total > wall && total >= start;
    total <= most && !may_have_uptime
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn second(on_cpu_ms: u64, run_queue_ms: u64, earlier_ms: u64) -> Spans {
        Spans {
            wall: Nanos(1_000 * MS),
            on_cpu: Nanos(on_cpu_ms * MS),
            run_queue: Nanos(run_queue_ms * MS),
            earlier: Nanos(earlier_ms * MS),
        }
    }

    #[test]
    fn block_io_is_what_the_other_parts_leave() {
        let judge = |charged_ms: u64, spans| judge(Cause::BlockIo, Nanos(charged_ms * MS), &spans);
        assert_eq!(judge(130, second(650, 220, 0)), Verdict::Fits);
        assert_eq!(judge(690, second(650, 220, 0)), Verdict::Bounded(Nanos(130 * MS)));
        assert_eq!(judge(90_000, second(650, 220, 0)), Verdict::Impossible);
        assert_eq!(judge(90_000, second(650, 220, 120_000)), Verdict::Fits);
    }

    #[test]
    fn ended_threads_have_no_uptime() {
        let minutes = |minutes: u64| Nanos(minutes * 60_000 * MS);
        let can_be = |cause, total, count, start| {
            can_be_of_ended_threads(cause, minutes(total), count, minutes(49), minutes(start))
        };
        // 7 h 23 min of a process that is 49 minutes old, on a machine that is up for seven hours and a half.
        assert!(!can_be(Cause::BlockIo, 443, 9_000, 400));
        assert!(can_be(Cause::BlockIo, 48, 9_000, 40));
        // Several threads can have waited for longer than their process has lived.
        assert!(can_be(Cause::BlockIo, 90, 9_000, 400));
        assert!(can_be(Cause::RunQueue, 443, 9_000, 400));
        assert!(!can_be(Cause::RunQueue, 99, 2, 400));
    }

    proptest! {
        #[test]
        fn parts_never_exceed_the_wall(on_cpu in 0u64..1_000, run_queue in 0u64..1_000, charged in 0u64..9_999) {
            let spans = second(on_cpu.min(1_000 - run_queue), run_queue, 0);
            let block_io = match judge(Cause::BlockIo, Nanos(charged * MS), &spans) {
                Verdict::Fits => Nanos(charged * MS),
                Verdict::Bounded(room) => room,
                Verdict::Impossible => Nanos(0),
            };
            prop_assert!(spans.on_cpu + spans.run_queue + block_io <= spans.wall);
        }
    }
}
