//! An instant as people write it: `03:12`, `yesterday 14:00`, `yesterday`, `-2h`, `10 minutes ago`, `2026-11-22 14:00`, RFC 3339, `@1700000000`.

use facts::unit::Nanos;
use jiff::civil::{DateTime, Time};
use jiff::{Span, Timestamp, ToSpan as _, Zoned};
use text::quantity;

/// The forms that are expected.
const WANTED: &str = "expected an instant: 03:12, yesterday 14:00, today, -2h, 10 minutes ago, 2026-11-22 14:00, 2026-11-22T14:00:00Z, @1795356000";

/// Parses an instant, in the zone and before the time of `now`. A time of day without a date is the last one that has passed.
///
/// # Errors
/// What is expected instead.
pub fn parse(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    instant(text.trim(), now).ok_or_else(|| WANTED.to_owned())
}

fn instant(text: &str, now: &Zoned) -> Option<Timestamp> {
    if text == "now" {
        return Some(now.timestamp());
    }
    if let Some(ago) = text.strip_prefix('-') {
        let Nanos(ago) = quantity::duration(ago).ok()?;
        return now.timestamp().checked_sub(i64::try_from(ago).ok()?.nanoseconds()).ok();
    }
    if let Some(epoch) = text.strip_prefix('@') {
        return since_epoch(epoch);
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp);
    }
    if let Ok(civil) = text.replacen(' ', "T", 1).parse::<DateTime>() {
        return in_zone(civil, now);
    }
    if let Ok(time) = text.parse::<Time>() {
        // In autumn an hour is there twice: the second one, if it has passed.
        let days = [Some(now.date()), now.date().yesterday().ok()];
        let times = days.into_iter().flatten().flat_map(|day| {
            let times = now.time_zone().to_ambiguous_zoned(day.to_datetime(time));
            [times.clone().later(), times.earlier()]
        });
        return times.flatten().map(|zoned| zoned.timestamp()).find(|at| *at <= now.timestamp());
    }
    let (day, time) = text.split_once(' ').map_or((text, None), |(day, time)| (day, Some(time)));
    let day = match day {
        "yesterday" => now.date().yesterday().ok()?,
        "today" => now.date(),
        _ => return ago(text, now),
    };
    // A day begins at midnight.
    let time = time.map_or(Some(Time::midnight()), |time| time.parse().ok())?;
    in_zone(day.to_datetime(time), now)
}

/// Seconds since 1970, perhaps with a fraction. By digits: a floating-point number of today has no nanoseconds.
fn since_epoch(text: &str) -> Option<Timestamp> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (seconds, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if seconds.is_empty() || !is_number(seconds) || !is_number(fraction) {
        return None;
    }
    // What is smaller than a nanosecond is cut off.
    let nanoseconds: i128 = format!("{:0<9.9}", fraction).parse().ok()?;
    let seconds: i128 = seconds.parse().ok()?;
    Timestamp::from_nanosecond(sign * (seconds.checked_mul(1_000_000_000)? + nanoseconds)).ok()
}

/// `20s`, `20s ago`, `10 minutes ago`.
fn ago(text: &str, now: &Zoned) -> Option<Timestamp> {
    let span: Span = text.parse().ok()?;
    now.checked_sub(span.abs()).ok().map(|at| at.timestamp())
}

fn in_zone(civil: DateTime, now: &Zoned) -> Option<Timestamp> {
    civil.to_zoned(now.time_zone().clone()).ok().map(|zoned| zoned.timestamp())
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
            ("20s", "2026-11-22T10:29:40Z"),
            ("20s ago", "2026-11-22T10:29:40Z"),
            ("10 minutes ago", "2026-11-22T10:20:00Z"),
            ("1 hour 30 min ago", "2026-11-22T09:00:00Z"),
            ("2 days ago", "2026-11-20T10:30:00Z"),
            ("yesterday", "2026-11-20T23:00:00Z"),
            ("today", "2026-11-21T23:00:00Z"),
            ("-2h", "2026-11-22T08:30:00Z"),
            ("03:12", "2026-11-22T02:12:00Z"),
            ("03:12:05", "2026-11-22T02:12:05Z"),
            ("23:00", "2026-11-21T22:00:00Z"),
            ("yesterday 14:00", "2026-11-21T13:00:00Z"),
            ("today 14:00", "2026-11-22T13:00:00Z"),
            ("2026-11-20 14:00", "2026-11-20T13:00:00Z"),
            ("2026-11-20", "2026-11-19T23:00:00Z"),
            ("2026-11-20T14:00:00Z", "2026-11-20T14:00:00Z"),
            ("@1700000000.5", "2023-11-14T22:13:20.5Z"),
            ("@1700000000.123", "2023-11-14T22:13:20.123Z"),
            ("@1795356000.987654321", "2026-11-22T14:00:00.987654321Z"),
            ("@-1.5", "1969-12-31T23:59:58.5Z"),
            ("2026-11-20T14:00:00+02:00", "2026-11-20T12:00:00Z"),
        ] {
            assert_eq!(parse(text, &now).unwrap().to_string(), expected, "{text}");
        }
        for text in [
            "",
            "-",
            "-2x",
            "25:00",
            "tomorrow 14:00",
            "yesterday 25:00",
            "1",
            "1 ago",
            "ago",
            "@",
            "@x",
            "@nan",
        ] {
            assert!(parse(text, &now).is_err(), "{text}");
        }
    }
}
