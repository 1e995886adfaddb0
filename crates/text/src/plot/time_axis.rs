//! The axis of time: ticks at whole minutes, hours and days of local time.

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// From one tick to the next.
const STEPS: [i64; 26] = [
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    4 * DAY,
    7 * DAY,
    14 * DAY,
    28 * DAY,
    91 * DAY,
    182 * DAY,
    364 * DAY,
];

/// The parts of a time that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeForm {
    /// Hours, minutes and seconds.
    Seconds,
    /// Hours and minutes.
    Minutes,
    /// Month and day.
    Days,
    /// All of it.
    Whole,
}

impl TimeForm {
    /// As strftime(3) has it.
    pub fn format(self) -> &'static str {
        match self {
            Self::Seconds => "%H:%M:%S",
            Self::Minutes => "%H:%M",
            Self::Days => "%m-%d",
            Self::Whole => "%Y-%m-%d %H:%M:%S",
        }
    }
}

/// Times that are marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeTicks {
    /// In milliseconds since 1970.
    pub at_ms: Vec<i64>,
    /// As these are written.
    pub form: TimeForm,
}

impl TimeTicks {
    /// At most so many between two times, where local time is so far ahead of UTC.
    pub fn new([from_ms, to_ms]: [i64; 2], offset_ms: i64, most: usize) -> Self {
        let length = to_ms.saturating_sub(from_ms);
        let fits = |step: &&i64| length / **step < most.max(1) as i64;
        let step = STEPS.iter().find(fits).copied().unwrap_or(length.max(1));
        let form = match step {
            ..MINUTE => TimeForm::Seconds,
            MINUTE..DAY => TimeForm::Minutes,
            _ => TimeForm::Days,
        };
        let first = (from_ms + offset_ms).div_euclid(step) * step - offset_ms;
        let mut at_ms: Vec<i64> = Vec::new();
        let mut at = first;
        while at <= to_ms && at_ms.len() <= most {
            if at >= from_ms {
                at_ms.push(at);
            }
            at += step;
        }
        Self { at_ms, form }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_whole_in_local_time() {
        let hour = TimeTicks::new([HOUR + 7, 2 * HOUR + 7], 0, 5);
        assert_eq!(hour.form, TimeForm::Minutes);
        assert_eq!(hour.at_ms, [75, 90, 105, 120].map(|minute| minute * MINUTE));
        // Half an hour ahead.
        let day = TimeTicks::new([0, 2 * DAY], HOUR / 2, 5);
        assert_eq!(day.at_ms[0], 12 * HOUR - HOUR / 2);
        assert_eq!(TimeTicks::new([0, 0], 0, 5).at_ms, [0]);
        assert_eq!(TimeTicks::new([0, 40 * 364 * DAY], 0, 5).form, TimeForm::Days);
    }
}
