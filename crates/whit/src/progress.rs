//! A line on the terminal while a command works for long.

use std::io::IsTerminal as _;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::failure::write_stderr;

/// Before the first line.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two.
const INTERVAL: Duration = Duration::from_millis(500);

/// Does some work. If it takes long and standard error is a terminal, a line there says what is done, and for how long; at the end the
/// line is erased.
pub(crate) fn during<T>(what: impl Fn() -> String + Send, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let (sender, receiver) = channel::<()>();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut pause = PATIENCE;
            while receiver.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                write_stderr(&format!("\r{} … {} s\x1b[K", what(), begun.elapsed().as_secs()));
                pause = INTERVAL;
            }
            if pause == INTERVAL {
                write_stderr("\r\x1b[K");
            }
        });
        let done = work();
        drop(sender);
        done
    })
}
