//! The lines of Nagios' files.

use std::collections::BTreeMap;
use std::fmt;

use super::synonyms::canonical;

/// Where something is: a file by its number, and a line from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number that the caller gave the file.
    pub file: usize,
    /// The line.
    pub line: usize,
}

/// An error in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NagiosFault {
    /// Where.
    pub place: Place,
    /// The description of the error.
    pub message: String,
}

impl fmt::Display for NagiosFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.place.line, self.message)
    }
}

/// `define host { … }`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NagiosObject {
    /// `host`, `service`, `command` …
    pub kind: String,
    /// Where it begins.
    pub place: Place,
    /// Its directives. If a directive has several values, the last counts, as in Nagios.
    pub values: BTreeMap<String, String>,
}

impl NagiosObject {
    /// Adds a line. The members of groups, and the times of a date, are all that are said; of others the last counts. Names of custom
    /// variables ignore case.
    fn add(&mut self, name: &str, value: &str) {
        let name = match name.strip_prefix('_') {
            Some(variable) => format!("_{}", variable.to_uppercase()),
            None => canonical(&self.kind, name).to_owned(),
        };
        let is_of_group = self.kind.ends_with("group") && name.ends_with("members");
        let is_date = self.kind == "timeperiod" && name.contains(' ');
        match self.values.get_mut(&name) {
            Some(known) if is_of_group || is_date => known.extend([",", value]),
            _ => drop(self.values.insert(name, value.to_owned())),
        }
    }

    /// A value; `None` if it says nothing of that, or takes it back (`null`).
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| *value != "null")
    }

    /// The parts of a value with commas between them.
    pub fn list(&self, name: &str) -> Vec<&str> {
        let parts = self.get(name).unwrap_or_default().split(',').map(str::trim);
        parts.filter(|part| !part.is_empty()).collect()
    }

    /// The letters of options, with commas or blanks between them: `w,c` is `w` and `c`, and so is `warning critical`.
    pub fn options(&self, name: &str) -> Vec<char> {
        let words =
            self.get(name).unwrap_or_default().split(|letter: char| letter == ',' || letter.is_whitespace());
        words.filter_map(|word| word.chars().next()).collect()
    }

    /// A number as Nagios reads it: what stands at the beginning counts, text behind it is a remark, and 0 is what is none, `null` too.
    pub fn number(&self, name: &str) -> Option<f64> {
        let text = self.values.get(name)?;
        let is_of_number =
            |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-' | '+' | 'e' | 'E');
        let end = text.find(|letter| !is_of_number(letter)).unwrap_or(text.len());
        // The longest beginning that is a number.
        let number = (0..=end).rev().find_map(|end| text[..end].parse::<f64>().ok());
        Some(number.unwrap_or(0.0))
    }

    /// Returns whether it is a template and nothing else.
    pub fn is_template(&self) -> bool {
        // Groups are there in any case.
        let is_group = matches!(self.kind.as_str(), "hostgroup" | "servicegroup");
        self.number("register") == Some(0.0) && !is_group
    }
}

/// Reads the lines `name=value` of the main file or of resources. What is written twice is there twice.
pub fn read_settings(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';']));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

/// Reads the definitions of a file.
///
/// # Errors
/// Where it is none. What comes before it is there all the same.
pub fn read_objects(text: &str, file: usize) -> (Vec<NagiosObject>, Vec<NagiosFault>) {
    let (mut objects, mut faults) = (Vec::new(), Vec::new());
    let mut open: Option<NagiosObject> = None;
    for (line, text) in logical_lines(text) {
        let place = Place { file, line };
        let mut fault = |message: String| faults.push(NagiosFault { place, message });
        match &mut open {
            None => {
                let Some(rest) = text.strip_prefix("define").filter(|rest| rest.starts_with([' ', '\t']))
                else {
                    if !["include_file=", "include_dir="].iter().any(|known| text.starts_with(known)) {
                        fault(format!("expected define, found {text:?}"));
                    }
                    continue;
                };
                let (kind, inside) = match rest.split_once('{') {
                    Some((kind, inside)) => (kind, inside.trim()),
                    None => (rest, ""),
                };
                let object = NagiosObject { kind: kind.trim().to_owned(), place, ..NagiosObject::default() };
                if !inside.is_empty() && inside != "}" && !inside.starts_with('#') {
                    fault(format!("expected the end of the line after {{, found {inside:?}"));
                }
                match inside.strip_suffix('}') {
                    Some(_) => objects.push(object),
                    None => open = Some(object),
                }
            }
            Some(_) if text == "{" => {}
            Some(_) if text == "}" => objects.extend(open.take()),
            Some(object) => {
                let timed = if object.kind == "timeperiod" { split_time(&text) } else { None };
                let (name, value) =
                    timed.or_else(|| text.split_once([' ', '\t'])).unwrap_or((text.as_str(), ""));
                object.add(name.trim(), value.trim());
            }
        }
    }
    if let Some(object) = open {
        faults.push(NagiosFault { place: object.place, message: "its } is missing".to_owned() });
    }
    (objects, faults)
}

/// `monday -1 may  00:00-24:00`: the last word is the time, all before it the days.
fn split_time(text: &str) -> Option<(&str, &str)> {
    let at = text.find(|letter: char| letter.is_ascii_digit()).filter(|_| text.contains(':'))?;
    // The first word that is a time, and what follows it after commas.
    let mut from = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        if word.contains(':') && from > 0 {
            return Some((text[..from].trim(), text[from..].trim()));
        }
        from += word.len();
    }
    (at == 0).then_some(("", text))
}

/// Lines with their numbers: joined where one ends in a backslash and nothing else, and then without comments. Two backslashes at an end
/// are one that is meant.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut is_continued = false;
    for (number, line) in text.lines().enumerate() {
        let (line, continues) = match line.strip_suffix('\\') {
            Some(line) if line.ends_with('\\') => (line, false),
            Some(line) => (line, true),
            None => (line, false),
        };
        match lines.last_mut().filter(|_| is_continued) {
            Some((_, last)) => last.push_str(line.trim_start()),
            None => lines.push((number + 1, line.to_owned())),
        }
        is_continued = continues;
    }
    let lines = lines.into_iter().map(|(number, line)| (number, without_comment(&line).trim().to_owned()));
    lines.filter(|(_, line)| !line.is_empty()).collect()
}

/// `#` begins a comment at the beginning of a line, `;` anywhere unless a backslash is before it, which is not kept.
fn without_comment(line: &str) -> String {
    if line.trim_start().starts_with('#') {
        return String::new();
    }
    let mut kept = String::with_capacity(line.len());
    for letter in line.chars() {
        if letter == ';' {
            if !kept.ends_with('\\') {
                break;
            }
            kept.pop();
        }
        kept.push(letter);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_read() {
        let text = "# all\ndefine host{\n\thost_name  a ; the first\n notes x\\; y ; z\n alias b\\\n c\n}\ndefine service\n{\nuse x\n}\n\
                    define timeperiod {\n monday -1 may  00:00-24:00,01:00-02:00\n sunday 09:00-10:00\n}\n";
        let (objects, faults) = read_objects(text, 7);
        assert_eq!((objects.len(), faults.len()), (3, 0), "{faults:?}");
        assert_eq!((objects[0].get("host_name"), objects[0].get("alias")), (Some("a"), Some("bc")));
        assert_eq!(objects[0].get("notes"), Some("x; y"));
        assert_eq!(objects[1].place, Place { file: 7, line: 8 });
        assert_eq!(objects[2].get("monday -1 may"), Some("00:00-24:00,01:00-02:00"));
        assert_eq!(objects[2].get("sunday"), Some("09:00-10:00"));
    }

    #[test]
    fn numbers_are_those_at_the_beginning() {
        for (text, number) in [
            ("1 # first", 1.0),
            ("60 #hourly", 60.0),
            ("2.5", 2.5),
            ("7x", 7.0),
            ("", 0.0),
            ("x", 0.0),
            ("-1", -1.0),
            ("1.2.3", 1.2),
            ("1e1", 10.0),
            ("1e", 1.0),
            ("null", 0.0),
        ] {
            let (objects, _) = read_objects(&format!("define service {{\n check_interval {text}\n}}\n"), 0);
            assert_eq!(objects[0].number("check_interval"), Some(number), "{text}");
        }
        assert_eq!(NagiosObject::default().number("check_interval"), None);
    }

    #[test]
    fn lines_are_joined_before_comments_go() {
        let text = "define host { # a host\n host_name b # not a remark\n # remark \\\n check_interval 60\n alias x ; remark \\\n contacts bob\n\
                    check_command c!C:\\\\\n notes foo \\ \n parents p\\\n  ,q\n}\n";
        let (objects, faults) = read_objects(text, 0);
        assert!(faults.is_empty(), "{faults:?}");
        let get = |name: &str| objects[0].get(name);
        assert_eq!((get("check_interval"), get("alias"), get("contacts")), (None, Some("x"), None));
        assert_eq!(
            (get("check_command"), get("notes"), get("parents")),
            (Some("c!C:\\"), Some("foo \\"), Some("p,q"))
        );
    }

    #[test]
    fn what_is_said_twice_is_the_last_but_of_groups_and_dates() {
        let text = "define hostgroup {\nmembers a\nmembers b\nalias x\nalias y\nregister 0\n}\n\
                    define timeperiod {\njuly 4 00:00-08:00\njuly 4 09:00-10:00\nmonday 01:00-02:00\nmonday 03:00-04:00\n}\n\
                    define host {\n_community a\n_Community b\nregister no\n}\n";
        let (objects, _) = read_objects(text, 0);
        assert_eq!((objects[0].get("members"), objects[0].get("alias")), (Some("a,b"), Some("y")));
        assert_eq!(
            (objects[1].get("july 4"), objects[1].get("monday")),
            (Some("00:00-08:00,09:00-10:00"), Some("03:00-04:00"))
        );
        assert_eq!(objects[2].get("_COMMUNITY"), Some("b"));
        assert_eq!(objects.iter().map(NagiosObject::is_template).collect::<Vec<_>>(), [false, false, true]);
    }

    #[test]
    fn faults_have_their_place() {
        let (objects, faults) = read_objects("host_name a\ndefine host {\n x y\n", 0);
        assert!(objects.is_empty());
        let lines: Vec<usize> = faults.iter().map(|fault| fault.place.line).collect();
        assert_eq!(lines, [1, 2]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "(define|host|\\{|\\}|;|\\\\|:|[0-9]| |\n|ü){0,40}") {
            let _ = read_objects(&text, 0);
            let _ = read_settings(&text);
        }
    }
}
