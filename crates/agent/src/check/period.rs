//! Times of the week.

use std::fmt;
use std::str::FromStr;

use jiff::Zoned;

const MINUTES_A_DAY: u16 = 24 * 60;
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Times of the week, in local time: `mon-fri 09:00-17:00, sat 10:00-12:00`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Period {
    source: String,
    ranges: Vec<Range>,
}

/// A part of some days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    /// By bits, Monday the lowest.
    days: u8,
    /// In minutes of the day: from this one on, and before that.
    minutes: (u16, u16),
}

impl Period {
    /// Whether an instant is in it.
    pub fn contains(&self, at: &Zoned) -> bool {
        let day = 1 << at.weekday().to_monday_zero_offset();
        let minute = u16::try_from(i32::from(at.hour()) * 60 + i32::from(at.minute())).unwrap_or(0);
        let is_in =
            |range: &Range| range.days & day != 0 && (range.minutes.0..range.minutes.1).contains(&minute);
        self.ranges.iter().any(is_in)
    }
}

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut ranges = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (days, times) = match part.split_once(char::is_whitespace) {
                Some((days, times)) => (days_of(days)?, times.trim()),
                None if part.starts_with(|letter: char| letter.is_ascii_digit()) => (0x7f, part),
                None => (days_of(part)?, "00:00-24:00"),
            };
            let wrong = || format!("\"{times}\" is no time of the day, such as 09:00-17:00");
            let (from, until) = times.split_once('-').ok_or_else(wrong)?;
            let (from, until) = minute(from).zip(minute(until)).ok_or_else(wrong)?;
            if from < until {
                ranges.push(Range { days, minutes: (from, until) });
            } else {
                // Over midnight: the rest is the next day's.
                ranges.push(Range { days, minutes: (from, MINUTES_A_DAY) });
                ranges.push(Range { days: (days << 1 | days >> 6) & 0x7f, minutes: (0, until) });
            }
        }
        match ranges.is_empty() {
            true => Err("expected times such as \"mon-fri 09:00-17:00, sat 10:00-12:00\"".to_owned()),
            false => Ok(Self { source: text.to_owned(), ranges }),
        }
    }
}

/// As it was written.
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

fn days_of(text: &str) -> Result<u8, String> {
    let day = |name: &str| {
        let name = name.to_ascii_lowercase();
        let found = DAYS.iter().position(|day| name.len() >= 3 && name.starts_with(day));
        found.ok_or_else(|| format!("\"{name}\" is no day of the week, such as mon"))
    };
    let Some((from, until)) = text.split_once('-') else { return Ok(1 << day(text)?) };
    let (mut at, until) = (day(from)?, day(until)?);
    let mut days = 1 << at;
    while at != until {
        at = (at + 1) % 7;
        days |= 1 << at;
    }
    Ok(days)
}

fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.trim().split_once(':')?;
    let digits = |text: &str, most: u16| {
        let is_short = text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.bytes().fold(0, |number, byte| number * 10 + u16::from(byte.wrapping_sub(b'0')));
        (is_short && !text.is_empty() && number <= most).then_some(number)
    };
    Some(digits(hour, 24)? * 60 + digits(minute, 59)?).filter(|minute| *minute <= MINUTES_A_DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_week_are_read() {
        let at = |text: &str| -> Zoned { text.parse().unwrap() };
        // 2026-11-23 is a Monday.
        for (period, inside, outside) in [
            ("mon-fri 09:00-17:00", "2026-11-23T09:00+00:00[+00:00]", "2026-11-23T17:00+00:00[+00:00]"),
            ("sat-mon", "2026-11-23T23:59+00:00[+00:00]", "2026-11-24T00:00+00:00[+00:00]"),
            ("22:00-02:00", "2026-11-24T01:59+00:00[+00:00]", "2026-11-24T02:00+00:00[+00:00]"),
            (
                "sun 22:00-24:00, monday 00:00-01:00",
                "2026-11-23T00:30+00:00[+00:00]",
                "2026-11-23T01:00+00:00[+00:00]",
            ),
            ("sun 22:00-01:00", "2026-11-23T00:30+00:00[+00:00]", "2026-11-22T00:30+00:00[+00:00]"),
        ] {
            let read: Period = period.parse().unwrap();
            assert!(read.contains(&at(inside)) && !read.contains(&at(outside)), "{period}");
            assert_eq!(read.to_string(), period);
        }
        for wrong in ["", "mo", "mon 9-17", "mon 25:00-26:00", "mon 09:00", "noon", "mon 09:60-10:00"] {
            assert!(wrong.parse::<Period>().is_err(), "{wrong}");
        }
    }
}
