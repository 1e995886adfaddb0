//! The protocol of i3bar and swaybar: <https://i3wm.org/docs/i3bar-protocol.html>, swaybar-protocol(7).

use serde::Serialize;

use crate::bar::{Block, Output, Urgency};

/// An endless array of arrays of blocks.
#[derive(Debug, Default)]
pub(crate) struct I3bar {
    is_under_way: bool,
}

#[derive(Serialize)]
struct JsonBlock<'a> {
    name: &'a str,
    full_text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<&'static str>,
    #[serde(skip_serializing_if = "is_false")]
    urgent: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Output for I3bar {
    fn start(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"version\":1}\n[\n");
    }

    fn line(&mut self, blocks: &[Block], out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_under_way { b",[" } else { b"[" });
        self.is_under_way = true;
        let mut separator: &[u8] = b"";
        for block in blocks.iter().filter(|block| !block.text.is_empty()) {
            out.extend_from_slice(separator);
            separator = b",";
            let block = JsonBlock {
                name: block.name,
                full_text: &block.text,
                color: (block.urgency == Urgency::Warning).then_some("#e0a000"),
                urgent: block.urgency == Urgency::Urgent,
            };
            // A Vec takes whatever is written to it, and these fields have no way to fail.
            let _ = serde_json::to_writer(&mut *out, &block);
        }
        out.extend_from_slice(b"]\n");
    }
}
