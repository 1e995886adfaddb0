//! What an agent of this machine watches: its alerts and checks.

use command::agent_problems::AgentProblems;
use command::agent_rows;
use facts::unit::Nanos;
use probe::background_job::BackgroundJob;

/// Between two questions. Alerts and checks are evaluated less often.
const INTERVAL: Nanos = Nanos(5_000_000_000);
/// An agent that is well answers within this: the screen waits for it so long, and looks so often.
const SOON: Nanos = Nanos(300_000_000);
const BETWEEN_LOOKS: Nanos = Nanos(60_000_000);
/// If there is no answer for so long, the last one is not shown any more.
const MAX_SILENCE: Nanos = Nanos(15_000_000_000);

/// Asks an agent in a thread of its own: one that does not answer holds up no screen.
#[derive(Debug)]
pub(super) struct AgentWatch {
    /// The result is `None` if no agent answers.
    job: BackgroundJob<Option<AgentProblems>>,
    asked: Option<Nanos>,
    is_pending: bool,
    last: Option<AgentProblems>,
}

impl AgentWatch {
    pub(super) fn start() -> Self {
        let mut client = None;
        let ask = move || Some(AgentProblems::of_status(&agent_rows::status(&mut client)?));
        let job = BackgroundJob::start("agent", None, ask);
        Self { job, asked: None, is_pending: false, last: None }
    }

    /// Takes an answer that has come, and asks if it is time.
    pub(super) fn tick(&mut self, now: Nanos) {
        if self.is_pending && !self.job.is_busy() {
            self.is_pending = false;
            self.last = self.job.with_result(|problems, _| problems.copied().flatten());
        }
        if !self.is_pending && self.asked.is_none_or(|asked| asked + INTERVAL <= now) {
            (self.asked, self.is_pending) = (Some(now), true);
            self.job.request();
        }
    }

    /// Returns when the answer may have come, for which the view is drawn anew; `None`: with its next tick.
    pub(super) fn next_look(&self, now: Nanos) -> Option<Nanos> {
        let is_soon = self.is_pending && self.asked.is_some_and(|asked| now < asked + SOON);
        is_soon.then_some(now + BETWEEN_LOOKS)
    }

    /// Returns what it watches. `None` if that is not known: no agent answers, or none has answered for long.
    pub(super) fn problems(&self, now: Nanos) -> Option<AgentProblems> {
        let is_silent = self.is_pending && self.asked.is_some_and(|asked| asked + MAX_SILENCE <= now);
        self.last.filter(|_| !is_silent)
    }
}
