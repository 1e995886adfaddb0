//! The lock that a command runs under.

use std::time::Duration;

use facts::unit::Nanos;
use probe::Roots;
use probe::lock::{Holder, LockFile, Taken};
use probe::task_detail::TaskFiles;
use rustix::fd::{AsFd, BorrowedFd};

use super::options::LockOptions;
use command::failure::{Failure, write_stderr};
use text::printable::Shown as _;
use text::units::Span;

/// A lock that is held until this is dropped. The command has it, too, so that it still excludes others if whit is killed before
/// the command has ended.
pub(super) struct Held {
    file: LockFile,
    /// It stays with what the command leaves behind, as with flock(1): `--inherit-lock`.
    is_inherited: bool,
    /// How long it took to get.
    pub(super) waited: Nanos,
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.is_inherited {
            // A lock is an open file's: without this a daemon that the command left would hold it.
            let _ = self.file.release();
        }
    }
}

impl Held {
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Takes it, or says who is in the way; while it waits only if it is not to be quiet.
pub(super) fn take(options: &LockOptions, is_quiet: bool) -> Result<Held, Failure> {
    let path = options.path.shown();
    let fail = |error| Failure::with_code(format!("{path}: {error}"), 66);
    let mut file = LockFile::open(&options.path, options.is_shared).map_err(fail)?;
    let started = probe::monotonic_now();
    let mut taken = file.try_take().map_err(fail)?;
    if taken == Taken::No {
        let holders = holders(&file);
        if options.patience != Some(Duration::ZERO) {
            if !is_quiet {
                write_stderr(&format!("whit: {path} is held by {holders}; waiting\n"));
            }
            taken = file.take(options.patience).map_err(fail)?;
        }
        if taken == Taken::No {
            let code = options.conflict_exit;
            return Err(match is_quiet {
                true => Failure::silent(code),
                false => Failure::with_code(format!("{path} is held by {}", self::holders(&file)), code),
            });
        }
    }
    let waited = probe::monotonic_now().saturating_sub(started);
    if waited > Nanos(100_000_000) && !is_quiet {
        write_stderr(&format!("whit: {path}: waited {} for the lock\n", Span(waited)));
    }
    Ok(Held { file, is_inherited: options.is_inherited, waited })
}

/// Describes the processes that hold the lock, as far as /proc says.
fn holders(file: &LockFile) -> String {
    let mut files = TaskFiles::open(&Roots::live()).ok();
    let mut name = |pid: u32| {
        let command = files.as_mut().and_then(|files| files.command_line(pid).ok().flatten());
        match command {
            Some(command) => format!("{pid} ({})", command.chars().take(200).collect::<String>()),
            None => pid.to_string(),
        }
    };
    let description = |holder| match holder {
        Holder::Has(pid) => name(pid),
        Holder::Took(pid) => format!("a process that has it from {pid}, which acquired it"),
    };
    let holders: Vec<String> = file.holders().into_iter().map(description).collect();
    if holders.is_empty() {
        "a process that /proc/locks does not name".to_owned()
    } else {
        holders.join(", ")
    }
}
