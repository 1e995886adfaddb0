//! Options of `whit run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use probe::control::TaskSignal;
use probe::spawn::Limit;

use super::options::{LockOptions, RunOptions};
use command::failure::Failure;
use command::kind::Kind;
use command::options::{count, json, option, paragraphs, switch};
use command::quantity;
use text::printable::Shown as _;

pub(crate) fn command() -> Command {
    Command::new("run").about("Run a command, and show where the time of all it started went").defer(|command| {
        let of_lock = |arg: Arg| arg.requires("lock");
        command
            .arg(json())
            .arg(option("output", Kind::File, "Write the account to FILE: as text instead of on standard error, as JSON instead of on standard output").short('o'))
            .arg(switch("quiet", "Write no account, and nothing about the lock, not even that another has it").short('q').conflicts_with_all(["json", "output"]))
            .arg(count("Run it N times, one after the other, and tell median and spread"))
            .arg(option("compare", Kind::File, "Compare with an earlier report, which --json --output wrote").conflicts_with_all(["json", "quiet"]))
            .arg(option("timeout", Kind::Duration, "End it and all it started after this long, with exit status 124"))
            .arg(
                Arg::new("signal")
                    .long("signal")
                    .short('s')
                    .value_name("SIGNAL")
                    .value_parser(signal)
                    .requires("timeout")
                    .help("What ends it at the end of the time: TERM, INT, HUP, QUIT, USR1, USR2, KILL, or its number [default: TERM]"),
            )
            .arg(option("kill-after", Kind::Duration, "From that signal to KILL [default: 5s]").requires("timeout"))
            .arg(option("lock", Kind::File, "Hold a lock on FILE while it runs, as flock(1) does"))
            .arg(of_lock(switch("shared", "A lock that others may share")))
            .arg(of_lock(option("wait", Kind::Wait, "Wait for the lock at most so long; 0: not at all")))
            .arg(of_lock(
                Arg::new("conflict-exit")
                    .long("conflict-exit")
                    .value_name("CODE")
                    .value_parser(value_parser!(u8))
                    .help("Exit status if the lock could not be acquired [default: 1]"),
            ))
            .arg(of_lock(switch("inherit-lock", "The command and what outlives it hold the lock, too")))
            .arg(option("directory", Kind::Directory, "Run it in DIR").short('C'))
            .arg(
                Arg::new("env")
                    .long("env")
                    .value_name("NAME=VALUE")
                    .value_parser(value_parser!(OsString))
                    .action(ArgAction::Append)
                    .help("Add to its environment"),
            )
            .arg(
                Arg::new("limit")
                    .long("limit")
                    .value_name("NAME=VALUE")
                    .value_parser(limit)
                    .action(ArgAction::Append)
                    .help("Bound what it may use, as setrlimit(2) does: as, core, fsize, stack (SIZE), cpu (DURATION), nofile, nproc (N); or unlimited"),
            )
            .arg(
                Arg::new("command")
                    .value_name("CMD")
                    .num_args(1..)
                    .required(true)
                    // What follows its name belongs to it; "--" is not needed before it.
                    .trailing_var_arg(true)
                    .value_parser(value_parser!(OsString))
                    .help("The command, run without a shell"),
            )
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Each program's time is on CPU + run queue + block I/O + sleeping, of all its threads; swap-in,
thrashing, reclaim, compaction, copy and irq are the same time seen from another side. The first
line's CPU time is that of wait4(2), exact; the programs' are counted by the kernel when a thread
ends, and may lack its last tick. Descendants are followed wherever they go while CMD runs.
Exit status: CMD's; 128+N where signal N ended it, 124 where its time was over, 126 where it
cannot be executed, 127 where it is not found, 66 where the lock's file cannot be opened.";

/// `TERM`, `SIGTERM` or `15`.
fn signal(text: &str) -> Result<TaskSignal, String> {
    let name = text.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    let known = |(known, number, _): &&(&str, i32, TaskSignal)| *known == name || number.to_string() == name;
    let found = TaskSignal::NAMED.iter().find(known);
    found.map(|(_, _, signal)| *signal).ok_or_else(|| "TERM, INT, HUP, QUIT, USR1, USR2 or KILL".to_owned())
}

/// `nofile=100`, `as=2G`, `core=unlimited`.
fn limit(text: &str) -> Result<(Limit, u64), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE")?;
    let known = Limit::NAMED.iter().find(|(known, _)| *known == name).map(|(_, limit)| *limit);
    let limit = known.ok_or("as, core, cpu, fsize, nofile, nproc or stack")?;
    if value == "unlimited" {
        return Ok((limit, u64::MAX));
    }
    let number = match limit {
        Limit::AddressSpace | Limit::Core | Limit::Data | Limit::FileSize | Limit::Stack => {
            quantity::size(value).map(|bytes| bytes.0)
        }
        // The kernel counts whole seconds: none is cut short.
        Limit::Cpu => quantity::duration(value)
            .map(|duration| duration.as_secs() + u64::from(duration.subsec_nanos() > 0)),
        Limit::OpenFiles | Limit::Processes => quantity::amount(value),
    };
    Ok((limit, number.map_err(|wrong| format!("{wrong}, or unlimited"))?))
}

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<RunOptions, Failure> {
    let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let lock = path("lock").map(|path| LockOptions {
        path,
        is_shared: matches.get_flag("shared"),
        patience: matches.get_one("wait").copied(),
        conflict_exit: matches.get_one("conflict-exit").copied().unwrap_or(1),
        is_inherited: matches.get_flag("inherit-lock"),
    });
    let mut environment = Vec::new();
    for assignment in matches.get_many::<OsString>("env").into_iter().flatten() {
        environment.push(split_assignment(assignment)?);
    }
    Ok(RunOptions {
        command: matches.get_many("command").into_iter().flatten().cloned().collect(),
        is_json: matches.get_flag("json"),
        output: path("output"),
        is_quiet: matches.get_flag("quiet"),
        repeat: matches.get_one("count").copied().unwrap_or(1),
        lock,
        timeout: matches.get_one("timeout").copied(),
        signal: matches.get_one("signal").copied().unwrap_or_default(),
        compare: path("compare"),
        kill_after: matches.get_one("kill-after").copied().unwrap_or(Duration::from_secs(5)),
        directory: path("directory"),
        environment,
        limits: last_limits(matches.get_many::<(Limit, u64)>("limit").into_iter().flatten().copied()),
        is_procfs_only: false,
    })
}

/// Returns the limits. If a limit is given twice, the last one counts.
fn last_limits(given: impl Iterator<Item = (Limit, u64)>) -> Vec<(Limit, u64)> {
    let mut limits: Vec<(Limit, u64)> = Vec::new();
    for (limit, value) in given {
        limits.retain(|(other, _)| *other != limit);
        limits.push((limit, value));
    }
    limits
}

fn split_assignment(assignment: &OsString) -> Result<(OsString, OsString), Failure> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = assignment.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=').filter(|at| *at > 0);
    let at = at.ok_or_else(|| Failure::usage(format!("--env {}: NAME=VALUE", assignment.shown())))?;
    Ok((OsString::from_vec(bytes[..at].to_vec()), OsString::from_vec(bytes[at + 1..].to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_names_and_units() {
        assert_eq!(limit("as=2G"), Ok((Limit::AddressSpace, 2 << 30)));
        assert_eq!(limit("cpu=1m30s"), Ok((Limit::Cpu, 90)));
        assert_eq!(limit("core=unlimited"), Ok((Limit::Core, u64::MAX)));
        assert!(limit("as=2Q").is_err() && limit("x=1").is_err() && limit("as").is_err());
        assert!(limit("as=99999999999999G").is_err());
    }
}
