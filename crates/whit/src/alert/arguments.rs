//! Options of `whit alert`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};

use crate::agent::in_use;
use command::agent_files;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{
    action, argument, chosen_action, instant_ms, instant_option, json, option, paragraphs, past_data,
    running_agent_configuration, switch, text, texts, with_actions,
};
use command::past;

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
    Rules { is_prometheus: bool },
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
}

const USUAL_SILENCE: Duration = Duration::from_secs(7200);

pub(crate) fn command() -> Command {
    Command::new("alert").about("Show what the agent watches for, and what it found").defer(|command| {
        let actions = [
            action("list", "List alerts, silences, and receivers that could not be reached").arg(json()),
            action("rules", "Print the rules as TOML")
                .arg(switch("prometheus", "Print them as a file of rules for Prometheus and vmalert")),
            action("test", "Evaluate rules now, or over a time that is recorded; the agent does not change")
                .arg(
                    Arg::new("rules").value_name("ALERT").num_args(1..).help("Names of rules [default: all]"),
                )
                .arg(instant_option("since", "From this instant on, step by step"))
                .arg(instant_option("until", "Up to this instant [default: now]").requires("since"))
                .arg(switch("send", "Send a test to all receivers, and say whether they could be reached")),
            action("silence", "Send no notifications of an alert for a while")
                .arg(argument(
                    "selector",
                    "ALERT",
                    "The name of a rule, or a selector such as '{mountpoint=\"/srv\"}'",
                ))
                .arg(option("duration", Kind::Duration, "How long [default: 2h]"))
                .arg(Arg::new("comment").long("comment").value_name("TEXT").help("A comment")),
            action("unsilence", "End a silence").arg(
                argument("number", "NUMBER", "Its number, which whit alert list says")
                    .value_parser(value_parser!(i64).range(0..)),
            ),
        ];
        with_actions(command, actions)
            .arg(json())
            .arg(running_agent_configuration().global(true))
            .arg(past_data().global(true))
            .after_help(paragraphs(EXPLANATION))
    })
}

const EXPLANATION: &str = "\
Rules are [[alert]] tables of the agent's configuration, receivers [[receiver]] tables:
whit-alerts(7). Each action has a help of its own: whit alert silence --help.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<AlertArgs, Failure> {
    let (action, matches) = chosen_action(matches, "list", &["json"])?;
    let task = match action {
        "test" => {
            let until =
                instant_ms(matches, "until")?.unwrap_or_else(|| jiff::Timestamp::now().as_millisecond());
            let time = instant_ms(matches, "since")?.map(|since| [since, until]);
            if time.is_some_and(|[since, until]| since > until) {
                return Err(Failure::usage("--until is before --since"));
            }
            AlertTask::Test { rules: texts(matches, "rules"), time, sends: matches.get_flag("send") }
        }
        "silence" => AlertTask::Silence {
            selector: text(matches, "selector"),
            length: matches.get_one("duration").copied().unwrap_or(USUAL_SILENCE),
            comment: text(matches, "comment"),
        },
        "unsilence" => AlertTask::Unsilence(matches.get_one("number").copied().unwrap_or_default()),
        "rules" => AlertTask::Rules { is_prometheus: matches.get_flag("prometheus") },
        _ => AlertTask::List { is_json: matches.get_flag("json") },
    };
    let directory = match &task {
        // It may be before any agent ran.
        AlertTask::Rules { .. } => in_use::data_directory(matches, agent_files::data),
        _ => in_use::data_directory(matches, past::directory),
    };
    let config = matches.get_one::<PathBuf>("config").cloned();
    Ok(AlertArgs { directory: directory?, config, task })
}
