//! The input of a task store in each round, as numbers: for a history, and for a socket. A store that is filled with them is the same.

mod decoder;
mod encoder;
pub mod fields;
mod living;
mod merge;
mod table;
mod tables;

pub use decoder::{RoundDecoder, RoundSummary};
pub use encoder::{RoundEncoder, Scope};
pub use table::Table;
pub use tables::{ROUND, Round, RoundTables};
