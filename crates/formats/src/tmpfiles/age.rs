//! The age field: `10d`, `~1w2d`, `aM:12h`.

/// Which times of a file or directory have to be old.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Access.
    pub accessed: bool,
    /// Birth.
    pub born: bool,
    /// Change of content or status.
    pub changed: bool,
    /// Change of content.
    pub modified: bool,
}

/// From when on something is old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age {
    /// In nanoseconds; the largest number for `infinity`.
    pub span_ns: u64,
    /// The times of files, and of everything else that is not a directory.
    pub file_times: Times,
    /// The times of directories.
    pub directory_times: Times,
    /// The entries directly in the directory stay.
    pub keeps_first_level: bool,
}

impl Age {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (keeps_first_level, rest) = match text.strip_prefix('~') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (letters, span) = match rest.split_once(':') {
            Some((letters, span)) => (Some(letters), span),
            None => (None, rest),
        };
        let (mut files, mut directories) = (Times::default(), Times::default());
        for letter in letters.unwrap_or_default().chars().filter(|letter| !letter.is_ascii_whitespace()) {
            let times = if letter.is_ascii_uppercase() { &mut directories } else { &mut files };
            match letter.to_ascii_lowercase() {
                'a' => times.accessed = true,
                'b' => times.born = true,
                'c' => times.changed = true,
                'm' => times.modified = true,
                _ => return Err(format!("\"{letter}\" is not one of the times a, b, c and m")),
            }
        }
        if letters.is_some() && files == Times::default() && directories == Times::default() {
            return Err("no time is named before the colon".to_owned());
        }
        // A prefix that names times of one kind leaves the other as it is.
        let all = Times { accessed: true, born: true, changed: true, modified: true };
        let or = |times: Times, default: Times| if times == Times::default() { default } else { times };
        Ok(Self {
            span_ns: span_ns(span)
                .ok_or_else(|| format!("\"{span}\" is not an age, such as 10d, 12h or 1w2d"))?,
            file_times: or(files, all),
            directory_times: or(directories, Times { changed: false, ..all }),
            keeps_first_level,
        })
    }
}

const UNITS: [(&[&str], u64); 9] = [
    (&["us", "usec", "µs", "μs"], 1_000),
    (&["ms", "msec"], 1_000_000),
    (&["", "s", "sec", "second", "seconds"], 1_000_000_000),
    (&["m", "min", "minute", "minutes"], 60_000_000_000),
    (&["h", "hr", "hour", "hours"], 3_600_000_000_000),
    (&["d", "day", "days"], 86_400_000_000_000),
    (&["w", "week", "weeks"], 604_800_000_000_000),
    (&["M", "month", "months"], 2_629_800_000_000_000),
    (&["y", "year", "years"], 31_557_600_000_000_000),
];

/// systemd.time(7): numbers with units, added up; without a unit seconds.
fn span_ns(text: &str) -> Option<u64> {
    let is_blank = |letter| matches!(letter, ' ' | '\t' | '\n' | '\r');
    let mut rest = text.trim_matches(is_blank);
    rest = rest.strip_prefix('+').unwrap_or(rest);
    if rest == "infinity" {
        return Some(u64::MAX);
    }
    let mut sum = 0_u64;
    let mut is_any = false;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (whole, after) = rest.split_at(digits);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => {
                let digits =
                    after.len() - after.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
                if digits == 0 {
                    return None;
                }
                after.split_at(digits)
            }
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let after = after.trim_start_matches(is_blank);
        let letters = after.len() - after.trim_start_matches(char::is_alphabetic).len();
        let (unit, after) = after.split_at(letters);
        let unit_ns = UNITS.iter().find(|(names, _)| names.contains(&unit))?.1;
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        sum = sum.checked_add(whole.checked_mul(unit_ns)?)?;
        // Digits beyond the nanosecond do not matter.
        let mut part_ns = unit_ns;
        for digit in fraction.bytes() {
            part_ns /= 10;
            sum = sum.checked_add(part_ns * u64::from(digit - b'0'))?;
        }
        is_any = true;
        rest = after.trim_start_matches(is_blank);
    }
    is_any.then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000_000_000;

    #[test]
    fn spans_are_those_of_systemd() {
        for (text, expected) in [
            ("10d", Some(240 * HOUR)),
            ("1w2d", Some(216 * HOUR)),
            ("1h30", Some(HOUR + 30_000_000_000)),
            ("1.5h", Some(HOUR + HOUR / 2)),
            (".5h", Some(HOUR / 2)),
            ("12 h 1 d", Some(36 * HOUR)),
            ("1M", Some(2_629_800_000_000_000)),
            ("+2h", Some(2 * HOUR)),
            ("0", Some(0)),
            ("infinity", Some(u64::MAX)),
            ("1.h", None),
            ("1H", None),
            ("-1h", None),
            ("h", None),
            ("", None),
            ("5parsecs", None),
            ("99999999999999999999d", None),
        ] {
            assert_eq!(span_ns(text), expected, "{text}");
        }
    }

    #[test]
    fn letters_of_one_kind_leave_the_other() {
        let default = Age::parse("1d").unwrap();
        assert!(default.file_times.changed && !default.directory_times.changed);
        let modified = Age::parse("m:1d").unwrap();
        assert_eq!(modified.file_times, Times { modified: true, ..Times::default() });
        assert_eq!(modified.directory_times, default.directory_times);
        let directories = Age::parse("~ M:1d").unwrap();
        assert_eq!((directories.file_times, directories.keeps_first_level), (default.file_times, true));
        assert!(Age::parse("x:1d").is_err() && Age::parse(":1d").is_err() && Age::parse("m:~1d").is_err());
    }
}
