//! `whit agent`: the recorder, in the foreground.

pub(crate) mod arguments;
mod configuration;
#[cfg(feature = "feeds")]
mod feeds;

use std::io::IsTerminal as _;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ::agent::{AgentOptions, Listen, Retention};
use alerts::AlertOptions;
use checks::CheckOptions;
use clap::ArgMatches;
use formats::relabel::Relabelling;
use recorder::RecorderOptions;
use text::printable::Shown as _;

use self::arguments::{AgentCommand, usual};
use self::configuration::{DEFAULTS, Origin};
#[cfg(feature = "feeds")]
pub(crate) use self::feeds::document_parser;
use command::failure::{Failure, write_stderr};
use command::output::Output;

/// The data directory of a command with a configuration: as it is named, otherwise that of the configuration if one is named, otherwise the
/// usual one of the command.
///
/// # Errors
/// What is wrong with the configuration.
pub(crate) fn configured_data_directory(
    matches: &ArgMatches,
    usual: fn(&ArgMatches) -> Result<PathBuf, Failure>,
) -> Result<PathBuf, Failure> {
    let config = matches.get_one::<PathBuf>("config").filter(|_| !matches.contains_id("data"));
    if let Some(config) = config {
        let data = Origin::find(Some(config)).read(arguments::usual())?.recorder.data;
        if !data.as_os_str().is_empty() {
            return Ok(data);
        }
    }
    usual(matches)
}

/// Returns the retention of the configuration.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn configured_retention() -> Result<Retention, Failure> {
    Ok(Origin::find(None).read(arguments::usual())?.recorder.retention)
}

/// The rules for what is recorded.
///
/// # Errors
/// What is wrong with the configuration.
pub(crate) fn configured_relabelling() -> Result<Relabelling, Failure> {
    Ok(Origin::find(None).read(arguments::usual())?.recorder.relabelling)
}

/// The rules for alerts and their receivers; `None`: nothing is watched for.
///
/// # Errors
/// What is wrong with the configuration.
pub(crate) fn configured_alerts(config: Option<&Path>) -> Result<Option<AlertOptions>, Failure> {
    Ok(Origin::find(config).read(usual())?.alerts)
}

/// The checks; `None`: nothing is checked.
///
/// # Errors
/// What is wrong with the configuration.
pub(crate) fn configured_checks(config: Option<&Path>) -> Result<Option<CheckOptions>, Failure> {
    Ok(Origin::find(config).read(usual())?.checks)
}

/// How feeds are polled; `None`: they are not.
///
/// # Errors
/// What is wrong with the configuration.
#[cfg(feature = "feeds")]
pub(crate) fn configured_feeds(config: Option<&Path>) -> Result<Option<::feeds::FeedOptions>, Failure> {
    Ok(Origin::find(config).read(usual())?.feeds)
}

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
    let mut text = format!("whit records into {data}; Ctrl-C ends it.");
    if let Some(Listen::Tcp(address)) = options.http.as_ref().map(|http| &http.listen) {
        text.push_str(&format!(" The page is http://{address}/."));
    }
    text.push_str(&format!(
        " In another terminal:\n  \
         whit history --data {data}\n  whit history export --data {data} --since -5m --series 'node_load*'\n"
    ));
    if let Some(now) = &options.recorder.now {
        text.push_str(&format!(
            "  while read -r name value; do echo \"$name is $value\"; done < {}\n",
            now.shown()
        ));
    }
    if options.socket.is_some() {
        text.push_str("  whit delays -p PID      as any user, of a process of theirs\n");
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
