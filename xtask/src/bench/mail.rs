//! A large mailbox: whit beside a mapped search in Python, and what one more message costs.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::time::Duration;

use super::process::{Running, Spread, cpu_ns_of_whole};
use super::programs::Programs;
use super::row::print_row;
use crate::outcome::Outcome;

const MAILBOX: &str = "target/floor/large.mbox";
const CONFIGURATION: &str = "target/floor/mail.toml";
const MESSAGES: usize = 40_000;
const BODY_LINES: usize = 95;
const PAIRS: usize = 9;
const APPENDS: usize = 10;

/// Some 300 MB, in the page cache.
pub(crate) fn run(programs: &Programs) -> Outcome {
    make().map_err(|error| format!("{MAILBOX}: {error}"))?;
    let bytes = std::fs::metadata(MAILBOX).map_err(|error| error.to_string())?.len();
    let configuration =
        format!("interval = 0.2\n[[segment]]\ntype = \"mail\"\npaths = \"{MAILBOX}\"\ninterval = 0.2\n");
    std::fs::write(CONFIGURATION, configuration).map_err(|error| error.to_string())?;
    let whit = [programs.whit.as_str(), "bar", "--for", "plain", "--config", CONFIGURATION];
    let mapped = ["python3", "benches/mail_mmap.py", MAILBOX];
    // The search is a thread's, whose account goes with the process: it is read while the bar runs on.
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let bar = Running::start(&whit)?;
        std::thread::sleep(Duration::from_millis(800));
        ours.push(bar.cpu_ns()?);
        drop(bar);
        theirs.push(cpu_ns_of_whole(&mapped)?);
    }
    let ratios = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
    let (first_ns, theirs) = (Spread::of(ours).median, Spread::of(theirs));
    let what = format!("mail, {} MB: Python, mapped", bytes / 1_000_000);
    print_row(&what, first_ns, theirs.median, &Spread::of(ratios), "0.167");

    // The same bar goes on: some seconds without anything new, and as many with a message now and then. A single one is
    // less than what a second's ticks differ by.
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let bar = Running::start(&whit)?;
        std::thread::sleep(Duration::from_secs(1));
        let cpu_ns_with = |is_appended: bool| -> Result<f64, String> {
            let before = bar.cpu_ns()?;
            for number in 0..APPENDS {
                if is_appended {
                    let append = OpenOptions::new().append(true).open(MAILBOX).map(BufWriter::new);
                    append
                        .and_then(|mut file| write_message(&mut file, number).and_then(|()| file.flush()))
                        .map_err(|error| error.to_string())?;
                }
                std::thread::sleep(Duration::from_millis(310));
            }
            Ok(bar.cpu_ns()? - before)
        };
        let (idle_ns, appended_ns) = (cpu_ns_with(false)?, cpu_ns_with(true)?);
        ratios.push((appended_ns - idle_ns).max(0.0) / APPENDS as f64 / first_ns);
    }
    let spread = Spread::of(ratios);
    let what = "mail, a message more: the first scan";
    print_row(what, spread.median * first_ns, first_ns, &spread, "0.01");
    std::fs::remove_file(MAILBOX).map_err(|error| format!("{MAILBOX}: {error}"))
}

fn make() -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(MAILBOX)?);
    (0..MESSAGES).try_for_each(|number| write_message(&mut out, number))?;
    out.flush()
}

/// A header as mail carries it today, and a body of text.
fn write_message(out: &mut impl Write, number: usize) -> std::io::Result<()> {
    writeln!(out, "From sender{number}@example.org Mon Jan  1 12:00:00 2024")?;
    for hop in 0..4 {
        writeln!(out, "Received: from relay{hop}.example.org (relay{hop}.example.org [192.0.2.{hop}])")?;
        writeln!(
            out,
            "\tby mx.example.net (Postfix) with ESMTPS id {number:08X}{hop}; Mon, 1 Jan 2024 12:00:00 +0000"
        )?;
    }
    writeln!(out, "Message-ID: <{number}@example.org>\nSubject: message {number}\nMIME-Version: 1.0")?;
    writeln!(out, "Content-Type: text/plain; charset=utf-8")?;
    if number % 1000 != 7 {
        writeln!(out, "Status: RO")?;
    }
    writeln!(out)?;
    for line in 0..BODY_LINES {
        writeln!(
            out,
            "{line:04} the quick brown fox jumps over the lazy dog and goes on until the line is full"
        )?;
    }
    writeln!(out)
}
