//! Dates in the words of a language, as the GNU C library keeps them: a directory of compiled locales (locale(5), localedef(1)), or all of
//! them in one archive. whit reads these itself, because in a statically linked binary the library's own functions know English alone.

/// The words and forms of LC_TIME.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeWords {
    /// From Sunday on, as `%a` writes them.
    pub short_days: [String; 7],
    /// `%A`.
    pub days: [String; 7],
    /// `%b`.
    pub short_months: [String; 12],
    /// `%B`.
    pub months: [String; 12],
    /// Before noon and after, `%p`; empty in languages that do not divide the day.
    pub halves: [String; 2],
    /// The format that `%c` stands for.
    pub date_and_time: String,
    /// The format that `%x` stands for.
    pub date: String,
    /// The format that `%X` stands for.
    pub time: String,
    /// The format that `%r` stands for.
    pub time_of_halves: String,
}

const LC_TIME: usize = 2;
const TIME_MAGIC: u32 = 0x2003_1115 ^ LC_TIME as u32;
const ARCHIVE_MAGIC: u32 = 0xde02_0109;
/// Names in an archive; a full one has some 500.
const MAX_NAMES: usize = 1 << 16;
const MAX_NAME: usize = 64;
/// The largest size of an LC_TIME.
const MAX_BYTES: usize = 1 << 20;

impl TimeWords {
    /// From the bytes of a compiled LC_TIME; `None` if they are none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let word = |index: usize| u32_at(bytes, index * 4);
        if word(0)? != TIME_MAGIC {
            return None;
        }
        let count = word(1)? as usize;
        let mut place = 0;
        // A text that is not there is empty: older libraries had fewer.
        let mut next = || {
            let at = (place < count).then(|| word(2 + place)).flatten();
            place += 1;
            let text = at.and_then(|at| bytes.get(at as usize..)).unwrap_or_default();
            String::from_utf8_lossy(until_zero(text)).into_owned()
        };
        Some(Self {
            short_days: std::array::from_fn(|_| next()),
            days: std::array::from_fn(|_| next()),
            short_months: std::array::from_fn(|_| next()),
            months: std::array::from_fn(|_| next()),
            halves: std::array::from_fn(|_| next()),
            date_and_time: next(),
            date: next(),
            time: next(),
            time_of_halves: next(),
        })
    }
}

/// The LC_TIME of a locale in a locale-archive. `read` returns the archive's bytes from an offset on: as many as are asked for, or fewer
/// at its end.
pub fn find_in_archive(name: &str, mut read: impl FnMut(u64, usize) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let head = read(0, 56)?;
    if u32_at(&head, 0)? != ARCHIVE_MAGIC {
        return None;
    }
    let (names_offset, names) = (u32_at(&head, 8)?, u32_at(&head, 16)? as usize);
    let table = read(u64::from(names_offset), names.min(MAX_NAMES) * 12)?;
    let wanted = normalized(name);
    for entry in table.chunks_exact(12) {
        // Hash, name, record; an empty place has no record.
        let (name_offset, record_offset) = (u32_at(entry, 4)?, u32_at(entry, 8)?);
        if record_offset == 0 {
            continue;
        }
        let found = read(u64::from(name_offset), MAX_NAME)?;
        if normalized(&String::from_utf8_lossy(until_zero(&found))) != wanted {
            continue;
        }
        // How many names share it, and then offset and length of each category.
        let record = read(u64::from(record_offset) + 4 + LC_TIME as u64 * 8, 8)?;
        let (offset, length) = (u32_at(&record, 0)?, u32_at(&record, 4)? as usize);
        return read(u64::from(offset), length.min(MAX_BYTES));
    }
    None
}

/// A name as the library compares it: the character set in small letters and digits alone, `de_DE.utf8`.
pub fn normalized(name: &str) -> String {
    let Some((language, rest)) = name.split_once('.') else { return name.to_owned() };
    let (set, modifier) = match rest.split_once('@') {
        Some((set, modifier)) => (set, format!("@{modifier}")),
        None => (rest, String::new()),
    };
    let set: String = set.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{language}.{}{modifier}", set.to_ascii_lowercase())
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_ne_bytes(*word))
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A compiled LC_TIME with these texts.
    fn compiled(texts: &[&str]) -> Vec<u8> {
        let mut bytes = [TIME_MAGIC, texts.len() as u32].map(u32::to_ne_bytes).concat();
        let mut at = 8 + 4 * texts.len();
        for text in texts {
            bytes.extend((at as u32).to_ne_bytes());
            at += text.len() + 1;
        }
        texts.iter().for_each(|text| bytes.extend([text.as_bytes(), b"\0"].concat()));
        bytes
    }

    fn german() -> Vec<u8> {
        let numbers: Vec<String> = (0..44).map(|place| format!("t{place}")).collect();
        let mut texts: Vec<&str> = numbers.iter().map(String::as_str).collect();
        (texts[0], texts[13], texts[41]) = ("So", "Samstag", "%d.%m.%Y");
        compiled(&texts)
    }

    /// One name, behind an empty place.
    fn archive(name: &str, time: &[u8]) -> Vec<u8> {
        let mut head = [0_u32; 14];
        (head[0], head[2], head[4]) = (ARCHIVE_MAGIC, 56, 2);
        let (names, record) = (56 + 24, 56 + 24 + 64);
        let table = [0, 0, 0, 7, names, record];
        let mut categories = [0_u32; 27];
        (categories[5], categories[6]) = (record + 108, time.len() as u32);
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let mut bytes = [words(&head), words(&table)].concat();
        bytes.extend(name.as_bytes());
        bytes.resize(record as usize, 0);
        [bytes, words(&categories), time.to_vec()].concat()
    }

    fn find(archive: &[u8], name: &str) -> Option<Vec<u8>> {
        find_in_archive(name, |offset, length| {
            let from = usize::try_from(offset).ok()?.min(archive.len());
            Some(archive[from..archive.len().min(from + length)].to_vec())
        })
    }

    #[test]
    fn words_are_found_in_directories_and_archives() {
        let words = TimeWords::parse(&german()).unwrap();
        assert_eq!((words.short_days[0].as_str(), words.days[6].as_str()), ("So", "Samstag"));
        assert_eq!((words.date.as_str(), words.time_of_halves.as_str()), ("%d.%m.%Y", "t43"));
        let archive = archive("de_DE.utf8", &german());
        assert_eq!(find(&archive, "de_DE.UTF-8"), Some(german()));
        assert_eq!(find(&archive, "fr_FR.UTF-8"), None);
        assert_eq!(normalized("ca_ES.ISO-8859-15@euro"), "ca_ES.iso885915@euro");
    }

    proptest! {
        #[test]
        fn nothing_panics(cut in 0_usize..400, at in 0_usize..400, byte: u8) {
            let mut bytes = archive("de_DE.utf8", &german());
            let place = at % bytes.len();
            bytes[place] = byte;
            bytes.truncate(cut.max(1));
            if let Some(time) = find(&bytes, "de_DE.UTF-8") {
                let _ = TimeWords::parse(&time);
            }
            let mut time = german();
            let place = at % time.len();
            time[place] = byte;
            time.truncate(cut.max(1));
            let _ = TimeWords::parse(&time);
        }
    }
}
