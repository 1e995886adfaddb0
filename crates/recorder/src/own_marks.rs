//! Marks that the recorder sets about itself. A mark is synced, and no tick may wait for the disk: each is set in a thread.

use std::path::Path;
use std::thread::JoinHandle;

use facts::unit::Nanos;

use history::marks::{Mark, Marks};

/// The mark that was set last.
#[derive(Debug, Default)]
pub(crate) struct OwnMarks {
    /// Its thread, until its result was taken.
    running: Option<JoinHandle<Result<(), String>>>,
}

impl OwnMarks {
    /// Starts to set a mark at a time since 1970. It is left out while the disk still writes the one before.
    pub(crate) fn set(&mut self, history: &Path, at: Nanos, text: &str) {
        let directory = history.parent().unwrap_or(history).to_owned();
        let mark = Mark::new(at.0.cast_signed() / 1_000_000, text);
        if self.running.is_none() {
            let thread = std::thread::Builder::new().name("mark".to_owned());
            self.running = thread.spawn(move || write(&directory, &mark?)).ok();
        }
    }

    /// Returns the result of a mark once, when it was written or could not be.
    pub(crate) fn take_result(&mut self) -> Option<Result<(), String>> {
        let thread = self.running.take_if(|thread| thread.is_finished())?;
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }

    /// Waits until a mark is written.
    pub(crate) fn finish(&mut self) {
        if let Some(thread) = self.running.take() {
            // The agent ends; the mark was its last message in any case.
            let _ = thread.join();
        }
    }
}

fn write(directory: &Path, mark: &Mark) -> Result<(), String> {
    let mut marks = Marks::open_briefly(directory).map_err(|error| error.to_string())?;
    marks.set(mark).map_err(|error| error.to_string())
}
