//! The last changes of alerts and checks, in their ledgers: what the feed at `/feed.atom` shows.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use store::{Records, StoreError};

use crate::json_records::{self, RecordChange};

/// Changes that are kept in one ledger.
const MAX_CHANGES: usize = 500;

/// An alert began or ended, or the hard state of a check changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateChange {
    /// `check web1/http`, `alert disk full`.
    pub subject: String,
    /// The new state.
    pub state: String,
    /// The text that is known of it.
    pub text: String,
    /// When that was, in milliseconds since 1970.
    pub at_ms: i64,
}

/// The changes in a ledger: those of its records with certain keys.
#[derive(Clone, Debug)]
pub struct ChangeRecords(pub Range<i64>);

impl ChangeRecords {
    /// All that are kept, the oldest first, each with its key.
    pub fn all(&self, records: &Records) -> Result<Vec<(i64, StateChange)>, StoreError> {
        json_records::read(records, self.0.clone())
    }

    /// Adds new changes; those that are beyond the limit are deleted.
    pub fn with(&self, records: &Records, new: &[StateChange]) -> Result<RecordChange, StoreError> {
        if new.is_empty() {
            return Ok(RecordChange::default());
        }
        let known: Vec<i64> = self.all(records)?.into_iter().map(|(key, _)| key).collect();
        let first = known.last().copied().unwrap_or(self.0.start) + 1;
        // More at a time than are kept: the newest.
        let new = &new[new.len().saturating_sub(MAX_CHANGES)..];
        let records = (first..).zip(new).map(|(key, change)| (key, json_records::json(change))).collect();
        let beyond = (known.len() + new.len()).saturating_sub(MAX_CHANGES).min(known.len());
        Ok(RecordChange { records, forgotten: known[..beyond].to_vec() })
    }
}
