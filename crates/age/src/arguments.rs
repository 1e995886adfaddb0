//! Options of `whit age`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use facts::age::{AgeBy, Cap};
use facts::unit::Ratio;
use probe::directory::{EntryKind, Mounts};
use text::quantity;

use super::options::{
    AgeOptions, DeleteMode, Deletion, FileOrder, FreeSpace, ListForm, Measure, Threshold, View,
};
use super::selection::Selection;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{count, directories, json, number, option, paragraphs, several, switch};
use command::quantity::{age, amount, size};
use sampling::users::Users;

/// Returns the options of `whit age`.
pub fn command() -> Command {
    Command::new("age").about("Show how old the files of a directory are, and delete the old").defer(|command| {
        command
            .arg(directories("The directories [default: .]"))
            .arg(option("older", Kind::Age, "Only what is older: 30s, 10m, 6h, 7d, 2w, 1y"))
            .arg(option("newer", Kind::Age, "Only what is younger"))
            .arg(option("larger", Kind::Size, "Only what is larger"))
            .arg(letters("time", "amcb", age_by, "Which time counts: modification, access, change, birth; of several the newest [default: m]"))
            .arg(several("match", Kind::Glob, "Only names that match one of these"))
            .arg(several("exclude", Kind::Glob, "No names that match one of these, and nothing in directories so called"))
            .arg(letters("type", "fdlpsbc", kinds, "Only files, directories, links, pipes, sockets, devices [default: f]"))
            .arg(option("user", Kind::User, "Only this user's").short('u'))
            .arg(switch("recurse", "Go into sub-directories").short('r'))
            .arg(switch("all-filesystems", "Go into what is mounted below, too"))
            .arg(switch("by-directory", "Sums of each directory at the first level, too").requires("recurse"))
            .arg(switch("list", "Print their paths, a line each").short('l'))
            .arg(switch("long", "Print their ages, sizes and paths, a line each").short('L'))
            .arg(
                Arg::new("sort")
                    .long("sort")
                    .short('s')
                    .value_name("COLUMN")
                    .value_parser(["age", "size", "path"])
                    .help("Print them in order: the oldest, the largest, or the first by path first"),
            )
            .arg(count("Print at most N of them").requires("sort"))
            .arg(switch("null", "Print their paths, each ended by NUL").short('0'))
            .arg(switch("number", "Print their number, for which nothing is asked of them"))
            .arg(limit("warn", "Be a Nagios plugin: warn where the oldest or the newest file is older than this, or there are more files, fewer, or more bytes"))
            .arg(limit("crit", "Be a Nagios plugin: the same, critical"))
            .arg(
                Arg::new("delete")
                    .long("delete")
                    .value_name("strict|plain")
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("strict")
                    .value_parser(["strict", "plain"])
                    .help("Delete them; strict checks each again in a private directory, where no other user can exchange it"),
            )
            .arg(switch("dry-run", "Print what --delete would delete").requires("delete"))
            .arg(switch("quiet", "Print no report of what was deleted").short('q').requires("delete").conflicts_with_all(["dry-run"]))
            .arg(switch("empty", "Delete old directories that are empty, too").requires("delete"))
            .arg(option("keep-size", Kind::Size, "Delete the oldest until the rest takes no more of the disk").requires("delete"))
            .arg(option("keep-files", Kind::Amount, "Delete the oldest until no more are left").requires("delete"))
            .arg(
                Arg::new("keep-free")
                    .long("keep-free")
                    .value_name("SIZE|N%")
                    .value_parser(free_space)
                    .requires("delete")
                    .help("Delete the oldest until this much of the filesystem is free"),
            )
            .arg(option("keep-newer", Kind::Age, "Delete nothing that is younger, whatever is to be kept or free").requires("delete"))
            .arg(option("rate", Kind::Rate, "Delete at most so many a second").requires("delete"))
            .arg(
                several("tmpfiles", Kind::File, "Directories and ages from configurations of tmpfiles.d(5) [default: all of the system's]")
                    .num_args(0..)
                    .default_missing_value("")
                    // None is an empty one; the parser of paths takes none that is.
                    .value_parser(OsStringValueParser::new().map(PathBuf::from))
                    .conflicts_with_all(["directory", "older", "time", "type", "keep-size", "keep-files", "keep-free"]),
            )
            .arg(option("workers", Kind::Workers, "Threads that read entries [default: one a CPU]"))
            .arg(json())
            .arg(switch("stats", "At the end system calls and time"))
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Deletion never follows a symlink, and leaves the filesystem with --all-filesystems alone. What
is sticky or locked (flock) stays. Without --older, --keep-size, --keep-files or --keep-free nothing is
deleted; several of these add up: what is older goes in any case, and then the oldest of the rest, by whole
seconds, until what is to be kept is reached; --keep-newer is never broken. With --list, --long or --null what
is deleted is named as it goes, with --json --list as documents. A file of several names counts for each of them. A dry run does not know which
directories would become empty. --tmpfiles deletes what systemd-tmpfiles --clean would, but keeps
sockets, locked files and sticky directories, and stops at a malformed line. What a line of a newer
systemd than 257 names is left alone.
Exit status: 0, 1 where something could not be looked at or deleted (each is named), 2 for a
command line that cannot be; with --warn or --crit that of a plugin: 0, 1, 2, or 3 where
something could not be looked at.";

/// Returns whether a command line seems to be that of a plugin, which decides the exit status if it cannot be parsed.
pub fn is_plugin(words: &[OsString]) -> bool {
    let is_limit = |word: &OsString| {
        ["--warn", "--crit"].iter().any(|limit| word.as_encoded_bytes().starts_with(limit.as_bytes()))
    };
    words.get(1).is_some_and(|word| word == "age") && words.iter().any(is_limit)
}

/// An option whose value is some of these letters.
fn letters<T: Clone + Send + Sync + 'static>(
    name: &'static str,
    letters: &'static str,
    parse: fn(&str) -> Result<T, String>,
    help: &'static str,
) -> Arg {
    Arg::new(name).long(name).value_name(letters).value_parser(parse).help(help)
}

fn limit(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("age|newest|files|fewer|bytes=N")
        .value_parser(threshold)
        .action(ArgAction::Append)
        .help(help)
}

/// Space of a filesystem: `10G`, `10%`.
fn free_space(text: &str) -> Result<FreeSpace, String> {
    let Some(percent) = text.strip_suffix('%') else { return size(text).map(FreeSpace::Size) };
    let percent: f64 = quantity::number(percent).map_err(|_| "a size or a share: 10G, 10%".to_owned())?;
    match percent {
        0.0..=100.0 => Ok(FreeSpace::Share(Ratio(percent / 100.0))),
        _ => Err("from 0% to 100%".to_owned()),
    }
}

fn age_by(text: &str) -> Result<AgeBy, String> {
    AgeBy::parse(text).ok_or_else(|| "some of the letters a, m, c and b".to_owned())
}

fn kinds(text: &str) -> Result<Vec<EntryKind>, String> {
    let kind = |letter| match letter {
        'f' => Ok(EntryKind::File),
        'd' => Ok(EntryKind::Directory),
        'l' => Ok(EntryKind::Symlink),
        'p' => Ok(EntryKind::Fifo),
        's' => Ok(EntryKind::Socket),
        'b' => Ok(EntryKind::BlockDevice),
        'c' => Ok(EntryKind::CharacterDevice),
        _ => Err("some of the letters f, d, l, p, s, b and c".to_owned()),
    };
    if text.is_empty() {
        return Err("some of the letters f, d, l, p, s, b and c".to_owned());
    }
    text.chars().map(kind).collect()
}

fn threshold(text: &str) -> Result<Threshold, String> {
    let (measure, limit) =
        text.split_once('=').ok_or("age=AGE, newest=AGE, files=N, fewer=N or bytes=SIZE")?;
    let (measure, limit) = match measure {
        "age" => (Measure::Age, age(limit)?.0),
        "files" => (Measure::Files, amount(limit)?),
        "newest" => (Measure::Newest, age(limit)?.0),
        "fewer" => (Measure::FewerFiles, amount(limit)?),
        "bytes" => (Measure::Bytes, size(limit)?.0),
        _ => return Err("age=AGE, newest=AGE, files=N, fewer=N or bytes=SIZE".to_owned()),
    };
    Ok(Threshold { measure, limit })
}

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<AgeOptions, Failure> {
    let texts = |name: &str| -> Vec<String> {
        matches.get_many::<String>(name).into_iter().flatten().cloned().collect()
    };
    let paths = |name: &str| -> Vec<PathBuf> {
        matches.get_many::<PathBuf>(name).into_iter().flatten().cloned().collect()
    };
    for pattern in texts("match").iter().chain(&texts("exclude")) {
        fast_glob::validate(pattern)
            .map_err(|error| Failure::usage(format!("\"{pattern}\" is no pattern: {error}")))?;
    }
    let owner = matches.get_one::<String>("user").map(|name| Users::named(name)).transpose();
    let owner = owner.map_err(Failure::usage)?;
    let selection = Selection {
        older: matches.get_one("older").copied(),
        newer: matches.get_one("newer").copied(),
        larger: matches.get_one("larger").copied(),
        by: matches.get_one("time").copied().unwrap_or(AgeBy::MODIFIED),
        matches: texts("match"),
        excludes: texts("exclude"),
        kinds: matches.get_one("type").cloned().unwrap_or_else(|| vec![EntryKind::File]),
        owner,
        directory_by: None,
        protection: None,
        keeps_first_level: false,
        most_levels: None,
    };
    let is_given = matches.value_source("tmpfiles") == Some(ValueSource::CommandLine);
    let tmpfiles =
        is_given.then(|| paths("tmpfiles").into_iter().filter(|path| !path.as_os_str().is_empty()).collect());
    let view = view(matches, &selection, is_given)?;
    let mut directories = paths("directory");
    if directories.is_empty() && tmpfiles.is_none() {
        // Nothing is deleted of a directory that was not named.
        if matches!(view, View::Delete(_)) {
            return Err(Failure::usage("--delete needs a DIR"));
        }
        directories.push(PathBuf::from("."));
    }
    if directories.len() > 1 && matches.contains_id("sort") {
        return Err(Failure::usage(
            "--sort is of one DIR: their parent with --recurse and --match, or one after the other",
        ));
    }
    Ok(AgeOptions {
        directories,
        tmpfiles,
        selection,
        is_recursive: matches.get_flag("recurse"),
        mounts: if matches.get_flag("all-filesystems") { Mounts::Crossed } else { Mounts::Left },
        view,
        is_json: matches.get_flag("json"),
        with_stats: matches.get_flag("stats"),
        threads: number(matches, "workers"),
    })
}

fn view(matches: &ArgMatches, selection: &Selection, has_tmpfiles: bool) -> Result<View, Failure> {
    let flag = |name: &str| matches.get_flag(name);
    let thresholds =
        |name: &str| -> Vec<Threshold> { matches.get_many(name).into_iter().flatten().copied().collect() };
    let (warn, crit) = (thresholds("warn"), thresholds("crit"));
    let is_verdict = !warn.is_empty() || !crit.is_empty();
    let delete = matches.get_one::<String>("delete");
    let order = matches.get_one::<String>("sort").map(|order| match order.as_str() {
        "age" => FileOrder::Age,
        "size" => FileOrder::Size,
        _ => FileOrder::Path,
    });
    // An order is that of a list: with the sizes and ages by which it was made.
    let is_long = flag("long") || order.is_some() && !flag("list") && !flag("null");
    let is_list = flag("list") || flag("null") || is_long;
    if let (Some(_), Some(_)) = (&order, delete) {
        return Err(Failure::usage("what is deleted is listed as it goes: --sort goes without --delete"));
    }
    let forms = [("list", flag("list")), ("long", is_long), ("null", flag("null"))];
    let mut views: Vec<&str> =
        forms.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name).collect();
    if let [one, other, ..] = views[..] {
        return Err(Failure::usage(format!("--{one} and --{other} are two forms of a list: one of them")));
    }
    // What is deleted can be listed, and nothing else can be two things.
    if delete.is_some() {
        views.clear();
        views.push("delete");
    }
    let others =
        [("number", flag("number")), ("warn", !warn.is_empty()), ("crit", warn.is_empty() && is_verdict)];
    views.extend(others.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name));
    if let [one, other, ..] = views[..] {
        return Err(Failure::usage(format!("--{one} cannot be used with --{other}")));
    }
    let form = match (flag("json"), flag("null"), is_long) {
        (true, ..) => ListForm::Json,
        (_, true, _) => ListForm::Paths { end: 0 },
        (_, _, true) => ListForm::Long,
        _ => ListForm::Paths { end: b'\n' },
    };
    if flag("by-directory") && (is_list || flag("number") || is_verdict || delete.is_some()) {
        return Err(Failure::usage("--by-directory is about the report"));
    }
    if flag("null") && flag("json") {
        return Err(Failure::usage("--null prints paths and --json documents: one of them"));
    }
    if let Some(way) = delete {
        let cap = Cap {
            files: matches.get_one("keep-files").copied(),
            allocated: matches.get_one("keep-size").copied(),
            freed: None,
        };
        let keep_free = matches.get_one("keep-free").copied();
        if selection.older.is_none() && cap == Cap::default() && keep_free.is_none() && !has_tmpfiles {
            return Err(Failure::usage(
                "--delete needs --older, --keep-size, --keep-files or --keep-free: what is to go?",
            ));
        }
        let way = match way.as_str() {
            _ if flag("dry-run") => DeleteMode::DryRun,
            "plain" => DeleteMode::Plain,
            _ => DeleteMode::Strict,
        };
        let pace = matches.get_one("rate").copied();
        // systemd-tmpfiles does so, too.
        let with_empty_directories = flag("empty") || has_tmpfiles;
        let keep_newer = matches.get_one("keep-newer").copied();
        // A dry run is for its list.
        let listed = (is_list || way == DeleteMode::DryRun).then_some(form);
        // After names that end with NUL nothing else may come.
        let is_quiet = flag("quiet") || flag("null");
        return Ok(View::Delete(Deletion {
            way,
            with_empty_directories,
            cap,
            keep_free,
            pace,
            keep_newer,
            listed,
            is_quiet,
        }));
    }
    Ok(match (is_list, flag("number"), is_verdict) {
        (true, ..) => View::List { form, order, most: number(matches, "count") },
        (_, true, _) => View::Count,
        (_, _, true) => View::Verdict { warn, crit },
        _ => View::Report { by_directory: flag("by-directory") },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_and_kinds_are_named() {
        assert_eq!(threshold("files=2k"), Ok(Threshold { measure: Measure::Files, limit: 2_000 }));
        assert!(threshold("files").is_err() && threshold("size=1").is_err() && threshold("age=x").is_err());
        assert!(kinds("fdl").is_ok() && kinds("x").is_err() && age_by("").is_err());
    }
}
