//! A thread that only sleeps and wakes beside the agent: what holds it up is the machine's doing and not whit's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::arena::text;

/// Ends its thread when it is dropped.
pub(super) struct Witness {
    late: Arc<AtomicU32>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Witness {
    /// Starts a thread of this niceness that wakes once in each interval.
    pub(super) fn start(nice: i32, interval: Duration) -> Result<Self, String> {
        let (late, is_over) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, over) = (Arc::clone(&late), Arc::clone(&is_over));
        let wake = move || {
            // Linux takes no process id for the calling thread. Without the privilege the witness is late more often, as the agent is.
            let _ = rustix::process::setpriority_process(None, nice);
            let mut deadline = Instant::now() + interval;
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
                let lateness = deadline.elapsed();
                if lateness >= interval / 2 {
                    counted
                        .fetch_add(1 + (lateness.as_nanos() / interval.as_nanos()) as u32, Ordering::Relaxed);
                    deadline = Instant::now();
                }
                deadline += interval;
            }
        };
        let thread = std::thread::Builder::new().name("witness".to_owned()).spawn(wake).map_err(text)?;
        Ok(Self { late, is_over, thread: Some(thread) })
    }

    /// Returns the intervals that began late by half of one or more: so many ticks may be missed by a thread with work to do.
    pub(super) fn late_intervals(&self) -> u32 {
        self.late.load(Ordering::Relaxed)
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
