//! Date and time.

use facts::unit::Nanos;
use jiff::civil::DateTime;
use jiff::fmt::StdFmtWrite;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

use super::field;
use crate::bar::appearance::ItemRenderer;
use crate::bar::kind::Kind;
use crate::bar::options::{Fault, Options};
use crate::bar::{Segment, SegmentInput};
use crate::time_zone;
use text::template::Value;
use text::units::push_padded;

/// What is shown where nothing else is asked for.
const USUAL: &str = "%a %Y-%m-%d %H:%M:%S";

pub(crate) const KIND: Kind = Kind {
    name: "date",
    about: "Date and time, in one time zone or several; its format is strftime(3)'s.",
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
        for (key, format) in [("format", &format), ("short", &short)] {
            // What cannot be formatted shows at once, and not at midnight.
            if let Err(error) = BrokenDownTime::from(&Zoned::default()).to_string(format) {
                return Err(options.fault_of(key, format!("no date can be made of this: {error}")));
            }
        }
        let clocks = std::iter::repeat_with(LocalClock::default).take(zones.len().max(1)).collect();
        Ok(Self { format, short, zones, clocks, text: String::new(), short_text: String::new() })
    }
}

impl Segment for Date {
    fn render(&mut self, input: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let zones = if self.zones.is_empty() { std::slice::from_ref(input.time_zone) } else { &self.zones };
        for (zone, clock) in zones.iter().zip(&mut self.clocks) {
            let Some((now, offset)) = clock.local(input.sample.clock.realtime, zone) else { return };
            self.text.clear();
            push(&self.format, now, offset, zone, &mut self.text);
            self.short_text.clear();
            push(&self.short, now, offset, zone, &mut self.short_text);
            items.only(&[Value::Markup(&self.text), Value::Markup(&self.short_text)]);
        }
    }
}

/// A zone's offset, and until when it holds: looked up twice a year instead of every second.
#[derive(Debug, Default)]
struct LocalClock {
    offset: Option<(Offset, Timestamp)>,
    /// The last time seen; a clock that was set back may lie before the offset's begin.
    last: Timestamp,
}

impl LocalClock {
    fn local(&mut self, now: Nanos, zone: &TimeZone) -> Option<(Timestamp, Offset)> {
        let now = Timestamp::from_nanosecond(i128::from(now.0)).ok()?;
        let is_back = now < self.last;
        self.last = now;
        let offset = match self.offset {
            Some((offset, until)) if now < until && !is_back => offset,
            _ => {
                let until =
                    zone.following(now).next().map_or(Timestamp::MAX, |transition| transition.timestamp());
                let offset = zone.to_offset(now);
                self.offset = Some((offset, until));
                offset
            }
        };
        Some((now, offset))
    }
}

fn push(format: &str, now: Timestamp, offset: Offset, zone: &TimeZone, out: &mut String) {
    if !push_common(format, &offset.to_datetime(now), out) {
        let time = BrokenDownTime::from(&now.to_zoned(zone.clone()));
        // It was tried when the configuration was read; a String takes whatever is written to it.
        let _ = time.format(format, StdFmtWrite(out));
    }
}

/// The directives that bars are made of, at a fraction of the general formatter's cost. Whether there were no others;
/// where there were, nothing is appended.
fn push_common(format: &str, local: &DateTime, out: &mut String) -> bool {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let start = out.len();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        let two_digits = match characters.next() {
            Some('Y') if local.year() >= 1000 => {
                push_padded(out, u64::from(local.year().unsigned_abs()), 1);
                continue;
            }
            Some('a') => {
                out.push_str(DAYS[local.weekday().to_monday_zero_offset() as usize]);
                continue;
            }
            Some('%') => {
                out.push('%');
                continue;
            }
            Some('m') => local.month(),
            Some('d') => local.day(),
            Some('H') => local.hour(),
            Some('M') => local.minute(),
            Some('S') => local.second(),
            _ => {
                out.truncate(start);
                return false;
            }
        };
        push_padded(out, u64::from(two_digits.unsigned_abs()), 2);
    }
    true
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
        let mut hour = |utc: &str| {
            let (now, offset) = clock.local(nanos(utc), &zone).unwrap();
            offset.to_datetime(now).hour()
        };
        assert_eq!(hour("2026-03-29T00:59:59Z"), 1);
        assert_eq!(hour("2026-03-29T01:00:00Z"), 3);
        assert_eq!(hour("2026-07-01T10:00:00Z"), 12);
        assert_eq!(hour("2026-01-01T10:00:00Z"), 11);
    }

    #[test]
    fn both_ways_of_formatting_agree() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        for utc in ["2026-03-29T00:59:59Z", "2026-11-01T22:00:01Z", "1999-12-31T23:59:59Z"] {
            let (now, offset) = LocalClock::default().local(nanos(utc), &zone).unwrap();
            let (mut common, mut general) = (String::new(), String::new());
            push(&format!("{USUAL} ß%%"), now, offset, &zone, &mut common);
            push(&format!("{USUAL} ß%% %j"), now, offset, &zone, &mut general);
            assert!(general.starts_with(&common) && general.len() == common.len() + 4, "{common}: {general}");
        }
    }
}
