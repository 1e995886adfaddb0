//! Options of `whit feeds`.

use std::path::PathBuf;

use ::feeds::MAX_LISTED;
use clap::{Arg, ArgMatches, Command, value_parser};

use crate::agent::in_use;
use command::agent_files;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{
    action, argument, chosen_action, count, data, json, paragraphs, running_agent_configuration, switch,
    text, texts, with_actions,
};

/// `whit feeds`, validated: a task and the library that it is for.
#[derive(Debug)]
pub(crate) struct FeedsArgs {
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

/// Entries of a list.
const LISTED: usize = 50;

pub(crate) fn command() -> Command {
    Command::new("feeds").about("Read feeds that the agent polls, and manage their subscriptions").defer(
        |command| {
            let several = |name, value, help| argument(name, value, help).num_args(1..);
            let count = || count("List at most so many entries [default: 50]");
            let name = || argument("name", Kind::Name.name(), "The account");
            let entry = Arg::new("entry").value_name("NUMBER").value_parser(value_parser!(i64).range(1..));
            let users = [
                action("list", "List the accounts"),
                action("add", "Create an account; its password is read from standard input").arg(name()),
                action("password", "Set another password, which is read from standard input").arg(name()),
                action("remove", "Remove an account with all that it has").arg(name()),
            ];
            let actions = [
                action("list", "List the feeds of an account").arg(json()),
                action("add", "Subscribe to the feed at an address, or to that of the page there")
                    .arg(several("address", "ADDRESS", "Addresses of feeds or pages"))
                    .arg(
                        Arg::new("folder")
                            .long("folder")
                            .value_name("NAME")
                            .help("The folder of what is added"),
                    ),
                action("remove", "End a subscription").arg(several(
                    "feed",
                    "FEED",
                    "Feeds, by number or address",
                )),
                action("read", "List entries that were not read; or show one, and mark it as read")
                    .arg(entry.help("The number of an entry, which the list says"))
                    .arg(switch("all", "List entries that were read, too").short('a'))
                    .arg(count())
                    .arg(json()),
                action("search", "List entries that have all of these words: 'linux \"open source\" -java'")
                    .arg(several("word", "TEXT", "Words, and phrases in quotation marks; -WORD for none"))
                    .arg(count())
                    .arg(json()),
                action("import", "Subscribe to the feeds of an OPML file")
                    .arg(argument("file", Kind::File.name(), "The file").value_parser(Kind::File.parser())),
                action("export", "Print the subscriptions as OPML"),
                with_actions(action("user", "List and change the accounts"), users),
            ];
            let account = Arg::new("account").long("account").value_name("NAME").global(true);
            with_actions(command, actions)
                .arg(json())
                .arg(account.help("The account [default: the one with the user's name, or the only one]"))
                .arg(running_agent_configuration().global(true))
                .arg(data().global(true))
                .after_help(paragraphs(EXPLANATION))
        },
    )
}

const EXPLANATION: &str = "\
The agent polls feeds if its configuration has a table [feeds]: whit-feeds(7). Each action has a help
of its own: whit feeds add --help.";

/// Returns the query of a search. An argument with blanks is a phrase, unless it is a query of its own.
fn query_of(words: &[String]) -> String {
    let quoted = |word: &String| match words.len() > 1 && word.contains(' ') && !word.contains('"') {
        true => format!("\"{word}\""),
        false => word.clone(),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Returns how many entries are listed.
fn limit(matches: &ArgMatches) -> Result<usize, Failure> {
    match matches.get_one::<u64>("count").copied().map(usize::try_from) {
        None => Ok(LISTED),
        Some(Ok(count)) if (1..MAX_LISTED).contains(&count) => Ok(count),
        Some(_) => Err(Failure::usage(format!("--count is less than {MAX_LISTED}"))),
    }
}

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<FeedsArgs, Failure> {
    let (action, matches) = chosen_action(matches, "list", &["json"])?;
    let is_json = || matches.get_flag("json");
    let task = match action {
        "add" => FeedsTask::Add { addresses: texts(matches, "address"), folder: text(matches, "folder") },
        "remove" => FeedsTask::Remove { feeds: texts(matches, "feed") },
        "read" => match matches.get_one::<i64>("entry") {
            Some(entry) => FeedsTask::Read { entry: *entry, is_json: is_json() },
            None => FeedsTask::Unread {
                has_read: matches.get_flag("all"),
                search: String::new(),
                limit: limit(matches)?,
                is_json: is_json(),
            },
        },
        "search" => FeedsTask::Unread {
            has_read: true,
            search: query_of(&texts(matches, "word")),
            limit: limit(matches)?,
            is_json: is_json(),
        },
        "import" => {
            FeedsTask::Import { file: matches.get_one::<PathBuf>("file").cloned().unwrap_or_default() }
        }
        "export" => FeedsTask::Export,
        "user" => {
            let (action, matches) = chosen_action(matches, "list", &[])?;
            let name = || text(matches, "name");
            match action {
                "add" => FeedsTask::AddUser { name: name() },
                "password" => FeedsTask::SetPassword { name: name() },
                "remove" => FeedsTask::RemoveUser { name: name() },
                _ => FeedsTask::Users,
            }
        }
        _ => FeedsTask::List { is_json: is_json() },
    };
    Ok(FeedsArgs {
        directory: in_use::data_directory(matches, agent_files::data)?,
        config: matches.get_one::<PathBuf>("config").cloned(),
        account: matches.get_one::<String>("account").cloned(),
        task,
    })
}
