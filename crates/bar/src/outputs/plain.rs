//! A line of text, in colours on a terminal.

use std::io::IsTerminal as _;

use crate::{Block, Color, LineOutput, LineStyle, Theme, Tone, shown};
use command::failure::Failure;
use command::output::{stdout_style, terminal_columns};
use text::style::{Emphasis, Style};

/// Blocks with separators between them.
pub(super) struct Plain {
    style: Style,
    text: String,
    is_terminal: bool,
    calls: u64,
}

impl Plain {
    pub(super) fn new() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        Self { style: stdout_style(), text: String::new(), is_terminal, calls: 0 }
    }

    /// Returns true if a line is longer than the terminal is wide, which may be another width each time.
    fn is_too_wide(&mut self, blocks: &[Block], style: &LineStyle) -> bool {
        if !self.is_terminal {
            return false;
        }
        self.calls += 1;
        terminal_columns().is_some_and(|columns| width(blocks, style) > columns)
    }

    /// The theme's colours where one was chosen, else those of the terminal, which suit its background.
    fn push_block(&mut self, block: &Block, style: &LineStyle) {
        let shade = match block.tone {
            Tone::Normal => None,
            Tone::Good => Some(Emphasis::Good),
            Tone::Warning => Some(Emphasis::Caution),
            Tone::Urgent => Some(Emphasis::Bad),
        };
        let own =
            block.color.or(if style.theme == Theme::default() { None } else { style.theme.color(block) });
        match (own, shade) {
            (Some(color), _) => push_colored(&mut self.text, color, &block.text),
            (None, Some(shade)) => {
                self.style.paint_into(&mut self.text, shade, |text| text.push_str(&block.text));
            }
            (None, None) => self.text.push_str(&block.text),
        }
    }
}

fn push_plain(blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) {
    for (index, block) in shown(blocks).enumerate() {
        if index > 0 {
            out.extend_from_slice(style.separator.as_bytes());
        }
        out.extend_from_slice(block.text.as_bytes());
    }
    out.push(b'\n');
}

fn push_colored(out: &mut String, color: Color, text: &str) {
    use std::fmt::Write as _;
    let [red, green, blue, _] = color.0;
    // A String takes whatever is written to it.
    let _ = write!(out, "\x1b[38;2;{red};{green};{blue}m{text}\x1b[0m");
}

/// The characters of a line.
fn width(blocks: &[Block], style: &LineStyle) -> usize {
    let separator = style.separator.chars().count();
    let widths = shown(blocks).map(|block| block.text.chars().count() + separator);
    widths.sum::<usize>().saturating_sub(separator)
}

/// Returns the blocks with their short texts.
fn shortened(blocks: &[Block]) -> Vec<Block> {
    let mut short = blocks.to_vec();
    for block in short.iter_mut().filter(|block| !block.text.is_empty() && !block.short.is_empty()) {
        block.text = std::mem::take(&mut block.short);
    }
    short
}

impl LineOutput for Plain {
    fn calls(&self) -> u64 {
        self.calls
    }

    fn line(&mut self, blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) -> Result<(), Failure> {
        // As i3bar has it: all of them, if the line is longer than the terminal is wide.
        let is_too_wide = self.is_too_wide(blocks, style);
        let short = if is_too_wide { shortened(blocks) } else { Vec::new() };
        let blocks = if is_too_wide { &short } else { blocks };
        if !self.style.is_colored {
            push_plain(blocks, style, out);
            return Ok(());
        }
        self.text.clear();
        for (index, block) in shown(blocks).enumerate() {
            if index > 0 {
                self.text.push_str(&style.separator);
            }
            self.push_block(block, style);
        }
        out.extend_from_slice(self.text.as_bytes());
        out.push(b'\n');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_replace_those_that_have_one() {
        let block = |text: &str, short: &str| Block {
            text: text.to_owned(),
            short: short.to_owned(),
            ..Block::default()
        };
        let blocks = [block("mem 3 %", "3 %"), block("load 1", ""), block("", "hidden")];
        let style = LineStyle { theme: Theme::default(), separator: " | ".to_owned() };
        assert_eq!(width(&blocks, &style), 16);
        let short = shortened(&blocks);
        let texts: Vec<&str> = short.iter().map(|block| block.text.as_str()).collect();
        assert_eq!((texts, width(&short, &style)), (vec!["3 %", "load 1", ""], 12));
    }
}
