//! Days of the week by their names.

use jiff::civil::Weekday;

const DAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Reads a day of the week; three letters are enough.
///
/// # Errors
/// What days may be.
pub(super) fn weekday(name: &str) -> Result<Weekday, String> {
    let lower = name.to_ascii_lowercase();
    let found = DAYS.iter().find(|(day, _)| lower.len() >= 3 && lower.starts_with(&day[..3]));
    found.map(|(_, day)| *day).ok_or_else(|| {
        format!("\"{name}\" is no day, such as mon, july 4, day 1 - 15, monday 3 or 2026-01-01")
    })
}
