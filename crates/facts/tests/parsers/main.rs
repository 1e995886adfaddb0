//! Every parser of a kernel file: on the captured machines, on those cut and altered, and on any bytes.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use facts::cursor::Malformed;
use proptest::prelude::*;

mod list;

use list::{OTHERS, PARSERS, Parse};

fn machines() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut machines: Vec<_> = fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path()).collect();
    machines.sort();
    assert!(machines.len() >= 9, "{machines:?}");
    machines
}

/// Every file of every machine that a parser has, with the parser.
fn captured_files() -> Vec<(PathBuf, Vec<u8>, Parse)> {
    let parsers = || PARSERS.iter().chain(&OTHERS[..2]);
    let files = machines().into_iter().flat_map(|machine| {
        parsers().filter_map(move |(path, parse)| {
            let path = machine.join(path);
            fs::read(&path).ok().map(|bytes| (path, bytes, *parse))
        })
    });
    files.collect()
}

#[test]
fn every_captured_file_is_understood() {
    let files = captured_files();
    for (path, bytes, parse) in &files {
        assert_eq!(parse(bytes), Ok(()), "{}", path.display());
    }
    for (name, _) in PARSERS {
        assert!(files.iter().any(|(path, ..)| path.ends_with(name)), "no machine has {name}");
    }
}

#[test]
fn a_file_cut_anywhere_is_read_or_refused() {
    for (_, bytes, parse) in captured_files() {
        // Every place of a small file, and some of a large one.
        let step = (bytes.len() / 400).max(1);
        for length in (0..bytes.len()).step_by(step) {
            let _ = parse(&bytes[..length]);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        for (_, parse) in PARSERS.iter().chain(OTHERS) {
            if let Err(Malformed { offset, .. }) = parse(&bytes) {
                prop_assert!(offset <= bytes.len());
            }
        }
    }

    #[test]
    fn what_looks_like_a_kernel_file_is_read_or_refused(
        text in "(cpu|Node 0, zone|MemTotal:|some avg10=|[a-z0-9_]{1,8}|[ :()=/-]|[0-9]{1,21}| kB|\n){0,120}",
    ) {
        for (_, parse) in PARSERS.iter().chain(OTHERS) {
            let _ = parse(text.as_bytes());
        }
    }

    #[test]
    fn an_altered_file_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let files = captured_files();
        let (_, bytes, parse) = which.get(&files);
        let mut bytes = bytes.clone();
        // Where no cgroup is mounted, the file of a task's is empty.
        match bytes.is_empty() {
            true => bytes.push(byte),
            false => {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        let _ = parse(&bytes);
    }
}
