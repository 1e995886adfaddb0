//! Dates of a period that are no days of the week, as Nagios writes them:
//! <https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/timeperiods.html>.

use std::str::FromStr;

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};

use super::weekdays::weekday;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// `july 4`, `day 1 - 15`, `monday 3`, `thursday -1 november`, `2026-01-01 - 2026-02-01 / 3`: a range of dates, with a step in days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DateRange {
    from: DatePoint,
    /// Included; `None`: without end.
    until: Option<DatePoint>,
    /// 1: every day.
    step_days: i32,
}

/// A date, or one of each year or month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatePoint {
    Date(Date),
    /// A day of a month: 1 is the first one, −1 the last one.
    OfYear {
        month: i8,
        day: i8,
    },
    OfMonth {
        day: i8,
    },
    /// The so-manyth of these days in a month; −1 is the last one. Without a month it is in each.
    Weekday {
        weekday: Weekday,
        ordinal: i8,
        month: Option<i8>,
    },
}

/// Which dates count first, as in Nagios: the more definite ones. Days of the week come last.
pub(super) const MAX_RANK: u8 = 4;

impl DateRange {
    /// Returns the rank of these dates: those of a lower one count instead of those of a higher one.
    pub(super) fn rank(&self) -> u8 {
        match self.from {
            DatePoint::Date(_) => 0,
            DatePoint::OfYear { .. } => 1,
            DatePoint::OfMonth { .. } => 2,
            DatePoint::Weekday { month: Some(_), .. } => 3,
            DatePoint::Weekday { month: None, .. } => MAX_RANK,
        }
    }

    pub(super) fn contains(&self, date: Date) -> bool {
        // A range may have begun in the year or month before.
        [0, -1].into_iter().any(|repetition| self.contains_in(date, repetition).unwrap_or(false))
    }

    fn contains_in(&self, date: Date, repetition: i32) -> Option<bool> {
        let first = self.from.resolve(date, repetition)?;
        let last = match self.until {
            None => Date::MAX,
            Some(until) => match until.resolve_end(date, repetition)? {
                last if last < first => until.resolve_end(date, repetition + 1)?,
                last => last,
            },
        };
        let days = first.until(date).ok()?.get_days();
        Some((first..=last).contains(&date) && days % self.step_days == 0)
    }
}

impl DatePoint {
    /// Returns the date in the year or month of `near`, or `repetition` years or months later. `None` if there is none, as for
    /// `february 30`.
    fn resolve(self, near: Date, repetition: i32) -> Option<Date> {
        let first = self.first_of_month(near, repetition)?;
        match self {
            Self::Date(date) => Some(date),
            Self::OfYear { day, .. } | Self::OfMonth { day } => {
                let day = if day < 0 { first.days_in_month() + 1 + day } else { day };
                Date::new(first.year(), first.month(), day).ok()
            }
            Self::Weekday { weekday, ordinal, .. } => first.nth_weekday_of_month(ordinal, weekday).ok(),
        }
    }

    /// Resolves the end of a range, which is the last day of a month that is too short.
    fn resolve_end(self, near: Date, repetition: i32) -> Option<Date> {
        self.resolve(near, repetition)
            .or_else(|| Some(self.first_of_month(near, repetition)?.last_of_month()))
    }

    /// Returns whether there is ever such a day.
    fn is_possible(&self) -> bool {
        match *self {
            Self::Date(_) => true,
            Self::OfYear { day, .. } | Self::OfMonth { day } => (1..=31).contains(&day.unsigned_abs()),
            Self::Weekday { ordinal, .. } => (1..=5).contains(&ordinal.unsigned_abs()),
        }
    }

    fn first_of_month(self, near: Date, repetition: i32) -> Option<Date> {
        match self {
            Self::OfYear { month, .. } | Self::Weekday { month: Some(month), .. } => {
                let year = near.year().checked_add(i16::try_from(repetition).ok()?)?;
                Date::new(year, month, 1).ok()
            }
            _ => near.first_of_month().checked_add(repetition.months()).ok(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Name(String),
    Number(i8),
    Date(Date),
    To,
    Each,
}

/// Splits a text. A `-` is a sign if a digit follows, and no digit or letter is right before it.
fn words(text: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    let mut is_joined = false;
    while let Some(letter) = rest.chars().next() {
        let length = if letter.is_ascii_alphabetic() {
            let length = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
            words.push(Word::Name(rest[..length].to_ascii_lowercase()));
            length
        } else if let Some((date, length)) = date(rest) {
            words.push(Word::Date(date));
            length
        } else if letter == '/' {
            words.push(Word::Each);
            1
        } else if letter == '-' && (is_joined || !rest[1..].starts_with(|next: char| next.is_ascii_digit())) {
            words.push(Word::To);
            1
        } else if !letter.is_ascii_digit() && letter != '-' {
            return None;
        } else {
            let digits = rest[1..].find(|letter: char| !letter.is_ascii_digit());
            let length = digits.map_or(rest.len(), |length| length + 1);
            words.push(Word::Number(rest[..length].parse().ok()?));
            length
        };
        let after = &rest[length..];
        rest = after.trim_start();
        is_joined = after.len() == rest.len() && letter != '-' && letter != '/';
    }
    Some(words)
}

/// The date at the beginning of a text, as `2026-01-02` or `2026-1-2`, and its length.
fn date(text: &str) -> Option<(Date, usize)> {
    let length = text.find(|letter: char| !letter.is_ascii_digit() && letter != '-').unwrap_or(text.len());
    let mut parts = text[..length].split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_date = year.len() == 4 && (1..=2).contains(&month.len()) && (1..=2).contains(&day.len());
    let date = Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok();
    date.filter(|_| is_date && parts.next().is_none()).map(|date| (date, length))
}

impl FromStr for DateRange {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let words = words(text).ok_or(())?;
        let (range, step) = match words.iter().position(|word| *word == Word::Each) {
            Some(place) => (&words[..place], Some(&words[place + 1..])),
            None => (&words[..], None),
        };
        let step_days = match step {
            None => 1,
            Some([Word::Number(days)]) if *days > 0 => i32::from(*days),
            Some(_) => return Err(()),
        };
        let (from, until) = match range.iter().position(|word| *word == Word::To) {
            Some(place) => (&range[..place], Some(&range[place + 1..])),
            None => (range, None),
        };
        let from = point(from).ok_or(())?;
        let until = match (until, from) {
            (Some(until), _) => Some(end(until, from).ok_or(())?),
            // Every third day from a date on.
            (None, DatePoint::Date(_)) if step.is_some() => None,
            (None, from) => Some(from),
        };
        Ok(Self { from, until, step_days })
    }
}

fn point(words: &[Word]) -> Option<DatePoint> {
    match words {
        [Word::Date(date)] => Some(DatePoint::Date(*date)),
        [Word::Name(name), Word::Number(number)] => match (month(name), weekday(name)) {
            _ if name == "day" => Some(DatePoint::OfMonth { day: *number }),
            (Some(month), _) => Some(DatePoint::OfYear { month, day: *number }),
            (None, Ok(weekday)) => Some(DatePoint::Weekday { weekday, ordinal: *number, month: None }),
            _ => None,
        },
        [Word::Name(name), Word::Number(ordinal), Word::Name(of)] => {
            let (weekday, month) = (weekday(name).ok()?, Some(month(of)?));
            Some(DatePoint::Weekday { weekday, ordinal: *ordinal, month })
        }
        _ => None,
    }
    .filter(|point| point.is_possible())
}

/// The end of a range, which may be a number alone: of the same kind of date as its start.
fn end(words: &[Word], from: DatePoint) -> Option<DatePoint> {
    if let [Word::Number(number)] = words {
        let until = match from {
            DatePoint::Date(_) => None,
            DatePoint::OfYear { month, .. } => Some(DatePoint::OfYear { month, day: *number }),
            DatePoint::OfMonth { .. } => Some(DatePoint::OfMonth { day: *number }),
            DatePoint::Weekday { weekday, month, .. } => {
                Some(DatePoint::Weekday { weekday, ordinal: *number, month })
            }
        };
        return until.filter(|point| point.is_possible());
    }
    let until = point(words)?;
    let is_same = match (from, until) {
        (DatePoint::Weekday { month: one, .. }, DatePoint::Weekday { month: other, .. }) => {
            one.is_some() == other.is_some()
        }
        (from, until) => std::mem::discriminant(&from) == std::mem::discriminant(&until),
    };
    is_same.then_some(until)
}

fn month(name: &str) -> Option<i8> {
    let found = MONTHS.iter().position(|month| name.len() >= 3 && month.starts_with(name));
    found.and_then(|place| i8::try_from(place + 1).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_nagios() {
        for (range, inside, outside) in [
            ("2026-02-28", &["2026-02-28"][..], &["2026-03-01", "2025-02-28"][..]),
            ("2026-01-01 - 2026-02-01", &["2026-01-01", "2026-01-15", "2026-02-01"], &["2026-02-02"]),
            ("2026-01-01 - 2026-02-01 / 3", &["2026-01-01", "2026-01-04"], &["2026-01-02", "2026-02-03"]),
            ("2026-1-1 - 2026-2-01 / 3", &["2026-01-01", "2026-01-04"], &["2026-01-02"]),
            ("2026-01-01 / 7", &["2026-01-01", "2026-01-08", "2027-01-07"], &["2026-01-02", "2025-12-25"]),
            ("july 4", &["2026-07-04", "1999-07-04"], &["2026-07-05", "2026-08-04"]),
            ("july -1", &["2026-07-31"], &["2026-07-30"]),
            ("february -1", &["2026-02-28", "2028-02-29"], &["2028-02-28"]),
            ("july 10 - 15", &["2026-07-10", "2026-07-15"], &["2026-07-16", "2026-07-09"]),
            ("july 10-15", &["2026-07-10", "2026-07-15"], &["2026-07-16"]),
            ("december 24 - january 5", &["2025-12-24", "2026-01-05", "2026-12-31"], &["2026-01-06"]),
            ("april 10 - may 15 / 2", &["2026-04-10", "2026-04-12"], &["2026-04-11", "2026-05-16"]),
            ("day 1 - 15", &["2026-03-01", "2026-03-15"], &["2026-03-16"]),
            ("day 1 - 31", &["2026-02-28", "2026-03-31"], &[]),
            ("day 20 - -1", &["2026-02-20", "2026-02-28"], &["2026-02-19", "2026-03-01"]),
            ("day -3 - -1", &["2026-02-26", "2026-02-28"], &["2026-02-25"]),
            ("day 28 - day 2", &["2026-02-28", "2026-03-02"], &["2026-03-03", "2026-02-27"]),
            // 2026-03-16 is the third Monday of March, 2026-11-26 the last Thursday of November.
            ("monday 3", &["2026-03-16"], &["2026-03-09", "2026-03-23", "2026-03-17"]),
            ("monday -1", &["2026-03-30"], &["2026-03-23"]),
            ("thursday -1 november", &["2026-11-26"], &["2026-11-19", "2026-12-31"]),
            ("monday 1 - friday 2", &["2026-06-01", "2026-06-12"], &["2026-06-13"]),
            (
                "tuesday 1 april - friday 2 may / 6",
                &["2026-04-07", "2026-04-13"],
                &["2026-04-08", "2026-05-09"],
            ),
        ] {
            let read: DateRange = range.parse().unwrap_or_else(|()| panic!("{range}"));
            let is_in = |date: &&str| read.contains(date.parse().unwrap());
            assert!(inside.iter().all(is_in), "{range}: {inside:?}");
            assert!(!outside.iter().any(is_in), "{range}: {outside:?}");
        }
        // 31 days are not in each month: the 31st is none of February's, and a range to it ends with the month.
        for wrong in [
            "",
            "day",
            "day 0",
            "july",
            "monday x",
            "4 july",
            "july 4 - 2026-01-01",
            "2026-13-01",
            "day 1 / 0",
            "/ 3",
            "- 3",
            "july 4 5",
        ] {
            assert!(wrong.parse::<DateRange>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_ends_of_the_calendar_are_no_dates() {
        for text in [
            "9999-12-31 / 3",
            "day -1 - 1",
            "december 31 - january 1",
            "monday -5",
            "sunday 5 february",
            "day -31",
        ] {
            let range: DateRange = text.parse().unwrap_or_else(|()| panic!("{text}"));
            for date in [Date::MIN, Date::MAX, Date::ZERO] {
                let _ = range.contains(date);
            }
        }
        for text in ["é 1", "day é", "-é", "day 999", "2026-02-2é", "day --1", "/ / 1"] {
            assert!(text.parse::<DateRange>().is_err(), "{text}");
        }
    }
}
