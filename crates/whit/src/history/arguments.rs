//! Options of `whit history`.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use formats::relabel::Relabelling;

use crate::relabel::rules;
use command::agent_files;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{
    action, chosen_action, instant, instant_option, json, named_data, option, paragraphs, past_data,
    past_directory, several, switch, texts, with_actions,
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
    /// Says how far the receivers of remote write are.
    Remote { is_json: bool },
    /// Says what came of exporters.
    Exporters { is_json: bool },
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

pub(crate) fn command() -> Command {
    Command::new("history").about("Show, export, verify and import what the agent has recorded").defer(
        |command| {
            let files = Arg::new("file").value_name(Kind::File.name()).value_parser(Kind::File.parser());
            let format = Arg::new("format").long("format").value_name("FORMAT").default_value("csv");
            let actions = [
                with_description(action("show", "Describe what there is")),
                action("export", "Write the samples of a time and a selection")
                    .arg(instant_option("since", "From this instant on [default: the first]"))
                    .arg(instant_option("until", "Up to this instant [default: the last]"))
                    .arg(several(
                        "series",
                        Kind::Glob,
                        "Series that match, such as 'node_cpu*' or '*device=\"sda\"*'",
                    ))
                    .arg(format.value_parser(FORMATS.map(|(name, _)| name)).help("How samples are written"))
                    .arg(option("rules", Kind::File, "Relabel by these rules: whit relabel --help")),
                action(
                    "import",
                    "Add the samples of files: an export, text of Prometheus with times, or sadf -j",
                )
                .arg(files.num_args(1..).required(true).help("What is imported; - is standard input")),
                action("remote", "Show how far the receivers of remote write are, and what they refuse")
                    .arg(json()),
                action("exporters", "Show what exporters and files with metrics had, and what is wrong")
                    .arg(json()),
                action("verify", "Read everything, and say what is damaged"),
                action("compact", "Thin what is old now, and make the file as small as possible"),
                action("drop", "Delete what is old; a block of ten minutes that is partly newer stays")
                    .arg(instant_option("until", "What is older than this is deleted").required(true)),
            ];
            with_actions(with_description(command), actions)
                .arg(past_data().global(true))
                .after_help(paragraphs(EXPLANATION))
        },
    )
}

/// The options of a description, which is what the command does without an action.
fn with_description(command: Command) -> Command {
    command.arg(switch("list", "Print the name of every series").short('l')).arg(json())
}

const EXPLANATION: &str = "\
An instant is 03:12 (the last one), yesterday 14:00, today, -2h, 2026-11-22 14:00, or RFC 3339. import,
compact and drop need the agent to be stopped, or another --data; the agent does the last two by
itself, as its configuration says. Of what is imported, older samples stand before those that were
recorded; rates of sar become the counters that they were made of. Each action has a help of its own:
whit history export --help.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<HistoryArgs, Failure> {
    let (action, matches) = chosen_action(matches, "show", &["list", "json"])?;
    let task = match action {
        "export" => {
            let format = matches.get_one::<String>("format").map_or("csv", String::as_str);
            let format =
                FORMATS.iter().find(|(name, _)| *name == format).map_or(Format::Csv, |(_, format)| *format);
            let window = Window {
                from_ns: instant(matches, "since")?.unwrap_or(i64::MIN),
                to_ns: instant(matches, "until")?.unwrap_or(i64::MAX),
                series: texts(matches, "series"),
            };
            let rules = matches.get_one::<PathBuf>("rules").map(|path| rules::read_file(path));
            HistoryTask::Export(window, format, rules.transpose()?.unwrap_or_default())
        }
        "import" => HistoryTask::Import(matches.get_many("file").into_iter().flatten().cloned().collect()),
        "remote" => HistoryTask::Remote { is_json: matches.get_flag("json") },
        "exporters" => HistoryTask::Exporters { is_json: matches.get_flag("json") },
        "verify" => HistoryTask::Verify,
        "compact" => HistoryTask::Compact,
        "drop" => HistoryTask::Drop(instant(matches, "until")?.unwrap_or(i64::MIN)),
        _ => HistoryTask::Show { with_series: matches.get_flag("list"), is_json: matches.get_flag("json") },
    };
    let directory = match task {
        HistoryTask::Import(_) => agent_files::own_data(named_data(matches)),
        _ => past_directory(matches),
    };
    Ok(HistoryArgs { directory: directory?, task })
}
