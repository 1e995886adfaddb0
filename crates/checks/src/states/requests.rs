//! Carries out the requests of commands and of other programs.

use service::{Level, Log};

use super::CheckStates;
use crate::notice::NoticeKind;
use crate::request::CheckRequest;
use crate::status::Acknowledgement;
use crate::verdict::submitted;

/// The most requests that are carried out at a time.
const MAX_REQUESTS: usize = 1000;

impl CheckStates {
    /// Writes requests to the ledger, so that a kill loses none.
    pub(in super::super) fn ask(&mut self, requests: &[CheckRequest]) -> Result<(), store::StoreError> {
        self.has_more_requests = true;
        self.ledger.request(requests).map(drop)
    }

    /// Carries out requests. Returns the checks that are to run at once.
    pub(in super::super) fn do_requests(&mut self, now_ms: i64, log: &Log) -> Result<Vec<usize>, String> {
        let failed = |error: store::StoreError| error.to_string();
        if !self.ledger.has_news().map_err(failed)? && !self.has_more_requests {
            return Ok(Vec::new());
        }
        let mut hurried = Vec::new();
        let requests = self.ledger.requests(MAX_REQUESTS).map_err(failed)?;
        self.has_more_requests = requests.len() == MAX_REQUESTS;
        let mut are_downtimes_stale = false;
        for (key, request) in requests {
            if self.done.contains(&key) {
                continue;
            }
            self.done.push(key);
            let is_of_downtimes =
                matches!(request, CheckRequest::Downtime(_) | CheckRequest::EndDowntime { .. });
            // The next request may depend on downtimes. They are read once after a row of such requests: there may be one for each check.
            if are_downtimes_stale && !is_of_downtimes {
                self.reread_downtimes(log);
            }
            are_downtimes_stale = is_of_downtimes;
            hurried.extend(self.do_request(request, now_ms, log).into_iter().flatten());
        }
        if are_downtimes_stale {
            self.reread_downtimes(log);
        }
        Ok(hurried)
    }

    /// Returns the checks that are to run at once; `None` if there is none, or no such check any more.
    fn do_request(&mut self, request: CheckRequest, now_ms: i64, log: &Log) -> Option<Vec<usize>> {
        let registry = self.registry.clone();
        let place = |name: &str| registry.lock().index_of(name);
        match request {
            CheckRequest::Submit { name, state, output, at_ms } => {
                let place = place(&name)?;
                // One from the future would hide all later results.
                let finding = submitted(state, &output, at_ms.min(now_ms));
                self.registry.lock().counts.submitted += 1;
                return Some(self.take(place, finding, log).asked_for);
            }
            CheckRequest::Acknowledge { name, author, comment, is_sticky, is_silent } => {
                let place = place(&name)?;
                let mut registry = registry.lock();
                let status = &mut registry.statuses[place];
                if status.is_problem() {
                    status.acknowledgement =
                        Some(Box::new(Acknowledgement { author, comment, at_ms: now_ms, is_sticky }));
                    let last_state = status.hard_state;
                    if is_silent {
                        self.dirty.insert(place);
                    } else {
                        self.note(place, &mut registry, NoticeKind::Acknowledgement, last_state, now_ms);
                    }
                }
            }
            CheckRequest::Unacknowledge { name } => {
                let place = place(&name)?;
                self.registry.lock().statuses[place].acknowledgement = None;
                self.dirty.insert(place);
            }
            CheckRequest::Downtime(downtime) => {
                warn_of(self.ledger.add_downtime(&downtime, now_ms), log);
            }
            CheckRequest::EndDowntime { number } => {
                warn_of(self.ledger.end_downtime(number), log);
            }
            CheckRequest::CheckNow { name } => return place(&name).map(|place| vec![place]),
        }
        None
    }

    fn reread_downtimes(&mut self, log: &Log) {
        match self.ledger.downtimes() {
            Ok(downtimes) => self.downtimes = downtimes,
            Err(error) => log.write(Level::Warning, &format!("the downtimes cannot be read: {error}")),
        }
    }
}

fn warn_of(changed: Result<(), store::StoreError>, log: &Log) {
    if let Err(error) = changed {
        log.write(Level::Warning, &format!("a downtime cannot be written: {error}"));
    }
}
