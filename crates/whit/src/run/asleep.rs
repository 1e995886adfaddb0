//! For what the processes of a command sleep: its tree is looked at some times a second, by a thread of its own.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use facts::task::chain::{Activity, WaitSource as _};
use facts::task::wait::WaitReason;
use probe::own_thread_cpu_time;
use probe::waits::WaitReader;

/// The shortest time between two looks.
const LEAST_PAUSE: Duration = Duration::from_millis(20);
/// A look is followed by a pause so many times as long as the CPU time that it took: it takes a hundredth of a CPU at most.
const PAUSES: u32 = 100;
/// The most names that are kept apart.
const MOST_NAMES: usize = 1024;

/// For what threads slept, by the names of their programs: how often each reason was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asleep {
    by_program: BTreeMap<String, BTreeMap<WaitReason, u64>>,
}

impl Asleep {
    /// The reasons of a program, the most frequent first.
    pub(crate) fn of_program(&self, comm: &str) -> Vec<(WaitReason, u64)> {
        let found = self.by_program.get(comm);
        sorted(found.into_iter().flatten().map(|(reason, looks)| (*reason, *looks)))
    }

    /// The reasons of all programs. Who waits for a child waits for what that child does.
    pub(crate) fn of_all(&self) -> Vec<(WaitReason, u64)> {
        let mut all = BTreeMap::new();
        for (reason, looks) in self.by_program.values().flatten() {
            *all.entry(*reason).or_default() += looks;
        }
        if all.len() > 1 {
            all.remove(&WaitReason::Child);
        }
        sorted(all.into_iter())
    }

    /// Adds what the processes below one do now.
    fn look(&mut self, reader: &mut WaitReader, root: u32) {
        reader.look_again();
        for pid in reader.descendants(root) {
            let Some(process) = reader.process(pid) else { continue };
            let comm = process.threads.first().map(|leader| leader.comm.clone()).unwrap_or_default();
            for thread in process.threads {
                let Activity::Waits(wait) = thread.activity else { continue };
                if self.by_program.len() < MOST_NAMES || self.by_program.contains_key(&comm) {
                    let reasons = self.by_program.entry(comm.clone()).or_default();
                    *reasons.entry(wait.reason).or_default() += 1;
                }
            }
        }
    }
}

fn sorted(reasons: impl Iterator<Item = (WaitReason, u64)>) -> Vec<(WaitReason, u64)> {
    let mut reasons: Vec<(WaitReason, u64)> = reasons.collect();
    reasons.sort_by_key(|(reason, looks)| (std::cmp::Reverse(*looks), *reason));
    reasons
}

/// Looks at the descendants of this process until it is stopped.
pub(super) struct AsleepWatch {
    stop: Sender<()>,
    thread: JoinHandle<Asleep>,
}

impl AsleepWatch {
    /// Begins. `None` if there is no thread for it, or /proc cannot be read: the reasons are not known then.
    pub(super) fn start() -> Option<Self> {
        let mut reader = WaitReader::open().ok()?;
        let (stop, stopped) = channel();
        let watch = move || {
            let (mut asleep, mut pause) = (Asleep::default(), LEAST_PAUSE);
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let before = own_thread_cpu_time();
                asleep.look(&mut reader, std::process::id());
                let took = own_thread_cpu_time().saturating_sub(before);
                pause = LEAST_PAUSE.max(Duration::from_nanos(took.0) * PAUSES);
            }
            asleep
        };
        let thread = std::thread::Builder::new().name("asleep".to_owned()).spawn(watch).ok()?;
        Some(Self { stop, thread })
    }

    /// Ends. What it has seen.
    pub(super) fn stop(self) -> Asleep {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}
