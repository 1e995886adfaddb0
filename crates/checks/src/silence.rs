//! Why no notification of a check is sent now.

use jiff::Zoned;

use super::circumstances::is_unclear;
use super::definition::Check;
use super::downtime::Downtime;
use super::period::Period;
use super::registry::CheckRegistry;
use super::state::State;
use super::status::CheckStatus;

/// A reason for which no notification is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Silence<'a> {
    /// The configuration says that there are none.
    NoReceiver,
    /// The check is in a downtime, which has this number.
    Downtime(i64, &'a Downtime),
    /// Notifications are sent only in this period, which does not contain the present.
    OutsidePeriod(&'a Period),
    /// The host, or a check on which this one depends, has a problem.
    Behind(&'a CheckStatus),
    /// All parents of the host are down.
    Unreachable(&'a [String]),
    /// A result is awaited, of this check or of one that could be the cause: it shows whether this is a problem of its own.
    ResultAwaited,
    /// The state changes all the time.
    Flapping,
    /// The problem is acknowledged.
    Acknowledged,
    /// Notifications of this state are not wanted.
    Untold(State),
    /// The problem may be a mistake: so many results show it, of so many.
    NotHard(u32, u32),
}

/// Returns the reasons that hold for a check now. There are none if a notification of a problem would be sent, or has been.
pub fn silences<'a>(
    registry: &'a CheckRegistry,
    check: &'a Check,
    downtimes: &'a [(i64, Downtime)],
    now: &Zoned,
) -> Vec<Silence<'a>> {
    let status = |name: &str| registry.index_of(name).map(|place| &registry.statuses[place]);
    let problem = |name: &str| status(name).filter(|status| status.is_problem());
    let (name, notifications) = (check.name.to_string(), &check.notifications);
    let Some(own) = status(&name) else { return Vec::new() };
    let mut silences = Vec::new();
    if notifications.is_silent {
        silences.push(Silence::NoReceiver);
    }
    let is_now = |downtime: &Downtime| downtime.is_of(&name) && downtime.is_now(now);
    silences.extend(
        downtimes
            .iter()
            .filter(|(_, downtime)| is_now(downtime))
            .map(|(number, downtime)| Silence::Downtime(*number, downtime)),
    );
    let outside = notifications.period.as_ref().filter(|period| !period.contains(now));
    silences.extend(outside.map(Silence::OutsidePeriod));
    match check.is_of_host() {
        true if registry.is_unreachable(&check.name.host) => {
            silences.push(Silence::Unreachable(&check.parents))
        }
        true => {}
        false => silences.extend(problem(&check.name.host).map(Silence::Behind)),
    }
    silences.extend(check.depends.iter().filter_map(|name| problem(name)).map(Silence::Behind));
    if is_unclear(check, own, registry, now.timestamp().as_millisecond()) {
        silences.push(Silence::ResultAwaited);
    }
    if own.flapping.is_flapping() && !check.ignores_flapping {
        silences.push(Silence::Flapping);
    }
    if !own.is_problem() {
        return silences;
    }
    if own.acknowledgement.is_some() {
        silences.push(Silence::Acknowledged);
    }
    if notifications.untold.contains(&own.hard_state) && own.hard_state != State::Ok {
        silences.push(Silence::Untold(own.hard_state));
    }
    if !own.is_hard {
        silences.push(Silence::NotHard(own.attempt, check.attempts));
    }
    silences
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::circumstances::circumstances;
    use super::super::definition::{CheckName, CheckWay, NotificationOptions};
    use super::super::notice::{NoticeKind, due};
    use super::super::status::Acknowledgement;
    use super::*;

    fn check(host: &str, service: &str) -> Check {
        let name = CheckName { host: host.to_owned(), service: service.to_owned() };
        Check { attempts: 2, ..Check::new(name, CheckWay::Passive) }
    }

    /// Whatever holds back a new problem is a reason, and nothing else is.
    #[test]
    fn reasons_are_those_of_notifications() {
        let now: Zoned = "2026-11-27T12:00:00+00:00[+00:00]".parse().unwrap();
        let now_ms = now.timestamp().as_millisecond();
        let downtime = Downtime {
            pattern: "web1".to_owned(),
            since_ms: now_ms - 1000,
            until_ms: now_ms + 1000,
            ..Downtime::default()
        };
        let mut silent = 0;
        for bits in 0..1 << 8 {
            let is = |bit: u32| bits >> bit & 1 == 1;
            let mut http = check("web1", "http");
            http.depends = vec!["backup".to_owned()];
            http.notifications = Arc::new(NotificationOptions {
                untold: if is(0) { vec![State::Critical] } else { Vec::new() },
                period: is(1).then(|| "mon 08:00-09:00".parse().unwrap()),
                ..NotificationOptions::default()
            });
            let bad = |name: &str, is_bad: bool| {
                let state = if is_bad { State::Critical } else { State::Ok };
                CheckStatus {
                    name: name.to_owned(),
                    state: Some(state),
                    hard_state: state,
                    is_hard: true,
                    attempt: 2,
                    since_ms: now_ms - 3_600_000,
                    result_ms: now_ms - 1000,
                    hard_since_ms: now_ms - 3_600_000,
                    ..CheckStatus::default()
                }
            };
            let mut own = bad("web1/http", true);
            (own.is_hard, own.hard_state) = if is(2) { (false, State::Ok) } else { (true, State::Critical) };
            own.acknowledgement = is(3).then(|| {
                let (author, comment) = (String::new(), String::new());
                Box::new(Acknowledgement { author, comment, at_ms: now_ms, is_sticky: true })
            });
            let statuses = vec![own, bad("web1", is(4)), bad("backup", is(5))];
            let checks = vec![http, check("web1", ""), check("", "backup")];
            let registry = CheckRegistry::new(Arc::new(checks), statuses);
            let downtimes = if is(6) { vec![(1, downtime.clone())] } else { Vec::new() };
            let (check, status) = (&registry.checks[0], &registry.statuses[0]);
            let reasons = silences(&registry, check, &downtimes, &now);
            let sent = due(check, status, circumstances(check, status, &registry, &downtimes, &now), now_ms);
            assert_eq!(
                sent == Some(NoticeKind::Problem),
                reasons.is_empty(),
                "{bits:b} {sent:?} {reasons:?}"
            );
            silent += usize::from(!reasons.is_empty());
        }
        assert!(silent > 200);
    }
}
