//! A thread that only sleeps and wakes beside the agent, at its priority: where it was held up for as long as a tick takes, so may the agent have
//! been, whatever it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::arena::text;

/// The part of an interval that a tick takes here: who begins so much before the next one misses it.
const WORK: f64 = 0.4;
/// So often it wakes in an interval, whose beginning at the agent is not known.
const WAKES: u32 = 10;

/// Ends its thread when it is dropped.
pub(super) struct Witness {
    missed: Arc<AtomicU32>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Witness {
    /// Starts a thread of this niceness that wakes several times in each interval.
    pub(super) fn start(nice: i32, interval: Duration) -> Result<Self, String> {
        let (missed, is_over) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, over) = (Arc::clone(&missed), Arc::clone(&is_over));
        let wake = move || {
            // Linux takes no process id for the calling thread. Without the privilege the witness is late more often, as the agent is.
            let _ = rustix::process::setpriority_process(None, nice);
            let mut woken = Instant::now();
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(interval / WAKES);
                let stall = woken.elapsed().as_secs_f64() / interval.as_secs_f64();
                woken = Instant::now();
                if stall >= 1.0 - WORK {
                    counted.fetch_add(stall.ceil() as u32, Ordering::Relaxed);
                }
            }
        };
        let thread = std::thread::Builder::new().name("witness".to_owned()).spawn(wake).map_err(text)?;
        Ok(Self { missed, is_over, thread: Some(thread) })
    }

    /// Returns how many ticks a thread with work to do may have missed since it was asked last.
    pub(super) fn take_missed(&self) -> u32 {
        self.missed.swap(0, Ordering::Relaxed)
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
