//! The interface of outputs.

use super::block::Block;
use super::theme::Theme;
use crate::failure::Failure;

/// Writes lines for one kind of reader.
pub(crate) trait Output {
    /// What comes before the first line.
    fn start(&mut self, _out: &mut Vec<u8>) {}

    /// One line; blocks without text are left out.
    ///
    /// # Errors
    /// Where an output that writes elsewhere cannot.
    fn line(&mut self, blocks: &[Block], dress: &Dress, out: &mut Vec<u8>) -> Result<(), Failure>;

    /// What stands before every line but the first.
    fn between(&self) -> &'static [u8] {
        b""
    }
}

/// How all outputs dress the line.
#[derive(Clone, Debug)]
pub(crate) struct Dress {
    pub(crate) theme: Theme,
    /// Between segments, for readers that have none of their own.
    pub(crate) separator: String,
}

/// The blocks that are shown.
pub(crate) fn shown(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    blocks.iter().filter(|block| !block.text.is_empty())
}
