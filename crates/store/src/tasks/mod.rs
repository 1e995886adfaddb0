//! All tasks over time: what a `TaskStore` was given in each round, so that the same store can be filled with it again.

mod chunk;
mod fields;
mod recorder;
mod replay;
mod table;
mod thin;

pub(crate) use chunk::{Chunk, ChunkKey, unsealed as unsealed_chunks};
pub(crate) use recorder::TaskRecorder;
pub use recorder::TaskTick;
pub use replay::{TaskReplay, TaskRound};
