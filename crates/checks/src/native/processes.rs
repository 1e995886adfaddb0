//! Processes by their names.

use std::fs;
use std::sync::Arc;

use configuration::{Fault, Options};

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

fn count(name: &str, least: u64, most: Option<u64>) -> Outcome {
    let entries = match fs::read_dir("/proc") {
        Ok(entries) => entries,
        Err(error) => return Outcome::new(State::Unknown, format!("/proc: {error}")),
    };
    let is_process = |name: &std::ffi::OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let has_name = |entry: &fs::DirEntry| {
        fs::read(entry.path().join("comm")).is_ok_and(|comm| comm.trim_ascii_end() == name.as_bytes())
    };
    let found = entries.flatten().filter(|entry| is_process(&entry.file_name()) && has_name(entry));
    let count = found.count() as u64;
    let is_wrong = count < least || most.is_some_and(|most| count > most);
    let state = if is_wrong { State::Critical } else { State::Ok };
    let processes = if count == 1 { "process is" } else { "processes are" };
    Outcome::new(state, format!("{count} {processes} called {name}")).with(format!("processes={count}"))
}
