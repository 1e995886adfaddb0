//! The file with the sums of spans.

use std::ops::Range;
use std::path::Path;

use facts::task::figure::FigureSet;
use store::{RecordSize, Records, StoreError};

use super::boots::Boots;
use super::encoding;
use super::span::Span;
use super::span_sums::{SpanGroups, SpanSums};

/// Newest minutes that may be damaged: if none before them can be read either, all sums are of another version.
const MAX_DAMAGED: u32 = 3;
/// Its name beside the history.
const FILE: &str = "task-sums.sqlite";

/// The sums of all spans that have some.
#[derive(Debug)]
pub(crate) struct SumsFile {
    records: Records,
}

impl SumsFile {
    /// Opens that beside a history, to be read.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub(crate) fn open_for_reading(history: &Path) -> Result<Self, StoreError> {
        Ok(Self { records: Records::open_for_reading(&history.with_file_name(FILE))? })
    }

    /// Opens that beside a history with these boots, to be written, and makes it if there is none. In place of one that is damaged, of
    /// another version or of another history, another one is begun: nothing of it is lost.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn take(history: &Path, boots: &Boots) -> Result<Self, StoreError> {
        let open = || {
            let (records, _) =
                Records::open_or_begin_again(&history.with_file_name(FILE), RecordSize::Large)?;
            Ok(Self { records })
        };
        let file: Self = open()?;
        if file.is_of(boots) {
            return Ok(file);
        }
        drop(file);
        Self::remove(history);
        open()
    }

    /// Returns whether the newest sums that name their boot are of one of these, and can be read, but for a few that are damaged.
    pub(crate) fn is_of(&self, boots: &Boots) -> bool {
        let Ok(minutes) = self.minutes(i64::MIN..i64::MAX) else { return false };
        let mut damaged = 0;
        for minute in minutes.into_iter().rev() {
            match self.groups(Span::Minute(minute), FigureSet::default()) {
                Ok(Some(SpanGroups { boot: Some(boot), .. })) => return boots.contains(boot),
                Ok(Some(_)) => {}
                _ if damaged == MAX_DAMAGED => return false,
                _ => damaged += 1,
            }
        }
        damaged == 0
    }

    /// Returns whether there is one beside a history.
    pub(super) fn is_beside(history: &Path) -> bool {
        history.with_file_name(FILE).exists()
    }

    /// Returns whether the file is still there.
    pub(super) fn is_in_place(&self) -> bool {
        self.records.is_in_place()
    }

    /// Deletes that beside a history, as far as it is there: it can be made again.
    pub(super) fn remove(history: &Path) {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(history.with_file_name(format!("{FILE}{end}")));
        }
    }

    /// The minutes of a range that have sums, in order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn minutes(&self, range: Range<i64>) -> Result<Vec<i64>, StoreError> {
        let end = Span::TenSeconds(0).key();
        self.records.keys_in(range.start.max(0)..range.end.min(end))
    }

    /// The hours of a range that have sums, in order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn hours(&self, range: Range<i64>) -> Result<Vec<i64>, StoreError> {
        let keys = self.records.keys_in(-range.end.max(0)..-range.start.max(0))?;
        Ok(keys.into_iter().rev().map(|key| -1 - key).collect())
    }

    /// The spans of ten seconds of a range that have sums, in order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn ten_seconds(&self, range: Range<i64>) -> Result<Vec<i64>, StoreError> {
        let first = Span::TenSeconds(0).key();
        let keys = self.records.keys_in(first + range.start.max(0)..first.saturating_add(range.end))?;
        Ok(keys.into_iter().map(|key| key - first).collect())
    }

    /// The sums of a span by these figures, the others unknown; `None` if there are none, or they are damaged.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn sums(&self, span: Span, figures: FigureSet) -> Result<Option<SpanSums>, StoreError> {
        Ok(self.bytes(span)?.and_then(|bytes| encoding::decode(&bytes, figures)))
    }

    /// Returns the same without its single processes, which takes a fraction of the time.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(crate) fn groups(&self, span: Span, figures: FigureSet) -> Result<Option<SpanGroups>, StoreError> {
        Ok(self.bytes(span)?.and_then(|bytes| encoding::decode_groups(&bytes, figures)))
    }

    fn bytes(&self, span: Span) -> Result<Option<Vec<u8>>, StoreError> {
        match self.records.get(span.key()) {
            Err(error) if error.is_damage() => Ok(None),
            bytes => bytes,
        }
    }

    /// Writes sums, and forgets others.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(super) fn write(&mut self, new: &[(Span, SpanSums)], forgotten: &[Span]) -> Result<(), StoreError> {
        let bytes: Vec<(i64, Vec<u8>)> =
            new.iter().map(|(span, sums)| (span.key(), encoding::encode(sums))).collect();
        let records = bytes.iter().map(|(key, bytes)| (*key, bytes.as_slice()));
        self.records.write(records, forgotten.iter().map(|span| span.key()))?;
        self.records.checkpoint()
    }
}
