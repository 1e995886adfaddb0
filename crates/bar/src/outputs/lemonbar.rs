//! For lemonbar: `whit bar --for lemonbar | lemonbar`; and for a module of polybar, which has taken over its tags.

use super::escape::{push_doubled, push_interrupted};
use crate::{Block, LineOutput, LineStyle, Tone, shown};
use command::failure::Failure;

/// Blocks to the right, with colours in `%{…}`. A `%` that means itself is doubled.
pub(super) struct Lemonbar;

impl LineOutput for Lemonbar {
    fn line(&mut self, blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.extend_from_slice(b"%{r}");
        push_blocks(blocks, style, |text, out| push_doubled(text, b'%', out), out);
        Ok(())
    }
}

/// Blocks with colours, for a module that stands where polybar's configuration says. Nothing escapes a tag there.
pub(super) struct Polybar;

impl LineOutput for Polybar {
    fn line(&mut self, blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) -> Result<(), Failure> {
        push_blocks(blocks, style, |text, out| push_interrupted(text, "%{", out), out);
        Ok(())
    }
}

fn push_blocks(blocks: &[Block], style: &LineStyle, push: fn(&str, &mut Vec<u8>), out: &mut Vec<u8>) {
    for (index, block) in shown(blocks).enumerate() {
        if index > 0 {
            push(&style.separator, out);
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
        push(&block.text, out);
        out.extend_from_slice(if is_underlined { b"%{-u}" } else { b"" });
        out.extend_from_slice(if color.is_some() { b"%{F-}" } else { b"" });
        out.extend_from_slice(if background.is_some() { b"%{B-}" } else { b"" });
    }
    out.push(b'\n');
}
