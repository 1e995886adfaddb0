//! What must survive a restart: which alerts there are, what is still to be told of them, and silences. A state and what is to be told of
//! it are one transaction, so that nothing is told twice and nothing is forgotten.

use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store::{Records, StoreError};

use super::active::Active;
use super::rule::Receiver;
use super::silence::Silence;

/// Its name in the data directory.
const FILE: &str = "alerts.sqlite";
const STATE: i64 = 0;
const DELIVERIES: Range<i64> = 1 << 32..2 << 32;
const SILENCES: Range<i64> = 2 << 32..3 << 32;
/// Deliveries that are over and still known.
const MOST_OVER: usize = 100;
/// Deliveries that wait; what is beyond is given up, the oldest first.
const MOST_WAITING: usize = 1000;

/// A notice for one receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Distinguishes it from all others, for receivers that want to be sure.
    pub id: String,
    /// Its name.
    pub receiver: String,
    /// What it is told of, as that was.
    pub alert: Active,
    /// It is told that this is over.
    pub is_end: bool,
    /// When that was, in milliseconds since 1970.
    pub created_ms: i64,
    /// How often it was tried.
    pub attempts: u32,
    /// It is not tried before, in milliseconds since 1970.
    pub next_ms: i64,
    /// How it ended; `None`: it has not.
    pub outcome: Option<Outcome>,
    /// Why the last attempt failed.
    pub reason: String,
}

impl Delivery {
    /// To be told at once.
    pub(super) fn new(receiver: &Receiver, alert: &Active, is_end: bool, now_ms: i64) -> Self {
        Self {
            id: String::new(),
            receiver: receiver.name.clone(),
            alert: alert.clone(),
            is_end,
            created_ms: now_ms,
            attempts: 0,
            next_ms: now_ms,
            outcome: None,
            reason: String::new(),
        }
    }
}

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The receiver has it.
    Delivered,
    /// Whether it has is not known, and so it is not told again.
    Unknown,
    /// It does not, and it is too late.
    GivenUp,
}

/// The file.
#[derive(Debug)]
pub struct Ledger {
    records: Records,
}

impl Ledger {
    /// Opens that of a data directory, and makes it if there is none.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        Ok(Self { records: Records::open(&directory.join(FILE))? })
    }

    /// The same for the agent that writes it: one that is damaged is renamed, and what is to be said about that returned.
    pub(super) fn take(directory: &Path) -> Result<(Self, Option<String>), StoreError> {
        let (records, finding) = Records::open_or_begin_again(&directory.join(FILE))?;
        Ok((Self { records }, finding))
    }

    /// Whether its file is still there.
    pub(super) fn is_in_place(&self) -> bool {
        self.records.is_in_place()
    }

    /// Whether there is one.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(FILE).exists()
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
    pub fn deliveries(&self) -> Result<Vec<(i64, Delivery)>, StoreError> {
        self.all(DELIVERIES)
    }

    /// All silences that are not over, each with its number.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn silences(&self, now_ms: i64) -> Result<Vec<(i64, Silence)>, StoreError> {
        let all = self.all(SILENCES)?;
        let numbered = all.into_iter().map(|(key, silence): (_, Silence)| (key - SILENCES.start, silence));
        Ok(numbered.filter(|(_, silence)| silence.until_ms > now_ms).collect())
    }

    /// Adds a silence, and forgets those that are over. Returns its number.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn silence(&mut self, silence: &Silence) -> Result<i64, StoreError> {
        let known: Vec<(i64, Silence)> = self.all(SILENCES)?;
        let key = known.last().map_or(SILENCES.start, |(key, _)| *key) + 1;
        self.records.put([(key, json(silence).as_slice())].into_iter())?;
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

    /// Writes the state of all alerts with what is to be told, all of it or nothing. What there are too many of is forgotten.
    pub(super) fn commit(&mut self, active: &[Active], new: &[Delivery]) -> Result<(), StoreError> {
        let known = self.deliveries()?;
        let first = known.last().map_or(DELIVERIES.start, |(key, _)| *key) + 1;
        let mut records = vec![(STATE, json(&active))];
        for (key, delivery) in (first..).zip(new) {
            let id = format!("{:x}-{:x}", delivery.created_ms, key - DELIVERIES.start);
            records.push((key, json(&Delivery { id, ..delivery.clone() })));
        }
        self.records.put(records.iter().map(|(key, data)| (*key, data.as_slice())))?;
        let is_over = |(_, delivery): &&(i64, Delivery)| delivery.outcome.is_some();
        let over: Vec<i64> = known.iter().filter(is_over).map(|(key, _)| *key).collect();
        let waiting: Vec<i64> = known.iter().filter(|one| !is_over(one)).map(|(key, _)| *key).collect();
        let beyond = |keys: &[i64], most: usize| keys[..keys.len().saturating_sub(most)].to_vec();
        let forgotten = [beyond(&over, MOST_OVER), beyond(&waiting, MOST_WAITING)].concat();
        if !forgotten.is_empty() {
            self.records.delete(forgotten.into_iter())?;
        }
        Ok(())
    }

    /// Writes what became of a delivery.
    pub(super) fn update(&mut self, key: i64, delivery: &Delivery) -> Result<(), StoreError> {
        self.records.put([(key, json(delivery).as_slice())].into_iter())
    }

    fn all<T: DeserializeOwned>(&self, keys: Range<i64>) -> Result<Vec<(i64, T)>, StoreError> {
        let records = self.records.range(keys)?.into_iter();
        Ok(records.filter_map(|(key, data)| Some((key, serde_json::from_slice(&data).ok()?))).collect())
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Numbers, texts and lists have a form in JSON.
    serde_json::to_vec(value).unwrap_or_default()
}
