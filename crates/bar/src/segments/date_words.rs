//! Dates in the user's language: LC_TIME.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use formats::locale::{TimeWords, find_in_archive, normalized};

/// The forms of a date format in the user's language.
#[derive(Clone, Debug)]
pub(super) struct DateWords {
    /// `None`: English.
    words: Option<TimeWords>,
}

/// A day and an hour, as far as words need them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// From Sunday.
    pub(super) weekday: usize,
    /// From January.
    pub(super) month: usize,
    pub(super) hour: u32,
}

impl DateWords {
    /// Returns the words that formats need. Reads nothing if they have no words.
    pub(super) fn of(formats: [&str; 2]) -> Self {
        let has_words = formats.iter().any(|format| directives(format).any(|letter| WORDS.contains(letter)));
        let words = has_words.then(language).flatten().and_then(|name| time_words(&name));
        Self { words }
    }

    /// The format without directives that stand for another format.
    pub(super) fn expanded(&self, format: &str) -> String {
        let english = TimeWords {
            date_and_time: "%a %b %e %H:%M:%S %Y".to_owned(),
            date: "%m/%d/%y".to_owned(),
            time: "%H:%M:%S".to_owned(),
            time_of_halves: "%I:%M:%S %p".to_owned(),
            ..TimeWords::default()
        };
        let words = self.words.as_ref().unwrap_or(&english);
        let form = |letter| {
            Some(match letter {
                'c' => &words.date_and_time,
                'x' => &words.date,
                'X' => &words.time,
                // Where the day is not divided there is none.
                'r' if words.time_of_halves.is_empty() => &words.time,
                'r' => &words.time_of_halves,
                _ => return None,
            })
        };
        // Twice, because a locale's form may contain another: %c may contain %r.
        let once = replaced(format, form);
        replaced(&once, form)
    }

    /// The format with the words of a moment in the place of their directives; `None` if it stays as it is.
    pub(super) fn with_words(&self, format: &str, moment: Moment) -> Option<String> {
        let words = self.words.as_ref()?;
        let half = &words.halves[usize::from(moment.hour >= 12)];
        Some(replaced(format, |letter| {
            Some(match letter {
                'a' => &words.short_days[moment.weekday],
                'A' => &words.days[moment.weekday],
                'b' | 'h' => &words.short_months[moment.month],
                'B' => &words.months[moment.month],
                'p' | 'P' => half,
                _ => return None,
            })
        }))
    }
}

/// Directives that are written in words, or by the custom of a country.
const WORDS: &str = "aAbBhpPcxXr";

/// The locale of dates, unless it is English as it is spoken in the United States.
fn language() -> Option<String> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let name = ["LC_ALL", "LC_TIME", "LANG"].into_iter().find_map(set)?;
    let is_english = ["C", "POSIX", "en_US"].iter().any(|plain| {
        name.strip_prefix(plain).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '@']))
    });
    (!is_english).then_some(name)
}

/// Where locales are installed.
const LOCALES: &str = "/usr/lib/locale";
/// An LC_TIME that is longer is none.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the words that are installed for a language, in directories of its own or in the archive of all.
fn time_words(name: &str) -> Option<TimeWords> {
    // A locale is no path.
    if name.contains('/') {
        return None;
    }
    let own = env::var("LOCPATH").ok();
    let directories = own.iter().flat_map(|paths| paths.split(':')).chain([LOCALES]);
    let mut files = directories.flat_map(|directory| {
        let directory = Path::new(directory);
        [name.to_owned(), normalized(name)].map(|name| directory.join(name).join("LC_TIME"))
    });
    let is_small =
        |path: &Path| fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MAX_BYTES);
    let found = files.find_map(|path| is_small(&path).then(|| fs::read(&path).ok()).flatten());
    let bytes = found.or_else(|| {
        let archive = File::open(Path::new(LOCALES).join("locale-archive")).ok()?;
        find_in_archive(name, |offset, length| {
            let mut bytes = vec![0; length];
            let read = archive.read_at(&mut bytes, offset).ok()?;
            bytes.truncate(read);
            Some(bytes)
        })
    })?;
    TimeWords::parse(&bytes)
}

/// The letters of a format's directives.
fn directives(format: &str) -> impl Iterator<Item = char> {
    let mut letters = format.chars();
    std::iter::from_fn(move || {
        letters.find(|letter| *letter == '%')?;
        letters.find(|letter| !is_flag(*letter))
    })
}

/// Returns true for what may stand between `%` and the letter: flags, widths and the modifiers of other calendars.
fn is_flag(letter: char) -> bool {
    matches!(letter, '-' | '_' | '^' | '#' | 'E' | 'O' | ':') || letter.is_ascii_digit()
}

/// The format with other texts in the place of some directives. Modifiers are dropped: there is one calendar.
fn replaced<'t>(format: &str, text_of: impl Fn(char) -> Option<&'t String>) -> String {
    let mut out = String::with_capacity(format.len());
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let flags = behind.find(|letter| !is_flag(letter)).unwrap_or(behind.len());
        let Some(letter) = behind[flags..].chars().next() else {
            out.push_str(&rest[at..]);
            return out;
        };
        match text_of(letter) {
            Some(text) if behind[..flags].contains('^') => out.push_str(&text.to_uppercase()),
            Some(text) => out.push_str(text),
            None => {
                out.push('%');
                out.extend(behind[..flags].chars().filter(|flag| !matches!(flag, 'E' | 'O')));
                out.push(letter);
            }
        }
        rest = &behind[flags + letter.len_utf8()..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn german() -> DateWords {
        let mut words = TimeWords {
            date_and_time: "%a %d %b %Y %T %Z".to_owned(),
            date: "%d.%m.%Y".to_owned(),
            time: "%T".to_owned(),
            ..TimeWords::default()
        };
        words.short_days[0] = "So".to_owned();
        words.days[0] = "Sonntag".to_owned();
        words.months[2] = "März".to_owned();
        words.short_months[2] = "Mär".to_owned();
        DateWords { words: Some(words) }
    }

    #[test]
    fn words_and_forms_are_the_languages() {
        let moment = Moment { weekday: 0, month: 2, hour: 13 };
        let shown = |format: &str| {
            let words = german();
            words.with_words(&words.expanded(format), moment).unwrap()
        };
        assert_eq!(shown("%a %^A %-d. %B %%a"), "So SONNTAG %-d. März %%a");
        assert_eq!(shown("%x %r"), "%d.%m.%Y %T");
        assert_eq!(shown("%c"), "So %d Mär %Y %T %Z");
        assert_eq!(shown("%Od %Ey %p|%"), "%d %y |%");
    }

    #[test]
    fn english_has_forms_and_no_words_of_its_own() {
        let english = DateWords { words: None };
        assert_eq!(english.expanded("%x, %a"), "%m/%d/%y, %a");
        assert!(english.with_words("%a", Moment { weekday: 0, month: 0, hour: 0 }).is_none());
        assert_eq!(directives("%% %-d %^A %H").collect::<String>(), "%dAH");
    }
}
