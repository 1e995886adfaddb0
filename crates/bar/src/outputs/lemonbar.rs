//! For lemonbar: `whit bar -o lemonbar | lemonbar`. A `%` that means itself is doubled.

use super::escape::push_doubled;
use crate::{Block, LineOutput, LineStyle, Tone, shown};
use command::failure::Failure;

/// Blocks to the right, with colours in `%{…}`.
pub(super) struct Lemonbar;

impl LineOutput for Lemonbar {
    fn line(&mut self, blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.extend_from_slice(b"%{r}");
        for (index, block) in shown(blocks).enumerate() {
            if index > 0 {
                push_doubled(&style.separator, b'%', out);
            }
            let color = style.theme.color(block);
            let background = style.theme.background(block);
            for (letter, color) in [('F', color), ('B', background)] {
                if let Some(color) = color {
                    // With the alpha in front.
                    let [red, green, blue, alpha] = color.0;
                    let tag = format!("%{{{letter}#{alpha:02x}{red:02x}{green:02x}{blue:02x}}}");
                    out.extend_from_slice(tag.as_bytes());
                }
            }
            // Underlined, where the theme has no colour for it.
            let is_underlined = block.tone == Tone::Urgent && color.is_none();
            out.extend_from_slice(if is_underlined { b"%{+u}" } else { b"" });
            push_doubled(&block.text, b'%', out);
            out.extend_from_slice(if is_underlined { b"%{-u}" } else { b"" });
            out.extend_from_slice(if color.is_some() { b"%{F-}" } else { b"" });
            out.extend_from_slice(if background.is_some() { b"%{B-}" } else { b"" });
        }
        out.push(b'\n');
        Ok(())
    }
}
