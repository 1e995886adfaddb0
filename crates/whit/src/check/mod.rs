//! `whit check`: shows and controls the checks of the agent.

pub(crate) mod arguments;
mod explain;
mod known;
mod render;
mod request;
mod suppression;

use std::path::Path;
use std::process::ExitCode;

use ::history::HISTORY;
use checks::import;
use checks::{Check, CheckLedger, CheckOptions, CheckStatus, is_selected, runner, try_check};
use clap::ArgMatches;
use notify::Outcome;
use rustix::fd::AsFd as _;
use text::natural_order::by_natural_order;
use text::printable::Shown as _;

use self::arguments::{CheckArgs, CheckTask, now_ms};
use self::known::{of_ledger, open_for_reading, unknown};
use self::suppression::Known;
use crate::agent::in_use::InUse;
use command::document::{DocumentKind, Documents};
use command::failure::{Failure, write_stderr};
use command::output::Output;
use command::progress;

/// The exit status of an import that left out something on which a notification or a run depends.
const INCOMPLETE: u8 = 3;

/// Runs `whit check`.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let args = &arguments::from_matches(matches)?;
    let CheckArgs { directory, config, task } = args;
    let text = match task {
        CheckTask::List { patterns, has_fine, is_json } => list(directory, patterns, *has_fine, *is_json)?,
        CheckTask::Show { name, is_json } => show(directory, config.as_deref(), name, *is_json)?,
        CheckTask::Slow { is_json } => slow(directory, *is_json)?,
        CheckTask::Run { name } => return run_one(directory, config.as_deref(), name),
        CheckTask::Import(path) => {
            let imported = progress::during(|| format!("reading {}", path.shown()), || import::import(path))
                .map_err(Failure::new)?;
            Output::stdout().write(imported.text.as_bytes())?;
            return Ok(report(&imported));
        }
        CheckTask::Explain { name } => explain(directory, config.as_deref(), name)?,
        CheckTask::Requests(asked) => request::request(directory, asked)?,
    };
    Output::stdout().write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs plugins for the agent at the other end of standard input.
pub(crate) fn run_plugins() -> Result<ExitCode, Failure> {
    let agent = std::io::stdin().as_fd().try_clone_to_owned();
    agent.and_then(runner::run).map_err(Failure::of_system)?;
    Ok(ExitCode::SUCCESS)
}

/// Reports an import. Its exit status is 3 if a run or a notification depends on something that was left out.
fn report(imported: &import::Imported) -> ExitCode {
    for note in &imported.notes {
        write_stderr(&format!("whit: {note}\n"));
    }
    write_stderr(&format!("whit: {}\n", imported.summary));
    if imported.has_effect { ExitCode::from(INCOMPLETE) } else { ExitCode::SUCCESS }
}

fn list(directory: &Path, patterns: &[String], has_fine: bool, is_json: bool) -> Result<String, Failure> {
    let ledger = open_for_reading(directory)?;
    let failed = |error| of_ledger(directory, error);
    let all = ledger.configured().map_err(failed)?;
    let downtimes = ledger.downtimes().map_err(failed)?;
    let mut deliveries = ledger.deliveries().map_err(failed)?;
    let is_meant = |status: &&CheckStatus| {
        patterns.is_empty() || patterns.iter().any(|pattern| is_selected(pattern, &status.name))
    };
    let mut shown: Vec<&CheckStatus> = all.iter().filter(is_meant).collect();
    let selects_nothing = |pattern: &&String| !all.iter().any(|status| is_selected(pattern, &status.name));
    if let Some(pattern) = patterns.iter().find(selects_nothing) {
        return Err(unknown(pattern, &all));
    }
    let summary = render::summary(&shown);
    if !has_fine {
        shown.retain(|status| status.is_problem());
    }
    shown.sort_by(|one, other| {
        let urgency = |status: &CheckStatus| (status.severity(), status.since_ms);
        urgency(one).cmp(&urgency(other)).then_with(|| by_natural_order(&one.name, &other.name))
    });
    if is_json {
        let checks: Vec<_> = shown.iter().map(|status| render::json(status)).collect();
        let downtimes: Vec<_> = downtimes.iter().map(render::downtime_json).collect();
        let deliveries: Vec<_> = deliveries.iter().map(|(_, one)| render::delivery_json(one)).collect();
        return document(
            &serde_json::json!({ "checks": checks, "downtimes": downtimes, "deliveries": deliveries }),
        );
    }
    deliveries.retain(|(_, delivery)| delivery.outcome != Some(Outcome::Delivered));
    Ok(was_so(directory) + &render::list(&shown, &summary, &downtimes, &deliveries, now_ms()))
}

/// Returns a warning that states are old, if no agent runs; otherwise nothing.
pub(crate) fn was_so(directory: &Path) -> String {
    match recorder::is_recorded_into(directory) {
        Ok(false) => "no agent runs there now; this is how it was when one ended\n".to_owned(),
        _ => String::new(),
    }
}

fn document(body: &serde_json::Value) -> Result<String, Failure> {
    let mut text = String::new();
    Documents::of_live().push(DocumentKind::Checks, probe::clock_now().realtime, body, &mut text)?;
    Ok(text)
}

fn show(directory: &Path, config: Option<&Path>, name: &str, is_json: bool) -> Result<String, Failure> {
    let ledger = open_for_reading(directory)?;
    let found = ledger.status(name).map_err(|error| of_ledger(directory, error))?;
    let Some(status) = found else {
        let all = ledger.configured().map_err(|error| of_ledger(directory, error))?;
        return Err(unknown(name, &all));
    };
    match is_json {
        true => document(&serde_json::json!({ "checks": [render::json(&status)] })),
        false => {
            let mut text = was_so(directory) + &render::show(&status);
            // Why there are no notifications is said if the configuration is known here.
            if let Ok(options) = configured(directory, config)
                && let Ok(check) = named(&options, name)
            {
                let known =
                    Known::read(Some(&ledger), &options).map_err(|error| of_ledger(directory, error))?;
                known.push_reasons(check, now_ms(), &mut text);
            }
            Ok(text)
        }
    }
}

fn slow(directory: &Path, is_json: bool) -> Result<String, Failure> {
    let mut all = open_for_reading(directory)?.configured().map_err(|error| of_ledger(directory, error))?;
    all.retain(|status| status.cost.runs > 0);
    all.sort_by_key(|status| std::cmp::Reverse(status.cost.sum.cpu_ns));
    match is_json {
        true => {
            let checks: Vec<_> = all.iter().map(render::json).collect();
            document(&serde_json::json!({ "checks": checks }))
        }
        false => Ok(render::slow(&all)),
    }
}

fn configured(directory: &Path, config: Option<&Path>) -> Result<CheckOptions, Failure> {
    let mut configuration = InUse::read(config, Some(directory))?;
    let checks = configuration.options.checks.take();
    checks.ok_or_else(|| {
        Failure::new(format!(
            "nothing is checked: {configuration} has no [[check]]: whit-checks(7) has examples"
        ))
    })
}

fn named<'o>(options: &'o CheckOptions, name: &str) -> Result<&'o Check, Failure> {
    let names: Vec<String> = options.checks.iter().map(|check| check.name.to_string()).collect();
    let found = names.iter().position(|known| known == name);
    Ok(&options.checks[found.ok_or_else(|| unknown(name, &names))?])
}

fn run_one(directory: &Path, config: Option<&Path>, name: &str) -> Result<ExitCode, Failure> {
    let options = configured(directory, config)?;
    let check = named(&options, name)?;
    let (finding, cost) = try_check(check, &options.runner, &directory.join(HISTORY))
        .map_err(|error| Failure::new(format!("{name}: {error}")))?;
    Output::stdout().write(render::tried(&finding, &cost).as_bytes())?;
    Ok(ExitCode::from(finding.state.number()))
}

fn explain(directory: &Path, config: Option<&Path>, name: &str) -> Result<String, Failure> {
    let options = configured(directory, config)?;
    let check = named(&options, name)?;
    let has_ledger = CheckLedger::is_in(directory).unwrap_or(false);
    let ledger = has_ledger.then(|| open_for_reading(directory)).transpose()?;
    let known = Known::read(ledger.as_ref(), &options).map_err(|error| of_ledger(directory, error))?;
    Ok(explain::explain(check, &options, &known, now_ms()))
}
