//! Dates as feeds write them: RFC 3339, RFC 2822, and what resembles these.

use chrono::{DateTime, Utc};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime as CivilTime};
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::{Offset, TimeZone};

/// Formats without a zone after the first ones failed.
const FORMATS: [&str; 18] = [
    // Years of two digits first: "23" is a year of four as well.
    "%d %b %y %H:%M:%S",
    "%d %b %y %H:%M",
    "%d %b %Y %H:%M:%S",
    "%d %b %Y %H:%M",
    "%d %b %Y",
    "%d-%b-%y %H:%M:%S",
    "%b %d %Y %H:%M:%S",
    "%b %d %Y %H:%M",
    "%b %d %Y",
    "%b %d %H:%M:%S %Y",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p",
    "%Y-%m-%dT%H:%M:%S%.f",
];
/// An earlier date is what a program writes that knows none: year 1, 0 or 1601.
const FIRST_YEAR: i16 = 1900;
/// Zones by name, in minutes east of UTC (RFC 2822, 4.3, and others that feeds have).
const ZONES: [(&str, i32); 52] = [
    ("UTC", 0),
    ("GMT", 0),
    ("UT", 0),
    ("Z", 0),
    ("WET", 0),
    ("WEST", 60),
    ("BST", 60),
    ("CET", 60),
    ("MET", 60),
    ("MEZ", 60),
    ("WAT", 60),
    ("CEST", 120),
    ("MEST", 120),
    ("MESZ", 120),
    ("EET", 120),
    ("SAST", 120),
    ("CAT", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("EAT", 180),
    ("PKT", 300),
    ("IST", 330),
    ("ICT", 420),
    ("WIB", 420),
    ("AWST", 480),
    ("HKT", 480),
    ("SGT", 480),
    ("PHT", 480),
    ("JST", 540),
    ("KST", 540),
    ("ACST", 570),
    ("AEST", 600),
    ("ACDT", 630),
    ("AEDT", 660),
    ("NZST", 720),
    ("NZDT", 780),
    ("NDT", -150),
    ("BRT", -180),
    ("ADT", -180),
    ("NST", -210),
    ("AST", -240),
    ("EDT", -240),
    ("EST", -300),
    ("CDT", -300),
    ("CST", -360),
    ("MDT", -360),
    ("MST", -420),
    ("PDT", -420),
    ("PST", -480),
    ("AKDT", -480),
    ("AKST", -540),
    ("HST", -600),
];

/// Reads a date as [`parse`] does, for feed-rs.
pub(crate) fn parse_chrono(text: &str) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(parse(text)?.as_millisecond())
}

/// Reads a date. Without a zone it is one of UTC.
pub fn parse(text: &str) -> Option<Timestamp> {
    let time = parse_any(text.trim())?;
    (time.to_zoned(TimeZone::UTC).year() >= FIRST_YEAR).then_some(time)
}

fn parse_any(text: &str) -> Option<Timestamp> {
    // For RFC 2822 a zone by another name than its own is UTC.
    let has_named_zone = ZONES
        .iter()
        .any(|(name, minutes)| *minutes != 0 && text.split_whitespace().any(|word| word == *name));
    if has_named_zone && let Some(time) = lenient(text) {
        return Some(time);
    }
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
    // W3CDTF, as Dublin Core has it: a month or a year alone.
    let is_part = |length: usize| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    let first_day = if is_part(4) {
        format!("{text}-01-01")
    } else if is_part(7) {
        format!("{text}-01")
    } else {
        return lenient(text);
    };
    in_utc(first_day.parse::<Date>().ok()?.at(0, 0, 0, 0))
}

fn in_utc(time: CivilTime) -> Option<Timestamp> {
    time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// Without its weekday and punctuation, and with a zone that is a number or a name.
fn lenient(text: &str) -> Option<Timestamp> {
    // The name of a zone in words: JavaScript's Date has it behind the offset.
    let text = text.split_once('(').map_or(text, |(text, _)| text);
    let mut words: Vec<String> = text
        .split(|letter: char| letter.is_whitespace() || letter == ',')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    // "Mar" is a Tuesday in three languages: then another word is the month.
    let has_month_behind = words.iter().skip(1).any(|word| month(word).is_some());
    if words.first().is_some_and(|word| is_weekday(word) || has_month_behind && month(word).is_some()) {
        words.remove(0);
    }
    // Java and `date` have the zone before the year; where there is a name as well as a number, the number counts.
    let (mut by_number, mut by_name) = (None, None);
    words.retain(|word| {
        let Some(found) = offset(word) else { return true };
        let zone = if word.contains(['+', '-']) { &mut by_number } else { &mut by_name };
        zone.get_or_insert(found);
        false
    });
    let zone = by_number.or(by_name).unwrap_or(Offset::UTC);
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
    // Finnish November begins as March does.
    let is_word = word.trim_end_matches('.').chars().all(char::is_alphabetic)
        && !word.to_lowercase().starts_with("marras");
    MONTHS.into_iter().find(|month| is_word && month.eq_ignore_ascii_case(start))
}

fn offset(word: &str) -> Option<Offset> {
    if let Some((_, minutes)) = ZONES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)) {
        return Offset::from_seconds(minutes * 60).ok();
    }
    let word = ["GMT", "UTC"].iter().find_map(|name| word.strip_prefix(name)).unwrap_or(word);
    let sign = match word.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = word[1..].chars().filter(|letter| *letter != ':').collect();
    // Not by parsing alone, which would take a second sign.
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i32 = match digits.len() {
        4 => digits.parse().ok()?,
        // GMT+2.
        1 | 2 => digits.parse::<i32>().ok()? * 100,
        _ => return None,
    };
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
            // Ruby, Java and date(1), JavaScript.
            "2023-05-01 14:00:00 +0200",
            "2023-05-01 12:00:00 UTC",
            "2023-05-01 14:00:00.000 +02:00",
            "Mon May 01 14:00:00 CEST 2023",
            "Mon May  1 14:00:00 CEST 2023",
            "Mon May 01 2023 14:00:00 GMT+0200 (CEST)",
            "Mon May 01 2023 14:00:00 GMT+0200 (Central European Summer Time)",
            "Mon, 01 May 2023 14:00:00 CEST",
            "Mon, 01 May 2023 05:00:00 PDT",
            "Mon, 01 May 2023 17:30:00 IST",
            "01 May 2023 21:00 JST",
            "Mon, 1 May 23 07:00:00 EST",
            "Mon, 1 May 23 07:00 EST",
            "2023-05-01T14:00:00 +02:00",
            "Mon, 01 May 2023 14:00:00 GMT+2",
            "Mon, 01 May 2023 13:00:00 +0100 BST",
            "5/1/2023 12:00:00 PM",
            "5/1/2023 12:00 PM",
            "Mar, 01 May 2023 14:00:00 +0200",
            "mar., 01 may. 2023 14:00:00 +0200",
        ] {
            let expected = "2023-05-01T12:00:00Z".parse::<Timestamp>().unwrap();
            // German May has an "i" at its end, which is another month here.
            match text.contains("Mai") {
                true => assert_eq!(parse(text), None, "{text}"),
                false => assert_eq!(parse(text), Some(expected), "{text}"),
            }
        }
        for text in ["2023-05-01", "2023-05"] {
            assert_eq!(parse(text), Some("2023-05-01T00:00:00Z".parse().unwrap()));
        }
        assert_eq!(parse("2023"), Some("2023-01-01T00:00:00Z".parse().unwrap()));
        // Tuesday in March, in Spanish, and Finnish November.
        assert_eq!(parse("mar, 07 mar 2023"), Some("2023-03-07T00:00:00Z".parse().unwrap()));
        assert_eq!(parse("ma, 06 marras 2023 12:00:00 +0200"), None);
        for text in [
            "",
            // What programs write that know no date.
            "0001-01-01T00:00:00Z",
            "Mon, 01 Jan 0001 00:00:00 +0000",
            "0000-00-00 00:00:00",
            "1601-01-01T00:00:00Z",
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
