//! Options of `whit check`.

use std::path::PathBuf;
use std::time::Duration;

use checks::{CheckRequest, Downtime, Period, State};
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
use command::time_zone::written_ms;

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
    /// Asks the agent for something. The names may be patterns of checks.
    Requests(Vec<CheckRequest>),
    /// Prints Nagios' configuration as whit's.
    Import(PathBuf),
}

const USUAL_DOWNTIME: Duration = Duration::from_secs(7200);
/// A hundred years.
const FOR_EVER: Duration = Duration::from_secs(100 * 366 * 86_400);

pub(crate) fn command() -> Command {
    Command::new("check").about("Show and control checks: Nagios plugins and others").defer(|command| {
        let check =
            || argument("check", "CHECK", "A check: HOST/NAME, a host's own HOST, or NAME of this machine");
        let several = || check().num_args(1..).help("Checks, or patterns such as 'web*/http'");
        let comment = || Arg::new("comment").long("comment").value_name("TEXT").help("A comment");
        let actions = [
            with_list(action("list", "List problems; with --all, or names, checks that are OK, too")),
            action("show", "Show one check").arg(check()).arg(json()),
            action("slow", "List the plugins that cost most, and what they waited for").arg(json()),
            action("explain", "Say when and how one check runs, and who gets notifications").arg(check()),
            action("run", "Run one check now, in the terminal; its state does not change").arg(check()),
            action("now", "Let the agent run checks at once").arg(several()),
            action("submit", "Submit a result: submit backup critical 'no backup'")
                .arg(check())
                .arg(argument("state", "STATE", "ok, warning, critical or unknown, or 0 to 3"))
                .arg(argument("text", "TEXT", "The text, as a plugin prints it; - is standard input")),
            action("ack", "Acknowledge problems: no more notifications of them")
                .arg(several())
                .arg(switch("sticky", "Until it is OK, also if its state changes"))
                .arg(comment()),
            action("unack", "Withdraw acknowledgements").arg(several()),
            action("downtime", "Send no notifications for a while")
                .arg(argument("check", "CHECK", "A check, a host, or a pattern of these"))
                .arg(option("duration", Kind::Duration, "How long it is [default: 2h]"))
                .arg(instant_option("since", "When it begins [default: now]"))
                .arg(
                    Arg::new("every")
                        .long("every")
                        .value_name("TIMES")
                        .help("Only at these times of the week: \"sun 02:00-04:00\""),
                )
                .arg(comment()),
            action("undowntime", "End a downtime").arg(
                argument("number", "NUMBER", "Its number, which whit check list says")
                    .value_parser(value_parser!(i64).range(0..)),
            ),
            action("import", "Print Nagios' configuration as whit's").arg(
                argument("file", Kind::File.name(), "nagios.cfg, or a file with objects")
                    .value_parser(Kind::File.parser()),
            ),
        ];
        with_actions(with_list(command), actions)
            .override_usage("whit check [ACTION] [OPTIONS]\n       whit check [OPTIONS] [CHECK]...")
            .arg(running_agent_configuration().global(true))
            .arg(past_data().global(true))
            .after_help(paragraphs(EXPLANATION))
    })
}

/// Returns whether a name is that of an action.
pub(super) fn is_action(name: &str) -> bool {
    let mut command = command();
    command.build();
    command.find_subcommand(name).is_some()
}

/// The options of a list, which is what the command does without an action.
fn with_list(command: Command) -> Command {
    command
        .arg(
            Arg::new("patterns")
                .value_name("CHECK")
                .num_args(1..)
                .help("Checks, hosts, or patterns of these [default: all]"),
        )
        .arg(switch("all", "List checks that are OK, too").short('a'))
        .arg(json())
}

const EXPLANATION: &str = "\
Checks are [[check]] tables of the agent's configuration, hosts [[host]] tables: whit-checks(7). Each
action has a help of its own: whit check downtime --help.";

pub(crate) fn from_matches(matches: &ArgMatches) -> Result<CheckArgs, Failure> {
    let (action, matches) = chosen_action(matches, "list", &["all", "json"])?;
    let name = || text(matches, "check");
    let each = |request: &dyn Fn(String) -> CheckRequest| -> Vec<CheckRequest> {
        texts(matches, "check").into_iter().map(request).collect()
    };
    let is_json = || matches.get_flag("json");
    let task = match action {
        "show" => CheckTask::Show { name: name(), is_json: is_json() },
        "slow" => CheckTask::Slow { is_json: is_json() },
        "run" => CheckTask::Run { name: name() },
        "import" => CheckTask::Import(matches.get_one::<PathBuf>("file").cloned().unwrap_or_default()),
        "explain" => CheckTask::Explain { name: name() },
        "now" => CheckTask::Requests(each(&|name| CheckRequest::CheckNow { name })),
        "submit" => CheckTask::Requests(vec![CheckRequest::Submit {
            name: name(),
            state: state_of(&text(matches, "state"))?,
            output: text(matches, "text"),
            at_ms: now_ms(),
        }]),
        "ack" => CheckTask::Requests(each(&|name| CheckRequest::Acknowledge {
            name,
            author: author(),
            comment: text(matches, "comment"),
            is_sticky: matches.get_flag("sticky"),
            is_silent: false,
        })),
        "unack" => CheckTask::Requests(each(&|name| CheckRequest::Unacknowledge { name })),
        "downtime" => CheckTask::Requests(vec![CheckRequest::Downtime(downtime(matches)?)]),
        "undowntime" => CheckTask::Requests(vec![CheckRequest::EndDowntime {
            number: matches.get_one("number").copied().unwrap_or_default(),
        }]),
        _ => {
            let patterns = texts(matches, "patterns");
            let has_fine = matches.get_flag("all") || !patterns.is_empty();
            CheckTask::List { has_fine, patterns, is_json: is_json() }
        }
    };
    let directory = match &task {
        CheckTask::Import(_) => Ok(PathBuf::new()),
        // They read the configuration, and what is there beside it.
        CheckTask::Run { .. } | CheckTask::Explain { .. } => {
            in_use::data_directory(matches, agent_files::data)
        }
        _ => in_use::data_directory(matches, past::directory),
    };
    let config = matches.get_one::<PathBuf>("config").cloned();
    Ok(CheckArgs { directory: directory?, config, task })
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// The author of an acknowledgement or downtime.
fn author() -> String {
    let user = std::env::var("SUDO_USER").or_else(|_| std::env::var("USER"));
    user.unwrap_or_else(|_| {
        sampling::users::Users::read().name(probe::own_uid()).unwrap_or("unknown").to_owned()
    })
}

fn downtime(matches: &ArgMatches) -> Result<Downtime, Failure> {
    let every = text(matches, "every");
    if !every.is_empty() {
        every.parse::<Period>().map_err(|message| Failure::usage(format!("--every: {message}")))?;
    }
    let usual = if every.is_empty() { USUAL_DOWNTIME } else { FOR_EVER };
    let length = matches.get_one("duration").copied().unwrap_or(usual);
    let since_ms = instant_ms(matches, "since")?.unwrap_or_else(now_ms);
    let until_ms = since_ms.saturating_add(i64::try_from(length.as_millis()).unwrap_or(i64::MAX));
    if until_ms <= now_ms() {
        let until = written_ms(until_ms);
        return Err(Failure::usage(format!(
            "a downtime until {until} is over already; --since 14:00 is the last one"
        )));
    }
    Ok(Downtime {
        pattern: text(matches, "check"),
        since_ms,
        until_ms,
        every,
        author: author(),
        comment: text(matches, "comment"),
    })
}

/// A state by its name or number.
fn state_of(text: &str) -> Result<State, Failure> {
    State::read(text).ok_or_else(|| {
        Failure::usage(format!("\"{text}\" is no state: ok, warning, critical or unknown, or 0 to 3"))
    })
}
