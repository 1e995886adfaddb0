//! Date and time.

use facts::source::Wanted;
use jiff::civil::Weekday;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, civil::DateTime};

use crate::bar::{Block, Scene, Segment};
use crate::show::units::push_padded;

/// `Fri 2026-11-20 15:42:07` in the system's time zone.
#[derive(Debug, Default)]
pub(crate) struct Date {
    /// The zone's offset, and until when it holds: looked up twice a year instead of every second.
    offset: Option<(Offset, Timestamp)>,
    /// The last time seen; a clock that was set back may lie before the offset's begin.
    last: Timestamp,
}

impl Date {
    fn local(&mut self, now: Timestamp, zone: &TimeZone) -> DateTime {
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
        offset.to_datetime(now)
    }
}

impl Segment for Date {
    fn name(&self) -> &'static str {
        "date"
    }

    fn wanted(&self) -> Wanted {
        Wanted::NONE
    }

    fn say(&mut self, scene: &Scene<'_>, block: &mut Block) {
        let nanos = i128::from(scene.sample.clock.realtime.0);
        let Ok(now) = Timestamp::from_nanosecond(nanos) else { return };
        let local = self.local(now, scene.time_zone);
        let text = &mut block.text;
        text.push_str(match local.weekday() {
            Weekday::Monday => "Mon ",
            Weekday::Tuesday => "Tue ",
            Weekday::Wednesday => "Wed ",
            Weekday::Thursday => "Thu ",
            Weekday::Friday => "Fri ",
            Weekday::Saturday => "Sat ",
            Weekday::Sunday => "Sun ",
        });
        push_padded(text, u64::from(local.year().unsigned_abs()), 1);
        for (separator, field) in [
            ("-", local.month()),
            ("-", local.day()),
            (" ", local.hour()),
            (":", local.minute()),
            (":", local.second()),
        ] {
            text.push_str(separator);
            push_padded(text, u64::from(field.unsigned_abs()), 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_changes_when_the_zone_says_so_and_a_clock_may_be_set_back() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let mut date = Date::default();
        let mut hour = |utc: &str| date.local(utc.parse().unwrap(), &zone).hour();
        assert_eq!(hour("2026-03-29T00:59:59Z"), 1);
        assert_eq!(hour("2026-03-29T01:00:00Z"), 3);
        assert_eq!(hour("2026-07-01T10:00:00Z"), 12);
        assert_eq!(hour("2026-01-01T10:00:00Z"), 11);
    }
}
