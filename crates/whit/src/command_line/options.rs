//! Options that several commands have.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use probe::Roots;

/// How often to repeat.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repeat {
    /// None: once.
    pub(crate) interval: Option<Duration>,
    /// None: until ended.
    pub(crate) count: Option<u64>,
}

pub(crate) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

pub(crate) fn root() -> Arg {
    Arg::new("root")
        .long("root")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .help("Read a captured machine: a directory that holds proc, and perhaps sys")
}

pub(crate) fn roots(matches: &ArgMatches) -> Roots {
    matches.get_one::<PathBuf>("root").map_or_else(Roots::live, Roots::captured)
}

pub(crate) fn json() -> Arg {
    switch("json", "Print the same facts as JSON, a document a line, units in the field names")
}

/// An option that takes seconds.
pub(crate) fn seconds_option(name: &'static str, letter: char, help: &'static str) -> Arg {
    Arg::new(name).long(name).short(letter).value_name("SECS").value_parser(seconds).help(help)
}

/// The option that takes how often to repeat.
pub(crate) fn count_option(letter: char, help: &'static str) -> Arg {
    let at_least_once = value_parser!(u64).range(1..);
    Arg::new("count").long("count").short(letter).value_name("N").value_parser(at_least_once).help(help)
}

/// Seconds with a fraction, from a hundredth to a year.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("\"{text}\" is no number of seconds"))?;
    if !(0.01..=31_536_000.0).contains(&seconds) {
        return Err("from 0.01 to 31536000 seconds".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_bounded() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "nan", "inf", "x", "1e99"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
