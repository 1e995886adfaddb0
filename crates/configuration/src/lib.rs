//! Configurations in TOML: a table is read option by option, and each fault has its place.

mod fault;
pub mod http_headers;
pub mod http_target;
pub mod http_tls;

use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use probe::named;
use text::nearest::did_you_mean;
use text::printable::Shown as _;
use text::quantity;

pub use fault::Fault;

/// A value with its place.
pub type Value<'t, 'i> = &'t Spanned<DeValue<'i>>;

/// Parses a configuration. Its options are those of [`Options::new`].
///
/// # Errors
/// Where it is not TOML.
pub fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, Fault> {
    DeTable::parse(text).map_err(|error| Fault::new(error.span().unwrap_or(0..0), error.message().to_owned()))
}

/// The options of one table.
pub struct Options<'t, 'i> {
    table: &'t DeTable<'i>,
    /// Where the table begins.
    span: Range<usize>,
}

impl<'t, 'i> Options<'t, 'i> {
    /// The options of a table; `span` is the place of the table in the text.
    pub fn new(table: &'t DeTable<'i>, span: Range<usize>) -> Self {
        Self { table, span }
    }

    /// From a value that is to be a table.
    pub fn of(value: Value<'t, 'i>) -> Result<Self, Fault> {
        let table = value.get_ref().as_table().ok_or_else(|| expected(value, "a table"))?;
        Ok(Self::new(table, value.span()))
    }

    /// A fault of the table as a whole.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        // Its first line will do.
        Fault::new(self.span.start..self.span.start, message)
    }

    /// A fault of one option's value.
    pub fn fault_of(&self, key: &str, message: impl Into<String>) -> Fault {
        Fault::new(self.get(key).map_or(self.span.clone(), Spanned::span), message)
    }

    /// Refuses the value of an option that is not an address of HTTP.
    ///
    /// # Errors
    /// If it begins with neither `https://` nor `http://`.
    pub fn check_http_address(&self, key: &str, text: &str) -> Result<(), Fault> {
        match ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)) {
            true => Ok(()),
            false => Err(self.fault_of(key, "expected an address that begins with https:// or http://")),
        }
    }

    /// Refuses an address with a password, which messages would show.
    ///
    /// # Errors
    /// If it has one; the fault says where credentials stand.
    pub fn refuse_password(&self, key: &str, url: &str) -> Result<(), Fault> {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let message = "the address has no place for a password: user = \"…\" and password_file = \"…\"";
        if authority.contains('@') { Err(self.fault_of(key, message)) } else { Ok(()) }
    }

    /// Rejects keys that are not among `known`; the error names the first in the text.
    pub fn refuse_unknown<'a>(
        &self,
        known: impl Iterator<Item = &'a str> + Clone,
        what: &str,
    ) -> Result<(), Fault> {
        let unknown = self.table.iter().filter(|(key, _)| !known.clone().any(|known| known == key.get_ref()));
        match unknown.min_by_key(|(key, _)| key.span().start) {
            None => Ok(()),
            Some((key, _)) => {
                let name = key.get_ref();
                let hint = did_you_mean(name, known);
                Err(Fault::new(key.span(), format!("{what} has no option \"{name}\"{hint}")))
            }
        }
    }

    /// The options, as they are written.
    pub fn iter(&self) -> impl Iterator<Item = (&'t Spanned<std::borrow::Cow<'i, str>>, Value<'t, 'i>)> {
        self.table.iter()
    }

    /// Returns the value of an option.
    pub fn get(&self, key: &str) -> Option<Value<'t, 'i>> {
        self.table.iter().find(|(known, _)| known.get_ref() == key).map(|(_, value)| value)
    }

    /// Returns a text.
    pub fn text(&self, key: &str) -> Result<Option<&'t str>, Fault> {
        self.get(key).map(text).transpose()
    }

    /// A secret: a text, or with `_file` at the end of its name the first line of a file.
    pub fn secret(&self, key: &str) -> Result<Option<String>, Fault> {
        let of_file = format!("{key}_file");
        let Some(text) = self.text_of_file(&of_file)? else { return Ok(self.text(key)?.map(str::to_owned)) };
        if self.get(key).is_some() {
            return Err(self.fault_of(key, format!("either {key} or {of_file}")));
        }
        let line = text.lines().next().unwrap_or_default();
        match line.is_empty() {
            true => Err(self.fault_of(&of_file, "the first line of the file is empty")),
            false => Ok(Some(line.to_owned())),
        }
    }

    /// The text of a file. `$CREDENTIALS_DIRECTORY/` at the beginning of its path stands for the directory of systemd.exec(5).
    pub fn text_of_file(&self, key: &str) -> Result<Option<String>, Fault> {
        const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";
        let Some(path) = self.text(key)? else { return Ok(None) };
        let path = match path.strip_prefix(&format!("${CREDENTIALS}/")) {
            Some(rest) => std::env::var_os(CREDENTIALS).map(|directory| Path::new(&directory).join(rest)),
            None => Some(PathBuf::from(path)),
        };
        let missing =
            || self.fault_of(key, format!("{CREDENTIALS} is not set: systemd sets it for services"));
        let path = path.ok_or_else(missing)?;
        let text = named::read_text(&path, named::CONFIGURATION_BYTES);
        text.map(Some).map_err(|error| self.fault_of(key, format!("{}: {error}", path.shown())))
    }

    /// Returns a text that must be there; the fault shows an `example`.
    pub fn required_text(&self, key: &str, example: &str) -> Result<&'t str, Fault> {
        self.text(key)?.ok_or_else(|| self.fault(format!("this needs {key} = {example}")))
    }

    /// A text, or several.
    pub fn texts(&self, key: &str) -> Result<Vec<String>, Fault> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        match value.get_ref().as_array() {
            Some(array) => array.iter().map(|value| text(value).map(str::to_owned)).collect(),
            None => Ok(vec![text(value)?.to_owned()]),
        }
    }

    /// Paths; `~/` is the user's home.
    pub fn paths(&self, key: &str) -> Result<Vec<PathBuf>, Fault> {
        let paths = self.texts(key)?;
        if paths.iter().any(String::is_empty) {
            return Err(self.fault_of(key, "an empty path"));
        }
        if paths.is_empty() && self.get(key).is_some() {
            return Err(self.fault_of(key, "no path: without this key there is a default"));
        }
        Ok(paths.iter().map(|path| home(path)).collect())
    }

    /// Returns a path that must be there; the fault shows an `example`.
    pub fn required_path(&self, key: &str, example: &str) -> Result<PathBuf, Fault> {
        let path = self.required_text(key, example)?;
        if path.is_empty() { Err(self.fault_of(key, "an empty path")) } else { Ok(home(path)) }
    }

    /// A command and its arguments.
    pub fn words(&self, key: &str) -> Result<Option<Vec<String>>, Fault> {
        const WANTED: &str =
            "a command as an array of words, [\"date\", \"+%H:%M\"]: no shell takes it apart";
        let Some(value) = self.get(key) else { return Ok(None) };
        let array = value.get_ref().as_array().ok_or_else(|| expected(value, WANTED))?;
        let words: Vec<String> =
            array.iter().map(|value| text(value).map(str::to_owned)).collect::<Result<_, _>>()?;
        match words.first() {
            Some(program) if !program.is_empty() && words.iter().all(|word| !word.contains('\0')) => {
                Ok(Some(words))
            }
            _ => Err(expected(value, WANTED)),
        }
    }

    /// Returns whether an option is `true`.
    pub fn flag(&self, key: &str) -> Result<bool, Fault> {
        let Some(value) = self.get(key) else { return Ok(false) };
        value.get_ref().as_bool().ok_or_else(|| expected(value, "true or false"))
    }

    /// Returns whether an option is `true`, or `usual` if it is not there.
    pub fn flag_or(&self, key: &str, usual: bool) -> Result<bool, Fault> {
        if self.get(key).is_some() { self.flag(key) } else { Ok(usual) }
    }

    /// Returns a table of texts whose keys are what `is_key` says; none if it is not there.
    ///
    /// # Errors
    /// If it is no such table; the fault shows an `example`.
    pub fn pairs(
        &self,
        key: &str,
        example: &str,
        is_key: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, String)>, Fault> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let pairs = value.get_ref().as_table().ok_or_else(|| expected(value, example))?;
        let mut found = Vec::new();
        for (name, value) in pairs.iter() {
            if !is_key(name.get_ref()) {
                return Err(Fault::new(name.span(), format!("\"{}\" cannot stand in {key}", name.get_ref())));
            }
            found.push((name.get_ref().to_string(), text(value)?.to_owned()));
        }
        Ok(found)
    }

    /// Pairs that take the place of usual ones. An empty value takes one away.
    pub fn pairs_over(
        &self,
        key: &str,
        example: &str,
        is_key: impl Fn(&str) -> bool,
        usual: Vec<(String, String)>,
    ) -> Result<Vec<(String, String)>, Fault> {
        let mut pairs = usual;
        for (name, value) in self.pairs(key, example, is_key)? {
            pairs.retain(|(known, _)| *known != name);
            pairs.push((name, value));
        }
        pairs.retain(|(_, value)| !value.is_empty());
        Ok(pairs)
    }

    /// A number with or without a point, within bounds.
    pub fn number(&self, key: &str, at_least: f64, at_most: f64) -> Result<Option<f64>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number: Option<f64> = match value.get_ref() {
            DeValue::Integer(integer) => {
                i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|number| number as f64)
            }
            DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
            _ => None,
        };
        let number = number.filter(|number| (at_least..=at_most).contains(number));
        number.map(Some).ok_or_else(|| expected(value, &format!("a number from {at_least} to {at_most}")))
    }

    /// A whole number that is not negative.
    pub fn whole_number(&self, key: &str) -> Result<Option<u64>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix()).ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| expected(value, "a whole number"))
    }

    /// A duration from 50 ms to a day: a number of seconds, or a text with units.
    pub fn duration(&self, key: &str) -> Result<Option<Duration>, Fault> {
        self.duration_within(key, Duration::from_millis(50)..=Duration::from_secs(86_400), "50ms to 1d")
    }

    /// A duration in a range, which `wanted` describes: a number of seconds, or a text with units.
    pub fn duration_within(
        &self,
        key: &str,
        possible: RangeInclusive<Duration>,
        wanted: &str,
    ) -> Result<Option<Duration>, Fault> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let duration = match value.get_ref().as_str() {
            Some(text) => {
                let nanos = quantity::duration(text).map_err(|wanted| expected(value, &wanted))?;
                Duration::from_nanos(nanos.0)
            }
            None => {
                let [least, most] = [possible.start(), possible.end()].map(Duration::as_secs_f64);
                self.number(key, least, most)?.map(Duration::from_secs_f64).unwrap_or_default()
            }
        };
        match possible.contains(&duration) {
            true => Ok(Some(duration)),
            false => Err(expected(value, wanted)),
        }
    }

    /// One of some words.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>, Fault> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        let found = choices.iter().find(|(known, _)| *known == word);
        found.map(|(_, choice)| Some(*choice)).ok_or_else(|| {
            let hint = did_you_mean(word, choices.iter().map(|(known, _)| *known));
            self.fault_of(key, format!("no such {key}: \"{word}\"{hint}"))
        })
    }

    /// Tables in an array.
    pub fn tables(&self, key: &str) -> Result<Vec<Options<'t, 'i>>, Fault> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let array = value.get_ref().as_array().ok_or_else(|| expected(value, "an array of tables"))?;
        array.iter().map(Options::of).collect()
    }
}

/// A text in TOML: as it is between single quotes, if that can be.
pub fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter != '\'' && !letter.is_control();
    if text.contains('\n') && text.chars().all(|letter| letter == '\n' || is_plain(letter)) {
        return format!("'''\n{text}'''");
    }
    if text.contains(['\\', '"']) && text.chars().all(is_plain) {
        return format!("'{text}'");
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        let _ = match letter {
            '"' | '\\' => write!(quoted, "\\{letter}"),
            letter if letter.is_control() => write!(quoted, "\\u{:04X}", u32::from(letter)),
            letter => write!(quoted, "{letter}"),
        };
    }
    quoted.push('"');
    quoted
}

/// A value that is to be a text.
pub fn text<'t>(value: Value<'t, '_>) -> Result<&'t str, Fault> {
    value.get_ref().as_str().ok_or_else(|| expected(value, "a text in quotes"))
}

/// The fault of a value that is something else.
pub fn expected(value: Value<'_, '_>, what: &str) -> Fault {
    Fault::new(value.span(), format!("expected {what}"))
}

/// `~/Mail` is in the user's home directory.
fn home(path: &str) -> PathBuf {
    let below = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (below, std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest.trim_start_matches('/')),
        _ => PathBuf::from(path),
    }
}
