//! The records that must survive a restart: the states of all checks.

use std::io;
use std::ops::Range;
use std::path::Path;

use store::{RecordSize, Records, StoreError};

use super::downtime::Downtime;
use super::notice::CheckNotice;
use super::request::CheckRequest;
use super::slot;
use super::status::CheckStatus;
use notify::json_records::{self, RecordChange, json};
use notify::{ChangeRecords, StateChange};
use notify::{Delivery, DeliveryRecords};

/// Its name in the data directory.
const FILE: &str = "checks.sqlite";
/// Keys of statuses, by a hash of the check's name; and those of long texts.
const STANDINGS: Range<i64> = 1 << 60..2 << 60;
const LONG_TEXTS: Range<i64> = 2 << 60..3 << 60;
const DELIVERIES: DeliveryRecords = DeliveryRecords(1 << 32..2 << 32);
const DOWNTIMES: Range<i64> = 2 << 32..3 << 32;
const CHANGES: ChangeRecords = ChangeRecords(4 << 32..5 << 32);
const REQUESTS: Range<i64> = 3 << 32..4 << 32;
/// The most requests that may wait; the agent does a thousand at a time.
const MAX_WAITING_REQUESTS: usize = 100_000;

/// The file.
#[derive(Debug)]
pub struct CheckLedger {
    records: Records,
}

impl CheckLedger {
    /// Opens that of a data directory, to be asked.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open_for_reading(directory: &Path) -> Result<Self, StoreError> {
        Ok(Self { records: Records::open_for_reading(&directory.join(FILE))? })
    }

    /// Opens that of a data directory, to be written.
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

    /// Returns whether there is one in a directory.
    ///
    /// # Errors
    /// If this user may not look.
    pub fn is_in(directory: &Path) -> io::Result<bool> {
        directory.join(FILE).try_exists()
    }

    /// Returns whether its file is still there.
    pub(super) fn is_in_place(&self) -> bool {
        self.records.is_in_place()
    }

    /// How all checks stand, without their long texts.
    pub(super) fn statuses(&self) -> Result<Vec<CheckStatus>, StoreError> {
        let records = self.records.range(STANDINGS)?.into_iter();
        Ok(records.filter_map(|(_, data)| serde_json::from_slice(&data).ok()).collect())
    }

    /// Returns the same without the states of checks that are not configured any more.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn configured(&self) -> Result<Vec<CheckStatus>, StoreError> {
        let mut statuses = self.statuses()?;
        statuses.retain(|status| status.gone_ms.is_none());
        Ok(statuses)
    }

    /// Notes that checks are not configured any more, and forgets those for which that has been so for long.
    pub(super) fn set_aside(
        &mut self,
        others: Vec<CheckStatus>,
        now_ms: i64,
        forget_after_ms: i64,
    ) -> Result<(), StoreError> {
        let (mut records, mut forgotten) = (Vec::new(), Vec::new());
        for mut other in others {
            match other.gone_ms {
                Some(gone_ms) if now_ms - gone_ms > forget_after_ms => {
                    forgotten.extend([key(STANDINGS, &other.name), key(LONG_TEXTS, &other.name)]);
                }
                Some(_) => {}
                None => {
                    other.gone_ms = Some(now_ms);
                    records.push((key(STANDINGS, &other.name), json(&other)));
                }
            }
        }
        if records.is_empty() && forgotten.is_empty() {
            return Ok(());
        }
        self.records.write(records.iter().map(|(key, data)| (*key, data.as_slice())), forgotten.into_iter())
    }

    /// How a check stands, with its long text; `None` if nothing is known of it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn status(&self, name: &str) -> Result<Option<CheckStatus>, StoreError> {
        let Some(data) = self.records.get(key(STANDINGS, name))? else { return Ok(None) };
        let status = serde_json::from_slice::<CheckStatus>(&data).ok();
        let Some(mut status) = status.filter(|status| status.name == name) else { return Ok(None) };
        status.long_text = self.long_text(name)?;
        Ok(Some(status))
    }

    /// The long text of a check; empty if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn long_text(&self, name: &str) -> Result<String, StoreError> {
        let text = self.records.get(key(LONG_TEXTS, name))?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// All deliveries that are known, the oldest first, each with its key.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn deliveries(&self) -> Result<Vec<(i64, Delivery<CheckNotice>)>, StoreError> {
        DELIVERIES.all(&self.records)
    }

    /// The last changes of hard states, the oldest first, each with its key.
    pub fn changes(&self) -> Result<Vec<(i64, StateChange)>, StoreError> {
        CHANGES.all(&self.records)
    }

    /// The records with the deliveries.
    pub(super) fn delivery_records(&mut self) -> (&mut Records, DeliveryRecords) {
        (&mut self.records, DELIVERIES)
    }

    /// All downtimes, each with its number.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn downtimes(&self) -> Result<Vec<(i64, Downtime)>, StoreError> {
        let all = json_records::read(&self.records, DOWNTIMES)?;
        Ok(all.into_iter().map(|(key, downtime)| (key - DOWNTIMES.start, downtime)).collect())
    }

    /// Adds a downtime, and forgets those that are over.
    pub(super) fn add_downtime(&mut self, downtime: &Downtime, now_ms: i64) -> Result<(), StoreError> {
        let known: Vec<(i64, Downtime)> = json_records::read(&self.records, DOWNTIMES)?;
        let key = known.last().map_or(DOWNTIMES.start, |(key, _)| *key) + 1;
        let over = known.iter().filter(|(_, known)| known.until_ms <= now_ms).map(|(key, _)| *key);
        self.records.write([(key, json(downtime).as_slice())].into_iter(), over)
    }

    /// Ends a downtime by its number.
    pub(super) fn end_downtime(&mut self, number: i64) -> Result<(), StoreError> {
        self.records.delete(std::iter::once(DOWNTIMES.start.saturating_add(number)))
    }

    /// Asks the agent for something. It is done soon, or when an agent runs again. Returns the numbers of the requests.
    ///
    /// # Errors
    /// If it cannot be written, or too much waits already.
    pub fn request(&mut self, requests: &[CheckRequest]) -> Result<Range<i64>, StoreError> {
        let waiting = self.records.keys_in(REQUESTS)?;
        if waiting.len() + requests.len() > MAX_WAITING_REQUESTS {
            return Err(StoreError::Full("too much waits for the agent: does it run?"));
        }
        let records: Vec<Vec<u8>> = requests.iter().map(json).collect();
        let first = self.records.append(REQUESTS, records.iter().map(Vec::as_slice))?;
        Ok(first..first + i64::try_from(requests.len()).unwrap_or(i64::MAX))
    }

    /// Takes requests back that no agent has taken, by their numbers.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn withdraw(&mut self, requests: Range<i64>) -> Result<(), StoreError> {
        self.records.delete(requests)
    }

    /// Returns whether a request waits for the agent, by its number.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn has_request(&self, number: i64) -> Result<bool, StoreError> {
        Ok(self.records.get(number)?.is_some())
    }

    /// Keeps its log short.
    pub(super) fn checkpoint(&self) -> Result<(), StoreError> {
        self.records.checkpoint()
    }

    /// Returns whether another process wrote something since the last call.
    pub(super) fn has_news(&mut self) -> Result<bool, StoreError> {
        self.records.was_changed_by_others()
    }

    /// Returns the requests that are not done yet, the oldest first.
    pub(super) fn requests(&self, most: usize) -> Result<Vec<(i64, CheckRequest)>, StoreError> {
        let mut all = json_records::read(&self.records, REQUESTS)?;
        all.truncate(most);
        Ok(all)
    }

    /// Writes what is new together with its notifications, and removes what was done: all of it or nothing.
    pub(super) fn commit(
        &mut self,
        batch: Batch,
        notices: &[Delivery<CheckNotice>],
        changes: &[StateChange],
        done: &[i64],
    ) -> Result<(), StoreError> {
        let mut change = RecordChange { records: batch.records, forgotten: done.to_vec() };
        change.add(CHANGES.with(&self.records, changes)?);
        if !notices.is_empty() {
            change.add(DELIVERIES.with(&self.records, notices)?);
        }
        change.write(&mut self.records)
    }
}

/// Standings that are to be written together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    records: Vec<(i64, Vec<u8>)>,
}

impl Batch {
    /// Adds one.
    pub(super) fn add_status(&mut self, status: &CheckStatus) {
        // An empty text is written if there was another one.
        if status.is_text_new && (!status.long_text.is_empty() || status.has_long_text) {
            self.records.push((key(LONG_TEXTS, &status.name), status.long_text.clone().into_bytes()));
        }
        let written = CheckStatus { has_long_text: status.will_have_text(), ..status.clone() };
        self.records.push((key(STANDINGS, &status.name), json(&written)));
    }
}

fn key(range: Range<i64>, name: &str) -> i64 {
    range.start + (slot::hash(name) >> 4).cast_signed()
}
