//! Starting a command from parents of several sizes.

use facts::unit::Bytes;
use probe::spawn::Command;

use super::measurement::{Measurement, Unit, own_wall};
use super::programs::python;
use text::units::Size;

const SPAWNS: u32 = 40;

pub(super) fn measurements() -> Vec<Measurement> {
    [("spawn-10M", 10), ("spawn-100M", 100), ("spawn-1G", 1024)]
        .into_iter()
        .map(|(name, mebibytes)| of_size(name, mebibytes << 20))
        .collect()
}

/// The parent has the memory, written to by 4 KiB pages as most of a program's is.
const PARENT: &str = include_str!("peers/spawn.py");

fn of_size(name: &'static str, bytes: usize) -> Measurement {
    let parent = move |way: &'static str, count: u32| {
        let program = PARENT
            .replace("BYTES", &bytes.to_string())
            .replace("WAY", way)
            .replace("COUNT", &count.to_string());
        move || python(&program)
    };
    let whit = move || {
        probe::refuse_huge_pages();
        let memory = vec![1_u8; bytes];
        let command = Command { words: vec!["/bin/true".into()], ..Command::default() };
        let cost = own_wall(SPAWNS, || {
            let pid = command.start().map_err(|error| error.to_string())?;
            probe::spawn::reap(pid).map(drop).ok_or_else(|| "no child to reap".to_owned())
        });
        drop(memory);
        cost
    };
    let title = match name {
        "spawn-10M" => "Starting a command from a process of 10 MB",
        "spawn-100M" => "Starting a command from a process of 100 MB",
        _ => "Starting a command from a process of 1 GB",
    };
    Measurement::new(
        name,
        title,
        Unit::Wall("a command"),
        format!(
            "Time from starting true to having reaped it, one after the other, from a process that has written to {} by pages \
             of 4 KiB: whit itself, or Python.",
            Size(Bytes(bytes as u64))
        ),
    )
    .at_most(5)
    .side("whit, a child that borrows the memory", &[], whit)
    .side("Python, posix_spawn", &["python3"], parent("spawn", SPAWNS))
    .side("Python, fork and exec", &["python3"], parent("fork", SPAWNS / 2))
    .side("Python, popen with a shell", &["python3"], parent("popen", SPAWNS / 2))
}
