//! `whit alert`: which alerts there are, what is watched for, and silences.

pub(crate) mod arguments;
mod prometheus;
mod render;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use ::history::past::Past;
use alerts::{Active, AlertOptions, AlertRule, Ledger, Silence, try_rule};
use clap::ArgMatches;
use notify::{Outcome, Receiver, send_now};
use serde_json::json;
use text::printable::Shown as _;

use self::arguments::{AlertArgs, AlertTask};
use crate::agent::in_use::InUse;
use crate::check::was_so;
use command::document::{DocumentKind, Documents};
use command::failure::Failure;
use command::output::Output;
use command::past::{self, explain};
use command::time_zone::written_ms;

/// Runs `whit alert`.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let AlertArgs { directory, config, task } = args;
    let text = match task {
        AlertTask::List { is_json } => list(directory, config.as_deref(), *is_json)?,
        AlertTask::Rules { is_prometheus } => rules(directory, config.as_deref(), *is_prometheus)?,
        AlertTask::Test { rules, time, sends } => {
            return test(directory, config.as_deref(), rules, *time, *sends);
        }
        AlertTask::Silence { selector, length, comment } => {
            must_be_a_rule(directory, config.as_deref(), selector)?;
            silence(directory, selector, *length, comment)?
        }
        AlertTask::Unsilence(number) => unsilence(directory, *number)?,
    };
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Sends the notification of a file, for the agent.
pub(crate) fn deliver(path: &Path) -> Result<ExitCode, Failure> {
    notify::job::run(path).map_err(|error| Failure::new(format!("{}: {error}", path.shown())))?;
    Ok(ExitCode::SUCCESS)
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Opens the ledger of a data directory, to be asked.
fn open_for_reading(directory: &Path) -> Result<Ledger, Failure> {
    must_be_in(directory)?;
    Ledger::open_for_reading(directory).map_err(|error| of_ledger(directory, error))
}

/// Opens the ledger of a data directory, to ask something of the agent.
fn open(directory: &Path) -> Result<Ledger, Failure> {
    must_be_in(directory)?;
    Ledger::open(directory).map_err(|error| of_ledger(directory, error))
}

fn must_be_in(directory: &Path) -> Result<(), Failure> {
    if !Ledger::is_in(directory).map_err(|error| past::unseen(directory, &error))? {
        let path = directory.shown();
        return Err(Failure::new(format!("{path}: no agent has watched for anything there yet")));
    }
    Ok(())
}

fn of_ledger(directory: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("{}: {error}", directory.shown()))
}

fn list(directory: &Path, config: Option<&Path>, is_json: bool) -> Result<String, Failure> {
    let ledger = open_for_reading(directory)?;
    let failed = |error| of_ledger(directory, error);
    let active = ledger.active().map_err(failed)?;
    let silences = ledger.silences(now_ms()).map_err(failed)?;
    let mut deliveries = ledger.deliveries().map_err(failed)?;
    if !is_json {
        deliveries.retain(|(_, delivery)| delivery.outcome != Some(Outcome::Delivered));
        let mut text = was_so(directory) + &render::list(&active, &silences, &deliveries, now_ms());
        text.push_str(&watched(directory, config));
        return Ok(text);
    }
    let silences = silences.iter().map(|(number, silence)| {
        json!({
            "number": number,
            "selector": silence.selector,
            "since_realtime_ns": silence.since_ms * 1_000_000,
            "until_realtime_ns": silence.until_ms * 1_000_000,
            "comment": silence.comment,
        })
    });
    let body = json!({
        "alerts": active.iter().map(render::alert_json).collect::<Vec<_>>(),
        "silences": silences.collect::<Vec<_>>(),
        "deliveries": deliveries.iter().map(|(_, one)| render::delivery_json(one)).collect::<Vec<_>>(),
    });
    let mut text = String::new();
    Documents::of_live().push(DocumentKind::Alerts, probe::clock_now().realtime, &body, &mut text)?;
    Ok(text)
}

/// Says how many rules there are, and who gets notifications.
fn watched(directory: &Path, config: Option<&Path>) -> String {
    match InUse::read(config, Some(directory)) {
        Ok(configuration) => {
            render::watched(configuration.options.alerts.as_ref(), &configuration.to_string())
        }
        Err(failure) => format!("the rules are not known: {}\n", failure.message()),
    }
}

/// The configured ones.
fn configured(configuration: &InUse) -> Result<&AlertOptions, Failure> {
    let alerts = configuration.options.alerts.as_ref();
    alerts.ok_or_else(|| Failure::new(format!("nothing is watched for: {configuration} has no rules")))
}

fn rules(directory: &Path, config: Option<&Path>, is_prometheus: bool) -> Result<String, Failure> {
    let configuration = InUse::read(config, Some(directory))?;
    let options = configured(&configuration)?;
    if is_prometheus {
        return Ok(prometheus::rules(options));
    }
    let mut text = String::new();
    for rule in &options.rules {
        render::push_rule(rule, &mut text);
    }
    Ok(text)
}

/// The rules with these names, all if there are none.
fn chosen<'r>(options: &'r AlertOptions, names: &[String]) -> Result<Vec<&'r AlertRule>, Failure> {
    if names.is_empty() {
        return Ok(options.rules.iter().collect());
    }
    let find = |name: &String| {
        let found = options.rules.iter().find(|rule| rule.name == *name);
        let hint = text::nearest::did_you_mean(name, options.rules.iter().map(|rule| rule.name.as_str()));
        found.ok_or_else(|| Failure::usage(format!("no rule is called \"{}\"{hint}", name.shown())))
    };
    names.iter().map(find).collect()
}

fn test(
    directory: &Path,
    config: Option<&Path>,
    names: &[String],
    time: Option<[i64; 2]>,
    sends: bool,
) -> Result<ExitCode, Failure> {
    let configuration = InUse::read(config, Some(directory))?;
    let options = configured(&configuration)?;
    let rules = chosen(options, names)?;
    let mut output = Output::stdout();
    let mut has_failed = false;
    if sends {
        if options.receivers.is_empty() {
            return Err(Failure::new(format!("no receiver: {configuration} has no table [[receiver]]")));
        }
        for receiver in &options.receivers {
            has_failed |= !send(receiver, &mut output)?;
        }
        return Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    let past = past::open(directory)?;
    for rule in rules {
        let text = match time {
            None => test_now(&past, rule),
            Some(time) => test_between(&past, rule, time, options),
        };
        let text = text.unwrap_or_else(|error| {
            has_failed = true;
            format!("{}: {error}\n", rule.name)
        });
        output.write(text.as_bytes())?;
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn test_now(past: &Past, rule: &AlertRule) -> Result<String, String> {
    let found = alerts::ask(past, rule, now_ms())?;
    Ok(render::found(rule, &found))
}

fn test_between(
    past: &Past,
    rule: &AlertRule,
    [from_ms, to_ms]: [i64; 2],
    options: &AlertOptions,
) -> Result<String, String> {
    // Before the first tick and after the last nothing is known, and what watches for absence would fire.
    let extent = past.extent_ns().map_err(|error| error.to_string())?;
    let (first_ns, last_ns) = extent.ok_or("nothing is recorded yet")?;
    let (from_ms, to_ms) = (from_ms.max(first_ns / 1_000_000), to_ms.min(last_ns / 1_000_000));
    if from_ms > to_ms {
        return Err("nothing was recorded then".to_owned());
    }
    let step_ms = i64::try_from(options.interval.as_millis()).unwrap_or(i64::MAX);
    Ok(render::fired(rule, &try_rule(past, rule, [from_ms, to_ms], step_ms)?))
}

/// Sends a test alert to a receiver. Returns whether that succeeded.
fn send(receiver: &Receiver, output: &mut Output) -> Result<bool, Failure> {
    let alert = Active {
        labels: [("alertname".to_owned(), "test".to_owned())].into(),
        since_ms: now_ms(),
        firing_since_ms: Some(now_ms()),
        is_told: true,
        value: "0".to_owned(),
        text: "This is a test of whit alert.".to_owned(),
    };
    let sent = send_now(receiver, alert, now_ms());
    let words = sent.as_ref().map_or_else(String::as_str, |()| "sent");
    output.write(format!("{}: {words}\n", receiver.name.shown()).as_bytes())?;
    Ok(sent.is_ok())
}

/// Refuses the name of a rule that there is not, if the rules are known here. A selector may be of alerts to come.
fn must_be_a_rule(directory: &Path, config: Option<&Path>, name: &str) -> Result<(), Failure> {
    let Ok(configuration) = InUse::read(config, Some(directory)) else { return Ok(()) };
    let Some(options) = &configuration.options.alerts else { return Ok(()) };
    let names = options.rules.iter().map(|rule| rule.name.as_str());
    if name.starts_with('{') || names.clone().any(|known| known == name) {
        return Ok(());
    }
    let hint = text::nearest::did_you_mean(name, names);
    Err(Failure::new(format!("no rule is called \"{}\"{hint}; whit alert rules lists them", name.shown())))
}

fn silence(directory: &Path, selector: &str, length: Duration, comment: &str) -> Result<String, Failure> {
    let since_ms = now_ms();
    let length_ms = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
    let silence = Silence {
        selector: selector.to_owned(),
        since_ms,
        until_ms: since_ms.saturating_add(length_ms),
        comment: comment.to_owned(),
    };
    silence.matchers().map_err(|error| explain(selector, &error))?;
    let number = open(directory)?.silence(&silence).map_err(|error| of_ledger(directory, error))?;
    let until = written_ms(silence.until_ms);
    Ok(format!("silence {number} until {until}; whit alert unsilence {number} ends it\n"))
}

fn unsilence(directory: &Path, number: i64) -> Result<String, Failure> {
    let ended =
        open(directory)?.end_silence(number, now_ms()).map_err(|error| of_ledger(directory, error))?;
    match ended {
        true => Ok(format!("silence {number} has ended\n")),
        false => Err(Failure::new(format!("there is no silence {number}"))),
    }
}
