//! Times of the week, and of other dates.

mod dates;
mod weekdays;

use std::fmt;
use std::str::FromStr;

use jiff::Zoned;
use jiff::civil::Date;

use self::dates::{DateRange, MAX_RANK};
use self::weekdays::weekday;

const MINUTES_A_DAY: u16 = 24 * 60;
/// Stands before the times that are taken out.
const EXCEPT: &str = "except";

/// Times in local time: `mon-fri 09:00-12:00, 13:00-17:00, sat 10:00-12:00`. Of a date for which there is a rule (`july 4`, `day 1 - 15`, `monday 3`,
/// `2026-01-01 - 2026-02-01 / 3`) that rule counts instead of those for days of the week. `except` takes times out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Period {
    source: String,
    times: Times,
    /// In none of these.
    exceptions: Vec<Times>,
}

/// Times without exceptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Times {
    of_week: Vec<WeekRange>,
    of_dates: Vec<(DateRange, Minutes)>,
}

/// A part of some days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WeekRange {
    /// By bits, Monday the lowest.
    days: u8,
    minutes: Minutes,
}

/// Minutes of a day: from this one on, and before that.
type Minutes = (u16, u16);

impl Period {
    /// Returns whether it has rules for dates, which count instead of those for days of the week.
    pub fn has_dates(&self) -> bool {
        !self.times.of_dates.is_empty()
    }

    /// Returns whether an instant is in it.
    pub fn contains(&self, at: &Zoned) -> bool {
        let minute = u16::try_from(i32::from(at.hour()) * 60 + i32::from(at.minute())).unwrap_or(0);
        let is_in = |times: &Times| times.contains(at.date(), minute);
        is_in(&self.times) && !self.exceptions.iter().any(is_in)
    }
}

impl Times {
    fn contains(&self, date: Date, minute: u16) -> bool {
        let is_in = |minutes: &Minutes| (minutes.0..minutes.1).contains(&minute);
        // The most definite dates count.
        let of_date: Vec<_> = self.of_dates.iter().filter(|(dates, _)| dates.contains(date)).collect();
        let rank = (0..=MAX_RANK).find(|rank| of_date.iter().any(|(dates, _)| dates.rank() == *rank));
        if let Some(rank) = rank {
            return of_date.iter().any(|(dates, minutes)| dates.rank() == rank && is_in(minutes));
        }
        let day = 1 << date.weekday().to_monday_zero_offset();
        self.of_week.iter().any(|range| range.days & day != 0 && is_in(&range.minutes))
    }
}

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(EXCEPT);
        let times: Times = parts.next().unwrap_or_default().parse()?;
        let exceptions: Result<Vec<Times>, String> = parts.map(str::parse).collect();
        Ok(Self { source: text.to_owned(), times, exceptions: exceptions? })
    }
}

impl FromStr for Times {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut times = Self::default();
        let (mut days_before, mut were_none) = ("", false);
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (own_days, minutes) = split_times(part)?;
            // As in Nagios, times without days are more of the days before.
            let days = if own_days.is_empty() { days_before } else { own_days };
            if own_days.is_empty() && were_none {
                return Err(format!(
                    "\"{part}\" has no days of its own, and stands behind a date without times: write its days before it, or put it first"
                ));
            }
            days_before = days;
            let (from, until) = minutes;
            // No time at all: a holiday.
            let is_none = minutes == (0, 0);
            match days_of(days) {
                Ok(days) => {
                    were_none = false;
                    if from < until {
                        times.of_week.push(WeekRange { days, minutes });
                    } else if !is_none {
                        // Over midnight: the rest is the next day's.
                        times.of_week.push(WeekRange { days, minutes: (from, MINUTES_A_DAY) });
                        let days = (days << 1 | days >> 6) & 0x7f;
                        times.of_week.push(WeekRange { days, minutes: (0, until) });
                    } else {
                        times.of_week.push(WeekRange { days, minutes });
                    }
                }
                Err(error) => match days.parse::<DateRange>() {
                    Ok(_) if from >= until && !is_none => {
                        return Err(format!("\"{part}\" ends before it begins"));
                    }
                    Ok(dates) => {
                        were_none = is_none;
                        times.of_dates.push((dates, minutes));
                    }
                    Err(()) => return Err(error),
                },
            }
        }
        match times == Self::default() {
            true => Err("expected times such as \"mon-fri 09:00-17:00, sat 10:00-12:00\"".to_owned()),
            false => Ok(times),
        }
    }
}

/// As it was written.
impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

/// The days of a rule, and its times, which begin with the first word that has a colon.
fn split_times(part: &str) -> Result<(&str, Minutes), String> {
    let Some(colon) = part.find(':') else { return Ok((part, (0, MINUTES_A_DAY))) };
    let start = part[..colon].rfind(char::is_whitespace).map_or(0, |place| place + 1);
    let (days, times) = part.split_at(start);
    let wrong = || format!("\"{times}\" is no time of the day, such as 09:00-17:00");
    let (from, until) = times.split_once('-').ok_or_else(wrong)?;
    let minutes = minute(from).zip(minute(until)).ok_or_else(wrong)?;
    Ok((days.trim(), minutes))
}

/// Reads days of the week: `mon`, `mon-fri`. An empty text is every day.
fn days_of(text: &str) -> Result<u8, String> {
    if text.is_empty() {
        return Ok(0x7f);
    }
    let day = |name: &str| weekday(name.trim()).map(|day| day.to_monday_zero_offset());
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
        let number: u16 = text.parse().ok().filter(|_| is_short)?;
        (number <= most).then_some(number)
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
            (
                "mon 09:00-12:00,13:00-17:00",
                "2026-11-23T13:00+00:00[+00:00]",
                "2026-11-24T13:00+00:00[+00:00]",
            ),
            (
                "00:00-24:00, november 23 00:00-01:00, 02:00-03:00",
                "2026-11-23T02:00+00:00[+00:00]",
                "2026-11-23T01:00+00:00[+00:00]",
            ),
            ("sat-mon", "2026-11-23T23:59+00:00[+00:00]", "2026-11-24T00:00+00:00[+00:00]"),
            ("22:00-02:00", "2026-11-24T01:59+00:00[+00:00]", "2026-11-24T02:00+00:00[+00:00]"),
            (
                "sun 22:00-24:00, monday 00:00-01:00",
                "2026-11-23T00:30+00:00[+00:00]",
                "2026-11-23T01:00+00:00[+00:00]",
            ),
            ("sun 22:00-01:00", "2026-11-23T00:30+00:00[+00:00]", "2026-11-22T00:30+00:00[+00:00]"),
            // A rule for a date counts instead of that for its day of the week, and the more definite one first.
            (
                "00:00-24:00, november 23 00:00-00:00",
                "2026-11-24T09:00+00:00[+00:00]",
                "2026-11-23T09:00+00:00[+00:00]",
            ),
            (
                "monday 4 10:00-11:00, day 20 - 25 08:00-09:00, mon 00:00-24:00",
                "2026-11-23T08:00+00:00[+00:00]",
                "2026-11-23T10:00+00:00[+00:00]",
            ),
            (
                "mon-fri except november 23 12:00-24:00 except 10:00-11:00",
                "2026-11-23T11:00+00:00[+00:00]",
                "2026-11-23T12:00+00:00[+00:00]",
            ),
            (
                "mon-fri except 10:00-11:00",
                "2026-11-23T11:00+00:00[+00:00]",
                "2026-11-23T10:00+00:00[+00:00]",
            ),
        ] {
            let read: Period = period.parse().unwrap();
            assert!(read.contains(&at(inside)) && !read.contains(&at(outside)), "{period}");
            assert_eq!(read.to_string(), period);
        }
        for wrong in [
            "",
            "mo",
            "mon 9-17",
            "mon 25:00-26:00",
            "mon 09:00",
            "noon",
            "mon 09:60-10:00",
            "july",
            "july 4 22:00-02:00",
            "00:00-24:00, july 4 00:00-00:00, 09:00-17:00",
            "mon except",
        ] {
            assert!(wrong.parse::<Period>().is_err(), "{wrong}");
        }
    }
}
