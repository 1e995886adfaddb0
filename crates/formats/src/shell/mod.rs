//! Programs for a shell, sh(1p): with values in them that are never read as a part of the program.

mod command;
mod program;

pub use command::program_among;
pub use program::{Piece, words};
