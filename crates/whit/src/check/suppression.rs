//! Reasons for which no notifications of a check are sent now, in words.

use std::sync::Arc;

use checks::{Check, CheckLedger, CheckOptions, CheckRegistry, CheckStatus, Downtime, Silence, silences};
use jiff::Timestamp;
use text::printable::Shown as _;

use super::render::until;
use command::time_zone::{self, written_ms as time};

/// The known states of the configured checks, and the downtimes.
pub(super) struct Known {
    registry: CheckRegistry,
    pub(super) downtimes: Vec<(i64, Downtime)>,
}

impl Known {
    /// Reads them from a ledger, if there is one.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read(
        ledger: Option<&CheckLedger>,
        options: &CheckOptions,
    ) -> Result<Self, store::StoreError> {
        let statuses = ledger.map(CheckLedger::configured).transpose()?.unwrap_or_default();
        let downtimes = ledger.map(CheckLedger::downtimes).transpose()?.unwrap_or_default();
        Ok(Self { registry: CheckRegistry::new(Arc::clone(&options.checks), statuses), downtimes })
    }

    /// Appends a line for each reason that holds now.
    pub(super) fn push_reasons(&self, check: &Check, now_ms: i64, text: &mut String) {
        let now = Timestamp::from_millisecond(now_ms).unwrap_or_default().to_zoned(time_zone::system());
        let silences = silences(&self.registry, check, &self.downtimes, &now);
        for silence in &silences {
            text.push_str(&format!("no notifications now: {}\n", words(silence, check)));
        }
    }
}

fn words(silence: &Silence<'_>, check: &Check) -> String {
    let since = |status: &CheckStatus| {
        let state = status.state.map_or("PENDING", checks::State::name);
        format!("{} is {state} since {}", status.name.shown(), time(status.since_ms))
    };
    match silence {
        Silence::NoReceiver => "the check has none: to = []".to_owned(),
        Silence::Downtime(number, downtime) => format!("downtime {number} is until {}", until(downtime)),
        Silence::OutsidePeriod(period) => format!("they are sent only {period}"),
        Silence::Behind(status) if !check.name.host.is_empty() && status.name == check.name.host => {
            format!("the host {}", since(status))
        }
        Silence::Behind(status) => since(status),
        Silence::Unreachable(parents) => {
            let are = if parents.len() == 1 { "is" } else { "are" };
            format!("{} {are} down", parents.join(", ").shown())
        }
        Silence::ResultAwaited => {
            "a result is awaited that says whether another problem explains it".to_owned()
        }
        Silence::Flapping => "the state changes all the time".to_owned(),
        Silence::Acknowledged => "it is acknowledged".to_owned(),
        Silence::Untold(state) => format!("none are wanted of {}", state.name()),
        Silence::NotHard(attempt, attempts) => {
            format!("it may be a mistake: result {attempt} of {attempts}")
        }
    }
}
