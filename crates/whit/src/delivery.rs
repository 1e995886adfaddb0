//! Notifications to receivers, as text and JSON: of alerts and of checks.

use notify::{Delivery, Outcome};
use serde_json::{Value, json};
use text::printable::Shown as _;

use command::time_zone;

/// A sentence: `the notification of disk full at 2026-11-20 10:00:00 to mail was sent`.
pub(crate) fn line<T>(delivery: &Delivery<T>, subject: &str) -> String {
    let what = match delivery.outcome {
        None if delivery.attempts == 0 => "is being sent".to_owned(),
        None => format!("is tried again at {}", time_zone::written_ms(delivery.next_ms)),
        Some(Outcome::Delivered) => "was sent".to_owned(),
        Some(Outcome::GivenUp) => "was not sent".to_owned(),
        Some(Outcome::Unknown) => "was perhaps sent".to_owned(),
    };
    let colon = if delivery.reason.is_empty() { "" } else { ": " };
    format!(
        "the notification of {} at {} to {} {what}{colon}{}",
        subject.shown(),
        time_zone::written_ms(delivery.created_ms),
        delivery.receiver.shown(),
        delivery.reason.shown()
    )
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
