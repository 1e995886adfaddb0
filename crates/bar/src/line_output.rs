//! The interface of outputs.

use super::block::Block;
use super::theme::Theme;
use command::failure::Failure;

/// Writes lines in the format of one program (i3bar, waybar, tmux …).
pub(crate) trait LineOutput {
    /// Appends what precedes the first line.
    fn start(&mut self, _out: &mut Vec<u8>) {}

    /// Appends one line. Blocks without text are left out.
    ///
    /// # Errors
    /// Returns a failure if an output that does not write to standard output cannot write.
    fn line(&mut self, blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) -> Result<(), Failure>;

    /// Returns how many system calls it made itself.
    fn calls(&self) -> u64 {
        0
    }

    /// The separator between lines.
    fn between(&self) -> &'static [u8] {
        b""
    }
}

/// Colours and separators, for all outputs.
#[derive(Clone, Debug)]
pub(crate) struct LineStyle {
    pub(crate) theme: Theme,
    /// Between segments, for programs that draw no separators.
    pub(crate) separator: String,
}

/// The blocks that are shown: those with text.
pub(crate) fn shown(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    blocks.iter().filter(|block| !block.text.is_empty())
}
