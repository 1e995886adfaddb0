//! For tmux: `set -g status-right '#(whit bar)'` shows the last line of a command that runs on. tmux(1), STYLES.

use super::escape::push_doubled;
use crate::{Block, LineOutput, LineStyle, shown};
use command::failure::Failure;

/// Blocks with styles in `#[…]`; a `#` that means itself is doubled.
pub(super) struct Tmux;

impl LineOutput for Tmux {
    fn line(&mut self, blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) -> Result<(), Failure> {
        for (index, block) in shown(blocks).enumerate() {
            if index > 0 {
                push_doubled(&style.separator, b'#', out);
            }
            let (color, background) = (style.theme.color(block), style.theme.background(block));
            for (name, color) in [("fg", color), ("bg", background)] {
                if let Some(color) = color {
                    out.extend_from_slice(format!("#[{name}={}]", color.opaque()).as_bytes());
                }
            }
            push_doubled(&block.text, b'#', out);
            if color.or(background).is_some() {
                out.extend_from_slice(b"#[default]");
            }
        }
        out.push(b'\n');
        Ok(())
    }
}
