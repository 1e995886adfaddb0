//! Options of `whit check`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use checks::{Period, State};
use clap::builder::PossibleValue;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, value_parser};

use crate::agent::configured_data_directory;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{
    agent_configuration, data, instant_ms, instant_option, json, option, paragraphs, past_directory, switch,
};
use text::quantity;

/// `whit check`, validated.
#[derive(Debug)]
pub(crate) struct CheckArgs {
    pub(super) directory: PathBuf,
    pub(super) config: Option<PathBuf>,
    pub(super) task: CheckTask,
}

/// A task of `whit check`.
#[derive(Debug)]
pub(super) enum CheckTask {
    /// Lists states.
    List {
        /// Names, hosts, or patterns of these; none: all.
        patterns: Vec<String>,
        /// Checks that are OK, too.
        has_fine: bool,
        is_json: bool,
    },
    /// Shows one check.
    Show { name: String, is_json: bool },
    /// Lists the checks that cost most.
    Slow { is_json: bool },
    /// Runs one, without a change of its state.
    Run { name: String },
    /// Says when and how one runs, and who gets notifications.
    Explain { name: String },
    /// Asks the agent for something.
    Request(Asked),
    /// Ends a downtime.
    EndDowntime(i64),
    /// Prints Nagios' configuration as whit's.
    Import(PathBuf),
    /// Runs plugins for the agent.
    Runner,
}

/// A request to the agent.
#[derive(Debug)]
pub(super) enum Asked {
    Submit { name: String, state: State, output: String },
    Acknowledge { name: String, comment: String, is_sticky: bool },
    Unacknowledge { name: String },
    Downtime { pattern: String, since_ms: i64, length: Duration, every: String, comment: String },
    Now { name: String },
}

const ACTIONS: [(&str, &str); 12] = [
    ("list", "List problems; with --all, or names, checks that are OK, too"),
    ("show", "Show one check"),
    ("slow", "List the plugins that cost most, and what they waited for"),
    ("explain", "Say when and how one check runs, and who gets notifications"),
    ("run", "Run one check now, in the terminal; its state does not change"),
    ("now", "Let the agent run one check at once"),
    ("submit", "Submit a result: CHECK STATE TEXT, the text as a plugin prints it, - for standard input"),
    ("ack", "Acknowledge a problem: no more notifications of it"),
    ("unack", "Withdraw an acknowledgement"),
    ("downtime", "Send no notifications of a check, a host, or a pattern of these for a while"),
    ("undowntime", "End a downtime, by its number"),
    ("import", "Print Nagios' configuration as whit's: the path of nagios.cfg, or of a file with objects"),
];
const USUAL_DOWNTIME: Duration = Duration::from_secs(7200);
/// A hundred years.
const FOR_EVER: Duration = Duration::from_secs(100 * 366 * 86_400);
/// The action that the agent runs.
const RUNNER: &str = "runner";

pub(crate) fn command() -> Command {
    Command::new("check").about("Show and control the checks of the agent: Nagios plugins and others").defer(
        |command| {
            let actions = ACTIONS.map(|(name, help)| PossibleValue::new(name).help(help));
            let hidden = PossibleValue::new(RUNNER).hide(true);
            command
                .arg(
                    Arg::new("action")
                        .value_name("ACTION")
                        .value_parser(actions.into_iter().chain([hidden]).collect::<Vec<PossibleValue>>())
                        .default_value("list")
                        .help("What to do"),
                )
                .arg(
                    Arg::new("check")
                        .value_name("CHECK")
                        .num_args(1..)
                        .value_parser(value_parser!(OsString))
                        .help("A check: HOST/NAME, a host's own HOST, or NAME of this machine; list takes patterns"),
                )
                .arg(switch("all", "List checks that are OK, too").short('a'))
                .arg(Arg::new("comment").long("comment").value_name("TEXT").help("A comment of an acknowledgement or downtime"))
                .arg(switch("sticky", "Acknowledge it until it is OK, also if its state changes"))
                .arg(option("duration", Kind::Duration, "The length of a downtime [default: 2h]"))
                .arg(instant_option("since", "The start of a downtime [default: now]"))
                .arg(Arg::new("every").long("every").value_name("TIMES").help("A downtime only at these times of the week: \"sun 02:00-04:00\""))
                .arg(agent_configuration())
                .arg(data())
                .arg(json())
                .after_help(paragraphs(EXPLANATION))
        },
    )
}

const EXPLANATION: &str = "\
Checks are [[check]] tables of the agent's configuration, hosts [[host]] tables: docs/CHECKS.md.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<CheckArgs, Failure> {
    let action = matches.get_one::<String>("action").map_or("list", String::as_str);
    let names: Vec<OsString> = matches.get_many("check").into_iter().flatten().cloned().collect();
    let names: Option<Vec<String>> = names.iter().map(|name| name.to_str().map(str::to_owned)).collect();
    let names = names.ok_or_else(|| Failure::usage("a name is not UTF-8"))?;
    let is_json = matches.get_flag("json");
    for (name, wanted) in [
        ("comment", &["ack", "downtime"][..]),
        ("sticky", &["ack"]),
        ("duration", &["downtime"]),
        ("since", &["downtime"]),
        ("every", &["downtime"]),
    ] {
        let is_there = matches!(matches.value_source(name), Some(ValueSource::CommandLine));
        if is_there && !wanted.contains(&action) {
            return Err(Failure::usage(format!("--{name} is for whit check {}", wanted.join(" and "))));
        }
    }
    let comment = || matches.get_one::<String>("comment").cloned().unwrap_or_default();
    let one = || match names.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(Failure::usage(format!("whit check {action} needs the name of a check"))),
    };
    let none = || match names.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(format!("whit check {action} takes no name"))),
    };
    if matches.get_flag("all") && action != "list" {
        return Err(Failure::usage("--all is for whit check list"));
    }
    if is_json && !["list", "show", "slow"].contains(&action) {
        return Err(Failure::usage(format!("whit check {action} has no --json")));
    }
    let task = match action {
        "show" => CheckTask::Show { name: one()?, is_json },
        "slow" => {
            none()?;
            CheckTask::Slow { is_json }
        }
        "run" => CheckTask::Run { name: one()? },
        "import" => CheckTask::Import(PathBuf::from(one()?)),
        "explain" => CheckTask::Explain { name: one()? },
        "now" => CheckTask::Request(Asked::Now { name: one()? }),
        "submit" => match names.as_slice() {
            [name, state, output] => CheckTask::Request(Asked::Submit {
                name: name.clone(),
                state: state_of(state)?,
                output: output.clone(),
            }),
            _ => {
                return Err(Failure::usage(
                    "whit check submit needs CHECK STATE TEXT: backup critical 'no backup'",
                ));
            }
        },
        "ack" => CheckTask::Request(Asked::Acknowledge {
            name: one()?,
            comment: comment(),
            is_sticky: matches.get_flag("sticky"),
        }),
        "unack" => CheckTask::Request(Asked::Unacknowledge { name: one()? }),
        "downtime" => {
            let every = matches.get_one::<String>("every").cloned().unwrap_or_default();
            if !every.is_empty() {
                every.parse::<Period>().map_err(|message| Failure::usage(format!("--every: {message}")))?;
            }
            let usual = if every.is_empty() { USUAL_DOWNTIME } else { FOR_EVER };
            CheckTask::Request(Asked::Downtime {
                pattern: one()?,
                since_ms: instant_ms(matches, "since")?
                    .unwrap_or_else(|| jiff::Timestamp::now().as_millisecond()),
                length: matches.get_one("duration").copied().unwrap_or(usual),
                every,
                comment: comment(),
            })
        }
        "undowntime" => {
            const WHAT: &str = "the number of a downtime, which whit check list says";
            let number = quantity::count(&one()?).ok().and_then(|number| i64::try_from(number).ok());
            CheckTask::EndDowntime(number.ok_or_else(|| Failure::usage(format!("expected {WHAT}")))?)
        }
        RUNNER => {
            none()?;
            CheckTask::Runner
        }
        _ => CheckTask::List {
            has_fine: matches.get_flag("all") || !names.is_empty(),
            patterns: names,
            is_json,
        },
    };
    let config = matches.get_one::<PathBuf>("config").cloned();
    Ok(CheckArgs { directory: configured_data_directory(matches, past_directory)?, config, task })
}

/// A state by its name or number.
fn state_of(text: &str) -> Result<State, Failure> {
    State::read(text).ok_or_else(|| {
        Failure::usage(format!("\"{text}\" is no state: ok, warning, critical or unknown, or 0 to 3"))
    })
}
