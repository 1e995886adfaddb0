//! Histories from elsewhere: whit's own exports, the text formats of Prometheus, and what sysstat recorded.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use formats::sadf;
use formats::sample_lines::SampleLines;
use formats::samples::SampleSet;
use text::printable::Shown as _;

use command::failure::Failure;

/// Reads a file; `-` is standard input.
///
/// # Errors
/// What is wrong with it, and where.
pub(super) fn read(path: &Path) -> Result<SampleSet, Failure> {
    let failed = |error: io::Error| Failure::new(format!("{}: {error}", path.shown()));
    match path.as_os_str() == "-" {
        true => from_reader(&mut io::stdin().lock(), "standard input"),
        false => {
            let file = File::open(path).map_err(failed)?;
            if file.metadata().map_err(failed)?.is_dir() {
                return Err(failed(io::ErrorKind::IsADirectory.into()));
            }
            from_reader(&mut BufReader::new(file), &path.shown().to_string())
        }
    }
}

/// A line of an export is short; that of a series as JSON is as long as its samples are many, and sadf writes one document.
const MAX_LINE: u64 = 1 << 30;

fn from_reader(input: &mut impl BufRead, name: &str) -> Result<SampleSet, Failure> {
    let is_sadf = is_sadf(input.fill_buf().map_err(|error| Failure::new(format!("{name}: {error}")))?);
    if is_sadf {
        let mut text = String::new();
        let read = (&mut *input).take(MAX_LINE).read_to_string(&mut text);
        read.map_err(|error| Failure::new(format!("{name}: {error}")))?;
        return sadf::read(&text).map_err(|error| Failure::new(format!("{name}:{error}")));
    }
    let mut lines = SampleLines::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut *input).take(MAX_LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| Failure::new(format!("{name}: {error}")))? == 0 {
            return Ok(lines.finish());
        }
        let text = String::from_utf8_lossy(&line);
        lines
            .take(text.trim_end_matches(['\n', '\r']))
            .map_err(|error| Failure::new(format!("{name}:{error}")))?;
    }
}

/// A document of sadf begins with its one key, perhaps on a line of its own.
fn is_sadf(begin: &[u8]) -> bool {
    let mut words = begin.iter().filter(|byte| !byte.is_ascii_whitespace());
    b"{\"sysstat\"".iter().all(|expected| words.next() == Some(expected))
}
