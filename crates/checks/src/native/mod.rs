//! Checks that whit does itself, without a process: [`kinds`] has the table of them.

mod certificate;
mod expression;
mod files;
mod http;
mod kinds;
mod names;
mod outcome;
mod ping;
mod pool;
mod probe;
mod processes;
mod tcp;
mod units;

pub(crate) use kinds::options;
pub use kinds::{KINDS, Kind, Native};
pub(super) use pool::{NativePool, NativeResult};
