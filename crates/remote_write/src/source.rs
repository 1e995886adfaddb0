//! Where samples come from: the histories of the machine, of checks and of exporters, and the recording rules.

use std::path::{Path, PathBuf};

use history::past::{CHECKS, EXPORTERS};

use crate::options::ReceiverOptions;
use crate::rule_samples::RuleReader;
use crate::samples::{Part, Reader};
use crate::selection::Selection;

/// An origin of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Machine,
    Checks,
    Rules,
    Exporters,
}

/// How many there are.
pub(crate) const ORIGIN_COUNT: usize = 4;
/// All of them. The order is that of [`crate::Progress::sending_to_ns`].
pub(crate) const ORIGINS: [Origin; ORIGIN_COUNT] =
    [Origin::Machine, Origin::Checks, Origin::Rules, Origin::Exporters];

/// An origin, as it goes out.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    reader: AnyReader,
    pub(crate) selection: Selection,
    /// What was on its way when the agent ended goes up to this tick.
    pub(crate) until_ns: Option<i64>,
    /// All of it went out since the last pause.
    pub(crate) is_done: bool,
    /// Why it cannot be read.
    pub(crate) fault: Option<String>,
}

enum AnyReader {
    Recorded(Box<Reader>),
    Rules(Box<RuleReader>),
}

impl Source {
    /// The sources of a receiver, by [`Origin`].
    pub(crate) fn all(options: &ReceiverOptions, history: &Path) -> [Self; ORIGIN_COUNT] {
        let source = |path: PathBuf, reader: AnyReader| Self {
            path,
            reader,
            selection: Selection::new(options),
            until_ns: None,
            is_done: false,
            fault: None,
        };
        let recorded = || AnyReader::Recorded(Box::new(Reader::new()));
        let rules = RuleReader::new(&options.rules, &Selection::new(options));
        [
            source(history.to_owned(), recorded()),
            source(history.with_file_name(CHECKS), recorded()),
            source(history.to_owned(), AnyReader::Rules(Box::new(rules))),
            source(history.with_file_name(EXPORTERS), recorded()),
        ]
    }

    /// Returns whether nothing ever comes from it.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(&self.reader, AnyReader::Rules(reader) if reader.is_empty())
    }

    /// Closes its history, which is opened again for the next part.
    pub(crate) fn close(&mut self) {
        match &mut self.reader {
            AnyReader::Recorded(reader) => reader.kept = None,
            AnyReader::Rules(reader) => reader.kept = None,
        }
    }

    /// Reads what is next behind a place in nanoseconds since 1970; what was on its way when the agent ended has the same end again, unless it
    /// is one of the parts that go out again.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub(crate) fn next(
        &mut self,
        behind_ns: i64,
        is_again: bool,
        now_ns: i64,
    ) -> Result<Option<Part>, String> {
        let range_ns = (behind_ns, self.until_ns.take().filter(|_| !is_again));
        // There may be no checks or exporters, or not yet, or no longer.
        if !self.path.exists() {
            self.close();
            return Ok(None);
        }
        match &mut self.reader {
            AnyReader::Recorded(reader) => {
                let next = reader.next(&self.path, &mut self.selection, range_ns, now_ns);
                next.map_err(|error| error.to_string())
            }
            AnyReader::Rules(reader) => reader.next(&self.path, &self.selection, range_ns, now_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_without_anything_has_nothing_to_send_again() {
        let options = ReceiverOptions::of_everything();
        for mut source in Source::all(&options, Path::new("/nowhere/history.sqlite")) {
            assert!(source.next(1, true, 3).unwrap().is_none());
        }
    }
}
