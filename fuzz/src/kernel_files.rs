//! Any bytes as any of the kernel's files; the first byte chooses which.

#[path = "../../crates/facts/tests/parsers/list.rs"]
mod list;

use list::{OTHERS, PARSERS};

/// Nothing panics, whatever the bytes are.
pub fn run(data: &[u8]) {
    let Some((which, bytes)) = data.split_first() else { return };
    let which = usize::from(*which) % (PARSERS.len() + OTHERS.len());
    let (_, parse) = PARSERS.iter().chain(OTHERS).nth(which).unwrap();
    let _ = parse(bytes);
}
