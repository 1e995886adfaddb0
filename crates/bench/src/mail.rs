//! Unread mail, by reading the mailbox, by mapping it, by whit.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use probe::mailbox::Mailbox;

use super::measurement::{Measurement, Unit, own_cpu};
use super::options::BenchOptions;
use super::programs::python;
use super::scanning::Scratch;

const MESSAGES: usize = 4_000;
const BODY_BYTES: usize = 10_000;

pub(super) fn measurements(options: &BenchOptions) -> Vec<Measurement> {
    let scratch = Scratch::new(&options.directory, "mail", make);
    let path = |scratch: &Scratch| scratch.path().map(|directory| directory.join("mbox"));
    let (first, second, third) = (scratch.clone(), scratch.clone(), scratch);
    let whit = move || {
        let path = path(&first)?;
        let mut count = 0;
        // A new one each time: it remembers where it was.
        let cost = own_cpu(1, || count = Mailbox::new(path.clone()).read().map_or(0, |count| count.unread));
        if count == MESSAGES as u64 / 2 { Ok(cost) } else { Err(format!("it counted {count}")) }
    };
    let by_reading = move || python(&program(BY_READING, &path(&second)?));
    let by_mapping = move || python(&program(BY_MAPPING, &path(&third)?));
    vec![
        Measurement::new(
            "mail",
            "Unread mail in an mbox of 40 MB",
            Unit::Cpu("a look"),
            "CPU time of a first look at a file that is in memory: Python reading it whole and counting, Python searching it \
             mapped, whit reading it in pieces and telling messages from quotations. What was seen is not looked at again.",
        )
        .side("whit", &[], whit)
        .side("Python, mapped", &["python3"], by_mapping)
        .side("Python, read whole", &["python3"], by_reading),
    ]
}

fn make(directory: &Path) -> std::io::Result<()> {
    let mut text = String::new();
    let line = "Nothing that begins a line here begins a message, which is as it should be.\n";
    let body = line.repeat(BODY_BYTES / line.len());
    for message in 0..MESSAGES {
        let status = if message % 2 == 0 { "Status: RO\n" } else { "" };
        // A String takes whatever is written to it.
        let _ = write!(
            text,
            "From someone@example.org Thu Jan  1 00:00:00 1970\nSubject: {message}\n{status}\n{body}\n"
        );
    }
    fs::write(directory.join("mbox"), text)
}

const BY_READING: &str = include_str!("peers/mail_read.py");

const BY_MAPPING: &str = include_str!("peers/mail_mapped.py");

fn program(text: &str, path: &PathBuf) -> String {
    text.replace("PATH", &format!("{path:?}"))
}
