//! `whit feeds`: reads feeds in the terminal, and manages accounts and subscriptions.

pub(crate) mod arguments;
mod password;
mod render;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use ::feeds::{Account, EntryFilter, FeedError, FeedOptions, Fetcher, Library, Mark, Subscription};
use clap::ArgMatches;
use probe::named;
use serde_json::json;
use syndication::with_scheme;
use text::printable::Shown as _;

use self::arguments::{FeedsArgs, FeedsTask};
use crate::agent::document_parser;
use crate::agent::in_use::InUse;
use command::document::{DocumentKind, Documents};
use command::failure::{Failure, write_stderr};
use command::output::Output;

/// An OPML file of ten thousand feeds has 3 MB.
const MAX_OPML_BYTES: u64 = 8 * 1024 * 1024;

/// Reads a document from standard input for the agent.
pub(crate) fn parse_document() -> Result<ExitCode, Failure> {
    // Nothing waits for it.
    let _ = rustix::process::nice(19);
    let parsed = ::feeds::parse_document(std::io::stdin().lock(), std::io::stdout().lock());
    parsed.map(|()| ExitCode::SUCCESS).map_err(Failure::of_system)
}

/// Runs `whit feeds`.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let FeedsArgs { directory, config, account, task } = &arguments::from_matches(matches)?;
    let mut place = Place { directory, library: open(directory, task)? };
    let (name, now_ms) = (account.as_deref(), jiff::Timestamp::now().as_millisecond());
    let mut status = ExitCode::SUCCESS;
    let text = match task {
        FeedsTask::List { is_json } => place.list(&place.account(name)?, *is_json, now_ms)?,
        FeedsTask::Add { addresses, folder } => {
            let account = place.account(name)?;
            let configuration = InUse::read(config.as_deref(), Some(directory))?;
            let options = match &configuration.options.feeds {
                Some(options) => options.clone(),
                None => {
                    write_stderr(&format!(
                        "whit: the agent polls no feeds: {configuration} has no table [feeds]\n"
                    ));
                    FeedOptions { parser: document_parser(), ..FeedOptions::default() }
                }
            };
            let (text, is_complete) = place.add(&account, addresses, folder, &options, now_ms)?;
            if !is_complete {
                status = ExitCode::FAILURE;
            }
            text
        }
        FeedsTask::Remove { feeds } => place.remove(&place.account(name)?, feeds)?,
        FeedsTask::Unread { has_read, search, limit, is_json } => {
            let filter = EntryFilter {
                is_unread: !has_read,
                search: search.clone(),
                limit: *limit,
                ..EntryFilter::default()
            };
            let account = place.account(name)?;
            let (text, is_complete) = place.entries(&account, &filter, *is_json, now_ms)?;
            if !is_complete {
                write_stderr(&format!(
                    "whit: there are more than these {limit} entries: --count shows more\n"
                ));
            }
            text
        }
        FeedsTask::Read { entry, is_json } => place.read(&place.account(name)?, *entry, *is_json, now_ms)?,
        FeedsTask::Import { file } => {
            let (text, has_feeds) = place.import(&place.account(name)?, file, now_ms)?;
            if !has_feeds {
                status = ExitCode::FAILURE;
            }
            text
        }
        FeedsTask::Export => {
            let account = place.account(name)?;
            place.library.export(&account).map_err(|error| place.failure(error))?
        }
        FeedsTask::Users => {
            let accounts = place.library.unread_counts().map_err(|error| place.failure(error))?;
            render::accounts(&accounts)
        }
        FeedsTask::AddUser { name } => {
            // Before it asks for a password.
            place.library.check_new_name(name).map_err(|error| place.failure(error))?;
            let password = password::read()?;
            let added = place.library.add_account(name, &password, now_ms);
            added.map_err(|error| place.failure(error))?;
            String::new()
        }
        FeedsTask::SetPassword { name } => {
            let account = place.account(Some(name))?;
            let password = password::read()?;
            place.library.set_password(&account, &password).map_err(|error| place.failure(error))?;
            String::new()
        }
        FeedsTask::RemoveUser { name } => {
            let account = place.account(Some(name))?;
            place.library.remove_account(&account).map_err(|error| place.failure(error))?;
            String::new()
        }
    };
    Output::stdout().write(text.as_bytes())?;
    Ok(status)
}

/// Opens the library. Only a new account creates one.
fn open(directory: &Path, task: &FeedsTask) -> Result<Library, Failure> {
    let has_library = Library::is_in(directory).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::PermissionDenied => {
                "; the agent's user and root read it here, everybody else in a browser at /feeds/ of the agent's address"
            }
            _ => "",
        };
        Failure::new(format!("{}: {error}{hint}", directory.shown()))
    })?;
    if !has_library && !matches!(task, FeedsTask::AddUser { .. }) {
        return Err(Failure::new(format!(
            "{}: there are no feeds yet; whit feeds user add NAME creates an account",
            directory.shown()
        )));
    }
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", directory.shown()));
    let library = Library::open(directory).map_err(|error| failed(&error))?;
    if !has_library {
        give_to_owner(directory).map_err(|error| failed(&error))?;
    }
    Ok(library)
}

/// Gives a library that root has made to the owner of its directory: the agent of a service is another user.
fn give_to_owner(directory: &Path) -> std::io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let owner = std::fs::metadata(directory)?;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| name.starts_with("feeds.sqlite")) {
            std::os::unix::fs::lchown(entry.path(), Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    Ok(())
}

struct Place<'a> {
    directory: &'a Path,
    library: Library,
}

impl Place<'_> {
    fn failure(&self, error: FeedError) -> Failure {
        match error {
            FeedError::Refused(reason) => Failure::new(reason),
            error => Failure::new(format!("{}: {error}", self.directory.shown())),
        }
    }

    /// The account of a name; without one that of the user, or the only one.
    fn account(&self, name: Option<&str>) -> Result<Account, Failure> {
        let accounts = self.library.accounts().map_err(|error| self.failure(error))?;
        let user = std::env::var("SUDO_USER").or_else(|_| std::env::var("USER")).ok();
        let wanted = name.or(user.as_deref());
        if let Some(found) = accounts.iter().find(|account| Some(account.name.as_str()) == wanted) {
            return Ok(found.clone());
        }
        match (name, accounts.as_slice()) {
            (_, []) => Err(Failure::new("there is no account yet; whit feeds user add NAME creates one")),
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(Failure::usage(
                "there are several accounts: choose one with --account NAME; whit feeds user lists them",
            )),
            (Some(name), _) => {
                let hint =
                    text::nearest::did_you_mean(name, accounts.iter().map(|account| account.name.as_str()));
                Err(Failure::usage(format!("there is no account \"{}\"{hint}", name.shown())))
            }
        }
    }

    fn subscriptions(&self, account: &Account) -> Result<Vec<Subscription>, Failure> {
        self.library.subscriptions(account).map_err(|error| self.failure(error))
    }

    fn list(&self, account: &Account, is_json: bool, now_ms: i64) -> Result<String, Failure> {
        let subscriptions = self.subscriptions(account)?;
        match is_json {
            true => document(&json!({
                "account": account.name,
                "feeds": subscriptions.iter().map(render::subscription_json).collect::<Vec<_>>(),
                "entries": [],
            })),
            false => Ok(render::subscriptions(&subscriptions, now_ms)),
        }
    }

    /// Subscribes to each address that has a feed. Returns whether all have one.
    fn add(
        &mut self,
        account: &Account,
        addresses: &[String],
        folder: &str,
        options: &FeedOptions,
        now_ms: i64,
    ) -> Result<(String, bool), Failure> {
        let fetcher = Fetcher::open(self.directory, options).map_err(|error| self.failure(error))?;
        let (mut text, mut is_complete) = (String::new(), true);
        for address in addresses {
            let address = with_scheme(address);
            match ::feeds::locate(&fetcher, &options.parser, &address, SystemTime::now()) {
                Ok(found) => {
                    let feed = self.library.subscribe(account, &found.url, "", folder, now_ms);
                    let feed = feed.map_err(|error| self.failure(error))?;
                    text.push_str(&format!("{feed} {} ({})\n", found.title.shown(), found.url.shown()));
                }
                Err(reason) => {
                    is_complete = false;
                    write_stderr(&format!("whit: {}: {reason}\n", address.shown()));
                }
            }
        }
        Ok((text, is_complete))
    }

    fn remove(&mut self, account: &Account, feeds: &[String]) -> Result<String, Failure> {
        let find = |wanted: &String| {
            let by =
                |name: &str| self.library.subscribed_feed(account, name).map_err(|error| self.failure(error));
            let found = match by(wanted)? {
                None => by(&with_scheme(wanted))?,
                found => found,
            };
            found.ok_or_else(|| {
                Failure::usage(format!(
                    "{} has no feed \"{}\"; whit feeds lists them",
                    account.name,
                    wanted.shown()
                ))
            })
        };
        // All of them or none.
        let feeds: Vec<i64> = feeds.iter().map(find).collect::<Result<_, _>>()?;
        for feed in feeds {
            self.library.unsubscribe(account, feed).map_err(|error| self.failure(error))?;
        }
        Ok(String::new())
    }

    /// Entries of a filter, and whether these are all.
    fn entries(
        &self,
        account: &Account,
        filter: &EntryFilter,
        is_json: bool,
        now_ms: i64,
    ) -> Result<(String, bool), Failure> {
        let one_more = EntryFilter { limit: filter.limit + 1, ..filter.clone() };
        let mut entries = self.library.entries(account, &one_more).map_err(|error| self.failure(error))?;
        let is_complete = entries.len() <= filter.limit;
        entries.truncate(filter.limit);
        let text = match is_json {
            true => document(&json!({
                "account": account.name,
                "feeds": [],
                "entries": entries.iter().map(render::entry_json).collect::<Vec<_>>(),
            }))?,
            false => render::entries(&entries, now_ms),
        };
        Ok((text, is_complete))
    }

    fn read(&mut self, account: &Account, id: i64, is_json: bool, now_ms: i64) -> Result<String, Failure> {
        let found = self.library.entry(account, id).map_err(|error| self.failure(error))?;
        let entry = found.ok_or_else(|| Failure::new(format!("{} has no entry {id}", account.name)))?;
        let text = match is_json {
            true => document(
                &json!({ "account": account.name, "feeds": [], "entries": [render::entry_json(&entry)] }),
            )?,
            false => render::entry(&entry),
        };
        self.library.mark(account, &[id], Mark::Read(true), now_ms).map_err(|error| self.failure(error))?;
        Ok(text)
    }

    /// Returns what is said, and whether a feed was taken.
    fn import(&mut self, account: &Account, file: &Path, now_ms: i64) -> Result<(String, bool), Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", file.shown()));
        let document = named::read(file, MAX_OPML_BYTES).map_err(|error| failed(&error))?;
        let imported = self.library.import(account, &document, now_ms).map_err(|error| match error {
            FeedError::Refused(reason) => failed(&reason),
            error => self.failure(error),
        })?;
        for reason in &imported.refused {
            write_stderr(&format!("whit: {}: {reason}\n", file.shown()));
        }
        let all = imported.subscribed + imported.refused.len();
        Ok((format!("{} of {all} feeds\n", imported.subscribed), imported.subscribed > 0))
    }
}

fn document(body: &serde_json::Value) -> Result<String, Failure> {
    let mut text = String::new();
    Documents::of_live().push(DocumentKind::Feeds, probe::clock_now().realtime, body, &mut text)?;
    Ok(text)
}
