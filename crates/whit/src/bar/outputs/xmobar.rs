//! For xmobar: `Run UnsafeStdinReader`, or a pipe. What others wrote is put into `<raw>`, where tags mean nothing.

use crate::bar::{Block, Dress, Output, shown};
use crate::failure::Failure;

/// Blocks with tags.
pub(super) struct Xmobar;

impl Output for Xmobar {
    fn line(&mut self, blocks: &[Block], dress: &Dress, out: &mut Vec<u8>) -> Result<(), Failure> {
        for (index, block) in shown(blocks).enumerate() {
            if index > 0 {
                push_raw(&dress.separator, out);
            }
            let color = dress.theme.color(block);
            let background = dress.theme.background(block);
            let hex = |color: crate::bar::Color| {
                let [red, green, blue, _] = color.0;
                format!("#{red:02x}{green:02x}{blue:02x}")
            };
            // A background needs a colour to stand before it.
            let tag = match (color, background) {
                (None, None) => None,
                (Some(color), None) => Some(hex(color)),
                (color, Some(background)) => {
                    Some(format!("{},{}", color.map_or("#ffffff".to_owned(), hex), hex(background)))
                }
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
