//! For a custom module of waybar, `"return-type": "json"`.

use formats::waybar::Line;

use crate::{Block, LineOutput, LineStyle, Tone, shown};
use command::failure::Failure;
use text::printable::push_markup_escaped;

/// All blocks in one module: coloured by markup, one line each in the tooltip.
#[derive(Default)]
pub(super) struct Waybar {
    text: String,
    tooltip: String,
}

impl Waybar {
    fn push_block(&mut self, block: &Block, style: &LineStyle) {
        let start = self.text.len();
        if block.is_markup {
            self.text.push_str(&block.text);
        } else {
            push_markup_escaped(&mut self.text, &block.text);
        }
        self.tooltip.push_str(&self.text[start..]);
        if let Some(color) = style.theme.color(block) {
            self.text.insert_str(start, &format!("<span color=\"{}\">", color.opaque()));
            self.text.push_str("</span>");
        }
    }
}

impl LineOutput for Waybar {
    fn line(&mut self, blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.text.clear();
        self.tooltip.clear();
        for (index, block) in shown(blocks).enumerate() {
            if index > 0 {
                push_markup_escaped(&mut self.text, &style.separator);
                self.tooltip.push('\n');
            }
            self.push_block(block, style);
        }
        let tone = shown(blocks).map(|block| block.tone).max().unwrap_or_default();
        // The words that waybar's own modules use.
        let class = match tone {
            Tone::Normal => "",
            Tone::Good => "good",
            Tone::Warning => "warning",
            Tone::Urgent => "critical",
        };
        let line = Line { text: &self.text, tooltip: &self.tooltip, class, alt: class, percentage: None };
        // A Vec takes whatever is written to it, and these fields have no way to fail.
        let _ = serde_json::to_writer(&mut *out, &line);
        out.push(b'\n');
        Ok(())
    }
}
