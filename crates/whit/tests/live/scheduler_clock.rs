//! The CPU time of all tasks by the scheduler's clock, which is what their accounts are counted by. Of the machine's counters only cpuacct of
//! cgroups version 1 has it: /proc/stat is sampled at ticks of the clock, and short tasks run between these.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use super::machine::Cgroup;

const PAUSE: Duration = Duration::from_millis(10);

/// Reads it all the time, in a thread.
pub(crate) struct SchedulerClock {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<(f64, f64)>>,
}

impl SchedulerClock {
    /// Begins; `None` if this machine does not have it.
    pub(crate) fn start() -> Option<Self> {
        let (mount, _) = Cgroup::hierarchy("cpuacct").filter(|(_, version)| *version == 1)?;
        let path: PathBuf = mount.join("cpuacct.usage");
        read_s(&path)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let is_ended = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut samples = Vec::new();
            while !is_ended.load(Ordering::Relaxed) {
                samples.extend(read_s(&path).map(|used_s| (now_s(), used_s)));
                std::thread::sleep(PAUSE);
            }
            samples
        });
        Some(Self { is_over, thread })
    }

    /// Ends. Returns the seconds of CPU time between two times in seconds since 1970; `None` if they are not within what was read.
    pub(crate) fn end(self, from_s: f64, to_s: f64) -> Option<f64> {
        self.is_over.store(true, Ordering::Relaxed);
        let samples = self.thread.join().ok()?;
        Some(at(&samples, to_s)? - at(&samples, from_s)?)
    }
}

fn read_s(path: &PathBuf) -> Option<f64> {
    let used_ns: u64 = fs::read_to_string(path).ok()?.trim().parse().ok()?;
    Some(used_ns as f64 / 1e9)
}

fn now_s() -> f64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64()
}

/// The value at a time, between two samples in proportion.
fn at(samples: &[(f64, f64)], time_s: f64) -> Option<f64> {
    let next = samples.partition_point(|(at_s, _)| *at_s < time_s);
    let ((from_s, from), (to_s, to)) = (samples.get(next.checked_sub(1)?)?, samples.get(next)?);
    Some(from + (to - from) * (time_s - from_s) / (to_s - from_s))
}
