//! For i3bar and swaybar.

use probe::signals::Signal;
use wire::i3bar::{Block as JsonBlock, Header};

use crate::bar::{Block, Dress, Output, Tone, shown};
use crate::failure::Failure;

/// By this the reader tells that nobody looks, instead of by SIGSTOP: whit then sleeps of its own accord, with nothing
/// half done that others wait for, and wakes by SIGCONT.
pub(crate) const STOP_SIGNAL: Signal = Signal::Stop;

/// An endless array of arrays of blocks.
pub(super) struct I3bar;

impl Output for I3bar {
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

    fn line(&mut self, blocks: &[Block], dress: &Dress, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.push(b'[');
        for (index, block) in shown(blocks).enumerate() {
            if index > 0 {
                out.push(b',');
            }
            let json = JsonBlock {
                name: block.kind,
                instance: none_if_empty(&block.instance),
                full_text: &block.text,
                short_text: none_if_empty(&block.short),
                color: dress.theme.color(block),
                background: dress.theme.background(block),
                min_width: none_if_empty(&block.min_width),
                align: block.align,
                urgent: block.tone == Tone::Urgent,
                markup: block.is_markup.then_some("pango"),
                separator: None,
                separator_block_width: None,
            };
            // As above.
            let _ = serde_json::to_writer(&mut *out, &json);
        }
        out.extend_from_slice(b"]\n");
        Ok(())
    }

    fn between(&self) -> &'static [u8] {
        b","
    }
}

fn none_if_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
