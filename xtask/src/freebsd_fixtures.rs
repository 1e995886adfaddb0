//! Composes fixtures/freebsd-13 and fixtures/freebsd-14: replies of sysctl(3) by the layouts of FreeBSD's headers.
//!
//! The offsets are written out in `replies.rs` and not taken from the reader, which would then agree with itself. `make freebsd` compares them
//! with the headers.

mod machines;
mod replies;

use std::path::Path;

use crate::outcome::Outcome;
use machines::{laptop, server};

/// Writes both fixtures below a directory.
pub(crate) fn run(directory: &Path) -> Outcome {
    laptop()
        .write(&directory.join("freebsd-13"), "/ 245107195904 98765432100 79157856428 31000000 29500000\n")?;
    server().write(
        &directory.join("freebsd-14"),
        "/ 3960000000000 3100000000000 3100000000000 7000000000 6900000000\n",
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_fixtures_are_as_composed() {
        for (name, machine) in [("freebsd-13", laptop()), ("freebsd-14", server())] {
            let directory =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name).join("sysctl");
            let mut names: Vec<String> = fs::read_dir(&directory)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            assert_eq!(names, machine.replies.keys().cloned().collect::<Vec<_>>(), "{name}");
            for (node, bytes) in &machine.replies {
                assert_eq!(&fs::read(directory.join(node)).unwrap(), bytes, "{name}: {node}");
            }
            let uptime = fs::read_to_string(directory.join("../uptime")).unwrap();
            assert_eq!(uptime.trim_end(), replies::UPTIME);
        }
    }
}
