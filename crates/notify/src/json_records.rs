//! Records of a ledger as JSON.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{Records, StoreError};

/// The changes that are written to a ledger together: records, and the keys of those that are deleted.
#[derive(Debug, Default)]
pub struct RecordChange {
    /// To be written.
    pub records: Vec<(i64, Vec<u8>)>,
    /// To be deleted.
    pub forgotten: Vec<i64>,
}

impl RecordChange {
    /// Adds another one.
    pub fn add(&mut self, other: Self) {
        self.records.extend(other.records);
        self.forgotten.extend(other.forgotten);
    }

    /// Writes all of it, or nothing.
    pub fn write(self, records: &mut Records) -> Result<(), StoreError> {
        let written = self.records.iter().map(|(key, data)| (*key, data.as_slice()));
        records.write(written, self.forgotten.into_iter())
    }
}

/// All records in a range of keys, each with its key; those that cannot be parsed are left out.
pub fn read<T: DeserializeOwned>(records: &Records, keys: Range<i64>) -> Result<Vec<(i64, T)>, StoreError> {
    let found = records.range(keys)?.into_iter();
    Ok(found.filter_map(|(key, data)| Some((key, serde_json::from_slice(&data).ok()?))).collect())
}

/// The bytes of a record.
pub fn json(value: &impl Serialize) -> Vec<u8> {
    // Numbers, texts and lists have a form in JSON.
    serde_json::to_vec(value).unwrap_or_default()
}
