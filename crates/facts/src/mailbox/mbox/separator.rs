//! Separators: those of the lines that start with "From " which begin a message. Python's `mailbox` accepts every such line.

use memchr::memchr;

use super::read_at::ReadAt;
use super::window::Window;

/// No separator is longer.
const MAX_BYTES: usize = 1024;

/// Returns true if a message begins here: by a line with a date, as delivery agents write it; or by any "From " behind an empty
/// line and before something that reads like a header.
pub(super) fn is_separator<R: ReadAt>(window: &mut Window<'_, R>) -> Result<bool, R::Error> {
    window.have(b"From ".len())?;
    if !window.rest().starts_with(b"From ") {
        return Ok(false);
    }
    window.have(2 * MAX_BYTES)?;
    let rest = window.rest();
    let line = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
    if line.len() > MAX_BYTES {
        return Ok(false);
    }
    let next = rest.get(line.len() + 1..).unwrap_or_default();
    Ok(has_date(line) || (window.is_after_empty_line() && is_header(next)))
}

/// `Mon Jan  1 12:00:00 2024` and its relatives: a weekday, a month, a time and a year.
fn has_date(line: &[u8]) -> bool {
    const DAYS: [&[u8]; 7] = [b"mon", b"tue", b"wed", b"thu", b"fri", b"sat", b"sun"];
    const MONTHS: [&[u8]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let (mut day, mut month, mut time, mut year) = (false, false, false, false);
    let words = line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b',')).skip(1);
    for word in words.filter(|word| !word.is_empty()) {
        let is_one_of = |names: &[&[u8]]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
        if is_one_of(&DAYS) {
            day = true;
        } else if day && is_one_of(&MONTHS) {
            month = true;
        } else if day && matches!(word, [b'0'..=b'9', b':', ..] | [b'0'..=b'9', b'0'..=b'9', b':', ..]) {
            time = true;
        } else if month {
            let is_number = word.iter().all(u8::is_ascii_digit);
            year |= is_number && (word.len() == 4 || (time && word.len() == 2));
        }
    }
    month && time && year
}

/// `Name: `, as a header's first line begins.
fn is_header(bytes: &[u8]) -> bool {
    let name = bytes.iter().take_while(|byte| matches!(byte, b'!'..=b'9' | b';'..=b'~')).count();
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(name) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_many_programs_are_dates_and_prose_is_none() {
        for line in [
            "From alice@example.org Mon Jan  1 12:00:00 2024",
            "From - Tue Feb 29 00:00:01 2000",
            "From alice Thu Jan  1 01:00 1970",
            "From 1234@xxx Mon Jan 01 12:00:00 +0000 2024",
            "From a Fri Dec 31 23:59:59 CET 1999\r",
            "From \"a b\"@host Sun, 02 Mar 2024 1:02:03 GMT",
            "From a Fri Dec 31 23:59:59 99",
        ] {
            assert!(has_date(line.as_bytes()), "{line}");
        }
        for line in [
            "From here on it is easy",
            "From Monday to Friday 2024",
            "From Mon to Tue at 12:00",
            "From Jan 2024 12:00",
            "From ",
            "From alice@example.org",
        ] {
            assert!(!has_date(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn headers_begin_with_a_name() {
        assert!(is_header(b"Received: from") && is_header(b"X-A:b"));
        assert!(
            !is_header(b"Hello there: you") && !is_header(b"") && !is_header(b": x") && !is_header(b"12:30")
        );
    }
}
