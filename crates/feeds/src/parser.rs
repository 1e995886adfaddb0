//! The process that reads documents: what a document does to a parser, it does to a process that has nothing else.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd as _;
use std::time::Duration;

use probe::spawn::{Command, Ending, Group, Limit, reap};
use serde::{Deserialize, Serialize};
use syndication::{Reading, read};

/// The most memory of the process: some hundred times a usual document.
const MAX_MEMORY: u64 = 1024 * 1024 * 1024;
/// The most CPU time of the process, in seconds.
const MAX_CPU: u64 = 5;
/// The longest answer of the process: a document has 10 MB at most unless the configuration says otherwise.
const MAX_ANSWER: u64 = 64 * 1024 * 1024;

/// Where documents are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DocumentParser {
    /// In this process.
    #[default]
    Here,
    /// By a command that calls [`parse_document`].
    Command(Vec<OsString>),
}

/// The first line of what the command gets; the document follows.
#[derive(Debug, Serialize, Deserialize)]
struct Origin {
    content_type: String,
    address: String,
}

impl DocumentParser {
    /// Reads a document that came from an address.
    ///
    /// # Errors
    /// If the command cannot be started, or did not come back.
    pub(crate) fn read(&self, document: &[u8], content_type: &str, address: &str) -> Result<Reading, String> {
        let words = match self {
            Self::Here => return Ok(read(document, content_type, address, cpu_time)),
            Self::Command(words) => words,
        };
        let origin = Origin { content_type: content_type.to_owned(), address: address.to_owned() };
        let answer = ask(words, &origin, document).map_err(|error| format!("no parser: {error}"))??;
        serde_json::from_slice(&answer).map_err(|error| format!("the parser's answer is malformed: {error}"))
    }
}

/// Runs the command. Returns its answer, or how it ended.
fn ask(words: &[OsString], origin: &Origin, document: &[u8]) -> io::Result<Result<Vec<u8>, String>> {
    let (input, mut sender) = io::pipe()?;
    let (receiver, output) = io::pipe()?;
    let null = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    let command = Command {
        words: words.to_vec(),
        streams: [Some(input.as_fd()), Some(output.as_fd()), Some(null.as_fd())],
        group: Group::Own,
        limits: vec![
            (Limit::AddressSpace, MAX_MEMORY),
            (Limit::Cpu, MAX_CPU),
            (Limit::Core, 0),
            (Limit::FileSize, 0),
        ],
        dies_with_parent: true,
        ..Command::default()
    };
    let pid = command.start()?;
    drop((input, output));
    // It reads everything before it writes anything. One that ends early is known by its ending.
    let head = serde_json::to_vec(origin)?;
    let _ = sender.write_all(&[&head, &b"\n"[..]].concat()).and_then(|()| sender.write_all(document));
    drop(sender);
    let mut answer = Vec::new();
    let received = receiver.take(MAX_ANSWER + 1).read_to_end(&mut answer);
    let ending = reap(pid).map(|reaped| reaped.ending);
    received?;
    if answer.len() as u64 > MAX_ANSWER {
        return Ok(Err(format!("what the document says has more than {} MiB", MAX_ANSWER >> 20)));
    }
    Ok(match ending {
        Some(Ending::Exited(0)) => Ok(answer),
        Some(Ending::Exited(_)) => Err("no parser could read the document".to_owned()),
        Some(Ending::Signaled(signal)) => Err(format!("the document ended its parser (signal {signal})")),
        Some(Ending::Unknown) | None => Err("the parser's exit status was collected elsewhere".to_owned()),
    })
}

/// Reads a document from `input`, and writes what it is to `output`: the command of [`DocumentParser::Command`].
///
/// # Errors
/// If it cannot be read or written.
pub fn parse_document(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let origin: Origin = serde_json::from_slice(&bytes[..end])?;
    let document = bytes.get(end + 1..).unwrap_or_default();
    let reading = read(document, &origin.content_type, &origin.address, cpu_time);
    output.write_all(&serde_json::to_vec(&reading)?)?;
    output.flush()
}

fn cpu_time() -> Duration {
    Duration::from_nanos(probe::own_thread_cpu_time().0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let document = b"<rss version='2.0'><channel><item><title>a</title></item></channel></rss>";
        let mut input = br#"{"content_type":"text/xml","address":"http://a/"}"#.to_vec();
        input.push(b'\n');
        input.extend_from_slice(document);
        let mut output = Vec::new();
        parse_document(input.as_slice(), &mut output).unwrap();
        let reading: Reading = serde_json::from_slice(&output).unwrap();
        assert_eq!(reading, read(document, "text/xml", "http://a/", cpu_time));
    }

    #[test]
    fn a_command_that_dies_is_the_documents_fault() {
        let parser = |words: &[&str]| DocumentParser::Command(words.iter().map(OsString::from).collect());
        let read = |words: &[&str]| parser(words).read(b"x", "", "http://a/").unwrap_err();
        assert!(read(&["sh", "-c", "kill -9 $$"]).contains("signal 9"));
        assert!(read(&["false"]).contains("no parser could read"));
        assert!(read(&["cat"]).contains("malformed"));
        assert!(read(&["/nothing/there"]).contains("no parser"));
    }
}
