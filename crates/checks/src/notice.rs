//! Notifications of checks: when one is due, and what it says. Pure: the time is given.

use serde::{Deserialize, Serialize};

use super::definition::Check;
use super::state::State;
use super::status::{CheckStatus, LastNotification};

/// A notification of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckNotice {
    /// Why it is sent.
    pub kind: NoticeKind,
    /// The host; empty: this machine.
    pub host: String,
    /// The value of `{address}`, if the configuration has one.
    pub address: String,
    /// Empty: the check of the host itself.
    pub service: String,
    /// The labels of the configuration.
    pub labels: Vec<(String, String)>,
    /// The hard state.
    pub state: State,
    /// The hard state before it.
    pub last_state: State,
    /// When the hard state changed, in milliseconds since 1970.
    pub since_ms: i64,
    /// The number of this notification since the check was OK; the first is 1.
    pub times: u32,
    /// The number of the attempt, and how many make a problem hard.
    pub attempts: (u32, u32),
    /// The first line of the output.
    pub text: String,
    /// The other lines.
    pub long_text: String,
    /// Its performance data.
    pub figures: String,
    /// The author and the comment of the acknowledgement.
    pub acknowledgement: Option<(String, String)>,
    /// The agent's machine.
    pub machine: String,
    /// Its offset from UTC, in seconds.
    pub utc_offset_s: i32,
}

impl CheckNotice {
    /// Creates a notice of a check as it stands; the origin is the agent's machine, and how much later it is there than in UTC, in seconds.
    pub(super) fn new(
        check: &Check,
        status: &CheckStatus,
        (kind, times): (NoticeKind, u32),
        last_state: State,
        (machine, utc_offset_s): (String, i32),
    ) -> Self {
        let known = status.acknowledgement.as_ref();
        Self {
            kind,
            host: check.name.host.clone(),
            address: check.address.clone(),
            service: check.name.service.clone(),
            labels: check.labels.clone(),
            state: status.hard_state,
            last_state,
            since_ms: status.hard_since_ms,
            times,
            attempts: (status.attempt, check.attempts),
            text: status.text.clone(),
            long_text: status.long_text.clone(),
            figures: status.figures.clone(),
            acknowledgement: known.map(|known| (known.author.clone(), known.comment.clone())),
            machine,
            utc_offset_s,
        }
    }
}

/// Why a notification is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// A problem began, or lasts.
    Problem,
    /// The check is OK again.
    Recovery,
    /// The problem was acknowledged.
    Acknowledgement,
    /// The state changes too often. There are no other notifications until that ends.
    FlappingStart,
    /// The state does not change too often any more.
    FlappingStop,
}

impl NoticeKind {
    /// As Nagios' NOTIFICATIONTYPE has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Problem => "PROBLEM",
            Self::Recovery => "RECOVERY",
            Self::Acknowledgement => "ACKNOWLEDGEMENT",
            Self::FlappingStart => "FLAPPINGSTART",
            Self::FlappingStop => "FLAPPINGSTOP",
        }
    }
}

/// The circumstances that can suppress a notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Circumstances {
    /// The check is in a downtime.
    pub(super) is_in_downtime: bool,
    /// It is a time for notifications.
    pub(super) is_in_period: bool,
    /// The host is down or unreachable, or a check that this one depends on has a problem.
    pub(super) is_behind_problem: bool,
}

/// The notification that is due now.
pub(super) fn due(
    check: &Check,
    status: &CheckStatus,
    circumstances: Circumstances,
    now_ms: i64,
) -> Option<NoticeKind> {
    let Circumstances { is_in_downtime, is_in_period, is_behind_problem } = circumstances;
    status.state?;
    if is_in_downtime || !is_in_period || is_behind_problem {
        return None;
    }
    let is_flapping = status.flapping.is_flapping() && !check.ignores_flapping;
    if is_flapping != status.is_flapping_told {
        return Some(if is_flapping { NoticeKind::FlappingStart } else { NoticeKind::FlappingStop });
    }
    if is_flapping {
        return None;
    }
    let state = status.hard_state;
    if state == State::Ok {
        return status.last_notification.map(|_| NoticeKind::Recovery);
    }
    // The hard state may be older than the last result.
    let is_over = status.state == Some(State::Ok);
    let is_quiet = status.acknowledgement.is_some() || check.notifications.untold.contains(&state);
    if is_over || is_quiet {
        return None;
    }
    let is_new = status.last_notification.is_none_or(|last| last.state != state);
    let is_repeated = || {
        let repeat_ms = check.notifications.repeat.map(|repeat| repeat.as_millis() as i64);
        repeat_ms
            .zip(status.last_notification)
            .is_some_and(|(repeat_ms, last)| now_ms - last.at_ms >= repeat_ms)
    };
    (is_new || is_repeated()).then_some(NoticeKind::Problem)
}

/// Notes that a notification is sent. Returns its number since the check was OK.
pub(super) fn note(status: &mut CheckStatus, kind: NoticeKind, now_ms: i64) -> u32 {
    let times = status.last_notification.map_or(0, |last| last.times);
    match kind {
        NoticeKind::Problem => {
            status.last_notification =
                Some(LastNotification { state: status.hard_state, times: times + 1, at_ms: now_ms });
            return times + 1;
        }
        NoticeKind::Recovery => status.last_notification = None,
        NoticeKind::FlappingStart | NoticeKind::FlappingStop => {
            status.is_flapping_told = kind == NoticeKind::FlappingStart;
        }
        NoticeKind::Acknowledgement => {}
    }
    times.max(1)
}

/// Returns whether the configuration of a check allows notifications of this kind.
pub(super) fn is_told(check: &Check, kind: NoticeKind) -> bool {
    let notifications = &check.notifications;
    let is_hidden = match kind {
        NoticeKind::Problem | NoticeKind::Acknowledgement => false,
        NoticeKind::Recovery => notifications.hides_recoveries,
        NoticeKind::FlappingStart | NoticeKind::FlappingStop => notifications.hides_flapping,
    };
    !notifications.is_silent && !is_hidden
}

/// The names of the receivers of the n-th notification; empty: all.
pub(super) fn receivers(check: &Check, times: u32) -> Vec<&str> {
    let notifications = &check.notifications;
    let escalated = notifications.escalations.iter().filter(|(from, _)| times >= *from);
    let all = notifications.receivers.iter().chain(escalated.flat_map(|(_, names)| names));
    let mut names: Vec<&str> = Vec::new();
    for name in all {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    // Without names of its own a check sends to all.
    if notifications.receivers.is_empty() { Vec::new() } else { names }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::super::definition::{CheckName, CheckWay, NotificationOptions};
    use super::super::status::{Acknowledgement, Finding, Rules};
    use super::*;

    const FREE: Circumstances =
        Circumstances { is_in_downtime: false, is_in_period: true, is_behind_problem: false };

    fn check() -> Check {
        let mut check = Check::new(CheckName::default(), CheckWay::Passive);
        check.notifications = Arc::new(NotificationOptions {
            repeat: Some(Duration::from_secs(60)),
            ..NotificationOptions::default()
        });
        check
    }

    /// Takes results a second apart, and returns the notification of each.
    fn tell(
        status: &mut CheckStatus,
        states: &[State],
        circumstances: Circumstances,
    ) -> Vec<Option<&'static str>> {
        let rules = Rules { attempts: 2, is_of_host: false, is_host_down: false };
        let mut step = |state: &State| {
            let at_ms = status.result_ms + 1000;
            status.take(Finding { state: *state, at_ms, ..Finding::default() }, rules);
            let kind = due(&check(), status, circumstances, at_ms)?;
            note(status, kind, at_ms);
            Some(kind.name())
        };
        states.iter().map(&mut step).collect()
    }

    #[test]
    fn a_problem_is_told_once_when_it_is_certain_and_its_end() {
        use State::{Critical as C, Ok as O, Warning as W};
        let status = &mut CheckStatus::new(String::new());
        let sent = tell(status, &[O, C, C, C, W, O, O], FREE);
        let expected = [None, None, Some("PROBLEM"), None, Some("PROBLEM"), Some("RECOVERY"), None];
        assert_eq!(sent, expected);
        // No notification is sent of a state that was not certain.
        assert_eq!(tell(&mut CheckStatus::new(String::new()), &[O, C, O, O], FREE), [None; 4]);
    }

    #[test]
    fn it_is_told_again_after_a_while_and_others_too() {
        let status = &mut CheckStatus::new(String::new());
        let sent = tell(status, &[State::Critical; 65], FREE);
        let at: Vec<usize> = sent.iter().enumerate().filter_map(|(at, sent)| sent.map(|_| at)).collect();
        assert_eq!((at, status.last_notification.unwrap().times), (vec![1, 61], 2));
        let mut check = check();
        let mut notifications = NotificationOptions {
            escalations: vec![(2, vec!["boss".to_owned()])],
            ..NotificationOptions::default()
        };
        check.notifications = Arc::new(notifications.clone());
        assert!(receivers(&check, 2).is_empty());
        notifications.receivers = vec!["mail".to_owned()];
        check.notifications = Arc::new(notifications);
        assert_eq!((receivers(&check, 1), receivers(&check, 2)), (vec!["mail"], vec!["mail", "boss"]));
    }

    #[test]
    fn nobody_is_told_in_a_downtime_but_of_the_end_after_it() {
        let status = &mut CheckStatus::new(String::new());
        let away = Circumstances { is_in_downtime: true, ..FREE };
        assert_eq!(tell(status, &[State::Critical; 3], FREE), [None, Some("PROBLEM"), None]);
        assert_eq!(tell(status, &[State::Ok], away), [None]);
        assert_eq!(tell(status, &[State::Ok], FREE), [Some("RECOVERY")]);
        for quiet in
            [Circumstances { is_in_period: false, ..FREE }, Circumstances { is_behind_problem: true, ..FREE }]
        {
            assert_eq!(tell(&mut CheckStatus::new(String::new()), &[State::Critical; 3], quiet), [None; 3]);
        }
    }

    #[test]
    fn who_knows_is_told_of_the_end_alone() {
        let status = &mut CheckStatus::new(String::new());
        tell(status, &[State::Critical; 2], FREE);
        status.acknowledgement = Some(Box::new(Acknowledgement {
            author: String::new(),
            comment: String::new(),
            at_ms: 0,
            is_sticky: true,
        }));
        assert_eq!(tell(status, &[State::Warning, State::Ok], FREE), [None, Some("RECOVERY")]);
    }

    #[test]
    fn what_flaps_is_told_once() {
        let status = &mut CheckStatus::new(String::new());
        let states: Vec<State> =
            (0..20).map(|at| if at % 2 == 0 { State::Ok } else { State::Critical }).collect();
        let sent: Vec<&str> = tell(status, &states, FREE).into_iter().flatten().collect();
        assert_eq!(sent, ["FLAPPINGSTART"]);
        let sent: Vec<&str> = tell(status, &[State::Ok; 30], FREE).into_iter().flatten().collect();
        assert_eq!(sent, ["FLAPPINGSTOP"]);
    }
}
