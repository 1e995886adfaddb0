//! Options as all commands have them: a name means the same thing, with the same letter and kind of value, wherever it stands.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use probe::Roots;

use crate::failure::Failure;
use crate::kind::Kind;
use crate::past;

/// How often to repeat.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repeat {
    /// None: once.
    pub interval: Option<Duration>,
    /// None: until ended.
    pub count: Option<u64>,
}

/// An option without a value.
pub fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// An option with a value.
pub fn option(name: &'static str, kind: Kind, help: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).value_name(kind.name()).value_parser(kind.parser()).help(help);
    // So that -1 is a wrong value of this option, and not an unknown option.
    arg.allow_negative_numbers(true)
}

/// Returns an option that may be given any number of times.
pub fn several(name: &'static str, kind: Kind, help: &'static str) -> Arg {
    option(name, kind, help).action(ArgAction::Append)
}

/// Process or thread ids: several, also with commas between them.
pub fn ids(name: &'static str, letter: char, help: &'static str) -> Arg {
    several(name, Kind::Id, help).short(letter).value_delimiter(',')
}

/// The configuration of the agent.
pub fn agent_configuration() -> Arg {
    option(
        "config",
        Kind::File,
        "The configuration [default: $WHIT_CONFIG, or whit/agent.toml in $XDG_CONFIG_HOME, for root /etc/whit/agent.toml]",
    )
    .short('c')
}

/// The same for what is about the agent that runs.
pub fn running_agent_configuration() -> Arg {
    agent_configuration()
        .help("The configuration [default: $WHIT_CONFIG, or that of the running agent, or that which whit agent would read]")
}

/// Where the agent's history is.
pub fn data() -> Arg {
    option(
        "data",
        Kind::Directory,
        "Where the history is [default: $WHIT_DATA, or whit in $XDG_STATE_HOME, for root /var/lib/whit]",
    )
}

/// The same for what reads a history, which may be that of the agent that runs.
pub fn past_data() -> Arg {
    data().help("Where the history is [default: $WHIT_DATA, or that of the running agent, or whit in $XDG_STATE_HOME, for root /var/lib/whit]")
}

/// Returns the data directory as it is named, or this user's place for it.
pub fn data_directory(matches: &ArgMatches) -> Result<PathBuf, Failure> {
    crate::paths::data_directory(named_data(matches))
}

/// Returns the directory of the history that is read, as it is named, or as [`past::directory`] finds it.
///
/// # Errors
/// If there is none that this user may read.
pub fn past_directory(matches: &ArgMatches) -> Result<PathBuf, Failure> {
    past::directory(named_data(matches))
}

/// Returns the data directory that is named.
pub fn named_data(matches: &ArgMatches) -> Option<&Path> {
    matches.get_one::<PathBuf>("data").map(PathBuf::as_path)
}

/// At which instant of the past, and where that was recorded.
pub fn past(command: Command, help: &'static str) -> Command {
    #[cfg(feature = "agent")]
    let command = command.arg(instant_option("at", help)).arg(past_data().requires("at"));
    #[cfg(not(feature = "agent"))]
    let _ = help;
    command
}

/// The instant in nanoseconds since 1970, and the data directory.
///
/// # Errors
/// If it is no instant.
#[cfg_attr(not(feature = "agent"), allow(clippy::unnecessary_wraps))]
pub fn past_of(matches: &ArgMatches) -> Result<(Option<i64>, Option<PathBuf>), Failure> {
    #[cfg(feature = "agent")]
    return Ok((instant(matches, "at")?, matches.get_one::<PathBuf>("data").cloned()));
    #[cfg(not(feature = "agent"))]
    {
        let _ = matches;
        Ok((None, None))
    }
}

/// An option with an instant.
pub fn instant_option(name: &'static str, help: &'static str) -> Arg {
    option(name, Kind::Instant, help).allow_hyphen_values(true)
}

/// The instant of an option, in nanoseconds since 1970.
pub fn instant(matches: &ArgMatches, name: &str) -> Result<Option<i64>, Failure> {
    let Some(text) = matches.get_one::<String>(name) else { return Ok(None) };
    let named = |failure: Failure| Failure::usage(format!("--{name} {text}: {}", failure.message()));
    parse_instant(text).map(Some).map_err(named)
}

/// Returns the instant in milliseconds, as expressions have it.
pub fn instant_ms(matches: &ArgMatches, name: &str) -> Result<Option<i64>, Failure> {
    Ok(instant(matches, name)?.map(|at_ns| at_ns.div_euclid(1_000_000)))
}

/// An instant as people write it, in nanoseconds since 1970.
///
/// # Errors
/// What is expected instead.
#[cfg(feature = "agent")]
pub fn parse_instant(text: &str) -> Result<i64, Failure> {
    let now = jiff::Timestamp::now().to_zoned(crate::time_zone::system());
    let at = crate::instant::parse(text, &now).map_err(Failure::usage)?.as_nanosecond();
    Ok(i64::try_from(at).unwrap_or(if at < 0 { i64::MIN } else { i64::MAX }))
}

/// Without the agent there is no past.
#[cfg(not(feature = "agent"))]
pub fn parse_instant(_text: &str) -> Result<i64, Failure> {
    Err(Failure::new("this whit was built without the agent, which records"))
}

/// Not by the agent.
pub fn direct() -> Arg {
    switch("direct", "Read the kernel, even if an agent runs that could be asked")
}

/// How often it is done.
pub fn interval(help: &'static str) -> Arg {
    option("interval", Kind::Interval, help).short('i')
}

/// How many times it is done.
pub fn count(help: &'static str) -> Arg {
    option("count", Kind::Count, help).short('n')
}

/// The option for a captured machine.
pub fn root() -> Arg {
    option("root", Kind::Directory, "Read a captured machine: a directory that holds proc, and perhaps sys")
}

/// Returns the machine that is read: the live one, or the captured one that --root names.
pub fn roots(matches: &ArgMatches) -> Roots {
    matches.get_one::<PathBuf>("root").map_or_else(Roots::live, Roots::captured)
}

/// The option for documents of JSON.
pub fn json() -> Arg {
    switch("json", "Print the same facts as JSON, a document a line, units in the field names")
}

/// Returns an action of a command, which has options of its own.
pub fn action(name: &'static str, about: &'static str) -> Command {
    Command::new(name).about(about)
}

/// Gives a command actions. Without one it does its usual one, whose options it has as well.
pub fn with_actions<const N: usize>(command: Command, actions: [Command; N]) -> Command {
    command
        .subcommand_help_heading("Actions")
        .subcommand_value_name("ACTION")
        .disable_help_subcommand(true)
        .subcommands(actions)
}

/// Returns the action that is named, or the usual one, and its options.
///
/// # Errors
/// If an option of the usual action, such as these, stands before the name of another one.
pub fn chosen_action<'m>(
    matches: &'m ArgMatches,
    usual: &'static str,
    of_usual: &[&str],
) -> Result<(&'m str, &'m ArgMatches), Failure> {
    let Some((name, of_action)) = matches.subcommand() else { return Ok((usual, matches)) };
    let is_given = |option: &str| matches.value_source(option) == Some(ValueSource::CommandLine);
    match of_usual.iter().find(|option| is_given(option)) {
        Some(option) => {
            Err(Failure::usage(format!("--{option} stands behind the action: {name} --{option}")))
        }
        None => Ok((name, of_action)),
    }
}

/// Returns the text of an argument or option; empty if there is none.
pub fn text(matches: &ArgMatches, name: &str) -> String {
    matches.get_one::<String>(name).cloned().unwrap_or_default()
}

/// Returns the texts of an argument.
pub fn texts(matches: &ArgMatches, name: &str) -> Vec<String> {
    matches.get_many(name).into_iter().flatten().cloned().collect()
}

/// Returns an argument without a name before it, which must be there.
pub fn argument(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(value).required(true).help(help)
}

/// Directories that a command works on.
pub fn directories(help: &'static str) -> Arg {
    Arg::new("directory")
        .value_name(Kind::Directory.name())
        .num_args(1..)
        .value_parser(value_parser!(PathBuf))
        .help(help)
}

/// A count as an index into memory.
pub fn number(matches: &ArgMatches, name: &str) -> Option<usize> {
    matches.get_one::<u64>(name).map(|number| usize::try_from(*number).unwrap_or(usize::MAX))
}

/// An explanation with its lines joined to paragraphs, which help breaks where they fit. Lines that begin with a blank are a table's.
pub fn paragraphs(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines() {
        let is_own = line.is_empty() || line.starts_with(' ');
        let follows_text =
            joined.rsplit('\n').next().is_some_and(|last| !last.is_empty() && !last.starts_with(' '));
        match follows_text && !is_own {
            true => joined.push(' '),
            false if !joined.is_empty() => joined.push('\n'),
            false => {}
        }
        joined.push_str(line);
    }
    joined
}
