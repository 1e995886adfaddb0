//! The records that must survive a restart: the active alerts, the notifications that are still to be sent, and silences. A state and its
//! notifications are one transaction, so that none is sent twice and none is forgotten.

use std::io;
use std::ops::Range;
use std::path::Path;

use store::{RecordSize, Records, StoreError};

use super::active::Active;
use super::silence::Silence;
use notify::json_records::{self, json};
use notify::{ChangeRecords, StateChange};
use notify::{Delivery, DeliveryRecords};

/// Its name in the data directory.
const FILE: &str = "alerts.sqlite";
const STATE: i64 = 0;
const DELIVERIES: DeliveryRecords = DeliveryRecords(1 << 32..2 << 32);
const CHANGES: ChangeRecords = ChangeRecords(3 << 32..4 << 32);
const SILENCES: Range<i64> = 2 << 32..3 << 32;

/// The file.
#[derive(Debug)]
pub struct Ledger {
    records: Records,
}

impl Ledger {
    /// Opens that of a data directory, to be asked.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open_for_reading(directory: &Path) -> Result<Self, StoreError> {
        Ok(Self { records: Records::open_for_reading(&directory.join(FILE))? })
    }

    /// Opens that of a data directory, to be written, and makes it if there is none.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        Ok(Self { records: Records::open(&directory.join(FILE))? })
    }

    /// Opens it for the agent that writes it: one that is damaged is renamed, and what is to be said about that returned.
    pub(super) fn take(directory: &Path) -> Result<(Self, Option<String>), StoreError> {
        let (records, finding) = Records::open_or_begin_again(&directory.join(FILE), RecordSize::Small)?;
        Ok((Self { records }, finding))
    }

    /// Returns whether its file is still there.
    pub(super) fn is_in_place(&self) -> bool {
        self.records.is_in_place()
    }

    /// Returns whether there is one in a directory.
    ///
    /// # Errors
    /// If this user may not look.
    pub fn is_in(directory: &Path) -> io::Result<bool> {
        directory.join(FILE).try_exists()
    }

    /// All alerts, as of the last change.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn active(&self) -> Result<Vec<Active>, StoreError> {
        Ok(self.records.get(STATE)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }

    /// All that are known, the oldest first, each with its key.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn deliveries(&self) -> Result<Vec<(i64, Delivery<Active>)>, StoreError> {
        DELIVERIES.all(&self.records)
    }

    /// All silences that are not over, each with its number.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn silences(&self, now_ms: i64) -> Result<Vec<(i64, Silence)>, StoreError> {
        let all = json_records::read(&self.records, SILENCES)?;
        let numbered = all.into_iter().map(|(key, silence): (_, Silence)| (key - SILENCES.start, silence));
        Ok(numbered.filter(|(_, silence)| silence.until_ms > now_ms).collect())
    }

    /// Adds a silence, and forgets those that are over. Returns its number.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn silence(&mut self, silence: &Silence) -> Result<i64, StoreError> {
        let known: Vec<(i64, Silence)> = json_records::read(&self.records, SILENCES)?;
        let key = self.records.append(SILENCES, std::iter::once(json(silence).as_slice()))?;
        let over = known.iter().filter(|(_, known)| known.until_ms <= silence.since_ms);
        self.records.delete(over.map(|(key, _)| *key))?;
        Ok(key - SILENCES.start)
    }

    /// Ends a silence by its number; whether there was one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end_silence(&mut self, number: i64, now_ms: i64) -> Result<bool, StoreError> {
        let key = SILENCES.start.saturating_add(number);
        let is_there = self.silences(now_ms)?.iter().any(|(known, _)| *known == number);
        if is_there {
            self.records.delete(std::iter::once(key))?;
        }
        Ok(is_there)
    }

    /// Writes the state of all alerts with the notifications to be sent, all of it or nothing. What there are too many of is forgotten.
    pub(super) fn commit(
        &mut self,
        active: &[Active],
        new: &[Delivery<Active>],
        changes: &[StateChange],
    ) -> Result<(), StoreError> {
        let mut change = DELIVERIES.with(&self.records, new)?;
        change.add(CHANGES.with(&self.records, changes)?);
        change.records.push((STATE, json(&active)));
        change.write(&mut self.records)
    }

    /// The last beginnings and ends, the oldest first, each with its key.
    pub fn changes(&self) -> Result<Vec<(i64, StateChange)>, StoreError> {
        CHANGES.all(&self.records)
    }

    /// The records with the deliveries.
    pub(super) fn delivery_records(&mut self) -> (&mut Records, DeliveryRecords) {
        (&mut self.records, DELIVERIES)
    }
}
