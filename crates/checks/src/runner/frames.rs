//! Frames between the agent and the process that runs plugins.

use probe::spawn::Ending;
use serde::{Deserialize, Serialize};

/// The most bytes of a plugin's output that are kept.
pub(super) const MAX_OUTPUT_BYTES: usize = 64 * 1024;
/// The most bytes of its standard error that are kept, which is shown if there is no output.
pub(super) const MAX_ERROR_BYTES: usize = 4096;
/// The body of a report has no more.
pub(super) const MAX_BODY_BYTES: usize = MAX_OUTPUT_BYTES + MAX_ERROR_BYTES;

/// A plugin that is to be run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Repeated by what is reported of it.
    pub(crate) id: u64,
    pub(crate) words: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) directory: Option<String>,
    pub(crate) user: Option<OrderUser>,
    pub(crate) timeout_ms: u64,
}

/// The user that it runs as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrderUser {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) groups: Vec<u32>,
}

/// The outcome of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ReportHead {
    pub(super) id: u64,
    pub(super) fate: Fate,
    /// Nothing of it runs any more. Otherwise another report follows when that is so.
    pub(super) is_gone: bool,
    pub(super) cost: RunCost,
    /// Bytes of its output, which follow; those of standard error follow them.
    pub(super) output_bytes: usize,
    pub(super) is_cut: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fate {
    /// By itself.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// Its time was over.
    TimedOut,
    /// The program is not there.
    NotFound(String),
    /// It cannot be executed.
    NotExecutable(String),
    /// The machine has no room for it.
    NotStarted(String),
    /// Its end was not seen.
    Lost,
    /// After its time was over, it has ended now.
    Gone,
}

impl Fate {
    pub(super) fn of_ending(ending: Ending) -> Self {
        match ending {
            Ending::Exited(status) => Self::Exited(status),
            Ending::Signaled(signal) => Self::Signaled(signal),
            Ending::Unknown => Self::Lost,
        }
    }
}

/// The cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunCost {
    /// From its start to its end.
    pub wall_ns: u64,
    /// The part of it that starting took.
    pub spawn_ns: u64,
    /// Its CPU time, and that of the children it waited for.
    pub cpu_ns: u64,
    /// For a CPU it waited for so long; `None` if that is not known, as below.
    pub run_queue_ns: Option<u64>,
    /// For disks.
    pub blkio_ns: Option<u64>,
    /// For memory: swap, reclaim, thrashing, compaction.
    pub memory_ns: Option<u64>,
}

impl RunCost {
    /// Adds another run's. Of what is not known of one, the sum is that of the others.
    pub(crate) fn add(&mut self, other: &Self) {
        let add = |sum: &mut Option<u64>, one: Option<u64>| {
            if let Some(one) = one {
                *sum = Some(sum.unwrap_or(0) + one);
            }
        };
        self.wall_ns += other.wall_ns;
        self.spawn_ns += other.spawn_ns;
        self.cpu_ns += other.cpu_ns;
        add(&mut self.run_queue_ns, other.run_queue_ns);
        add(&mut self.blkio_ns, other.blkio_ns);
        add(&mut self.memory_ns, other.memory_ns);
    }
}

/// The outcome of an order, with what was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Report {
    pub(crate) id: u64,
    pub(crate) fate: Fate,
    pub(crate) is_gone: bool,
    pub(crate) cost: RunCost,
    pub(crate) output: Vec<u8>,
    pub(crate) errors: Vec<u8>,
    pub(crate) is_cut: bool,
}
