//! i3status' configuration: i3status(1), in the syntax of libConfuse.

mod tokens;

use crate::placed_error::PlacedError;
pub use tokens::Environment;
use tokens::{Token, Tokens};

/// A configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The entries of `order`, in its order: `disk /home`.
    pub order: Vec<String>,
    /// All sections.
    pub sections: Vec<Section>,
    /// Names of the environment's variables that stand in it.
    pub variables: Vec<String>,
}

/// Kinds whose sections have no title. Of an entry in `order` i3status compares only as much as their names have.
const UNTITLED: [&str; 6] = ["ipv6", "time", "ddate", "load", "memory", "cpu_usage"];

/// `disk "/home" { format = "%avail" }`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// `disk`.
    pub kind: String,
    /// `/home`; empty where there is none.
    pub title: String,
    /// Names and values; a list's values are joined by blanks.
    pub options: Vec<(String, String)>,
    /// Where it begins, from 1.
    pub line: usize,
}

impl Configuration {
    /// Takes a file's text apart. `${NAME}` in it is a value of the environment.
    ///
    /// # Errors
    /// If a quote or a brace is not closed, or a name is followed by nothing that belongs to one.
    pub fn parse(text: &str, environment: Environment<'_>) -> Result<Self, PlacedError> {
        let mut configuration = Self::default();
        let mut tokens = Tokens::new(text, environment);
        while let Some(token) = tokens.next()? {
            let Token::Word(name) = token else { return tokens.error("a section or an option") };
            let line = tokens.line();
            match tokens.next()? {
                Some(Token::Equals | Token::PlusEquals) => {
                    let values = value(&mut tokens)?;
                    if name.eq_ignore_ascii_case("order") {
                        configuration.order.extend(values);
                    }
                }
                Some(Token::Open) => {
                    configuration.sections.push(section(&mut tokens, name, String::new(), line)?);
                }
                Some(Token::Word(title)) => match tokens.next()? {
                    Some(Token::Open) => {
                        configuration.sections.push(section(&mut tokens, name, title, line)?);
                    }
                    _ => return tokens.error("\"{\""),
                },
                _ => return tokens.error("\"=\", \"+=\" or \"{\""),
            }
        }
        configuration.variables = tokens.into_variables();
        Ok(configuration)
    }

    /// The section that an entry of `order` means: the kind, a blank, the title. Of two that are alike the last counts.
    pub fn section(&self, entry: &str) -> Option<&Section> {
        let (kind, title) = Self::kind_of(entry);
        self.sections.iter().rev().find(|section| section.kind == kind && section.title == title)
    }

    /// The kind and the title that an entry of `order` means.
    pub fn kind_of(entry: &str) -> (String, String) {
        let lower = entry.to_ascii_lowercase();
        if let Some(kind) = UNTITLED.iter().find(|kind| lower.starts_with(**kind)) {
            return ((*kind).to_owned(), String::new());
        }
        let (kind, title) = entry.split_once(' ').unwrap_or((entry, ""));
        (kind.to_ascii_lowercase(), title.to_owned())
    }
}

impl Section {
    /// An option's value; the last stands.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn section(
    tokens: &mut Tokens<'_>,
    kind: String,
    title: String,
    line: usize,
) -> Result<Section, PlacedError> {
    // Names ignore case; titles do not.
    let mut section = Section { kind: kind.to_ascii_lowercase(), title, line, ..Section::default() };
    loop {
        match tokens.next()? {
            Some(Token::Close) => return Ok(section),
            Some(Token::Word(name)) => match tokens.next()? {
                Some(Token::Equals | Token::PlusEquals) => {
                    section.options.push((name.to_ascii_lowercase(), value(tokens)?.join(" ")));
                }
                _ => return tokens.error("\"=\""),
            },
            _ => return tokens.error("an option or \"}\""),
        }
    }
}

/// One value, or a list in braces.
fn value(tokens: &mut Tokens<'_>) -> Result<Vec<String>, PlacedError> {
    match tokens.next()? {
        Some(Token::Word(value)) => Ok(vec![value]),
        Some(Token::Open) => {
            let mut values = Vec::new();
            loop {
                match tokens.next()? {
                    Some(Token::Word(value)) => values.push(value),
                    Some(Token::Comma) => {}
                    Some(Token::Close) => return Ok(values),
                    _ => return tokens.error("a value or \"}\""),
                }
            }
        }
        _ => tokens.error("a value"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_people_write_is_read() {
        let text = r#"
# a comment
general { interval = 5 colors=true }   // another
order += "disk /home"
order += 'load'
/* and
   one more */
disk "/home" {
    format = "%avail \"free\"\n"
    prefix_type = custom
}
load { format = "%1min" }
run_watch DHCP { pidfile = { "a", b } }
"#;
        let read = Configuration::parse(text, &|_| None).unwrap();
        assert_eq!(read.order, ["disk /home", "load"]);
        let disk = read.section("disk /home").unwrap();
        assert_eq!((disk.line, disk.get("format")), (8, Some("%avail \"free\"\n")));
        assert_eq!(read.section("load").unwrap().get("format"), Some("%1min"));
        assert_eq!(read.section("run_watch DHCP").unwrap().get("pidfile"), Some("a b"));
        assert_eq!(read.section("nothing"), None);
    }

    #[test]
    fn names_are_found_as_i3status_finds_them() {
        let text = "order += \"cpu_usage 0\"\norder += \"CPU_usage\"\norder += \"Disk /\"\n\
                    cpu_usage { format = \"first\" }\nCPU_Usage { Format = \"last\" }\ndisk \"/\" { format = a }\n\
                    load { format = \"${WHO} \\${WHO} ${NONE:-else}${NONE}\" }\ntime { format = '${WHO}' }";
        let environment = |name: &str| (name == "WHO").then(|| "ann".to_owned());
        let read = Configuration::parse(text, &environment).unwrap();
        for entry in ["cpu_usage 0", "cpu_usage", "CPU_usage"] {
            assert_eq!(
                read.section(entry).and_then(|section| section.get("format")),
                Some("last"),
                "{entry}"
            );
        }
        assert_eq!(read.section("Disk /").and_then(|section| section.get("format")), Some("a"));
        assert_eq!(read.section("load").and_then(|section| section.get("format")), Some("ann ${WHO} else"));
        assert_eq!(read.section("time 1").and_then(|section| section.get("format")), Some("${WHO}"));
        assert_eq!(read.variables, ["WHO", "NONE", "NONE"]);
    }

    #[test]
    fn faults_have_a_place() {
        let place = |text: &str| {
            let error = Configuration::parse(text, &|_| None).unwrap_err();
            (error.line, error.column)
        };
        assert_eq!(place("general {\n  interval 5\n}"), (2, 12));
        assert_eq!(place("order += \"disk"), (1, 10));
        assert_eq!(place("disk / {\n"), (2, 1));
        assert_eq!(place("}"), (1, 1));
        assert_eq!(place("/* never"), (1, 1));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z\"'{}=+,#/*\\\\ \n%é]{0,80}") {
            let _ = Configuration::parse(&text, &|_| Some("x".to_owned()));
        }
    }
}
