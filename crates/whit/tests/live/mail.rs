//! Mailboxes that people and programs have left behind, held against Python's `mailbox` where that is right.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;
use probe::mailbox::Mailbox;

use super::machine::Scratch;
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![exact("nasty_mailboxes_are_counted_like_python_does", &[Need::Program("python3")], nasty)]
}

const FROM: &str = "From a@b Mon Jan  1 12:00:00 2024\n";

/// A mailbox: its text, messages, unread ones, and whether Python counts it rightly.
struct Case {
    name: &'static str,
    text: String,
    total: u64,
    unread: u64,
    is_python_right: bool,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name, text: String, total, unread, is_python_right| {
        cases.push(Case { name, text, total, unread, is_python_right });
    };
    let message = |header: &str, body: &str| format!("{FROM}{header}\n{body}\n");
    let plain = message("Subject: x\n", "body\n");
    let read = message("Subject: x\nStatus: RO\n", "body\n");
    add("empty", String::new(), 0, 0, true);
    add("one", plain.clone(), 1, 1, true);
    add("one read", read.clone(), 1, 0, true);
    add("two", plain.repeat(2), 2, 2, true);
    add("mixed", format!("{plain}{read}{plain}"), 3, 2, true);
    add("a thousand", plain.repeat(1000), 1000, 1000, true);
    add("carriage returns", format!("{plain}{read}").replace('\n', "\r\n"), 2, 1, true);
    add("no line end at the end", plain.trim_end().to_owned(), 1, 1, true);
    add("a separator alone", FROM.to_owned(), 1, 1, true);
    add("a separator without its line end", FROM.trim_end().to_owned(), 1, 1, true);
    add("header without a body", format!("{FROM}Subject: x\n"), 1, 1, true);
    add("header without an end", format!("{FROM}Subject: x"), 1, 1, true);
    add("no header", format!("{FROM}\nbody\n\n{plain}"), 2, 2, true);
    add("nothing but empty lines", "\n\n\n".to_owned(), 0, 0, true);
    add("no mailbox at all", "hello\nworld\n".to_owned(), 0, 0, true);
    add("empty lines before the first", format!("\n\n{plain}"), 1, 1, true);
    add("words before the first", format!("preamble\n{plain}"), 1, 1, true);
    add("status in the body", message("Subject: x\n", "Status: RO\nStatus: R\n"), 1, 1, true);
    add("status in a forwarded header", message("A: b\n", "----\nFrom: x\nStatus: RO\n----\n"), 1, 1, true);
    add("x-status in the body", message("Subject: x\n", "X-Status: AR\n"), 1, 1, true);
    add("old and unread", message("Status: O\n", "x\n"), 1, 1, true);
    add("status in small letters", message("status: ro\nStatus: R\n", "x\n"), 1, 0, false);
    add("status without a blank", message("Status:RO\n", "x\n"), 1, 0, true);
    add("status in a folded line", message("Subject: x\n Status: R\n", "x\n"), 1, 1, true);
    add("quoted from", message("A: b\n", "\n>From here\n>>From there\n"), 1, 1, true);
    add("quoted separator", message("A: b\n", &format!("\n>{FROM}Status: R\n")), 1, 1, true);
    add("from in a header", message("From: From x\nA: From y\n", "x\n"), 1, 1, true);
    add("from within a line", message("A: b\n", &format!("x {FROM}")), 1, 1, true);
    add("from without a blank", message("A: b\n", "\nFromage\n\nFrom\n"), 1, 1, true);
    add("indented from", message("A: b\n", &format!("\n {FROM}\t{FROM}")), 1, 1, true);
    add("separator without an empty line before", format!("{FROM}A: b\n\nx\n{plain}"), 2, 2, true);
    add("separator in the header's place", format!("{FROM}A: b\n{plain}"), 2, 2, true);
    add("three separators in a row", FROM.repeat(3), 3, 3, true);
    add("long header lines", message(&format!("A: {}\n", "x".repeat(300_000)), "x\n"), 1, 1, true);
    add("long body lines", format!("{}{read}", message("A: b\n", &"y".repeat(700_000))), 2, 1, true);
    add("a thousand header lines", message(&"A: b\n".repeat(1000), "x\n"), 1, 1, true);
    add("zeros in the body", message("A: b\n", "\0\0\0\n"), 1, 1, true);
    add("names in umlauts", message("Subject: äöü €\n", "ß\n"), 1, 1, true);
    add(
        "uucp separators",
        format!("From a!b Mon Jan  1 12:00 2024 remote from c\nA: b\n\nx\n\n{plain}"),
        2,
        2,
        true,
    );
    add("mozilla separators", "From - Mon Jan 01 12:00:00 2024\nA: b\n\nx\n\n".repeat(2), 2, 2, true);
    add(
        "google's separators",
        "From 17@xxx Mon Jan 01 12:00:00 +0000 2024\nA: b\n\nx\n\n".repeat(2),
        2,
        2,
        true,
    );
    add("separators without a date", "From a@b\nA: b\n\nx\n\n".repeat(2), 2, 2, true);
    add("answered and read", message("Status: RO\nX-Status: A\n", "x\n"), 1, 0, true);
    // From here on Python takes a line for a message that is none, or knows nothing of a reader's own words.
    add("prose that begins with from", message("A: b\n", "\nFrom here on\nFrom there\n"), 1, 1, false);
    let inner = format!("x\n\n{FROM}A: b\n\ny\n");
    let counted = format!("{FROM}Content-Length: {}\n\n{inner}", inner.len());
    add("content-length over a separator", format!("{counted}\n{plain}"), 2, 2, false);
    add("content-length that lies", counted.replace("Length: ", "Length: 1"), 2, 2, true);
    add("marked for deletion", message("X-Status: D\n", "x\n"), 1, 0, false);
    add("read by mozilla", message("X-Mozilla-Status: 0001\n", "x\n"), 1, 0, false);
    add("deleted by mozilla", format!("{}{plain}", message("X-Mozilla-Status: 0009\n", "x\n")), 1, 1, false);
    add("an imap server's own data", format!("{}{plain}", message("X-IMAP: 1 2\n", "x\n")), 1, 1, false);
    cases
}

/// Prints messages and those without an R in their status, a line a mailbox.
const PYTHON: &str = "
import mailbox, sys
for path in sys.argv[1:]:
    box = mailbox.mbox(path, create=False)
    print(len(box), sum('R' not in message.get_flags() for message in box))
";

fn python(paths: &[PathBuf]) -> Result<Vec<(u64, u64)>, Failed> {
    let output = Command::new("python3").args(["-c", PYTHON]).args(paths).output()?;
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout)?;
    let counts = text.lines().map(|line| {
        let mut numbers = line.split(' ').map(|number| number.parse::<u64>());
        match (numbers.next(), numbers.next()) {
            (Some(Ok(total)), Some(Ok(unread))) => Ok((total, unread)),
            _ => Err(format!("python3 says {line}").into()),
        }
    });
    counts.collect()
}

fn whit(path: &Path) -> (u64, u64) {
    let count = Mailbox::new(path.to_owned()).read().unwrap();
    (count.total, count.unread)
}

fn nasty() -> Result<(), Failed> {
    let scratch = Scratch::new("mail");
    let cases = cases();
    let mut paths = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let path = scratch.0.join(index.to_string());
        fs::write(&path, &case.text)?;
        paths.push(path);
    }
    let by_python = python(&paths)?;
    assert_eq!(by_python.len(), cases.len());
    for ((case, path), by_python) in cases.iter().zip(&paths).zip(&by_python) {
        let Case { name, total, unread, is_python_right, .. } = case;
        assert_eq!(whit(path), (*total, *unread), "{name}");
        assert_eq!(*by_python == (*total, *unread), *is_python_right, "{name}: python3 says {by_python:?}");
    }
    println!(
        "{} mailboxes, {} of them as Python counts",
        cases.len(),
        cases.iter().filter(|case| case.is_python_right).count()
    );
    Ok(())
}
