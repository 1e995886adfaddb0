//! When a feed is polled next: by its own rhythm, and by what its publisher asks for.

use std::time::Duration;

use crate::options::FeedOptions;

/// A feed without entries.
const UNKNOWN: Duration = Duration::from_secs(6 * 3600);
/// After the first failure; twice as long after each other one.
const FIRST_RETRY: Duration = Duration::from_secs(3600);
/// A publisher's wish for longer than this is not followed.
pub(crate) const MAX_HINT: Duration = Duration::from_secs(86_400);

/// How long to wait after a successful poll. `times_ms` are those of the newest entries; half the mean time between two is the interval.
/// The time since the newest entry counts as well, so that a feed that fell silent is polled less and less.
pub(crate) fn interval(times_ms: &[i64], hint: Duration, now_ms: i64, options: &FeedOptions) -> Duration {
    let oldest = times_ms.iter().copied().filter(|time| *time <= now_ms).min();
    let own = match oldest {
        None => UNKNOWN,
        Some(oldest) => {
            let span_ms = (now_ms - oldest).max(0).unsigned_abs();
            Duration::from_millis(span_ms / times_ms.len().max(1) as u64 / 2)
        }
    };
    own.max(hint.min(MAX_HINT))
        .clamp(options.least_interval, options.most_interval.max(options.least_interval))
}

/// How long to wait after so many failures in a row, or after the server asked for a pause.
pub(crate) fn retry(failures: u32, pause: Option<Duration>, options: &FeedOptions) -> Duration {
    let own = FIRST_RETRY.saturating_mul(1 << failures.saturating_sub(1).min(10));
    own.min(options.most_interval).max(options.least_interval).max(pause.unwrap_or_default())
}

/// A tenth more or less, another one for each feed and poll: feeds that were imported together come apart. A wish for a pause is
/// never shortened.
pub(crate) fn spread(interval: Duration, feed: i64, now_ms: i64) -> Duration {
    let mixed = (feed ^ now_ms).cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    interval + interval.mul_f64(mixed as f64 / 1023.0 / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    #[test]
    fn the_interval_follows_the_feed() {
        let options = FeedOptions::default();
        let now_ms = 1000 * HOUR_MS;
        let every = |hours: i64, silent: i64| -> Vec<i64> {
            (0..10).map(|place| now_ms - (silent + place * hours) * HOUR_MS).collect()
        };
        let hours = |times: &[i64], hint: u64| {
            interval(times, Duration::from_secs(hint * 3600), now_ms, &options).as_secs_f64() / 3600.0
        };
        assert!((0.4..0.6).contains(&hours(&every(1, 1), 0)));
        assert!((2.0..3.0).contains(&hours(&every(5, 3), 0)));
        assert_eq!(hours(&every(1, 900), 0), 24.0);
        assert_eq!(hours(&every(0, 0), 0), 0.25);
        assert_eq!(hours(&every(1, 1), 3), 3.0);
        assert_eq!(hours(&[], 0), 6.0);
        assert_eq!(hours(&[], 1000), 24.0);
    }

    #[test]
    fn failures_are_retried_less_and_less() {
        let options = FeedOptions::default();
        let hours = |failures| retry(failures, None, &options).as_secs() / 3600;
        assert_eq!([hours(1), hours(2), hours(3), hours(9), hours(4_000_000)], [1, 2, 4, 24, 24]);
        let pause = Duration::from_secs(3 * 86_400);
        assert_eq!(retry(1, Some(pause), &options), pause);
        assert!(spread(pause, 7, 12345) >= pause);
    }
}
