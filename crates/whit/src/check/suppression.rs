//! Reasons for which no notifications of a check are sent now.

use checks::{Check, CheckLedger, CheckStatus, Downtime, State};
use jiff::{Timestamp, Zoned};
use text::printable::Shown as _;

use super::render::until;
use command::time_zone::{self, written_ms as time};

/// The known states, and the downtimes.
#[derive(Default)]
pub(super) struct Known {
    pub(super) statuses: Vec<CheckStatus>,
    pub(super) downtimes: Vec<(i64, Downtime)>,
}

impl Known {
    /// Reads them from a ledger.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read(ledger: &CheckLedger) -> Result<Self, store::StoreError> {
        Ok(Self { statuses: ledger.configured()?, downtimes: ledger.downtimes()? })
    }

    /// The status of a check with a problem.
    fn problem(&self, name: &str) -> Option<&CheckStatus> {
        self.statuses.iter().find(|status| status.name == name && status.is_problem())
    }

    /// Returns the reasons that hold now.
    pub(super) fn reasons(&self, check: &Check, now_ms: i64) -> Vec<String> {
        let name = check.name.to_string();
        let now: Zoned =
            Timestamp::from_millisecond(now_ms).unwrap_or_default().to_zoned(time_zone::system());
        let mut reasons = Vec::new();
        let host = &check.name.host;
        if check.is_of_host() {
            let is_behind = !check.parents.is_empty()
                && check.parents.iter().all(|parent| self.problem(parent).is_some());
            if is_behind {
                let are = if check.parents.len() == 1 { "is" } else { "are" };
                reasons.push(format!("{} {are} down", check.parents.join(", ").shown()));
            }
        } else if let Some(status) = self.problem(host) {
            reasons.push(format!("the host {} is down since {}", host.shown(), time(status.since_ms)));
        }
        for status in check.depends.iter().filter_map(|name| self.problem(name)) {
            let state = status.state.unwrap_or(State::Unknown).name();
            reasons.push(format!("{} is {state} since {}", status.name.shown(), time(status.since_ms)));
        }
        let is_now = |downtime: &Downtime| downtime.is_of(&name) && downtime.is_now(&now);
        for (number, downtime) in self.downtimes.iter().filter(|(_, downtime)| is_now(downtime)) {
            reasons.push(format!("downtime {number} is until {}", until(downtime)));
        }
        if self.problem(&name).is_some_and(|status| status.acknowledgement.is_some()) {
            reasons.push("it is acknowledged".to_owned());
        }
        if let Some(period) = &check.notifications.period
            && !period.contains(&now)
        {
            reasons.push(format!("they are sent only {period}"));
        }
        reasons
    }
}
