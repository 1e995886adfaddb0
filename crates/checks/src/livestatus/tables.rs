//! The tables that dashboards ask for, with the columns that whit knows the values of.

use std::sync::Arc;

use formats::livestatus::{Column, Fault, Request, Value, answer, answer_without_rows, refuse};

use super::rows::{CheckRow, HostRow, Inventory, ServiceRow};
use crate::{Check, CheckWay, Period, State};

type Columns<R> = [(&'static str, fn(&R) -> Value)];

/// Answers a request.
pub(super) fn reply(request: &Request, inventory: &Arc<Inventory>) -> Vec<u8> {
    match request.table.as_str() {
        "hosts" => answer(request, &hosts(), HostRow::all(inventory)),
        "services" => answer(request, &services(), ServiceRow::all(inventory)),
        "status" => answer(request, &columns("", OF_STATUS, |row| row), [Arc::clone(inventory)]),
        "downtimes" => answer(request, &columns("", OF_REMARKS, |row| row), downtimes(inventory)),
        "comments" => answer(request, &columns("", OF_REMARKS, |row| row), comments(inventory)),
        "columns" => answer(request, &columns("", OF_COLUMNS, |row| row), all_columns()),
        // Dashboards ask for them: there are none.
        "hostgroups" | "servicegroups" | "contacts" | "contactgroups" | "commands" | "timeperiods"
        | "log" => answer_without_rows(request),
        other => refuse(
            request.has_fixed_header,
            &Fault { status: 404, message: format!("there is no table '{other}'") },
        ),
    }
}

fn seconds(at_ms: i64) -> Value {
    Value::Integer(at_ms / 1000)
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// The columns that hosts and services have in common.
const OF_CHECKS: &Columns<CheckRow> = &[
    ("plugin_output", |row| text(&row.status().text)),
    // Nagios has it in one line.
    ("long_plugin_output", |row| text(row.status().long_text.replace('\n', "\\n"))),
    ("perf_data", |row| text(&row.status().figures)),
    ("has_been_checked", |row| row.status().state.is_some().into()),
    ("state_type", |row| row.status().is_hard.into()),
    ("current_attempt", |row| Value::Integer(row.status().attempt.into())),
    ("max_check_attempts", |row| Value::Integer(row.check().map_or(1, |check| check.attempts.into()))),
    ("last_check", |row| seconds(row.status().result_ms)),
    ("last_state_change", |row| seconds(row.status().since_ms)),
    ("last_hard_state_change", |row| seconds(row.status().hard_since_ms)),
    ("last_time_ok", |row| seconds(row.status().fine_ms.unwrap_or(0))),
    ("next_check", |row| {
        let check = row.check().filter(|check| check.way != CheckWay::Passive);
        seconds(check.map_or(0, |check| check.next_ms(row.all.now_ms)))
    }),
    ("check_interval", |row| minutes(row.check().map(|check| check.interval))),
    ("retry_interval", |row| minutes(row.check().map(|check| check.retry_interval))),
    ("execution_time", |row| Value::Float(row.status().cost.last.wall_ns as f64 / 1e9)),
    ("percent_state_change", |row| Value::Float(row.status().flapping.changes() * 100.0)),
    ("is_flapping", |row| row.status().flapping.is_flapping().into()),
    ("acknowledged", |row| row.status().acknowledgement.is_some().into()),
    ("acknowledgement_type", |row| {
        let known = row.status().acknowledgement.as_ref();
        Value::Integer(known.map_or(0, |known| if known.is_sticky { 2 } else { 1 }))
    }),
    ("scheduled_downtime_depth", |row| Value::Integer(row.downtimes())),
    ("staleness", |row| Value::Float(if row.status().is_stale { 2.0 } else { 0.0 })),
    ("check_type", |row| row.status().is_passive.into()),
    ("active_checks_enabled", |row| row.check().is_some_and(|check| check.way != CheckWay::Passive).into()),
    ("accept_passive_checks", |_| true.into()),
    ("flap_detection_enabled", |row| row.check().is_some_and(|check| !check.ignores_flapping).into()),
    ("notifications_enabled", |row| row.check().is_some_and(|check| !check.notifications.is_silent).into()),
    ("current_notification_number", |row| {
        Value::Integer(row.status().last_notification.map_or(0, |last| last.times.into()))
    }),
    ("last_notification", |row| seconds(row.status().last_notification.map_or(0, |last| last.at_ms))),
    ("contacts", |row| {
        Value::List(row.check().map(|check| check.notifications.receivers.clone()).unwrap_or_default())
    }),
    ("custom_variable_names", |row| labels(row, |(name, _)| name.to_uppercase())),
    ("custom_variable_values", |row| labels(row, |(_, value)| value.clone())),
    ("check_command", |row| {
        text(row.check().map_or(String::new(), |check| match &check.way {
            CheckWay::Plugin(plugin) => plugin.words.first().map_or(String::new(), |word| word.to_string()),
            CheckWay::Native(_) => "whit".to_owned(),
            CheckWay::Passive => String::new(),
        }))
    }),
    // What whit has no counterpart of, and dashboards ask for in each of their requests.
    ("latency", |_| Value::Float(0.0)),
    ("checks_enabled", |_| true.into()),
    ("event_handler_enabled", |_| false.into()),
    ("is_executing", |_| false.into()),
    ("obsess", |_| false.into()),
    ("modified_attributes", |_| Value::Integer(0)),
    ("modified_attributes_list", |_| Value::List(Vec::new())),
    ("comments", |_| Value::List(Vec::new())),
    ("downtimes", |_| Value::List(Vec::new())),
    ("groups", |_| Value::List(Vec::new())),
    ("contact_groups", |_| Value::List(Vec::new())),
    ("notes", |_| text("")),
    ("notes_expanded", |_| text("")),
    ("notes_url", |_| text("")),
    ("notes_url_expanded", |_| text("")),
    ("action_url", |_| text("")),
    ("action_url_expanded", |_| text("")),
    ("icon_image", |_| text("")),
    ("icon_image_alt", |_| text("")),
    ("icon_image_expanded", |_| text("")),
    ("check_period", |row| text(check_period(row).map_or(String::new(), Period::to_string))),
    ("notification_period", |row| text(notification_period(row).map_or(String::new(), Period::to_string))),
    ("in_check_period", |row| check_period(row).is_none_or(|period| period.contains(&row.all.now)).into()),
    ("in_notification_period", |row| {
        notification_period(row).is_none_or(|period| period.contains(&row.all.now)).into()
    }),
    ("notification_interval", |row| minutes(row.check().and_then(|check| check.notifications.repeat))),
    ("check_freshness", |row| row.check().is_some_and(|check| check.fresh_for.is_some()).into()),
    ("first_notification_delay", |_| Value::Float(0.0)),
    ("high_flap_threshold", |_| Value::Float(0.0)),
    ("low_flap_threshold", |_| Value::Float(0.0)),
    ("check_options", |_| Value::Integer(0)),
    ("event_handler", |_| text("")),
    ("process_performance_data", |_| true.into()),
    ("pnpgraph_present", |_| Value::Integer(0)),
];

fn check_period(row: &CheckRow) -> Option<&Period> {
    row.check()?.period.as_ref()
}

fn notification_period(row: &CheckRow) -> Option<&Period> {
    row.check()?.notifications.period.as_ref()
}

/// When it was in a state last. That is known of the state that it has, and of OK; 0 is never.
fn last_time(row: &CheckRow, is_now: bool) -> Value {
    seconds(if is_now { row.status().result_ms } else { 0 })
}

fn minutes(length: Option<std::time::Duration>) -> Value {
    Value::Float(length.unwrap_or_default().as_secs_f64() / 60.0)
}

fn labels(row: &CheckRow, write: fn(&(String, String)) -> String) -> Value {
    Value::List(row.check().map(|check| check.labels.iter().map(write).collect()).unwrap_or_default())
}

const OF_HOSTS: &Columns<HostRow> = &[
    ("name", |row| text(&row.host().name)),
    ("display_name", |row| text(&row.host().name)),
    ("alias", |row| text(&row.host().name)),
    ("address", |row| text(row.address())),
    ("state", |row| Value::Integer(row.state())),
    ("hard_state", |row| {
        let is_down = row.check.status().hard_state != State::Ok;
        Value::Integer(if is_down { row.state().max(1) } else { 0 })
    }),
    ("parents", |row| Value::List(row.check.check().map(|check| check.parents.clone()).unwrap_or_default())),
    ("childs", |row| Value::List(row.host().children.clone())),
    ("obsess_over_host", |_| false.into()),
    ("last_time_up", |row| seconds(row.check.status().fine_ms.unwrap_or(0))),
    ("last_time_down", |row| last_time(&row.check, row.state() == 1)),
    ("last_time_unreachable", |row| last_time(&row.check, row.state() == 2)),
    ("services", |row| {
        let name = |service: CheckRow| service.check().map(|check| check.name.service.clone());
        Value::List(row.services().filter_map(name).collect())
    }),
    ("num_services", |row| Value::Integer(row.services().count() as i64)),
    ("num_services_ok", |row| Value::Integer(row.count(Some(State::Ok)))),
    ("num_services_warn", |row| Value::Integer(row.count(Some(State::Warning)))),
    ("num_services_crit", |row| Value::Integer(row.count(Some(State::Critical)))),
    ("num_services_unknown", |row| Value::Integer(row.count(Some(State::Unknown)))),
    ("num_services_pending", |row| Value::Integer(row.count(None))),
    ("worst_service_state", |row| {
        Value::Integer(row.services().map(|service| service.service_state()).max().unwrap_or(0))
    }),
];

const OF_SERVICES: &Columns<CheckRow> = &[
    ("description", |row| text(row.check().map_or("", |check| check.name.service.as_str()))),
    ("display_name", |row| text(row.check().map_or("", |check| check.name.service.as_str()))),
    ("state", |row| Value::Integer(row.service_state())),
    ("hard_state", |row| Value::Integer(row.status().hard_state.number().into())),
    ("last_hard_state", |row| Value::Integer(row.status().hard_state.number().into())),
    ("last_time_warning", |row| last_time(row, row.status().state == Some(State::Warning))),
    ("last_time_critical", |row| last_time(row, row.status().state == Some(State::Critical))),
    ("last_time_unknown", |row| last_time(row, row.status().state == Some(State::Unknown))),
    ("obsess_over_service", |_| false.into()),
];

const OF_STATUS: &Columns<Arc<Inventory>> = &[
    ("program_version", |_| text(concat!("whit ", env!("CARGO_PKG_VERSION")))),
    ("livestatus_version", |_| text(concat!("whit ", env!("CARGO_PKG_VERSION")))),
    ("program_start", |all| seconds(all.started_ms)),
    ("nagios_pid", |_| Value::Integer(std::process::id().into())),
    ("interval_length", |_| Value::Integer(60)),
    ("num_hosts", |all| Value::Integer(all.hosts.len() as i64)),
    ("num_services", |all| {
        Value::Integer(all.checks.iter().filter(|check| !check.is_of_host()).count() as i64)
    }),
    ("enable_notifications", |_| true.into()),
    ("execute_service_checks", |_| true.into()),
    ("execute_host_checks", |_| true.into()),
    ("accept_passive_service_checks", |_| true.into()),
    ("accept_passive_host_checks", |_| true.into()),
    ("enable_event_handlers", |_| false.into()),
    ("enable_flap_detection", |_| true.into()),
    ("process_performance_data", |_| true.into()),
    ("check_external_commands", |_| true.into()),
    ("check_service_freshness", |_| true.into()),
    ("check_host_freshness", |_| true.into()),
    ("obsess_over_services", |_| false.into()),
    ("obsess_over_hosts", |_| false.into()),
    ("last_command_check", |all| seconds(all.now_ms)),
    ("last_log_rotation", |_| Value::Integer(0)),
];

/// A downtime or an acknowledgement of a check.
struct Remark {
    id: i64,
    host: HostRow,
    check: CheckRow,
    author: String,
    comment: String,
    since_ms: i64,
    until_ms: i64,
}

const OF_REMARKS: &Columns<Remark> = &[
    ("id", |row| Value::Integer(row.id)),
    ("host_name", |row| text(&row.host.host().name)),
    ("service_description", |row| text(row.check.check().map_or("", |check| check.name.service.as_str()))),
    ("is_service", |row| row.check.check().is_some_and(|check| !check.is_of_host()).into()),
    // Of a host or of a service; by a person.
    ("type", |row| Value::Integer(if row.check.check().is_some_and(Check::is_of_host) { 1 } else { 2 })),
    ("source", |_| Value::Integer(0)),
    ("author", |row| text(&row.author)),
    ("comment", |row| text(&row.comment)),
    ("entry_time", |row| seconds(row.since_ms)),
    ("start_time", |row| seconds(row.since_ms)),
    ("end_time", |row| seconds(row.until_ms)),
    ("duration", |row| seconds(row.until_ms - row.since_ms)),
    ("fixed", |_| true.into()),
    ("triggered_by", |_| Value::Integer(0)),
    // Of an acknowledgement.
    ("entry_type", |_| Value::Integer(4)),
    ("persistent", |_| true.into()),
    ("expires", |_| false.into()),
    ("expire_time", |_| Value::Integer(0)),
];

const OF_COLUMNS: &Columns<(String, String, String)> = &[
    ("table", |row| text(&row.0)),
    ("name", |row| text(&row.1)),
    ("type", |row| text(&row.2)),
    ("description", |_| text("")),
];

/// The columns of a list, for rows that it is about in part.
fn columns<R: 'static, P: 'static>(
    prefix: &str,
    list: &'static Columns<P>,
    part: fn(&R) -> &P,
) -> Vec<Column<R>> {
    let column = |(name, get): &'static (&'static str, fn(&P) -> Value)| Column {
        name: format!("{prefix}{name}"),
        get: Box::new(move |row: &R| get(part(row))),
    };
    list.iter().map(column).collect()
}

fn hosts() -> Vec<Column<HostRow>> {
    let mut all = columns("", OF_HOSTS, |row: &HostRow| row);
    all.extend(columns("", OF_CHECKS, |row: &HostRow| &row.check));
    all
}

fn services() -> Vec<Column<ServiceRow>> {
    let mut all = columns("", OF_SERVICES, |row: &ServiceRow| &row.check);
    all.extend(columns("", OF_CHECKS, |row: &ServiceRow| &row.check));
    all.extend(columns("host_", OF_HOSTS, |row: &ServiceRow| &row.host));
    all.extend(columns("host_", OF_CHECKS, |row: &ServiceRow| &row.host.check));
    all
}

/// All hosts' checks and services.
fn checks(inventory: &Arc<Inventory>) -> Vec<ServiceRow> {
    let own = HostRow::all(inventory).into_iter().filter(|host| host.check.check().is_some());
    let own = own.map(|host| ServiceRow { check: host.check.clone(), host });
    own.chain(ServiceRow::all(inventory)).collect()
}

fn downtimes(inventory: &Arc<Inventory>) -> Vec<Remark> {
    let mut rows = Vec::new();
    for (id, downtime) in
        inventory.downtimes.iter().filter(|(_, downtime)| downtime.until_ms > inventory.now_ms)
    {
        let is_of = |row: &ServiceRow| downtime.is_of(&row.check.status().name);
        rows.extend(checks(inventory).into_iter().filter(is_of).map(|ServiceRow { host, check }| Remark {
            id: *id,
            host,
            check,
            author: downtime.author.clone(),
            comment: downtime.comment.clone(),
            since_ms: downtime.since_ms,
            until_ms: downtime.until_ms,
        }));
    }
    rows
}

fn comments(inventory: &Arc<Inventory>) -> Vec<Remark> {
    let known = |(id, ServiceRow { host, check }): (i64, ServiceRow)| {
        let known = check.status().acknowledgement.clone()?;
        let (author, comment) = (known.author, known.comment);
        Some(Remark { id, host, check, author, comment, since_ms: known.at_ms, until_ms: 0 })
    };
    (1..).zip(checks(inventory)).filter_map(known).collect()
}

/// Tables, columns and types.
fn all_columns() -> Vec<(String, String, String)> {
    fn names<R>(table: &str, columns: &[Column<R>], rows: &mut Vec<(String, String, String)>) {
        rows.extend(
            columns.iter().map(|column| (table.to_owned(), column.name.clone(), "string".to_owned())),
        );
    }
    let mut rows = Vec::new();
    names("hosts", &hosts(), &mut rows);
    names("services", &services(), &mut rows);
    names("status", &columns("", OF_STATUS, |row: &Arc<Inventory>| row), &mut rows);
    names("downtimes", &columns("", OF_REMARKS, |row: &Remark| row), &mut rows);
    names("comments", &columns("", OF_REMARKS, |row: &Remark| row), &mut rows);
    rows
}
