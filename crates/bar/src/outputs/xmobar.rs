//! For xmobar: `Run UnsafeStdinReader`, or a pipe. What others wrote is put into `<raw>`, where tags mean nothing.

use crate::{Block, Color, LineOutput, LineStyle, shown};
use command::failure::Failure;

const WHITE: Color = Color([u8::MAX; 4]);

/// Blocks with tags.
pub(super) struct Xmobar;

impl LineOutput for Xmobar {
    fn line(&mut self, blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) -> Result<(), Failure> {
        for (index, block) in shown(blocks).enumerate() {
            if index > 0 {
                push_raw(&style.separator, out);
            }
            let color = style.theme.color(block);
            let background = style.theme.background(block);
            // A background needs a colour to stand before it.
            let tag = match (color.map(Color::opaque), background.map(Color::opaque)) {
                (None, None) => None,
                (Some(color), None) => Some(color.to_string()),
                (color, Some(background)) => Some(format!("{},{background}", color.unwrap_or(WHITE))),
            };
            if let Some(tag) = &tag {
                out.extend_from_slice(format!("<fc={tag}>").as_bytes());
            }
            push_raw(&block.text, out);
            if tag.is_some() {
                out.extend_from_slice(b"</fc>");
            }
        }
        out.push(b'\n');
        Ok(())
    }
}

fn push_raw(text: &str, out: &mut Vec<u8>) {
    if text.contains('<') {
        out.extend_from_slice(format!("<raw={}:{text}/>", text.chars().count()).as_bytes());
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}
