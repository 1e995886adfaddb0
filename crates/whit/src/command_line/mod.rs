//! The command line: one table, from which help, man pages and completions come too.
//!
//! What leaves this module is validated; a command never sees a raw argument.

pub(crate) mod examples;
pub(crate) mod grammar;
mod values;

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use command::failure::Failure;
use command::options;
use text::nearest::did_you_mean;
use text::printable::Shown as _;

use crate::pages;

/// Builds the options of a command.
type Define = fn() -> Command;
/// Runs a command with its part of the command line.
type Run = fn(&ArgMatches) -> Result<ExitCode, Failure>;

/// The options of a command, and what runs it. Options are built only for the command that is called, which is half the time of a short run.
type Entry = (Define, Run);

/// All commands, in the groups in which the help lists them.
const GROUPS: [(&str, &[Entry]); 5] = [
    ("Now", NOW),
    ("What was recorded", RECORDED),
    ("Watch and read", WATCHED),
    ("Run, send, tidy up", DONE),
    ("About whit", ABOUT),
];

const NOW: &[Entry] = &[
    (top::command, top::run),
    (crate::delays::arguments::command, crate::delays::command::run),
    #[cfg(feature = "agent")]
    (crate::why::arguments::command, crate::why::run),
    (crate::free::arguments::command, crate::free::run),
    (bar::command, bar::run),
    (crate::doctor::arguments::command, crate::doctor::command::run),
];

const RECORDED: &[Entry] = &[
    #[cfg(feature = "agent")]
    (crate::agent::arguments::command, crate::agent::run),
    #[cfg(feature = "agent")]
    (crate::history::arguments::command, crate::history::run),
    #[cfg(feature = "agent")]
    (crate::query::arguments::command, crate::query::run),
    #[cfg(feature = "agent")]
    (crate::plot::arguments::command, crate::plot::run),
    #[cfg(feature = "agent")]
    (crate::get::arguments::command, crate::get::run),
    #[cfg(feature = "agent")]
    (crate::mark::arguments::command, crate::mark::run),
    #[cfg(feature = "agent")]
    (crate::relabel::arguments::command, crate::relabel::run),
];

const WATCHED: &[Entry] = &[
    #[cfg(feature = "agent")]
    (crate::check::arguments::command, crate::check::run),
    #[cfg(feature = "agent")]
    (crate::alert::arguments::command, crate::alert::run),
    #[cfg(feature = "agent")]
    (crate::fleet::arguments::command, crate::fleet::run),
    #[cfg(feature = "feeds")]
    (crate::feeds::arguments::command, crate::feeds::run),
];

const DONE: &[Entry] = &[
    (crate::run::arguments::command, crate::run::run),
    (age::command, age::run),
    #[cfg(feature = "traffic")]
    (traffic::sink_command, traffic::sink),
    #[cfg(feature = "traffic")]
    (traffic::send_command, traffic::send),
    #[cfg(feature = "bench")]
    (bench::command, bench::run),
];

const ABOUT: &[Entry] = &[(man, run_man), (completions, run_completions)];

/// The commands that the agent starts, with a path or without: they have no options, and no help mentions them.
fn run_for_agent(words: &[OsString]) -> Option<Result<ExitCode, Failure>> {
    let words: Vec<&OsStr> = words.iter().skip(1).map(OsString::as_os_str).collect();
    let (first, second) = (words.first()?.to_str()?, words.get(1)?.to_str()?);
    match (first, second, &words[2..]) {
        #[cfg(feature = "agent")]
        ("agent", "inspector", []) => Some(crate::agent::run_inspector()),
        #[cfg(feature = "agent")]
        ("agent", "inspect", [pid, user]) => Some(crate::agent::inspect(pid, user)),
        #[cfg(feature = "agent")]
        ("check", "runner", []) => Some(crate::check::run_plugins()),
        #[cfg(feature = "agent")]
        ("alert", "deliver", [path]) => Some(crate::alert::deliver(path.as_ref())),
        #[cfg(feature = "feeds")]
        ("feeds", "parser", []) => Some(crate::feeds::parse_document()),
        _ => None,
    }
}

/// Builds the whole table.
pub(crate) fn command() -> Command {
    let command = Command::new("whit")
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(80)
        .about(env!("CARGO_PKG_DESCRIPTION"))
        .after_help("Each command says more: whit COMMAND --help. Without a command: whit top. What its words mean: whit help terms.");
    entries().fold(command, |command, (subcommand, _)| command.subcommand(subcommand()))
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    GROUPS.iter().flat_map(|(_, entries)| *entries)
}

/// The help of whit itself, with the commands in their groups; those that a build leaves out are not there.
fn help() -> String {
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (heading, entries) in GROUPS.iter().filter(|(_, entries)| !entries.is_empty()) {
        text.push_str(&format!("\n{heading}:\n"));
        for command in entries.iter().map(|(define, _)| define()) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {:<12} {about}\n", command.get_name()));
        }
    }
    text + "\nOptions:\n{options}{after-help}"
}

/// Returns whether nothing is asked for but the help of whit itself.
fn is_help(words: &[OsString]) -> bool {
    matches!(words, [_, word] if ["help", "-h", "--help"].iter().any(|help| word == help))
}

fn man() -> Command {
    Command::new("man").about("Print a man page, or write one of each command").defer(|command| {
        command
            .arg(options::directories("A command, whose page is printed; or a directory, into which whit.1, whit-free.1 … are written").num_args(1))
            .arg(options::switch("grammar", "Print all options of all commands, as Markdown").conflicts_with("directory"))
    })
}

fn run_man(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    match matches.get_flag("grammar") {
        true => pages::options(command()),
        false => pages::man(command(), matches.get_one::<PathBuf>("directory").map(PathBuf::as_path)),
    }
}

fn completions() -> Command {
    Command::new("completions").about("Print completions for a shell").defer(|command| {
        let shell = Arg::new("shell").value_name("SHELL").value_parser(value_parser!(Shell));
        command.arg(shell.required(true).help("The shell"))
    })
}

fn run_completions(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let shell = matches.get_one::<Shell>("shell").ok_or_else(|| Failure::usage("which shell?"))?;
    pages::completions(command(), *shell)
}

/// Reads the command line and runs its command. clap prints help, version and usage errors itself, the last with exit status 2.
///
/// # Errors
/// What the command could not do.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(first) = words.first() {
        probe::spawn::name_after_program(first);
    }
    if let Some(done) = run_for_agent(&words) {
        return done;
    }
    if words.get(1..) == Some(&["help".into(), "terms".into()]) {
        return crate::terms::run();
    }
    let command = if is_help(&words) { command().help_template(help()) } else { command() };
    let matches = command.try_get_matches_from(&words).map_err(|refused| {
        let code = u8::try_from(refused.exit_code()).unwrap_or(2);
        let first = words.get(1).filter(|word| entries().all(|(define, _)| define().get_name() != *word));
        if let (ErrorKind::InvalidSubcommand, Some(word)) = (refused.kind(), first) {
            return unknown(word);
        }
        let printed = refused.print().and_then(|()| match refused.kind() {
            ErrorKind::DisplayHelp => {
                std::io::stdout().write_all(values::explained(&refused.to_string()).as_bytes())
            }
            _ => Ok(()),
        });
        match printed {
            Err(error) if code == 0 => command::output::failure(error),
            _ if code != 0 && age::is_plugin(&words) => age::unknown(&refused.to_string()),
            _ => Failure::silent(code),
        }
    })?;
    let Some((name, matches)) = matches.subcommand() else { return top::run_without_options() };
    let called = entries().find(|(command, _)| command().get_name() == name);
    let (_, run) = called.ok_or_else(|| Failure::internal(format!("no command {name}")))?;
    run(matches)
}

/// Returns the error for a word that is not a command.
fn unknown(word: &OsStr) -> Failure {
    let names: Vec<String> = entries().map(|(define, _)| define().get_name().to_owned()).collect();
    let hint = match did_you_mean(&word.to_string_lossy(), names.iter().map(String::as_str)) {
        nothing if nothing.is_empty() => "; whit --help lists them".to_owned(),
        hint => hint,
    };
    Failure::usage(format!("unknown command {}{hint}", Path::new(word).shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        let mut command = command();
        command.build();
        command.debug_assert();
    }

    #[test]
    fn the_help_lists_each_command_in_a_line() {
        let help = help();
        for subcommand in command().get_subcommands().map(Command::get_name) {
            assert_eq!(help.matches(&format!("\n  {subcommand} ")).count(), 1, "{subcommand}");
        }
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }

    #[test]
    fn every_command_has_examples_that_are_understood() {
        for subcommand in command().get_subcommands().map(Command::get_name) {
            let examples = examples::of(subcommand);
            assert!(
                !examples.is_empty() || ["man", "completions", "help"].contains(&subcommand),
                "{subcommand}"
            );
            for (words, _) in examples {
                let words = std::iter::once("whit").chain(words.split_whitespace());
                let matches =
                    command().try_get_matches_from(words.clone()).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(matches.subcommand_name(), Some(subcommand));
            }
        }
    }

    /// Splits words as a shell does that knows blanks and single quotes.
    fn words(text: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for character in text.chars() {
            match character {
                '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                other => words.last_mut().unwrap().push(other),
            }
        }
        words
    }

    #[test]
    fn commands_in_tables_are_understood() {
        let text = include_str!("../../../../docs/MOVING.md");
        let spans = text
            .lines()
            .filter(|line| line.starts_with('|'))
            .flat_map(|line| line.split('`').skip(1).step_by(2));
        // What a shell does before and after it is not whit's.
        let commands = spans
            .filter_map(|span| span.split(" \\| ").find(|part| part.starts_with("whit ")))
            .map(|span| span.split(" > ").next().unwrap());
        let mut count = 0;
        for text in commands {
            // The cell of a table may leave out what is asked.
            let parsed = command().try_get_matches_from(words(text));
            let error = parsed.err().filter(|error| error.kind() != ErrorKind::MissingRequiredArgument);
            if let Some(error) = error {
                panic!("{text}: {error}");
            }
            count += 1;
        }
        assert!(count > 20, "{count}");
    }

    /// The help of a command and of its actions.
    fn fits(command: &mut Command) {
        let help = command.render_help().to_string();
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
        }
        command.get_subcommands_mut().for_each(fits);
    }

    #[test]
    fn help_fits_eighty_columns() {
        let mut command = command();
        command.build();
        for subcommand in command.get_subcommands_mut() {
            let explanation = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
            for row in explanation.lines().filter(|line| line.starts_with(' ')) {
                assert!(row.chars().count() <= 80, "{}, of a table: {row}", subcommand.get_name());
            }
            fits(subcommand);
        }
    }
}
