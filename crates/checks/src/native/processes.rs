//! Processes by their names.

use std::fs;
use std::sync::Arc;

use configuration::{Fault, Options};
use facts::linux::pid_stat::PidStat;
use facts::task::comm::Comm;

use super::outcome::Outcome;
use super::probe::{Limits, Probe};
use crate::state::State;

/// How many there are to be. Their name is as the kernel has it: 15 letters.
#[derive(Debug)]
struct Processes {
    /// Fewer are critical.
    least: u64,
    /// More are critical.
    most: Option<u64>,
}

pub(super) fn read(table: &Options<'_, '_>, _subject: &str) -> Result<Arc<dyn Probe>, Fault> {
    let least = table.whole_number("least")?.unwrap_or(1);
    Ok(Arc::new(Processes { least, most: table.whole_number("most")? }))
}

impl Probe for Processes {
    fn run(&self, name: &str, _limits: &Limits<'_>) -> Outcome {
        count(name, self.least, self.most)
    }
}

/// Returns whether a process has a name, and has not ended, by its stat. The kernel keeps 15 bytes of a name; since 5.17 it shows those of
/// kernel threads whole.
fn is_living_with_name(stat: &[u8], name: &str) -> bool {
    let mut process = PidStat::default();
    if process.parse(stat).is_err() || matches!(process.state, b'Z' | b'X') {
        return false;
    }
    let comm = process.comm.as_bytes();
    comm == name.as_bytes() || comm == Comm::new(name.as_bytes()).as_bytes()
}

fn count(name: &str, least: u64, most: Option<u64>) -> Outcome {
    let entries = match fs::read_dir("/proc") {
        Ok(entries) => entries,
        Err(error) => return Outcome::new(State::Unknown, format!("/proc: {error}")),
    };
    let is_process = |name: &std::ffi::OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let has_name = |entry: &fs::DirEntry| {
        fs::read(entry.path().join("stat")).is_ok_and(|stat| is_living_with_name(&stat, name))
    };
    let found = entries.flatten().filter(|entry| is_process(&entry.file_name()) && has_name(entry));
    let count = found.count() as u64;
    let is_wrong = count < least || most.is_some_and(|most| count > most);
    let state = if is_wrong { State::Critical } else { State::Ok };
    let processes = if count == 1 { "process is" } else { "processes are" };
    Outcome::new(state, format!("{count} {processes} called {name}")).with(format!("processes={count}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_is_no_process() {
        let is_living = |stat: &str, name: &str| {
            let figures = " 0".repeat(40);
            is_living_with_name(format!("{stat}{figures}\n").as_bytes(), name)
        };
        assert!(is_living("7 (nginx) S 1 7", "nginx"));
        assert!(is_living("7 (a) S) R 1 7", "a) S"));
        assert!(!is_living("7 (nginx) Z 1 7", "nginx"));
        assert!(!is_living("7 (nginx", "nginx"));
        // What the kernel keeps of a longer name, and the whole one of a kernel thread.
        assert!(is_living("7 (a-program-of-wh) S 1 7", "a-program-of-whom"));
        assert!(is_living("7 (jbd2/nvme0n1p2-8) S 2 0", "jbd2/nvme0n1p2-8"));
        assert!(!is_living("7 (jbd2/nvme0n1p2-9) S 2 0", "jbd2/nvme0n1p2-8"));
    }
}
