//! A line of text a tick.

use crate::bar::{Block, Output};

/// Blocks with bars between them.
#[derive(Debug, Default)]
pub(crate) struct Plain;

impl Output for Plain {
    fn start(&mut self, _out: &mut Vec<u8>) {}

    fn line(&mut self, blocks: &[Block], out: &mut Vec<u8>) {
        let mut separator = "";
        for block in blocks.iter().filter(|block| !block.text.is_empty()) {
            out.extend_from_slice(separator.as_bytes());
            out.extend_from_slice(block.text.as_bytes());
            separator = " | ";
        }
        out.push(b'\n');
    }
}
