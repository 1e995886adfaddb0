//! The inputs that fuzzing has found, as they are and changed at random: no parser panics.
//!
//! `make fuzz` looks for new code paths with libFuzzer and a nightly compiler; `.ci/fuzz seeds` packs the smallest inputs that reach all
//! code that was ever reached into fuzz/seeds. This test begins there. WHIT_MUTATIONS is how often each input is changed, 25 by default.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

#[path = "../../../fuzz/src/lib.rs"]
mod fuzz;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;

/// xorshift64*: small, and the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) as usize % bound.max(1)
    }

    /// Changes an input in one to four places: other bits, bytes that go or come twice, a part of another input.
    fn change(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut changed = input.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(changed.len());
            let end = (at + 1 + self.below(16)).min(changed.len());
            match self.below(4) {
                0 if at < changed.len() => changed[at] ^= 1 << self.below(8),
                1 if at < end => drop(changed.drain(at..end)),
                2 if at < end => {
                    let part = changed[at..end].to_vec();
                    changed.splice(at..at, part);
                }
                _ => {
                    let from = self.below(other.len());
                    let part = &other[from..(from + 1 + self.below(16)).min(other.len())];
                    changed.splice(at..at, part.iter().copied());
                }
            }
        }
        changed
    }
}

fn inputs(name: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(format!("{name}.tar.gz"));
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(path).unwrap()));
    let mut inputs = Vec::new();
    for entry in archive.entries().unwrap() {
        let (mut entry, mut input) = (entry.unwrap(), Vec::new());
        if entry.header().entry_type().is_file() {
            entry.read_to_end(&mut input).unwrap();
            inputs.push(input);
        }
    }
    inputs
}

#[test]
fn no_input_that_was_found_makes_a_parser_panic() {
    let mutations = std::env::var("WHIT_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(25);
    let mut random = Random(0x5eed_f00d);
    for (name, run) in fuzz::TARGETS {
        let inputs = inputs(name);
        assert!(inputs.len() > 20, "{name}: {} inputs", inputs.len());
        for input in &inputs {
            let check = |bytes: &[u8]| {
                let ended = std::panic::catch_unwind(|| run(bytes));
                assert!(ended.is_ok(), "{name} panics with {:?}", bytes.escape_ascii().to_string());
            };
            check(input);
            for _ in 0..mutations {
                let other = &inputs[random.below(inputs.len())];
                check(&random.change(input, other));
            }
        }
    }
}
