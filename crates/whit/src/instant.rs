//! An instant as people write it: `03:12`, `yesterday 14:00`, `-2h`, `2026-11-22 14:00`, RFC 3339.

use facts::unit::Nanos;
use jiff::civil::{DateTime, Time};
use jiff::{Timestamp, ToSpan as _, Zoned};
use text::quantity;

/// What may stand there.
const WANTED: &str =
    "expected an instant: 03:12, yesterday 14:00, -2h, 2026-11-22 14:00, 2026-11-22T14:00:00Z";

/// Parses an instant, in the zone and before the time of `now`. A time of day without a date is the last one that has passed.
///
/// # Errors
/// What is expected instead.
pub(crate) fn parse(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    let text = text.trim();
    if text == "now" {
        return Ok(now.timestamp());
    }
    if let Some(ago) = text.strip_prefix('-') {
        let Nanos(ago) = quantity::duration(ago).map_err(|_| WANTED.to_owned())?;
        let ago = i64::try_from(ago).map_err(|_| WANTED.to_owned())?;
        return now.timestamp().checked_sub(ago.nanoseconds()).map_err(|_| WANTED.to_owned());
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Ok(timestamp);
    }
    if let Ok(civil) = text.replacen(' ', "T", 1).parse::<DateTime>() {
        return in_zone(civil, now);
    }
    let (day, time) = match text.split_once(' ') {
        Some(("yesterday", time)) => (now.yesterday().map_err(|_| WANTED.to_owned())?.date(), time),
        Some(("today", time)) => (now.date(), time),
        None => (now.date(), text),
        Some(_) => return Err(WANTED.to_owned()),
    };
    let time: Time = time.parse().map_err(|_| WANTED.to_owned())?;
    let at = in_zone(day.to_datetime(time), now)?;
    let has_day = text.contains(' ');
    match at > now.timestamp() && !has_day {
        true => in_zone(day.yesterday().map_err(|_| WANTED.to_owned())?.to_datetime(time), now),
        false => Ok(at),
    }
}

fn in_zone(civil: DateTime, now: &Zoned) -> Result<Timestamp, String> {
    let zoned = civil.to_zoned(now.time_zone().clone());
    zoned.map(|zoned| zoned.timestamp()).map_err(|_| WANTED.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::{self, TimeZone};

    #[test]
    fn instants_are_what_people_mean() {
        let now: Timestamp = "2026-11-22T10:30:00Z".parse().unwrap();
        // An hour ahead of UTC.
        let now = now.to_zoned(TimeZone::fixed(tz::offset(1)));
        for (text, expected) in [
            ("now", "2026-11-22T10:30:00Z"),
            ("-2h", "2026-11-22T08:30:00Z"),
            ("03:12", "2026-11-22T02:12:00Z"),
            ("03:12:05", "2026-11-22T02:12:05Z"),
            ("23:00", "2026-11-21T22:00:00Z"),
            ("yesterday 14:00", "2026-11-21T13:00:00Z"),
            ("today 14:00", "2026-11-22T13:00:00Z"),
            ("2026-11-20 14:00", "2026-11-20T13:00:00Z"),
            ("2026-11-20", "2026-11-19T23:00:00Z"),
            ("2026-11-20T14:00:00Z", "2026-11-20T14:00:00Z"),
            ("2026-11-20T14:00:00+02:00", "2026-11-20T12:00:00Z"),
        ] {
            assert_eq!(parse(text, &now).unwrap().to_string(), expected, "{text}");
        }
        for text in ["", "-", "-2x", "25:00", "tomorrow 14:00", "yesterday", "1"] {
            assert!(parse(text, &now).is_err(), "{text}");
        }
    }
}
