//! CPU time that a hypervisor gives to others: the one reason for which a comparison with a clock is repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The share of one CPU in one [`WINDOW`] from which on a failed comparison is put down to the hypervisor: an eighth of a second
/// in which nothing of this machine ran there.
pub(crate) const EXPLAINS: f64 = 0.25;
/// Ticks are 10 ms, so that a window has 50 of them.
const WINDOW: Duration = Duration::from_millis(500);

/// Ticks of a CPU.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ticks {
    pub(crate) stolen: u64,
    pub(crate) all: u64,
}

/// Reads the ticks of each CPU from /proc/stat, whose eighth number is the time that a hypervisor took.
pub(crate) fn ticks() -> Vec<Ticks> {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let cpus = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "));
    cpus.map(|line| {
        let words = line.split_whitespace().skip(1).take(8);
        let numbers: Vec<u64> = words.map(|word| word.parse().unwrap_or(0)).collect();
        Ticks { stolen: numbers.get(7).copied().unwrap_or(0), all: numbers.iter().sum() }
    })
    .collect()
}

/// Returns the largest share that was taken from one CPU between two readings.
pub(crate) fn ratio(before: &[Ticks], after: &[Ticks]) -> f64 {
    let shares = before.iter().zip(after).map(|(before, after)| {
        let all = after.all.saturating_sub(before.all).max(1);
        after.stolen.saturating_sub(before.stolen) as f64 / all as f64
    });
    shares.fold(0.0, f64::max)
}

/// Looks at the ticks until it is ended.
pub(crate) struct Watch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<f64>,
}

impl Watch {
    pub(crate) fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            // The last window may be short, in which a single tick would be much: it is counted with the one before it.
            let (mut earlier, mut before, mut largest) = (ticks(), ticks(), 0.0_f64);
            while !ended.load(Ordering::Relaxed) {
                std::thread::park_timeout(WINDOW);
                let after = ticks();
                let is_whole = !ended.load(Ordering::Relaxed);
                largest = largest.max(ratio(if is_whole { &before } else { &earlier }, &after));
                (earlier, before) = (before, after);
            }
            largest
        });
        Self { is_over, thread }
    }

    /// Returns the largest share of a CPU that was taken in one window.
    pub(crate) fn end(self) -> f64 {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        self.thread.join().unwrap_or(0.0)
    }
}
