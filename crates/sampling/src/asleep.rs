//! For what processes sleep: they are looked at some times a second, by a thread of its own.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use facts::task::chain::{Activity, ProcessNow, WaitSource as _};
use facts::task::wait::WaitReason;
use probe::own_thread_cpu_time;
use probe::waits::WaitReader;

/// The shortest time between two looks.
const MIN_PAUSE: Duration = Duration::from_millis(20);
/// A look is followed by a pause so many times as long as the CPU time that it took: it takes a hundredth of a CPU at most.
const PAUSES: u32 = 100;
/// The most keys that are kept apart.
const MAX_KEYS: usize = 1024;
/// The most reasons that are named, and the least part of what was seen for which one is.
const MAX_REASONS: usize = 3;
const MIN_PART: f64 = 0.05;

/// For what the threads of something slept: how often each reason was seen, the most frequent first.
pub type Reasons = Vec<(WaitReason, u64)>;

/// For what threads slept, by something that processes have in common.
#[derive(Clone, Debug)]
pub struct Asleep<K>(BTreeMap<K, BTreeMap<WaitReason, u64>>);

impl<K> Default for Asleep<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord> Asleep<K> {
    /// The reasons of one key.
    pub fn of(&self, key: &K) -> Reasons {
        sorted(self.0.get(key).into_iter().flatten().map(|(reason, looks)| (*reason, *looks)))
    }

    /// The reasons of all. Who waits for a child waits for what that child does.
    pub fn of_all(&self) -> Reasons {
        let mut all = BTreeMap::new();
        for (reason, looks) in self.0.values().flatten() {
            *all.entry(*reason).or_default() += looks;
        }
        if all.len() > 1 {
            all.remove(&WaitReason::Child);
        }
        sorted(all.into_iter())
    }

    /// Adds what the threads of a process do.
    pub fn add(&mut self, key: K, process: &ProcessNow) {
        if self.0.len() >= MAX_KEYS && !self.0.contains_key(&key) {
            return;
        }
        let reasons = self.0.entry(key).or_default();
        for thread in &process.threads {
            if let Activity::Waits(wait) = thread.activity {
                *reasons.entry(wait.reason).or_default() += 1;
            }
        }
    }
}

fn sorted(reasons: impl Iterator<Item = (WaitReason, u64)>) -> Reasons {
    let mut reasons: Reasons = reasons.collect();
    reasons.sort_by_key(|(reason, looks)| (std::cmp::Reverse(*looks), *reason));
    reasons
}

/// Reasons in parts of all that was seen: "≈ 70 % pipe, 20 % timer"; empty if nothing was seen.
pub fn words(reasons: &[(WaitReason, u64)]) -> String {
    let all: u64 = reasons.iter().map(|(_, looks)| looks).sum();
    let part = |looks: u64| looks as f64 / all.max(1) as f64;
    let parts: Vec<String> = reasons
        .iter()
        .filter(|(_, looks)| part(*looks) >= MIN_PART)
        .take(MAX_REASONS)
        .map(|(reason, looks)| format!("{:.0} % {}", part(*looks) * 100.0, reason.name()))
        .collect();
    if parts.is_empty() { String::new() } else { format!("≈ {}", parts.join(", ")) }
}

/// Looks at processes until it is dropped.
pub struct AsleepWatch<K> {
    seen: Arc<Mutex<Asleep<K>>>,
    /// Its end stops the thread.
    _stop: Sender<()>,
}

impl<K: Ord + Send + 'static> AsleepWatch<K> {
    /// Begins. `pids` returns the processes, and `key` that of each. `None` if no thread can be
    /// started: then no reasons are known.
    pub fn start(
        mut pids: impl FnMut(&mut WaitReader) -> Vec<u32> + Send + 'static,
        key: impl Fn(&ProcessNow) -> K + Send + 'static,
    ) -> Option<Self> {
        let (stop, stopped) = channel();
        let seen = Arc::new(Mutex::new(Asleep::default()));
        let adds_to = Arc::clone(&seen);
        let watch = move || {
            // Without /proc nothing is seen.
            let Ok(mut reader) = WaitReader::open() else { return };
            let mut pause = MIN_PAUSE;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let before = own_thread_cpu_time();
                reader.look_again();
                for pid in pids(&mut reader) {
                    if let Some(process) = reader.process(pid) {
                        adds_to.lock().unwrap_or_else(PoisonError::into_inner).add(key(&process), &process);
                    }
                }
                let took = own_thread_cpu_time().saturating_sub(before);
                pause = MIN_PAUSE.max(Duration::from_nanos(took.0) * PAUSES);
            }
        };
        std::thread::Builder::new().name("asleep".to_owned()).spawn(watch).ok()?;
        Some(Self { seen, _stop: stop })
    }

    /// What was seen since the last time.
    pub fn take(&self) -> Asleep<K> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::linux::system_calls::Machine;
    use facts::task::chain::ThreadNow;
    use facts::task::wait::{FileKind, Wait};

    #[test]
    fn reasons_are_counted() {
        let thread = |call: i32| {
            let wait = Wait::of_call(Machine::X86_64, call, [0; 4], FileKind::Pipe).unwrap();
            ThreadNow { tid: 1, pid: 1, comm: String::new(), activity: Activity::Waits(wait) }
        };
        let process =
            |calls: &[i32]| ProcessNow { pid: 1, threads: calls.iter().map(|call| thread(*call)).collect() };
        let mut asleep = Asleep::default();
        // A child; a pipe, and a lock.
        asleep.add("make", &process(&[61]));
        for _ in 0..3 {
            asleep.add("cc", &process(&[0, 202, 0]));
        }
        assert_eq!(words(&asleep.of(&"cc")), "≈ 67 % pipe, 33 % lock");
        assert_eq!(
            (words(&asleep.of(&"make")), words(&asleep.of(&"ld"))),
            ("≈ 100 % child".to_owned(), String::new())
        );
        assert_eq!(asleep.of_all(), [(WaitReason::Pipe, 6), (WaitReason::Lock, 3)]);
    }
}
