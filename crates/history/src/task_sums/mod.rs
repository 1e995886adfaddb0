//! Sums of what tasks did in each minute and in each hour: an answer about a day reads a hundred of these instead of replaying every tick. On a
//! machine whose ticks take long to replay, the minute that runs has sums of each ten seconds.
//!
//! Sums are derived: whatever they say can be replayed from the history, and a minute without them is. They are made by the server, a while
//! after a minute is over, and are in a file of their own, so that the recorder has no part in it.

mod boots;
mod churn;
mod columns;
mod encoding;
mod file;
mod hour;
mod recent;
mod replay;
mod span;
mod span_sums;
mod summarizer;
mod upkeep;

pub(crate) use boots::Boots;
pub(crate) use churn::{Churn, ChurnSummary};
pub(crate) use file::SumsFile;
pub(crate) use span::{MINUTE_MS, MINUTES, Span, whole_hours, whole_minutes, whole_ten_seconds};
#[cfg(test)]
pub(crate) use span_sums::SpanSums;
pub(crate) use span_sums::{BriefSums, ProcessSums, SpanGroups, SpanProcesses, TaskGroup};
pub use summarizer::Summarizer;
#[cfg(test)]
pub(crate) use summarizer::{change, make_all, remake_all};
pub use upkeep::{check, fill};
