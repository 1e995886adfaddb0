//! What is fuzzed: a function of bytes for each target.
//!
//! libFuzzer calls them (fuzz_targets), and so does a test of the workspace with the packed inputs (crates/whit/tests/inputs.rs), which
//! needs no nightly compiler.

pub mod agent;
pub mod formats;
pub mod freebsd;
pub mod kernel_files;
pub mod mailbox;
pub mod netlink;
pub mod query;
pub mod syndication;
pub mod taskstats;

/// A target: its name, and what takes the bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All there are.
pub const TARGETS: [Target; 9] = [
    ("agent", agent::run),
    ("formats", formats::run),
    ("freebsd", freebsd::run),
    ("kernel_files", kernel_files::run),
    ("mailbox", mailbox::run),
    ("netlink", netlink::run),
    ("query", query::run),
    ("syndication", syndication::run),
    ("taskstats", taskstats::run),
];
