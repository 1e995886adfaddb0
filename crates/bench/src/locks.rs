//! A command under a lock, and a field of a line.

use std::hint::black_box;

use super::measurement::{Measurement, Unit, own_cpu};
use super::options::BenchOptions;
use super::programs::{cpu, own_program};
use super::scanning::Scratch;

const TIMES: u32 = 30;

pub(super) fn measurements(options: &BenchOptions) -> Vec<Measurement> {
    vec![lock(options), split()]
}

fn lock(options: &BenchOptions) -> Measurement {
    let scratch = Scratch::new(&options.directory, "lock", |path| std::fs::write(path.join("lock"), ""));
    // Each a shell's loop, so that a shell is in all of them.
    let looped = |scratch: Scratch, body: &'static str| {
        move || {
            let file = scratch.path()?.join("lock").display().to_string();
            let script = format!(
                "n=0; while [ $n -lt {TIMES} ]; do {}; n=$((n + 1)); done",
                body.replace("FILE", &file).replace("WHIT", &own_program())
            );
            Ok(cpu(&["bash", "-c", &script])? / f64::from(TIMES))
        }
    };
    Measurement::new(
        "lock",
        "A command under a lock",
        Unit::Cpu("a command"),
        "CPU time of running true under an exclusive lock, 30 times from a loop of bash, children included: whit run --lock, \
         flock(1) around the command, a subshell with a descriptor that flock(1) locks, and one descriptor that stays open.",
    )
    .side("whit run --lock", &["bash"], looped(scratch.clone(), "WHIT run -q --lock FILE -- true"))
    .side("flock around the command", &["bash", "flock"], looped(scratch.clone(), "flock FILE true"))
    .side("a subshell with flock", &["bash", "flock"], looped(scratch.clone(), "(flock 9; /bin/true) 9>FILE"))
    .side("a descriptor that stays", &["bash", "flock"], looped(scratch, "exec 9>FILE; flock 9; /bin/true; flock -u 9"))
}

fn split() -> Measurement {
    let line = "eth0: 1296 12 0 0 0 0 0 0 840 9 0 0 0 0 0 0";
    let looped = move |body: &'static str| {
        move || {
            let script =
                format!("line='{line}'; n=0; while [ $n -lt {TIMES} ]; do {body}; n=$((n + 1)); done");
            Ok(cpu(&["bash", "-c", &script])? / f64::from(TIMES))
        }
    };
    Measurement::new(
        "split",
        "The third field of a line",
        Unit::Cpu("a line"),
        "CPU time of a line, from a loop of bash over 30 lines, its start included: awk in a subshell, the shell's own \
         splitting; and whit's in its own loop.",
    )
    .side("whit", &[], move || {
        Ok(own_cpu(100_000, || {
            black_box(black_box(line).split_whitespace().nth(2));
        }))
    })
    .side("the shell's own splitting", &["bash"], looped("set -- $line; field=$3"))
    .side("awk in a subshell", &["bash", "awk"], looped("field=$(echo \"$line\" | awk '{print $3}')"))
}
