//! Dates as feeds write them: RFC 3339, RFC 2822, and what resembles these.

use chrono::{DateTime, Utc};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime as CivilTime};
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::{Offset, TimeZone};

/// Formats without a zone after the first ones failed.
const FORMATS: [&str; 12] = [
    "%d %b %Y %H:%M:%S",
    "%d %b %Y %H:%M",
    "%d %b %Y",
    "%d %b %y %H:%M:%S",
    "%d-%b-%y %H:%M:%S",
    "%b %d %Y %H:%M:%S",
    "%b %d %Y %H:%M",
    "%b %d %Y",
    "%b %d %H:%M:%S %Y",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d",
    "%m/%d/%Y %H:%M:%S",
];
/// Zones by name, in hours east of UTC (RFC 2822, 4.3, and others that feeds have).
const ZONES: [(&str, i8); 17] = [
    ("UTC", 0),
    ("GMT", 0),
    ("UT", 0),
    ("Z", 0),
    ("WET", 0),
    ("BST", 1),
    ("CET", 1),
    ("MET", 1),
    ("CEST", 2),
    ("MSK", 3),
    ("JST", 9),
    ("EDT", -4),
    ("EST", -5),
    ("CDT", -5),
    ("CST", -6),
    ("MST", -7),
    ("PST", -8),
];

/// The same for feed-rs.
pub(crate) fn parse_chrono(text: &str) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(parse(text)?.as_millisecond())
}

/// Reads a date. Without a zone it is one of UTC.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    if let Ok(time) = rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text) {
        return Some(time);
    }
    // RFC 3339 with a space, without seconds, a zone or a time.
    if let Ok(time) = text.parse::<CivilTime>() {
        return in_utc(time);
    }
    if let Ok(date) = text.parse::<Date>() {
        return in_utc(date.at(0, 0, 0, 0));
    }
    lenient(text)
}

fn in_utc(time: CivilTime) -> Option<Timestamp> {
    time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// Without its weekday and punctuation, and with a zone that is a number or a name.
fn lenient(text: &str) -> Option<Timestamp> {
    let mut words: Vec<String> = text
        .split(|letter: char| letter.is_whitespace() || letter == ',')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    if words.first().is_some_and(|word| is_weekday(word)) {
        words.remove(0);
    }
    let mut zone = Offset::UTC;
    if let Some(found) = words.last().and_then(|word| offset(word)) {
        zone = found;
        words.pop();
    }
    for word in &mut words {
        if let Some(month) = month(word) {
            *word = month.to_owned();
        } else if let Some(number) = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)) {
            *word = number.to_owned();
        }
    }
    let normal = words.join(" ");
    FORMATS.iter().find_map(|format| {
        let parsed = strtime::parse(format, &normal).ok()?;
        let time = match parsed.to_datetime() {
            Ok(time) => time,
            Err(_) => parsed.to_date().ok()?.at(0, 0, 0, 0),
        };
        zone.to_timestamp(time).ok()
    })
}

fn is_weekday(word: &str) -> bool {
    // Names of weekdays come in many languages: any word that is not a month.
    word.chars().all(|letter| letter.is_alphabetic() || letter == '.') && month(word).is_none()
}

/// The short name of a month in English.
fn month(word: &str) -> Option<&'static str> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let start = word.get(..3)?;
    let is_word = word.trim_end_matches('.').chars().all(char::is_alphabetic);
    MONTHS.into_iter().find(|month| is_word && month.eq_ignore_ascii_case(start))
}

fn offset(word: &str) -> Option<Offset> {
    if let Some((_, hours)) = ZONES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
        return Some(Offset::constant(*hours));
    }
    let sign = match word.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = word[1..].chars().filter(|letter| *letter != ':').collect();
    // Not by parsing alone, which would take a second sign.
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i32 = digits.parse().ok()?;
    let (hours, minutes) = (number / 100, number % 100);
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_feeds_are_read() {
        for text in [
            "2023-05-01T12:00:00Z",
            "2023-05-01T14:00:00+02:00",
            "2023-05-01 12:00:00",
            "2023-05-01T12:00",
            "Mon, 01 May 2023 12:00:00 GMT",
            "Mon, 01 May 2023 14:00:00 +0200",
            "Tue, 1 May 2023 12:00:00 UTC",
            "Mo, 01 Mai 2023 12:00:00 +0000",
            "Monday, 1 May 2023 12:00:00",
            "1 May 2023 12:00 Z",
            "May 1, 2023 12:00:00",
            "Mon May 01 12:00:00 2023",
            "Mon, 01 May 2023 08:00:00 EDT",
            "Mon, 1st May 2023 12:00:00 +00:00",
            "2023/05/01 12:00:00",
            "01 May 23 12:00:00 GMT",
        ] {
            let expected = "2023-05-01T12:00:00Z".parse::<Timestamp>().unwrap();
            // German May has an "i" at its end, which is another month here.
            match text.contains("Mai") {
                true => assert_eq!(parse(text), None, "{text}"),
                false => assert_eq!(parse(text), Some(expected), "{text}"),
            }
        }
        assert_eq!(parse("2023-05-01"), Some("2023-05-01T00:00:00Z".parse().unwrap()));
        for text in [
            "",
            "yesterday",
            "99 May 2023",
            "2023-13-01",
            "May",
            "+",
            "-é000",
            "-\u{feff}{",
            "+-1-2",
            "1 May 2023 é",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
