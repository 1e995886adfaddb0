//! `whit agent`: the recorder, in the foreground.

pub(crate) mod arguments;
mod configuration;
#[cfg(feature = "feeds")]
mod feeds;
pub(crate) mod in_use;

use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use ::agent::AgentOptions;
use clap::ArgMatches;
use recorder::RecorderOptions;
use text::printable::Shown as _;

use self::arguments::{AgentCommand, usual};
use self::configuration::{DEFAULTS, Origin};
#[cfg(feature = "feeds")]
pub(crate) use self::feeds::document_parser;
use command::failure::{Failure, write_stderr};
use command::output::Output;

/// Returns the options of a recorder that records for a while into a directory, and serves nothing.
pub(crate) fn observing(directory: &Path, length: Duration) -> RecorderOptions {
    // Often enough for rates, at least three times.
    let interval = (length / 20).max(Duration::from_millis(50));
    RecorderOptions {
        data: directory.to_owned(),
        fallback: None,
        now: None,
        interval,
        slow_interval: Duration::from_secs(1).min(length),
        count: Some(21),
        cpu_limit: None,
        ..usual().recorder
    }
}

/// For someone who starts it by hand.
fn what_next(options: &AgentOptions) -> String {
    let data = options.recorder.data.shown();
    // It need not be in the search path.
    let program = std::env::current_exe().map_or_else(|_| "whit".into(), |path| path.shown().to_string());
    let mut text = format!(
        "Ctrl-C ends it. In another terminal:\n  \
         {program} top\n  {program} why --data {data}      what the machine waited for, and who caused it\n  \
         {program} query --data {data} 'topk(5, sum by (comm) (rate(whit_task_cpu_seconds_total[1m])))'\n"
    );
    if let Some(now) = &options.recorder.now {
        text.push_str(&format!(
            "  while read -r name value; do echo \"$name is $value\"; done < {}\n",
            now.shown()
        ));
    }
    if options.socket.is_some() {
        text.push_str(&format!("  {program} delays -p PID      as any user, of a process of theirs\n"));
    }
    text
}

/// Records until it is ended.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let command = &arguments::from_matches(matches)?;
    match command {
        AgentCommand::PrintDefaults => Output::stdout().write(DEFAULTS.as_bytes())?,
        AgentCommand::Check(config) => {
            let origin = Origin::find(config.as_deref());
            origin.read(usual())?;
            Output::stdout().write(format!("{origin}: good\n").as_bytes())?;
        }
        AgentCommand::Record(args) => {
            let options = args.options()?;
            probe::raise_descriptor_limit();
            if std::io::stderr().is_terminal() {
                write_stderr(&what_next(&options));
            }
            let reload = || args.options().map_err(|failure| failure.message().to_owned());
            ::agent::run(&options, reload).map_err(|error| Failure::new(error.to_string()))?;
        }
        AgentCommand::Serve(args) => {
            let recorder = std::io::stdin().as_fd().try_clone_to_owned().map_err(Failure::of_system)?;
            let reload = || args.options().map_err(|failure| failure.message().to_owned());
            let served = ::agent::serve(args.options()?, recorder, reload);
            served.map_err(|error| Failure::new(error.to_string()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Looks at processes for the server at the other end of standard input.
pub(crate) fn run_inspector() -> Result<ExitCode, Failure> {
    let server = std::io::stdin().as_fd().try_clone_to_owned();
    server.and_then(::agent::run_inspector).map_err(Failure::of_system)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what a process does, for a user or `all`.
pub(crate) fn inspect(pid: &OsStr, user: &OsStr) -> Result<ExitCode, Failure> {
    let number = |word: &OsStr| word.to_str().and_then(|word| word.parse().ok());
    let pid = number(pid).ok_or_else(|| Failure::usage("expected a process"))?;
    let uid = match number(user) {
        None if user != "all" => return Err(Failure::usage("expected a user")),
        uid => uid,
    };
    let found = ::agent::inspect(pid, uid).map_err(Failure::of_system)?;
    Output::stdout().write(&found)?;
    Ok(ExitCode::SUCCESS)
}
