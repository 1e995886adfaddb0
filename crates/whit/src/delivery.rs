//! Notifications to receivers, as text and JSON: of alerts and of checks.

use std::fmt::Write as _;

use notify::{Delivery, Outcome};
use serde_json::{Value, json};
use text::printable::Shown as _;

use command::time_zone;

/// Appends a sentence for each notification, such as `the notification of disk full at 2026-11-20 10:00:00 to mail was sent`, and one for
/// all of a receiver that fared alike: a mail server that is down fails hundreds of them for one reason.
pub(crate) fn push_lines<'a, T: 'a>(
    deliveries: impl Iterator<Item = &'a Delivery<T>>,
    subject: impl Fn(&T) -> String,
    text: &mut String,
) {
    let mut groups: Vec<Vec<&Delivery<T>>> = Vec::new();
    for delivery in deliveries {
        match groups.iter_mut().find(|group| fare_alike(group[0], delivery)) {
            Some(group) => group.push(delivery),
            None => groups.push(vec![delivery]),
        }
    }
    for group in groups {
        let first = group[0];
        let colon = if first.reason.is_empty() { "" } else { ": " };
        let (receiver, reason) = (first.receiver.shown(), first.reason.shown());
        let _ = match group.len() {
            1 => writeln!(
                text,
                "the notification of {} at {} to {receiver} {}{colon}{reason}",
                subject(&first.subject).shown(),
                time_zone::written_ms(first.created_ms),
                fate(first, "is", "was"),
            ),
            count => {
                let next = group.iter().min_by_key(|delivery| delivery.next_ms).unwrap_or(&first);
                writeln!(
                    text,
                    "{count} notifications to {receiver} {}{colon}{reason}",
                    fate(next, "are", "were")
                )
            }
        };
    }
}

fn fare_alike<T>(one: &Delivery<T>, other: &Delivery<T>) -> bool {
    let is_new = |delivery: &Delivery<T>| delivery.attempts == 0;
    (&one.receiver, one.outcome, is_new(one), &one.reason)
        == (&other.receiver, other.outcome, is_new(other), &other.reason)
}

fn fate<T>(delivery: &Delivery<T>, is: &str, was: &str) -> String {
    match delivery.outcome {
        None if delivery.attempts == 0 => format!("{is} being sent"),
        None => format!("{is} tried again at {}", time_zone::written_ms(delivery.next_ms)),
        Some(Outcome::Delivered) => format!("{was} sent"),
        Some(Outcome::GivenUp) => format!("{was} not sent"),
        Some(Outcome::Unknown) => format!("{was} perhaps sent"),
    }
}

/// An object: what all deliveries have, and what only those of this `subject` have.
pub(crate) fn json<T>(delivery: &Delivery<T>, subject: Value) -> Value {
    let mut object = json!({
        "id": delivery.id,
        "receiver": delivery.receiver,
        "created_realtime_ns": delivery.created_ms.saturating_mul(1_000_000),
        "attempts": delivery.attempts,
        "outcome": delivery.outcome,
        "reason": delivery.reason,
    });
    if let (Some(object), Value::Object(subject)) = (object.as_object_mut(), subject) {
        object.extend(subject);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(subject: &'static str, receiver: &str, next_ms: i64, reason: &str) -> Delivery<&'static str> {
        Delivery {
            id: String::new(),
            receiver: receiver.to_owned(),
            subject,
            is_end: false,
            created_ms: 1_700_000_000_000,
            attempts: u32::from(!reason.is_empty()),
            next_ms,
            outcome: None,
            reason: reason.to_owned(),
            left_to: Vec::new(),
            partly_ms: None,
        }
    }

    #[test]
    fn those_that_fared_alike_are_one_line() {
        let all = [
            delivery("disk", "ann", 1_700_000_009_000, "refused"),
            delivery("load", "bob", 0, ""),
            delivery("ping", "ann", 1_700_000_005_000, "refused"),
        ];
        let mut text = String::new();
        push_lines(all.iter(), |subject| (*subject).to_owned(), &mut text);
        let next = time_zone::written_ms(1_700_000_005_000);
        let at = time_zone::written_ms(1_700_000_000_000);
        assert_eq!(
            text,
            format!(
                "2 notifications to ann are tried again at {next}: refused\n\
                 the notification of load at {at} to bob is being sent\n"
            )
        );
    }
}
