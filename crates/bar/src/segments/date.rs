//! Date and time.

use facts::unit::Nanos;
use jiff::civil;
use jiff::fmt::StdFmtWrite;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

use super::date_words::{DateWords, Moment};
use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::{Segment, SegmentInput};
use command::time_zone;
use configuration::{Fault, Options};
use text::template::Value;
use text::units::push_padded;

/// The default format.
const USUAL: &str = "%a %Y-%m-%d %H:%M:%S";

pub(crate) const KIND: Kind = Kind {
    name: "date",
    about: "Date and time, in one time zone or several and in the language of LC_TIME; its format is strftime(3)'s.",
    fields: &[
        field("text", "for conditions: the date as it is shown"),
        field("short", "as it is shown short"),
    ],
    format: USUAL,
    options: &[("timezones", "\"Europe/Berlin\", or several; the system's own")],
    make: |options| Ok(Box::new(Date::new(options)?)),
    ..Kind::DEFAULT
};

struct Date {
    format: String,
    short: String,
    words: DateWords,
    /// Empty: the system's own.
    zones: Vec<TimeZone>,
    clocks: Vec<LocalClock>,
    text: String,
    short_text: String,
}

impl Date {
    fn new(options: &Options<'_, '_>) -> Result<Self, Fault> {
        let mut zones = Vec::new();
        for name in options.texts("timezones")? {
            let zone = time_zone::named(&name);
            let message = || format!("there is no time zone \"{name}\" in /usr/share/zoneinfo");
            zones.push(zone.ok_or_else(|| options.fault_of("timezones", message()))?);
        }
        let text = |key, usual: &str| Ok(options.text(key)?.unwrap_or(usual).to_owned());
        let (format, short) = (text("format", USUAL)?, text("short", "")?);
        let words = DateWords::of([&format, &short]);
        let (format, short) = (words.expanded(&format), words.expanded(&short));
        for (key, format) in [("format", &format), ("short", &short)] {
            // What cannot be formatted shows at once, and not at midnight.
            if let Err(error) = BrokenDownTime::from(&Zoned::default()).to_string(format) {
                return Err(options.fault_of(key, format!("no date can be made of this: {error}")));
            }
        }
        let clocks = std::iter::repeat_with(LocalClock::default).take(zones.len().max(1)).collect();
        Ok(Self { format, short, words, zones, clocks, text: String::new(), short_text: String::new() })
    }
}

impl Segment for Date {
    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let zones = if self.zones.is_empty() { std::slice::from_ref(input.time_zone) } else { &self.zones };
        for (zone, clock) in zones.iter().zip(&mut self.clocks) {
            let now = input.sample.clock.realtime;
            let Some(local) = clock.local(now, zone) else { return };
            self.text.clear();
            push(&self.words, &self.format, now, local, zone, &mut self.text);
            self.short_text.clear();
            if !self.short.is_empty() {
                push(&self.words, &self.short, now, local, zone, &mut self.short_text);
            }
            items.only(&[Value::Markup(&self.text), Value::Markup(&self.short_text)]);
        }
    }
}

/// A zone's offset with the time until which it holds, and the local day: both are looked up when they change, and not every second.
#[derive(Debug, Default)]
struct LocalClock {
    offset: Option<(Offset, Nanos)>,
    day: Option<LocalDay>,
    /// The last time seen; a clock that was set back may lie before the offset's begin.
    last: Nanos,
}

/// A day of a zone.
#[derive(Clone, Copy, Debug)]
struct LocalDay {
    /// Days since 1970.
    number: i64,
    date: civil::Date,
    /// From Monday.
    weekday: usize,
}

/// The time that a clock on the wall shows.
#[derive(Clone, Copy, Debug)]
struct LocalTime {
    day: LocalDay,
    second_of_day: u32,
}

impl LocalTime {
    fn moment(self) -> Moment {
        let LocalDay { date, weekday, .. } = self.day;
        let month = usize::from(date.month().unsigned_abs()) - 1;
        Moment { weekday: (weekday + 1) % 7, month, hour: self.second_of_day / 3600 }
    }
}

impl LocalClock {
    /// The local time; `None` if it is beyond what can be shown.
    fn local(&mut self, now: Nanos, zone: &TimeZone) -> Option<LocalTime> {
        let is_back = now < self.last;
        self.last = now;
        let offset = match self.offset {
            Some((offset, until)) if now < until && !is_back => offset,
            _ => self.look_up_offset(now, zone)?,
        };
        let local_s = i64::try_from(now.0 / Nanos::SECOND.0).ok()? + i64::from(offset.seconds());
        let number = local_s.div_euclid(DAY_S);
        let day = match self.day {
            Some(day) if day.number == number => day,
            _ => self.look_up_day(number, local_s)?,
        };
        Some(LocalTime { day, second_of_day: local_s.rem_euclid(DAY_S) as u32 })
    }

    #[cold]
    fn look_up_offset(&mut self, now: Nanos, zone: &TimeZone) -> Option<Offset> {
        let now = timestamp(now)?;
        let next = zone.following(now).next().map(|transition| transition.timestamp().as_nanosecond());
        let until = next.and_then(|next| u64::try_from(next).ok()).map_or(Nanos(u64::MAX), Nanos);
        let offset = zone.to_offset(now);
        self.offset = Some((offset, until));
        Some(offset)
    }

    #[cold]
    fn look_up_day(&mut self, number: i64, local_s: i64) -> Option<LocalDay> {
        let date = Offset::UTC.to_datetime(Timestamp::from_second(local_s).ok()?).date();
        let weekday = date.weekday().to_monday_zero_offset() as usize;
        self.day = Some(LocalDay { number, date, weekday });
        self.day
    }
}

const DAY_S: i64 = 24 * 60 * 60;

fn timestamp(now: Nanos) -> Option<Timestamp> {
    Timestamp::from_nanosecond(i128::from(now.0)).ok()
}

fn push(words: &DateWords, format: &str, now: Nanos, local: LocalTime, zone: &TimeZone, out: &mut String) {
    let with_words = words.with_words(format, local.moment());
    let format = with_words.as_deref().unwrap_or(format);
    if !push_common(format, local, out)
        && let Some(now) = timestamp(now)
    {
        let time = BrokenDownTime::from(&now.to_zoned(zone.clone()));
        // It was tried when the configuration was read; a String takes whatever is written to it.
        let _ = time.format(format, StdFmtWrite(out));
    }
}

/// The directives that bars are made of, at a fraction of the general formatter's cost. Whether there were no others;
/// where there were, nothing is appended.
fn push_common(format: &str, local: LocalTime, out: &mut String) -> bool {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let start = out.len();
    let LocalDay { date, weekday, .. } = local.day;
    let second = local.second_of_day;
    let mut rest = format;
    loop {
        let length = rest.bytes().position(|byte| byte == b'%').unwrap_or(rest.len());
        out.push_str(&rest[..length]);
        if length == rest.len() {
            return true;
        }
        let (number, width) = match rest.as_bytes().get(length + 1) {
            Some(b'Y') if date.year() >= 1000 => (u32::from(date.year().unsigned_abs()), 1),
            Some(b'm') => (u32::from(date.month().unsigned_abs()), 2),
            Some(b'd') => (u32::from(date.day().unsigned_abs()), 2),
            Some(b'H') => (second / 3600, 2),
            Some(b'M') => (second / 60 % 60, 2),
            Some(b'S') => (second % 60, 2),
            Some(b'a') => {
                out.push_str(DAYS[weekday]);
                rest = &rest[length + 2..];
                continue;
            }
            _ => {
                out.truncate(start);
                return false;
            }
        };
        push_padded(out, u64::from(number), width);
        rest = &rest[length + 2..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str) -> Nanos {
        let timestamp: Timestamp = text.parse().unwrap();
        Nanos(u64::try_from(timestamp.as_nanosecond()).unwrap())
    }

    #[test]
    fn the_offset_follows_the_zone_and_a_clock_may_be_set_back() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let mut clock = LocalClock::default();
        let mut hour = |utc: &str| clock.local(nanos(utc), &zone).unwrap().second_of_day / 3600;
        assert_eq!(hour("2026-03-29T00:59:59Z"), 1);
        assert_eq!(hour("2026-03-29T01:00:00Z"), 3);
        assert_eq!(hour("2026-07-01T10:00:00Z"), 12);
        assert_eq!(hour("2026-01-01T10:00:00Z"), 11);
    }

    #[test]
    fn both_ways_of_formatting_agree() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        for utc in ["2026-03-29T00:59:59Z", "2026-11-01T22:00:01Z", "1999-12-31T23:59:59Z"] {
            let now = nanos(utc);
            let local = LocalClock::default().local(now, &zone).unwrap();
            let (mut common, mut general) = (String::new(), String::new());
            let words = DateWords::of(["", ""]);
            push(&words, &format!("{USUAL} ß"), now, local, &zone, &mut common);
            push(&words, &format!("{USUAL} ß %j"), now, local, &zone, &mut general);
            assert!(general.starts_with(&common) && general.len() == common.len() + 4, "{common}: {general}");
        }
    }
}
