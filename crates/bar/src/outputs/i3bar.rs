//! For i3bar and swaybar.

use formats::i3bar::{Block as JsonBlock, Header};
use probe::signals::Signal;

use crate::{Block, LineOutput, LineStyle, Theme, Tone};
use command::failure::Failure;

/// The reader sends this if the bar is hidden, instead of SIGSTOP: whit then sleeps of its own accord, with nothing
/// half done that others wait for, and wakes by SIGCONT.
pub(crate) const STOP_SIGNAL: Signal = Signal::Stop;

/// An endless array of arrays of blocks. Of a line most blocks are what they were a second ago, and so is their JSON.
#[derive(Default)]
pub(super) struct I3bar {
    made: Vec<Made>,
    theme: Theme,
}

#[derive(Default)]
struct Made {
    block: Block,
    json: Vec<u8>,
}

impl LineOutput for I3bar {
    fn start(&mut self, out: &mut Vec<u8>) {
        let header = Header {
            version: 1,
            stop_signal: Some(STOP_SIGNAL.number()),
            cont_signal: Some(Signal::Continue.number()),
            click_events: true,
        };
        // A Vec takes whatever is written to it, and these fields have no way to fail.
        let _ = serde_json::to_writer(&mut *out, &header);
        out.extend_from_slice(b"\n[\n");
    }

    fn line(&mut self, blocks: &[Block], style: &LineStyle, out: &mut Vec<u8>) -> Result<(), Failure> {
        if self.theme != style.theme || self.made.len() != blocks.len() {
            self.theme = style.theme;
            self.made.clear();
            self.made.resize_with(blocks.len(), Made::default);
        }
        out.push(b'[');
        let start = out.len();
        for (block, made) in blocks.iter().zip(&mut self.made) {
            if made.block != *block {
                made.json.clear();
                push_block(block, &style.theme, &mut made.json);
                made.block.clone_from(block);
            }
            if !block.text.is_empty() {
                if out.len() > start {
                    out.push(b',');
                }
                out.extend_from_slice(&made.json);
            }
        }
        out.extend_from_slice(b"]\n");
        Ok(())
    }

    fn between(&self) -> &'static [u8] {
        b","
    }
}

fn push_block(block: &Block, theme: &Theme, out: &mut Vec<u8>) {
    let json = JsonBlock {
        name: block.kind,
        instance: none_if_empty(&block.instance),
        full_text: &block.text,
        short_text: none_if_empty(&block.short),
        color: theme.color(block),
        background: theme.background(block),
        min_width: none_if_empty(&block.min_width),
        align: block.align,
        urgent: block.tone == Tone::Urgent,
        markup: block.is_markup.then_some("pango"),
    };
    // A Vec takes whatever is written to it, and these fields have no way to fail.
    let _ = serde_json::to_writer(out, &json);
}

fn none_if_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
