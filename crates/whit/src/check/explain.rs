//! When and how a check runs, and who gets notifications, in words.

use std::fmt::Write as _;

use checks::{Check, CheckOptions, CheckWay};
use facts::unit::Nanos;
use text::printable::Shown as _;
use text::units::Span;

use super::render::until;
use super::suppression::Known;
use command::time_zone::written_ms as time;

/// Describes when and how a check is done, and who is notified.
pub(super) fn explain(check: &Check, options: &CheckOptions, known: &Known, now_ms: i64) -> String {
    let name = check.name.to_string();
    let mut text = format!("{}\n", name.shown());
    let seconds = |length: std::time::Duration| Span(Nanos::from(length)).to_string();
    match &check.way {
        CheckWay::Plugin(plugin) => {
            let words = plugin.words.iter().map(|word| shell_words::quote(word).into_owned());
            let _ = writeln!(text, "runs: {}", words.collect::<Vec<_>>().join(" ").shown());
            for (name, value) in &plugin.environment {
                let _ = writeln!(text, "  with {}={}", name.shown(), value.shown());
            }
            if let Some(user) = &plugin.user {
                let _ = writeln!(text, "  as the user with the number {}", user.uid);
            }
            let _ = writeln!(
                text,
                "  for {} at most, then it is {}",
                seconds(check.timeout),
                check.timeout_state.name()
            );
            let next = time(check.next_ms(now_ms));
            let _ = writeln!(text, "every {}, next at {next}", seconds(check.interval));
            if check.attempts > 1 {
                let _ = writeln!(
                    text,
                    "  a problem is hard after {} results in sequence, {} apart",
                    check.attempts,
                    seconds(check.retry_interval)
                );
            }
        }
        CheckWay::Native(native) => {
            let _ = writeln!(text, "without a process: {}", native.about().shown());
            let _ =
                writeln!(text, "every {}, next at {}", seconds(check.interval), time(check.next_ms(now_ms)));
        }
        CheckWay::Passive => text.push_str("passive: its results are submitted by whit check submit\n"),
    }
    if let Some(fresh) = check.fresh_for {
        let _ = writeln!(text, "stale after {}", seconds(fresh));
    }
    if let Some(period) = &check.period {
        let _ = writeln!(text, "only {period}");
    }
    if let Some(group) = &check.group {
        let most = options.groups.iter().find(|(name, _)| name == group).map_or(0, |(_, most)| *most);
        let _ = writeln!(text, "with at most {most} of the group {} at a time", group.shown());
    }
    if !check.parents.is_empty() {
        let _ = writeln!(text, "reached by {}", check.parents.join(", ").shown());
    }
    if !check.is_of_host()
        && options.checks.iter().any(|other| other.is_of_host() && other.name.host == check.name.host)
    {
        let _ = writeln!(text, "no notifications while the host {} is down", check.name.host.shown());
    }
    if !check.depends.is_empty() {
        let one = if check.depends.len() == 1 { "" } else { "one of " };
        let names = check.depends.join(", ");
        let _ = writeln!(text, "no notifications while {one}{} has a problem", names.shown());
    }
    let receivers = match (options.receivers.as_slice(), check.notifications.receivers.as_slice()) {
        ([], _) => "none: there is no [[receiver]]".to_owned(),
        _ if check.notifications.is_silent => "none: to = []".to_owned(),
        (all, []) => all.iter().map(|receiver| receiver.name.as_str()).collect::<Vec<_>>().join(", "),
        (_, some) => some.join(", "),
    };
    let _ = writeln!(text, "notifications to: {}", receivers.shown());
    for (from, names) in &check.notifications.escalations {
        let _ = writeln!(text, "  from number {from} on also to {}", names.join(", ").shown());
    }
    if let Some(repeat) = check.notifications.repeat {
        let _ = writeln!(text, "  repeated after {}", seconds(repeat));
    }
    if let Some(period) = &check.notifications.period {
        let _ = writeln!(text, "  only {period}");
    }
    for (number, downtime) in known.downtimes.iter().filter(|(_, downtime)| downtime.is_of(&name)) {
        let _ = writeln!(text, "  not in downtime {number}, until {}", until(downtime));
    }
    known.push_reasons(check, now_ms, &mut text);
    text
}
