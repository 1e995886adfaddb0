//! Circumstances that can suppress a notification of a check: what else has a problem that explains its own.

use jiff::Zoned;

use super::definition::{Check, CheckWay};
use super::downtime::Downtime;
use super::notice::Circumstances;
use super::registry::CheckRegistry;
use super::state::State;
use super::status::CheckStatus;

/// A result of the last 15 s says whether a check explains the problem of another one.
const HORIZON_MS: i64 = 15_000;
/// A notification waits for the results of checks that could explain its problem, at most so long.
const MAX_WAIT_MS: i64 = 60_000;
/// After an outage it waits for the next result of its own check, which is asked for: for the interval of the check, but at most so long, and
/// [`MAX_WAIT_MS`] more.
const MAX_INTERVAL_MS: i64 = 300_000;

/// The circumstances of a check now.
pub(super) fn circumstances(
    check: &Check,
    status: &CheckStatus,
    registry: &CheckRegistry,
    downtimes: &[(i64, Downtime)],
    now: &Zoned,
) -> Circumstances {
    let host = &check.name.host;
    let is_without_host =
        if check.is_of_host() { registry.is_unreachable(host) } else { registry.is_down(host) };
    let is_explained = is_without_host || check.depends.iter().any(|name| registry.is_down(name));
    let is_in_downtime =
        |(_, downtime): &(i64, Downtime)| downtime.is_of(&status.name) && downtime.is_now(now);
    Circumstances {
        is_in_downtime: downtimes.iter().any(is_in_downtime),
        is_in_period: check.notifications.period.as_ref().is_none_or(|period| period.contains(now)),
        is_behind_problem: is_explained
            || is_unclear(check, status, registry, now.timestamp().as_millisecond()),
    }
}

/// The checks that are to be done at once after a result that changed the state of one: what could explain its problem, if that was not looked
/// at lately; or, if it has no problem any more, those whose problems it explained.
pub(super) fn asked_for(place: usize, registry: &CheckRegistry) -> Vec<usize> {
    let status = &registry.statuses[place];
    if status.is_problem() {
        let explanations = explanations(&registry.checks[place], registry);
        return explanations.filter(|other| is_before(&registry.statuses[*other], status)).collect();
    }
    let explained = registry.explained_by(place).iter().copied();
    explained.filter(|other| registry.statuses[*other].is_problem()).collect()
}

/// The checks whose problems explain one of this check.
fn explanations(check: &Check, registry: &CheckRegistry) -> impl Iterator<Item = usize> {
    check.explanations().filter_map(|name| registry.index_of(name))
}

/// Returns whether the result of a check is too old to explain a problem of another one.
fn is_before(explanation: &CheckStatus, problem: &CheckStatus) -> bool {
    explanation.result_ms < problem.since_ms - HORIZON_MS
}

/// Returns whether a notification waits for a result: only that shows whether another problem is the cause of this one.
pub(super) fn is_unclear(check: &Check, status: &CheckStatus, registry: &CheckRegistry, now_ms: i64) -> bool {
    if !status.is_problem() {
        return false;
    }
    // What could explain it was not looked at since it began.
    let is_awaited = |place: usize| {
        registry.checks[place].way != CheckWay::Passive && is_before(&registry.statuses[place], status)
    };
    if now_ms - status.hard_since_ms < MAX_WAIT_MS && explanations(check, registry).any(is_awaited) {
        return true;
    }
    // What explained it is over since it was looked at last: it may be over itself. A passive result cannot be asked for.
    let (looked_ms, longest_ms) = match check.way {
        CheckWay::Passive => (status.result_ms, 0),
        _ => (
            status.result_ms - (status.cost.last.wall_ns / 1_000_000).cast_signed(),
            (check.interval.as_millis() as i64).min(MAX_INTERVAL_MS),
        ),
    };
    let is_outdated = |over_ms: i64| over_ms > looked_ms && now_ms - over_ms < longest_ms + MAX_WAIT_MS;
    over_since_ms(check, registry).is_some_and(is_outdated)
}

/// When the last problem that would explain one of this check was over, in milliseconds since 1970; `None` if none is.
fn over_since_ms(check: &Check, registry: &CheckRegistry) -> Option<i64> {
    let fine_since_ms = |name: &String| {
        let status = &registry.statuses[registry.index_of(name)?];
        (status.state == Some(State::Ok)).then_some(status.since_ms)
    };
    let host = match check.is_of_host() {
        // One of them is enough.
        true => check.parents.iter().filter_map(fine_since_ms).min(),
        false => fine_since_ms(&check.name.host),
    };
    host.into_iter().chain(check.depends.iter().filter_map(fine_since_ms)).max()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::definition::CheckName;
    use super::*;

    const SECOND_MS: i64 = 1000;

    /// A switch, a host behind it, a service of the host, and one of this machine that depends on that; each with its state, when that
    /// began and when its last result came, in seconds.
    fn registry(states: [(State, i64, i64); 4]) -> CheckRegistry {
        let way = || CheckWay::Plugin(Default::default());
        let check = |host: &str, service: &str| {
            Check::new(CheckName { host: host.to_owned(), service: service.to_owned() }, way())
        };
        let mut checks = [check("switch", ""), check("web", ""), check("web", "http"), check("", "shop")];
        checks[1].parents = vec!["switch".to_owned()];
        checks[3].depends = vec!["web/http".to_owned()];
        let mut registry = CheckRegistry::default();
        registry.reconfigure(Arc::new(checks.to_vec()), Vec::new());
        for (status, (state, since_s, result_s)) in registry.statuses.iter_mut().zip(states) {
            let [since_ms, result_ms] = [since_s, result_s].map(|seconds| seconds * SECOND_MS);
            (status.state, status.hard_state, status.since_ms) = (Some(state), state, since_ms);
            (status.hard_since_ms, status.result_ms) = (since_ms, result_ms);
        }
        registry
    }

    fn is_held(registry: &CheckRegistry, place: usize, at_s: i64) -> bool {
        let now = jiff::Timestamp::from_second(at_s).unwrap().to_zoned(jiff::tz::TimeZone::UTC);
        let (check, status) = (&registry.checks[place], &registry.statuses[place]);
        circumstances(check, status, registry, &[], &now).is_behind_problem
    }

    #[test]
    fn a_problem_waits_until_what_could_explain_it_was_looked_at() {
        use State::{Critical as C, Ok as O};
        // All were well at 1000 s, then one after the other failed at 1100 s.
        for (failed, asked) in [(1, vec![0]), (2, vec![1]), (3, vec![2])] {
            let mut states = [(O, 0, 1000); 4];
            states[failed] = (C, 1100, 1100);
            let known = registry(states);
            assert_eq!(asked_for(failed, &known), asked, "{failed}");
            assert!(is_held(&known, failed, 1101) && !is_held(&known, failed, 1161), "{failed}");
            states[asked[0]].2 = 1102;
            assert!(!is_held(&registry(states), failed, 1103), "{failed}");
            states[asked[0]].2 = 1090;
            assert_eq!(asked_for(failed, &registry(states)), Vec::<usize>::new(), "{failed}");
        }
    }

    #[test]
    fn what_failed_during_an_outage_is_looked_at_again_after_it() {
        use State::{Critical as C, Ok as O};
        let during = [(C, 1000, 1200), (C, 1010, 1210), (C, 1020, 1220), (C, 1030, 1230)];
        assert_eq!([1, 2, 3].map(|place| is_held(&registry(during), place, 1240)), [true; 3]);
        // One after the other is well again.
        for over in 0..3 {
            let mut states = during;
            for (place, state) in states.iter_mut().enumerate().take(over + 1) {
                *state = (O, 1300 + place as i64, 1300 + place as i64);
            }
            let known = registry(states);
            assert_eq!(asked_for(over, &known), [over + 1]);
            assert!(is_held(&known, over + 1, 1310), "{over}");
            // Its own result says that it is a problem of its own, unless it began before.
            states[over + 1].2 = 1305;
            let mut own = registry(states);
            assert!(!is_held(&own, over + 1, 1310), "{over}");
            own.statuses[over + 1].cost.last.wall_ns = 10_000_000_000;
            assert!(is_held(&own, over + 1, 1310), "{over}");
            // None comes.
            assert!(!is_held(&known, over + 1, 1300 + 3600), "{over}");
        }
    }
}
