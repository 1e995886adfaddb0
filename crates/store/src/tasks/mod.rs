//! All tasks over time: what a `TaskStore` was given in each round, so that the same store can be filled with it again.

mod chunk;
mod exact;
mod recorder;
mod replay;

pub(crate) use chunk::{ChunkKey, read as read_chunk, write as write_chunk};
pub(crate) use exact::exact_rounds_ns;
pub(crate) use recorder::TaskRecorder;
pub use recorder::TaskTick;
pub use replay::{TaskNames, TaskReplay};
