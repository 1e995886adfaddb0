//! Rules and alerts, as Prometheus lists its own.
//!
//! <https://prometheus.io/docs/prometheus/latest/querying/api/#rules>

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use facts::task::rounds::Scope;
use serde_json::{Value, json};

use super::reply::success;
use super::shared::Shared;
use alerts::{Active, AlertSnapshot, RuleState};
use history::answer::rfc3339;

/// The rules that a user may see: those of tasks have others' names in their labels.
fn visible(snapshot: &AlertSnapshot, scope: Scope) -> impl Iterator<Item = &RuleState> {
    snapshot.rules.iter().filter(move |state| scope == Scope::All || !state.rule.is_restricted())
}

fn of_rule<'s>(snapshot: &'s AlertSnapshot, state: &'s RuleState) -> impl Iterator<Item = &'s Active> {
    snapshot.active.iter().filter(|alert| alert.rule() == state.rule.name)
}

fn alert_json(alert: &Active) -> Value {
    json!({
        "labels": alert.labels,
        "annotations": { "summary": alert.text },
        "state": alert.state(),
        "activeAt": rfc3339(alert.since_ms),
        "value": alert.value,
    })
}

pub(super) async fn alerts(
    State(shared): State<Arc<Shared>>,
    Extension(scope): Extension<Scope>,
) -> Response {
    let snapshot = shared.states.alerts.read();
    let alerts: Vec<Value> =
        visible(&snapshot, scope).flat_map(|state| of_rule(&snapshot, state)).map(alert_json).collect();
    success(&json!({ "alerts": alerts }))
}

pub(super) async fn rules(State(shared): State<Arc<Shared>>, Extension(scope): Extension<Scope>) -> Response {
    let snapshot = shared.states.alerts.read();
    let rules: Vec<Value> = visible(&snapshot, scope).map(|state| rule_json(&snapshot, state)).collect();
    let took: f64 = snapshot.rules.iter().map(|state| state.took_s).sum();
    let last = snapshot.rules.iter().filter_map(|state| state.evaluated_ms).max();
    let group = json!({
        "name": "whit",
        "file": "agent.toml",
        "interval": snapshot.interval_s,
        "limit": 0,
        "rules": rules,
        "evaluationTime": took,
        "lastEvaluation": rfc3339(last.unwrap_or(0)),
    });
    success(&json!({ "groups": [group] }))
}

fn rule_json(snapshot: &AlertSnapshot, state: &RuleState) -> Value {
    let alerts: Vec<&Active> = of_rule(snapshot, state).collect();
    let is_firing = alerts.iter().any(|alert| alert.firing_since_ms.is_some());
    let labels: serde_json::Map<String, Value> =
        state.rule.labels.iter().map(|(label, value)| (label.clone(), json!(value))).collect();
    let mut rule = json!({
        "state": if is_firing { "firing" } else if alerts.is_empty() { "inactive" } else { "pending" },
        "name": state.rule.name,
        "query": state.rule.expression,
        "duration": state.rule.hold.as_secs_f64(),
        "labels": labels,
        "annotations": {},
        "alerts": alerts.into_iter().map(alert_json).collect::<Vec<_>>(),
        "health": match (&state.error, state.evaluated_ms) {
            (Some(_), _) => "err",
            (None, Some(_)) => "ok",
            (None, None) => "unknown",
        },
        "evaluationTime": state.took_s,
        "lastEvaluation": rfc3339(state.evaluated_ms.unwrap_or(0)),
        "type": "alerting",
    });
    if let Some(error) = &state.error {
        rule["lastError"] = json!(error);
    }
    rule
}
