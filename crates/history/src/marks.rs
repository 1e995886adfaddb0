//! Marks that people set at instants, such as "deployed 2.3", so that they find them in the history.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use store::{RecordSize, Records, StoreError};

/// Its name in the data directory.
const FILE: &str = "marks.sqlite";
/// The oldest are forgotten.
const MAX_MARKS: usize = 10_000;
const MAX_TEXT: usize = 200;
const TIMES_MS: Range<i64> = 0..253_402_300_800_000;
/// Marks of the same millisecond are distinguished by the rest of their keys.
const KEYS_A_MS: i64 = 1000;

/// A mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// In milliseconds since 1970.
    pub at_ms: i64,
    /// The text of the mark.
    pub text: String,
}

impl Mark {
    /// A mark, without blanks around its text.
    ///
    /// # Errors
    /// Why it cannot be one.
    pub fn new(at_ms: i64, text: &str) -> Result<Self, String> {
        let text = text.trim();
        if !TIMES_MS.contains(&at_ms) {
            return Err("a mark lies between 1970 and 9999".to_owned());
        }
        match text.chars().count() {
            0 => Err("a mark needs a text".to_owned()),
            _ if text.chars().any(char::is_control) => Err("a mark is one line of text".to_owned()),
            1..=MAX_TEXT => Ok(Self { at_ms, text: text.to_owned() }),
            count => Err(format!("a mark has at most {MAX_TEXT} characters, and this one {count}")),
        }
    }
}

/// The marks of a data directory.
#[derive(Debug)]
pub struct Marks {
    records: Records,
}

impl Marks {
    /// Returns whether there is a file for them.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(FILE).exists()
    }

    /// Opens those of a directory, to be read.
    ///
    /// # Errors
    /// If they cannot be opened.
    pub fn open_for_reading(directory: &Path) -> Result<Self, StoreError> {
        Ok(Self { records: Records::open_for_reading(&directory.join(FILE))? })
    }

    /// Opens those of a directory, to set some.
    ///
    /// # Errors
    /// If they cannot be opened.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        Ok(Self { records: Records::open(&directory.join(FILE))? })
    }

    /// Opens those of a directory for the agent, which waits for no lock for long.
    ///
    /// # Errors
    /// If they cannot be opened.
    pub fn open_briefly(directory: &Path) -> Result<Self, StoreError> {
        Records::open_or_begin_again(&directory.join(FILE), RecordSize::Small)
            .map(|(records, _)| Self { records })
    }

    /// Makes a place for them, so that it belongs to the agent's user, whichever user sets the first one. A damaged one is renamed, and
    /// what is to be said about that returned.
    pub fn prepare(directory: &Path) -> Result<Option<String>, StoreError> {
        Records::open_or_begin_again(&directory.join(FILE), RecordSize::Small).map(|(_, finding)| finding)
    }

    /// Returns the marks between two times in milliseconds since 1970, both included, the first one first.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn between(&self, from_ms: i64, to_ms: i64) -> Result<Vec<Mark>, StoreError> {
        let key = |at_ms: i64| at_ms.saturating_mul(KEYS_A_MS);
        let records = self.records.range(key(from_ms)..key(to_ms.saturating_add(1)))?;
        Ok(records.iter().filter_map(|(_, bytes)| serde_json::from_slice(bytes).ok()).collect())
    }

    /// Sets one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn set(&mut self, mark: &Mark) -> Result<(), StoreError> {
        let keys = self.records.keys()?;
        let first = mark.at_ms.saturating_mul(KEYS_A_MS);
        let is_free = |key: &i64| keys.binary_search(key).is_err();
        let key = (first..first.saturating_add(KEYS_A_MS)).find(is_free).unwrap_or(first);
        let bytes = serde_json::to_vec(mark).unwrap_or_default();
        self.records.put(std::iter::once((key, bytes.as_slice())))?;
        let surplus = (keys.len() + 1).saturating_sub(MAX_MARKS);
        self.records.delete(keys.into_iter().take(surplus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_one_millisecond_are_all_kept() {
        let directory = std::env::temp_dir().join(format!("whit-marks-{}", probe::random::hex()));
        std::fs::create_dir(&directory).unwrap();
        assert!(!Marks::is_in(&directory));
        assert_eq!(Marks::prepare(&directory).unwrap(), None);
        let mut marks = Marks::open(&directory).unwrap();
        for (at_ms, text) in [(5000, "b"), (5000, "c"), (4999, "a"), (5001, "d"), (0, "1970")] {
            marks.set(&Mark::new(at_ms, text).unwrap()).unwrap();
        }
        let texts = |from_ms, to_ms| -> Vec<String> {
            marks.between(from_ms, to_ms).unwrap().into_iter().map(|mark| mark.text).collect()
        };
        assert_eq!(texts(5000, 5000), ["b", "c"]);
        assert_eq!(texts(i64::MIN, i64::MAX), ["1970", "a", "b", "c", "d"]);
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_mark_is_a_line_of_text() {
        assert_eq!(Mark::new(1, "  deployed 2.3 ").unwrap().text, "deployed 2.3");
        assert!(Mark::new(1, " \t").is_err());
        assert!(Mark::new(-1, "a").is_err());
        assert!(Mark::new(i64::MAX, "a").is_err());
        assert!(Mark::new(1, "a\nb").is_err());
        assert!(Mark::new(1, &"é".repeat(200)).is_ok());
        assert!(Mark::new(1, &"é".repeat(201)).is_err());
    }
}
