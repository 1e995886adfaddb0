//! The system's time zone, read once: TZ, else /etc/localtime. tzset(3).
//!
//! jiff's own search walks all of /usr/share/zoneinfo for the zone's name: two million instructions, which are most of a short run's time
//! and of no use here.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use probe::named;
use text::plot::TimeForm;

const ZONES: &str = "/usr/share/zoneinfo";

/// The zone, or UTC where none can be read.
pub fn system() -> TimeZone {
    let named = std::env::var("TZ").ok().filter(|name| !name.is_empty());
    let found = match named.as_deref().map(|name| name.strip_prefix(':').unwrap_or(name)) {
        Some(name) => self::named(name),
        None => from_file(Path::new("/etc/localtime")),
    };
    found.unwrap_or(TimeZone::UTC)
}

/// A time in nanoseconds since 1970 as it is shown, in the system's zone.
pub fn written(realtime_ns: i64) -> String {
    let at = Timestamp::from_nanosecond(realtime_ns.into()).unwrap_or_default();
    at.to_zoned(system()).strftime(TimeForm::Whole.format()).to_string()
}

/// Formats a time in milliseconds since 1970.
pub fn written_ms(realtime_ms: i64) -> String {
    written(realtime_ms.saturating_mul(1_000_000))
}

/// A zone by its name in the system's tables (`Europe/Berlin`), or by POSIX' rules (`CET-1CEST,M3.5.0,M10.5.0/3`).
pub fn named(name: &str) -> Option<TimeZone> {
    let is_plain = !name.is_empty() && !name.contains("..");
    let found = is_plain.then(|| from_file(&Path::new(ZONES).join(name))).flatten();
    found.or_else(|| TimeZone::posix(name).ok())
}

/// A zone from a compiled file; a name that is a path stands for itself.
fn from_file(path: &Path) -> Option<TimeZone> {
    TimeZone::tzif("", &named::read(path, named::CONFIGURATION_BYTES).ok()?).ok()
}
