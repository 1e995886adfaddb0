//! Options of `whit history`.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Arg, ArgMatches, Command};
use formats::relabel::Relabelling;

use crate::relabel::rules;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{
    data, data_directory, instant, instant_option, json, option, paragraphs, past_directory, several, switch,
};

/// `whit history`, validated.
#[derive(Debug)]
pub(crate) struct HistoryArgs {
    pub(crate) directory: PathBuf,
    pub(crate) task: HistoryTask,
}

/// A task of `whit history`.
#[derive(Debug)]
pub(crate) enum HistoryTask {
    /// Says what there is.
    Show {
        /// Also the names of all series.
        with_series: bool,
        is_json: bool,
    },
    /// Writes samples, under the names that rules give them.
    Export(Window, Format, Relabelling),
    /// Adds what these files contain.
    Import(Vec<PathBuf>),
    /// Reads everything and says what is damaged.
    Verify,
    /// Thins what is old, and makes the file as small as it can be.
    Compact,
    /// Deletes what is older than this, in nanoseconds since 1970.
    Drop(i64),
}

/// Some samples.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Nanoseconds since 1970.
    pub(crate) from_ns: i64,
    /// The last of them included.
    pub(crate) to_ns: i64,
    /// Patterns; none: all series.
    pub(crate) series: Vec<String>,
}

/// How samples are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Json,
    Prometheus,
    OpenMetrics,
}

const FORMATS: [(&str, Format); 4] = [
    ("csv", Format::Csv),
    ("json", Format::Json),
    ("prometheus", Format::Prometheus),
    ("openmetrics", Format::OpenMetrics),
];

const ACTIONS: [(&str, &str); 6] = [
    ("show", "What there is"),
    ("export", "Write the samples of a time and a selection"),
    ("import", "Add the samples of files: an export, text of Prometheus with times, or sadf -j"),
    ("verify", "Read everything, and say what is damaged"),
    ("compact", "Thin what is old now, and make the file as small as possible"),
    ("drop", "Delete what is older than --until; a block of ten minutes that is partly newer stays"),
];

pub(crate) fn command() -> Command {
    Command::new("history").about("What the agent has recorded").defer(|command| {
        command
            .arg(
                Arg::new("action")
                    .value_name("ACTION")
                    .value_parser(ACTIONS.map(|(name, help)| PossibleValue::new(name).help(help)))
                    .default_value("show")
                    .help("What to do with it"),
            )
            .arg(
                Arg::new("file")
                    .value_name(Kind::File.name())
                    .num_args(1..)
                    .value_parser(Kind::File.parser())
                    .help("What is imported; - is standard input"),
            )
            .arg(data())
            .arg(instant_option("since", "From this instant on [default: the first]"))
            .arg(instant_option("until", "Up to this instant [default: the last]"))
            .arg(several(
                "series",
                Kind::Glob,
                "Series that match, such as 'node_cpu*' or '*device=\"sda\"*'",
            ))
            .arg(
                Arg::new("format")
                    .long("format")
                    .value_name("FORMAT")
                    .value_parser(FORMATS.map(|(name, _)| name))
                    .default_value("csv")
                    .help("How samples are written"),
            )
            .arg(option("rules", Kind::File, "Relabel what is exported by these rules: whit relabel --help"))
            .arg(switch("list", "Print the name of every series").short('l'))
            .arg(json())
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
An instant is 03:12 (the last one), yesterday 14:00, today, -2h, 2026-11-22 14:00, or RFC 3339. import,
compact and drop need the agent to be stopped, or another --data; the agent does the last two by
itself, as its configuration says. Of what is imported, older samples stand before those that were
recorded; rates of sar become the counters that they were made of.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<HistoryArgs, Failure> {
    let (since, until) = (instant(matches, "since")?, instant(matches, "until")?);
    let action = matches.get_one::<String>("action").map_or("show", String::as_str);
    let explicit = |name: &str| matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine);
    let refuse = |names: &[&str], actions: &str| match names.iter().find(|name| explicit(name)) {
        Some(name) => Err(Failure::usage(format!("--{name} goes with {actions}"))),
        None => Ok(()),
    };
    if action != "export" {
        refuse(&["since", "series", "format", "rules"], "export")?;
    }
    if !matches!(action, "export" | "drop") {
        refuse(&["until"], "export and drop")?;
    }
    let files: Vec<PathBuf> = matches.get_many("file").into_iter().flatten().cloned().collect();
    if action != "import" && !files.is_empty() {
        return Err(Failure::usage(format!("a file goes with import, not with {action}")));
    }
    if action != "show" {
        refuse(&["list", "json"], "show; export has --format json")?;
    }
    let task = match action {
        "export" => {
            let format = matches.get_one::<String>("format").map_or("csv", String::as_str);
            let format =
                FORMATS.iter().find(|(name, _)| *name == format).map_or(Format::Csv, |(_, format)| *format);
            let series = matches.get_many::<String>("series").into_iter().flatten().cloned().collect();
            let window =
                Window { from_ns: since.unwrap_or(i64::MIN), to_ns: until.unwrap_or(i64::MAX), series };
            let rules = matches.get_one::<PathBuf>("rules").map(|path| rules::read_file(path));
            HistoryTask::Export(window, format, rules.transpose()?.unwrap_or_default())
        }
        "import" if files.is_empty() => {
            return Err(Failure::usage("import needs a FILE, or - for standard input"));
        }
        "import" => HistoryTask::Import(files),
        "verify" => HistoryTask::Verify,
        "compact" => HistoryTask::Compact,
        "drop" => {
            let needed = || Failure::usage("drop needs --until: what is older than that is deleted");
            HistoryTask::Drop(until.ok_or_else(needed)?)
        }
        _ => HistoryTask::Show { with_series: matches.get_flag("list"), is_json: matches.get_flag("json") },
    };
    let directory = match task {
        HistoryTask::Import(_) => data_directory(matches),
        _ => past_directory(matches),
    };
    Ok(HistoryArgs { directory: directory?, task })
}
