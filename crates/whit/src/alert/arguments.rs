//! Options of `whit alert`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Arg, ArgMatches, Command, value_parser};

use crate::agent::configured_data_directory;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{
    agent_configuration, data, instant_ms, instant_option, json, option, paragraphs, past_directory, switch,
};
use text::quantity;

/// `whit alert`, validated.
#[derive(Debug)]
pub(crate) struct AlertArgs {
    pub(super) directory: PathBuf,
    pub(super) config: Option<PathBuf>,
    pub(super) task: AlertTask,
}

/// A task of `whit alert`.
#[derive(Debug)]
pub(super) enum AlertTask {
    /// Says which there are.
    List { is_json: bool },
    /// Says what is watched for.
    Rules,
    /// Evaluates rules.
    Test {
        /// By name; none: all.
        rules: Vec<String>,
        /// From when to when, in milliseconds since 1970; `None`: now.
        time: Option<[i64; 2]>,
        /// A test alert is sent to the receivers.
        sends: bool,
    },
    /// Silences notifications for a while.
    Silence { selector: String, length: Duration, comment: String },
    /// Ends a silence.
    Unsilence(i64),
    /// Does the job of a job_program.
    Deliver(PathBuf),
}

const ACTIONS: [(&str, &str); 5] = [
    ("list", "Which alerts there are, which are silenced, and who could not be told"),
    ("rules", "What is watched for, as TOML"),
    ("test", "Evaluate rules now, or over a time that is recorded; the agent does not change"),
    ("silence", "Let nobody be told of an alert for a while"),
    ("unsilence", "End a silence, by its number"),
];
/// The action that the agent runs.
const DELIVER: &str = "deliver";
const USUAL_SILENCE: Duration = Duration::from_secs(7200);

pub(crate) fn command() -> Command {
    Command::new("alert").about("What the agent watches for, and what it found").defer(|command| {
        let actions = ACTIONS.map(|(name, help)| PossibleValue::new(name).help(help));
        let hidden = PossibleValue::new(DELIVER).hide(true);
        command
            .arg(
                Arg::new("action")
                    .value_name("ACTION")
                    .value_parser(actions.into_iter().chain([hidden]).collect::<Vec<PossibleValue>>())
                    .default_value("list")
                    .help("What to do about them"),
            )
            .arg(
                Arg::new("alert")
                    .value_name("ALERT")
                    .num_args(1..)
                    .value_parser(value_parser!(OsString))
                    .help("The name of a rule, a selector of alerts, or the number of a silence"),
            )
            .arg(option("duration", Kind::Duration, "How long it is silenced [default: 2h]"))
            .arg(Arg::new("comment").long("comment").value_name("TEXT").help("Why it is silenced"))
            .arg(instant_option("since", "Evaluate from this instant on, step by step"))
            .arg(instant_option("until", "Up to this instant [default: now]").requires("since"))
            .arg(switch("send", "Tell all receivers of a test, and say whether they could be told"))
            .arg(agent_configuration())
            .arg(data())
            .arg(json())
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Rules are [[alert]] tables of the agent's configuration, receivers [[receiver]] tables:
docs/ALERTS.md. A silence is for the alerts of a rule, or for those that a selector such as
'{mountpoint=\"/srv\"}' selects.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<AlertArgs, Failure> {
    let action = matches.get_one::<String>("action").map_or("list", String::as_str);
    let names: Vec<OsString> = matches.get_many("alert").into_iter().flatten().cloned().collect();
    let only_for = |name: &'static str, wanted: &'static str| {
        let is_there = matches!(matches.value_source(name), Some(clap::parser::ValueSource::CommandLine));
        match is_there && action != wanted {
            true => Err(Failure::usage(format!("--{name} is for whit alert {wanted}"))),
            false => Ok(()),
        }
    };
    for (name, wanted) in [
        ("duration", "silence"),
        ("comment", "silence"),
        ("since", "test"),
        ("send", "test"),
        ("json", "list"),
    ] {
        only_for(name, wanted)?;
    }
    let texts = || -> Result<Vec<String>, Failure> {
        let text = |name: &OsString| name.to_str().map(str::to_owned);
        let texts: Option<Vec<String>> = names.iter().map(text).collect();
        texts.ok_or_else(|| Failure::usage("a name is not UTF-8"))
    };
    let one = |what: &str| match texts()?.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(Failure::usage(format!("whit alert {action} needs {what}"))),
    };
    let task = match action {
        "test" => {
            let until =
                instant_ms(matches, "until")?.unwrap_or_else(|| jiff::Timestamp::now().as_millisecond());
            let time = instant_ms(matches, "since")?.map(|since| [since, until]);
            if time.is_some_and(|[since, until]| since > until) {
                return Err(Failure::usage("--until is before --since"));
            }
            AlertTask::Test { rules: texts()?, time, sends: matches.get_flag("send") }
        }
        "silence" => AlertTask::Silence {
            selector: one("the name of a rule, or a selector such as '{mountpoint=\"/srv\"}'")?,
            length: matches.get_one("duration").copied().unwrap_or(USUAL_SILENCE),
            comment: matches.get_one::<String>("comment").cloned().unwrap_or_default(),
        },
        "unsilence" => {
            const WHAT: &str = "the number of a silence, which whit alert list says";
            let number = quantity::count(&one(WHAT)?).ok().and_then(|number| i64::try_from(number).ok());
            AlertTask::Unsilence(number.ok_or_else(|| Failure::usage(format!("expected {WHAT}")))?)
        }
        DELIVER => match names.as_slice() {
            [path] => AlertTask::Deliver(path.into()),
            _ => return Err(Failure::usage("the agent alone runs this")),
        },
        action if !names.is_empty() => {
            return Err(Failure::usage(format!("whit alert {action} takes no name")));
        }
        "rules" => AlertTask::Rules,
        _ => AlertTask::List { is_json: matches.get_flag("json") },
    };
    let config = matches.get_one::<PathBuf>("config").cloned();
    Ok(AlertArgs { directory: configured_data_directory(matches, past_directory)?, config, task })
}
