//! History: what a machine's series and tasks were, tick by tick, in one SQLite file (docs/FORMAT.md).
//!
//! A tick is written to the journal, and survives the end of the process when [`Store::append`] returns. When a block of ticks is
//! full, each series' values become a compressed column, a few series a tick, and the block's journal is deleted. [`History`] reads
//! both.
//!
//! This crate knows no /proc: the meaning of a series is its name.

#![forbid(unsafe_code)]

mod aside;
mod block;
mod boots;
mod checkpoint;
mod checksum;
mod column;
mod database;
mod engine;
mod error;
mod history;
mod journal;
mod numbers;
mod outlet;
mod reading;
mod records;
mod retention;
mod sample;
mod series;
mod store;
mod task_names;
mod tasks;
mod thinning;
mod time_range;
mod unsealed;
mod verify;
mod window;

pub use engine::{Engine, PlainTables, StoreEngine};
pub use error::StoreError;
pub use history::{Extent, History, HistoryAtRest, SeriesVersion};
pub use records::{RecordSize, Records};
pub use retention::{Retention, Tier};
pub use sample::{GaugeRange, Reading, Sample};
pub use series::{SeriesId, SeriesKind};
pub use store::{ImportedSeries, Store, Tick};
pub use task_names::Named;
pub use tasks::{TaskNames, TaskReplay, TaskTick};
