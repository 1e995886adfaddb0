//! Checks, for those who see everything: how they stand, and what is asked of them.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use facts::catalog::agent_metric;
use formats::plugin_output::PluginFigure;
use serde_json::json;

use super::api::Form;
use super::replies::{CheckCell, CheckDetail, CheckEntry, Checks, DowntimeEntry, FigureEntry};
use super::reply::{Refusal, bad_data, blocking, internal, refusal, success};
use super::shared::{SeesAll, Shared};
use checks::{Check, CheckLedger, CheckRegistry, CheckRequest, CheckStatus, Downtime, Period};
use text::natural_order::by_natural_order;

/// Rows of a reply.
const MAX_ROWS: usize = 500;
/// Cells of a grid: more are no picture any more.
const MAX_CELLS: usize = 3000;
/// Figures of a check: each has a plot.
const MAX_FIGURES: usize = 20;
/// The body of a request with results.
const MAX_BODY_BYTES: usize = 4 << 20;
/// Results that are submitted at a time.
const MAX_RESULTS: usize = 10_000;

fn entry(check: &Check, status: &CheckStatus) -> CheckEntry {
    CheckEntry {
        name: status.name.clone(),
        host: check.name.host.clone(),
        service: check.name.service.clone(),
        state: status.state.map(checks::State::name),
        is_hard: status.is_hard,
        attempt: status.attempt,
        attempts: check.attempts,
        since_ms: status.since_ms,
        result_ms: status.result_ms,
        text: status.text.clone(),
        is_flapping: status.flapping.is_flapping() && !check.ignores_flapping,
        is_stale: status.is_stale,
        is_acknowledged: status.acknowledgement.is_some(),
        selector: selector(check),
    }
}

/// All checks, each in a few letters; none if there are too many, or the grid was not asked for.
fn cells(registry: &CheckRegistry, is_wanted: bool) -> Vec<CheckCell> {
    if !is_wanted || registry.checks.len() > MAX_CELLS {
        return Vec::new();
    }
    let both = registry.checks.iter().zip(&registry.statuses);
    let cell = |(check, status): (&Check, &CheckStatus)| CheckCell {
        host: check.name.host.clone(),
        service: check.name.service.clone(),
        state: status.state.map(checks::State::name),
        is_acknowledged: status.acknowledgement.is_some(),
    };
    both.map(cell).collect()
}

/// All that a text is in, of a state or of all that is wrong: the worst first.
pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    _: SeesAll,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let find = form.get("find").unwrap_or_default().to_lowercase();
    let wanted = form.get("state").unwrap_or("problems");
    let registry = shared.states.checks.lock();
    let is_wanted = |status: &CheckStatus| match wanted {
        "all" => true,
        "problems" => status.is_problem(),
        "pending" => status.state.is_none(),
        state => status.state.is_some_and(|known| known.name().eq_ignore_ascii_case(state)),
    };
    let is_found = |status: &CheckStatus| {
        find.is_empty()
            || status.name.to_lowercase().contains(&find)
            || status.text.to_lowercase().contains(&find)
    };
    let both = registry.checks.iter().zip(&registry.statuses);
    let mut found: Vec<(&Check, &CheckStatus)> =
        both.filter(|(_, status)| is_wanted(status) && is_found(status)).collect();
    found.sort_by(|(_, one), (_, other)| {
        let urgency = |status: &CheckStatus| (status.severity(), status.since_ms);
        urgency(one).cmp(&urgency(other)).then_with(|| by_natural_order(&one.name, &other.name))
    });
    let ([ok, warning, critical, unknown], pending) = registry.by_state();
    let checks = Checks {
        ok,
        warning,
        critical,
        unknown,
        pending,
        count: found.len(),
        cells: cells(&registry, form.get("grid").is_some()),
        rows: found.into_iter().take(MAX_ROWS).map(|(check, status)| entry(check, status)).collect(),
    };
    Ok(success(&json!(checks)))
}

/// One of them.
pub(super) async fn one(
    State(shared): State<Arc<Shared>>,
    _: SeesAll,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read(request).await?;
    let name = form.needed("name")?.to_owned();
    let (entry, figures, acknowledgement, next_ms) = {
        let registry = shared.states.checks.lock();
        let Some(place) = registry.index_of(&name) else {
            return Err(refusal(StatusCode::NOT_FOUND, "not_found", "there is no such check"));
        };
        let (check, status) = (&registry.checks[place], &registry.statuses[place]);
        let known = status.acknowledgement.as_ref();
        let known = known.map(|known| format!("{}: {}", known.author, known.comment));
        let is_active = check.way != checks::CheckWay::Passive;
        let next_ms = is_active.then(|| check.next_ms(jiff::Timestamp::now().as_millisecond()));
        (entry(check, status), status.figures.clone(), known, next_ms)
    };
    let read = blocking(move || {
        let ledger = CheckLedger::open_for_reading(shared.data())?;
        let long_text = ledger.status(&name)?.map(|status| status.long_text).unwrap_or_default();
        let downtimes = ledger.downtimes()?.into_iter().filter(|(_, downtime)| downtime.is_of(&name));
        let downtimes = downtimes.map(|(number, downtime)| DowntimeEntry {
            number,
            since_ms: downtime.since_ms,
            until_ms: downtime.until_ms,
            every: downtime.every,
            text: format!("{}: {}", downtime.author, downtime.comment),
        });
        Ok((long_text, downtimes.collect()))
    });
    let read: Result<(String, Vec<DowntimeEntry>), store::StoreError> = read.await?;
    let (long_text, downtimes) = read.map_err(|error| internal(error.to_string()))?;
    let measured = measured(&figures);
    let detail = CheckDetail { entry, long_text, figures, measured, acknowledgement, next_ms, downtimes };
    Ok(success(&json!(detail)))
}

/// What it measures, in the units of its series.
fn measured(figures: &str) -> Vec<FigureEntry> {
    let figures = formats::plugin_output::read_data(figures).0;
    let entry = |figure: &PluginFigure| FigureEntry {
        name: figure.label.clone(),
        unit: figure.base_unit().0.to_owned(),
    };
    figures.iter().take(MAX_FIGURES).map(entry).collect()
}

/// The labels that select its series: also those that are empty, which others have.
fn selector(check: &Check) -> String {
    let quoted = |text: &str| json!(text).to_string();
    format!("{{host={},check={}}}", quoted(&check.name.host), quoted(&check.name.service))
}

/// Writes down what the agent is asked to do.
pub(super) async fn ask(
    State(shared): State<Arc<Shared>>,
    _: SeesAll,
    Path(what): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let form = Form::read_up_to(request, MAX_BODY_BYTES).await?;
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let requests = requests(&what, &form, now_ms)?;
    let unknown: Vec<String> = {
        let registry = shared.states.checks.lock();
        requests.iter().filter_map(|request| unknown(&registry, request)).collect()
    };
    if unknown.len() == requests.len() && !unknown.is_empty() {
        return Err(refusal(
            StatusCode::NOT_FOUND,
            "not_found",
            format!("there is no check \"{}\"", unknown[0]),
        ));
    }
    let count = requests.len() - unknown.len();
    let written = blocking(move || CheckLedger::open(shared.data())?.request(&requests)).await?;
    written.map_err(|error| refusal(StatusCode::SERVICE_UNAVAILABLE, "unavailable", error.to_string()))?;
    Ok(success(&json!({ "accepted": count, "unknown": unknown })))
}

/// The name in a request that no check has.
fn unknown(registry: &CheckRegistry, request: &CheckRequest) -> Option<String> {
    let (CheckRequest::Submit { name, .. }
    | CheckRequest::Acknowledge { name, .. }
    | CheckRequest::Unacknowledge { name }
    | CheckRequest::CheckNow { name }) = request
    else {
        return None;
    };
    registry.index_of(name).is_none().then(|| name.clone())
}

fn requests(what: &str, form: &Form, now_ms: i64) -> Result<Vec<CheckRequest>, Refusal> {
    let name = || form.needed("name").map(str::to_owned);
    let author = || form.get("author").unwrap_or("unknown").to_owned();
    let comment = || form.get("comment").unwrap_or_default().to_owned();
    Ok(vec![match what {
        "submit" => return results(form, now_ms),
        "acknowledge" => CheckRequest::Acknowledge {
            name: name()?,
            author: author(),
            comment: comment(),
            is_sticky: form.get("sticky").is_some(),
            is_silent: false,
        },
        "unacknowledge" => CheckRequest::Unacknowledge { name: name()? },
        "now" => CheckRequest::CheckNow { name: name()? },
        "downtime" => {
            let minutes = form.minutes()?;
            let every = form.get("every").unwrap_or_default().to_owned();
            if !every.is_empty() {
                every
                    .parse::<Period>()
                    .map_err(|error| bad_data(format!("invalid parameter \"every\": {error}")))?;
            }
            CheckRequest::Downtime(Downtime {
                pattern: name()?,
                since_ms: now_ms,
                until_ms: now_ms + i64::from(minutes) * 60_000,
                every,
                author: author(),
                comment: comment(),
            })
        }
        "end-downtime" => {
            let number = form.needed("number")?.parse().ok();
            CheckRequest::EndDowntime {
                number: number.ok_or_else(|| bad_data("invalid parameter \"number\": expected a number"))?,
            }
        }
        _ => return Err(refusal(StatusCode::NOT_FOUND, "not_found", "nothing like that can be asked")),
    }])
}

/// Results of others, one or several: `name`, `state` and `output` of each in the same order.
fn results(form: &Form, now_ms: i64) -> Result<Vec<CheckRequest>, Refusal> {
    let lists = ["name", "state", "output"].map(|key| form.all(key).collect::<Vec<&str>>());
    let [names, states, outputs] = &lists;
    if names.is_empty() || names.len() != states.len() || names.len() != outputs.len() {
        return Err(bad_data("each result needs name, state and output"));
    }
    if names.len() > MAX_RESULTS {
        return Err(bad_data(format!("there are more than {MAX_RESULTS} results")));
    }
    let one = |place: usize| {
        let state = checks::State::read(states[place]).ok_or_else(|| {
            bad_data(format!(
                "invalid parameter \"state\": \"{}\" is none of ok, warning, critical and unknown",
                states[place]
            ))
        })?;
        Ok(CheckRequest::Submit {
            name: names[place].to_owned(),
            state,
            output: outputs[place].to_owned(),
            at_ms: now_ms,
        })
    };
    (0..names.len()).map(one).collect()
}

/// Checks as metrics.
pub(super) fn write_metrics(registry: &CheckRegistry, now_ms: i64, out: &mut String) {
    if registry.checks.is_empty() {
        return;
    }
    let head = |out: &mut String, name: &str| {
        let Some(metric) = agent_metric(name) else { return };
        let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {}", metric.help, metric.kind.name());
    };
    head(out, "whit_checks");
    checks::write_states(registry, out);
    let counts = registry.counts;
    for (name, value) in [
        ("whit_check_plugins_running", counts.running),
        ("whit_check_plugins_started_total", counts.started),
        ("whit_check_skipped_total", counts.skipped),
        ("whit_check_submitted_total", counts.submitted),
    ] {
        head(out, name);
        let _ = writeln!(out, "{name} {value}");
    }
    type Value = fn(&CheckStatus, i64) -> Option<f64>;
    let metrics: [(&str, Value); 3] = [
        (checks::STATE, |status, _| status.state.map(|state| f64::from(state.number()))),
        ("whit_check_age_seconds", |status, now_ms| {
            status.state.map(|_| (now_ms - status.result_ms).max(0) as f64 / 1000.0)
        }),
        ("whit_check_run_seconds", |status, _| {
            (status.cost.runs > 0).then(|| status.cost.last.wall_ns as f64 / 1e9)
        }),
    ];
    for (metric, value) in metrics {
        head(out, metric);
        for (check, status) in registry.checks.iter().zip(&registry.statuses) {
            let Some(value) = value(status, now_ms) else { continue };
            let _ = writeln!(out, "{} {value}", check.series(metric));
        }
    }
}
