//! Options of `whit feeds`.

use std::ffi::OsString;
use std::path::PathBuf;

use ::feeds::MOST_LISTED;
use clap::builder::PossibleValue;
use clap::{Arg, ArgMatches, Command, value_parser};

use crate::agent::configured_data_directory;
use command::failure::Failure;
use command::options::{agent_configuration, count, data, data_directory, json, paragraphs, switch};
use text::printable::Shown as _;
use text::quantity;

/// `whit feeds`, validated.
#[derive(Debug)]
pub(crate) enum FeedsArgs {
    /// Reads a document for the agent.
    Parser,
    /// Reads or changes the library.
    Library(LibraryArgs),
}

/// A task and the library that it is for.
#[derive(Debug)]
pub(crate) struct LibraryArgs {
    pub(super) directory: PathBuf,
    pub(super) config: Option<PathBuf>,
    /// The account; `None`: that of the user, or the only one.
    pub(super) account: Option<String>,
    pub(super) task: FeedsTask,
}

/// A task of `whit feeds`.
#[derive(Debug)]
pub(super) enum FeedsTask {
    /// Lists subscriptions.
    List { is_json: bool },
    /// Subscribes to the feeds of addresses.
    Add { addresses: Vec<String>, folder: String },
    /// Ends subscriptions.
    Remove { feeds: Vec<String> },
    /// Lists entries that were not read.
    Unread { has_read: bool, search: String, limit: usize, is_json: bool },
    /// Shows one entry, which is read after that.
    Read { entry: i64, is_json: bool },
    /// Subscribes to the feeds of an OPML file.
    Import { file: PathBuf },
    /// Prints the subscriptions as OPML.
    Export,
    /// Lists accounts.
    Users,
    /// Creates an account, whose password is read from the standard input.
    AddUser { name: String },
    /// Sets another password.
    SetPassword { name: String },
    /// Removes an account with all that it has.
    RemoveUser { name: String },
}

const ACTIONS: [(&str, &str); 8] = [
    ("list", "List the feeds of an account"),
    ("add", "Subscribe to the feed at an address, or to that of the page there"),
    ("remove", "End a subscription, by the feed's number or address"),
    ("read", "List entries that were not read, or show one, by its number, and mark it as read"),
    ("search", "List entries that have all of these words: 'linux \"open source\" -java'"),
    ("import", "Subscribe to the feeds of an OPML file"),
    ("export", "Print the subscriptions as OPML"),
    ("user", "list, add NAME, password NAME, remove NAME: the accounts"),
];

/// Entries of a list.
const LISTED: usize = 50;

/// The action that the agent runs.
const PARSER: &str = "parser";

pub(crate) fn command() -> Command {
    Command::new("feeds").about("Read feeds that the agent polls, and manage their subscriptions").defer(
        |command| {
            let actions = ACTIONS.map(|(name, help)| PossibleValue::new(name).help(help));
            let hidden = PossibleValue::new(PARSER).hide(true);
            command
                .arg(
                    Arg::new("action")
                        .value_name("ACTION")
                        .value_parser(actions.into_iter().chain([hidden]).collect::<Vec<PossibleValue>>())
                        .default_value("list")
                        .help("What to do"),
                )
                .arg(
                    Arg::new("what")
                        .value_name("WHAT")
                        .num_args(1..)
                        .value_parser(value_parser!(OsString))
                        .help("An address, a feed or entry by its number, words, a file, or an account"),
                )
                .arg(
                    Arg::new("account")
                        .long("account")
                        .value_name("NAME")
                        .help("The account [default: the one with the user's name, or the only one]"),
                )
                .arg(Arg::new("folder").long("folder").value_name("NAME").help("The folder of what is added"))
                .arg(switch("all", "List entries that were read, too").short('a'))
                .arg(count("List at most so many entries [default: 50]"))
                .arg(agent_configuration())
                .arg(data())
                .arg(json())
                .after_help(paragraphs(EXPLANATION))
        },
    )
}

const EXPLANATION: &str = "\
The agent polls feeds if its configuration has a table [feeds]: docs/FEEDS.md.";

/// Returns the query of a search. An argument with blanks is a phrase, unless it is a query of its own.
fn query_of(words: &[String]) -> String {
    let quoted = |word: &String| match words.len() > 1 && word.contains(' ') && !word.contains('"') {
        true => format!("\"{word}\""),
        false => word.clone(),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<FeedsArgs, Failure> {
    let action = matches.get_one::<String>("action").map_or("list", String::as_str);
    let words: Vec<OsString> = matches.get_many("what").into_iter().flatten().cloned().collect();
    let texts: Option<Vec<String>> = words.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let texts = || texts.clone().ok_or_else(|| Failure::usage("a name is not UTF-8"));
    let (is_json, has_read) = (matches.get_flag("json"), matches.get_flag("all"));
    let folder = matches.get_one::<String>("folder").cloned();
    let count = matches.get_one::<u64>("count").copied();
    if count.is_some() && !["read", "search"].contains(&action) {
        return Err(Failure::usage("--count is for whit feeds read and search"));
    }
    let limit = match count.map(usize::try_from) {
        None => LISTED,
        Some(Ok(count)) if (1..MOST_LISTED).contains(&count) => count,
        Some(_) => return Err(Failure::usage(format!("--count is less than {MOST_LISTED}"))),
    };
    if folder.is_some() && action != "add" {
        return Err(Failure::usage("--folder is for whit feeds add"));
    }
    if has_read && action != "read" {
        return Err(Failure::usage("--all is for whit feeds read"));
    }
    if is_json && !["list", "read", "search"].contains(&action) {
        return Err(Failure::usage(format!("whit feeds {action} has no --json")));
    }
    let some = |what: &str| match words.is_empty() {
        true => Err(Failure::usage(format!("whit feeds {action} needs {what}"))),
        false => texts(),
    };
    let none = || match words.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(format!("whit feeds {action} takes no arguments"))),
    };
    let task = match action {
        "add" => FeedsTask::Add { addresses: some("an address")?, folder: folder.unwrap_or_default() },
        "remove" => FeedsTask::Remove { feeds: some("a feed's number or address")? },
        "read" => match texts()?.as_slice() {
            [] => FeedsTask::Unread { has_read, search: String::new(), limit, is_json },
            [entry] => {
                // A count may be written as 1k, the number of an entry may not.
                let is_number = entry.bytes().all(|byte| byte.is_ascii_digit());
                let number = quantity::count(entry).ok().filter(|_| is_number);
                let number = number.and_then(|number| i64::try_from(number).ok());
                let wanted = || {
                    Failure::usage(format!(
                        "\"{}\" is not the number of an entry: whit feeds read lists them",
                        entry.shown()
                    ))
                };
                FeedsTask::Read { entry: number.ok_or_else(wanted)?, is_json }
            }
            _ => return Err(Failure::usage("whit feeds read shows one entry at a time")),
        },
        "search" => FeedsTask::Unread { has_read: true, search: query_of(&some("words")?), limit, is_json },
        "import" => match words.as_slice() {
            [file] => FeedsTask::Import { file: file.into() },
            _ => return Err(Failure::usage("whit feeds import needs the path of an OPML file")),
        },
        "export" => {
            none()?;
            FeedsTask::Export
        }
        "user" => match texts()?.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [] | ["list"] => FeedsTask::Users,
            ["add", name] => FeedsTask::AddUser { name: (*name).to_owned() },
            ["password", name] => FeedsTask::SetPassword { name: (*name).to_owned() },
            ["remove", name] => FeedsTask::RemoveUser { name: (*name).to_owned() },
            _ => {
                return Err(Failure::usage(
                    "whit feeds user needs list, add NAME, password NAME or remove NAME",
                ));
            }
        },
        PARSER => {
            none()?;
            return Ok(FeedsArgs::Parser);
        }
        _ => {
            none()?;
            FeedsTask::List { is_json }
        }
    };
    Ok(FeedsArgs::Library(LibraryArgs {
        directory: configured_data_directory(matches, data_directory)?,
        config: matches.get_one::<PathBuf>("config").cloned(),
        account: matches.get_one::<String>("account").cloned(),
        task,
    }))
}
