//! A line on the terminal while a command works for long.

use std::io::IsTerminal as _;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::failure::write_stderr;

/// The time before the line is shown, and between two versions of it.
const PATIENCE: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(500);
/// The longest text: a line that wraps cannot be erased.
const WIDTH: usize = 60;

/// Does some work. If it takes long and standard error is a terminal, a line there names the work and its duration. The line is erased
/// at the end.
pub fn during<T>(what: impl Fn() -> String + Send, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let (sender, receiver) = channel::<()>();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let show = move || {
            let mut pause = PATIENCE;
            while receiver.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let what: String = what().chars().take(WIDTH).collect();
                write_stderr(&format!("\r{what} … {} s\x1b[K", begun.elapsed().as_secs()));
                pause = INTERVAL;
            }
            if pause == INTERVAL {
                write_stderr("\r\x1b[K");
            }
        };
        // Without another thread the work is done all the same.
        let _ = Builder::new().spawn_scoped(scope, show);
        let done = work();
        drop(sender);
        done
    })
}
