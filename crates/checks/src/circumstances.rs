//! Circumstances that can suppress a notification of a check.

use jiff::Zoned;

use super::definition::{Check, CheckWay};
use super::downtime::Downtime;
use super::notice::Circumstances;
use super::registry::CheckRegistry;
use super::status::CheckStatus;

/// A result of a host that is so old still counts when one of its services fails.
pub(super) const HOST_HORIZON_MS: i64 = 15_000;
/// A notification of a service waits for the result of its host, at most so long.
const LONGEST_HOST_WAIT_MS: i64 = 60_000;

/// The circumstances of a check now.
pub(super) fn circumstances(
    check: &Check,
    status: &CheckStatus,
    registry: &CheckRegistry,
    downtimes: &[(i64, Downtime)],
    now: &Zoned,
) -> Circumstances {
    let host = &check.name.host;
    let is_behind_problem = match check.is_of_host() {
        true => registry.is_unreachable(host),
        false => {
            registry.is_down(host)
                || check.depends.iter().any(|name| registry.is_down(name))
                || is_host_unclear(check, status, registry, now.timestamp().as_millisecond())
        }
    };
    let is_in_downtime =
        |(_, downtime): &(i64, Downtime)| downtime.is_of(&status.name) && downtime.is_now(now);
    Circumstances {
        is_in_downtime: downtimes.iter().any(is_in_downtime),
        is_in_period: check.notifications.period.as_ref().is_none_or(|period| period.contains(now)),
        is_behind_problem,
    }
}

/// Returns whether a result of the host is awaited, since the service failed.
pub(super) fn is_host_unclear(
    check: &Check,
    status: &CheckStatus,
    registry: &CheckRegistry,
    now_ms: i64,
) -> bool {
    let Some(place) = registry.index_of(&check.name.host) else { return false };
    let is_asked = matches!(registry.checks[place].way, CheckWay::Plugin(_));
    let is_older = registry.statuses[place].result_ms < status.since_ms - HOST_HORIZON_MS;
    is_asked && is_older && now_ms - status.hard_since_ms < LONGEST_HOST_WAIT_MS
}
