//! Requests to the agent, and what it did.

use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use checks::{CheckLedger, CheckRequest, CheckStatus, is_selected};
use text::natural_order::by_natural_order;
use text::printable::Shown as _;

use super::arguments::now_ms;
use super::known::{must_be_in, of_ledger, unknown};
use super::render;
use command::failure::Failure;

/// An agent that runs takes requests four times a second. Results, which come in thousands, are not waited for.
const MAX_WAIT: Duration = Duration::from_secs(8);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// More checks that are due at once are counted.
const MAX_NAMED: usize = 5;

/// Asks the agent for what its checks allow. Returns what it did.
///
/// # Errors
/// If there is no such check or downtime, or nothing of it to be changed: then nothing is asked for.
pub(super) fn request(directory: &Path, requests: &[CheckRequest]) -> Result<String, Failure> {
    must_be_in(directory)?;
    let failed = |error| of_ledger(directory, error);
    let mut ledger = CheckLedger::open(directory).map_err(failed)?;
    let known = ledger.configured().map_err(failed)?;
    let last_number = ledger.downtimes().map_err(failed)?.last().map_or(0, |(number, _)| *number);
    let mut permitted_requests = Vec::new();
    for request in requests {
        for one in of_pattern(request, &known)? {
            permitted_requests.push(permitted(&one, &ledger, &known, directory)?);
        }
    }
    let are_results = permitted_requests.iter().all(|request| matches!(request, CheckRequest::Submit { .. }));
    // What is not permitted to be seen is tried.
    if !are_results && recorder::is_recorded_into(directory).is_ok_and(|is_recorded| !is_recorded) {
        return Err(Failure::new(format!("{}: no agent runs there that could do this", directory.shown())));
    }
    let asked = ledger.request(&permitted_requests).map_err(failed)?;
    if are_results {
        return Ok(String::new());
    }
    let deadline = Instant::now() + MAX_WAIT;
    for number in asked.clone() {
        while ledger.has_request(number).map_err(failed)? {
            if Instant::now() > deadline {
                // Nothing is done later that its user believes to have failed.
                ledger.withdraw(number..asked.end).map_err(failed)?;
                return Err(Failure::new(
                    "the agent has not taken this, and it was taken back: does it hang?",
                ));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
    let is_run = |request: &&CheckRequest| matches!(request, CheckRequest::CheckNow { .. });
    let run = permitted_requests.iter().filter(is_run).count();
    let mut text = match run > MAX_NAMED {
        true => format!("{run} checks are due at once; whit check list --all has their results\n"),
        false => String::new(),
    };
    for request in permitted_requests.iter().filter(|request| run <= MAX_NAMED || !is_run(request)) {
        text.push_str(&done(request, &ledger, last_number, &known, directory)?);
    }
    Ok(text)
}

/// Returns a request for each check that a pattern selects and for which it is possible; one with a name as it is.
fn of_pattern(request: &CheckRequest, known: &[CheckStatus]) -> Result<Vec<CheckRequest>, Failure> {
    let (pattern, suits): (_, fn(&CheckStatus) -> bool) = match request {
        CheckRequest::Acknowledge { name, .. } => {
            (name, |status| status.is_problem() && status.acknowledgement.is_none())
        }
        CheckRequest::Unacknowledge { name } => (name, |status| status.acknowledgement.is_some()),
        CheckRequest::CheckNow { name } => (name, |status| !status.is_passive),
        _ => return Ok(vec![request.clone()]),
    };
    if !pattern.contains(['*', '?', '[', '{']) || known.iter().any(|status| status.name == *pattern) {
        return Ok(vec![request.clone()]);
    }
    let mut selected: Vec<&CheckStatus> =
        known.iter().filter(|status| is_selected(pattern, &status.name)).collect();
    if selected.is_empty() {
        return Err(unknown(pattern, known));
    }
    let of_check = |status: &&CheckStatus| {
        let mut request = request.clone();
        if let CheckRequest::Acknowledge { name, .. }
        | CheckRequest::Unacknowledge { name }
        | CheckRequest::CheckNow { name } = &mut request
        {
            name.clone_from(&status.name);
        }
        request
    };
    selected.sort_by(|one, other| by_natural_order(&one.name, &other.name));
    let requests: Vec<CheckRequest> = selected.iter().filter(|status| suits(status)).map(of_check).collect();
    match requests.is_empty() {
        true => Err(Failure::new(format!("none of the checks of {} can be changed so", pattern.shown()))),
        false => Ok(requests),
    }
}

/// Returns the request as it is to be sent.
fn permitted(
    request: &CheckRequest,
    ledger: &CheckLedger,
    known: &[CheckStatus],
    directory: &Path,
) -> Result<CheckRequest, Failure> {
    let find = |name: &String| {
        let found = known.iter().find(|status| status.name == *name);
        found.ok_or_else(|| unknown(name, known))
    };
    let mut request = request.clone();
    match &mut request {
        CheckRequest::Submit { name, output, at_ms, .. } => {
            find(name)?;
            if output == "-" {
                *output = standard_input()?;
                // It may have taken long.
                *at_ms = now_ms();
            }
        }
        CheckRequest::Acknowledge { name, .. } => {
            if !find(name)?.is_problem() {
                return Err(Failure::new(format!("{} has no problem to acknowledge", name.shown())));
            }
        }
        CheckRequest::Unacknowledge { name } => {
            if find(name)?.acknowledgement.is_none() {
                return Err(Failure::new(format!("{} is not acknowledged", name.shown())));
            }
        }
        CheckRequest::CheckNow { name } => {
            if find(name)?.is_passive {
                let name = name.shown();
                return Err(Failure::new(format!(
                    "{name} is passive: whit check submit {name} has its results"
                )));
            }
        }
        CheckRequest::Downtime(downtime) => {
            if !known.iter().any(|status| downtime.is_of(&status.name)) {
                return Err(unknown(&downtime.pattern, known));
            }
        }
        CheckRequest::EndDowntime { number } => {
            let downtimes = ledger.downtimes().map_err(|error| of_ledger(directory, error))?;
            if downtimes.iter().all(|(known, _)| known != number) {
                let numbers: Vec<String> = downtimes.iter().map(|(number, _)| number.to_string()).collect();
                let others = match numbers.as_slice() {
                    [] => "there is none".to_owned(),
                    numbers => format!("there are {}", numbers.join(", ")),
                };
                return Err(Failure::new(format!("there is no downtime {number}: {others}")));
            }
        }
    }
    Ok(request)
}

/// Says what the agent did, and how that ends.
fn done(
    request: &CheckRequest,
    ledger: &CheckLedger,
    last_number: i64,
    known: &[CheckStatus],
    directory: &Path,
) -> Result<String, Failure> {
    let failed = |error| of_ledger(directory, error);
    Ok(match request {
        CheckRequest::Submit { .. } => String::new(),
        CheckRequest::Acknowledge { name, is_sticky, .. } => {
            let status = ledger.status(name).map_err(failed)?;
            let name = name.shown();
            if status.is_none_or(|status| status.acknowledgement.is_none()) {
                return Err(Failure::new(format!("{name} has no problem any more")));
            }
            let end = if *is_sticky { "it is OK" } else { "its state changes" };
            format!(
                "{name} is acknowledged: no more notifications of it until {end}; whit check unack {name} withdraws that\n"
            )
        }
        CheckRequest::Unacknowledge { name } => format!("{} is not acknowledged any more\n", name.shown()),
        CheckRequest::CheckNow { name } => {
            let name = name.shown();
            format!("{name} is due at once; whit check show {name} has its result\n")
        }
        CheckRequest::Downtime(downtime) => {
            let count = known.iter().filter(|status| downtime.is_of(&status.name)).count();
            let checks = if count == 1 { "check" } else { "checks" };
            let when = render::when(downtime, now_ms());
            let all = ledger.downtimes().map_err(failed)?;
            let number = all.iter().find(|(number, known)| *number > last_number && known == downtime);
            match number {
                Some((number, _)) => format!(
                    "downtime {number} of {count} {checks} {when}; whit check undowntime {number} ends it\n"
                ),
                None => return Err(Failure::new("the agent could not write the downtime: its log says why")),
            }
        }
        CheckRequest::EndDowntime { number } => format!("downtime {number} has ended\n"),
    })
}

/// Reads a plugin's output.
fn standard_input() -> Result<String, Failure> {
    const MAX_BYTES: u64 = 64 * 1024;
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_BYTES).read_to_end(&mut bytes).map_err(Failure::of_system)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
