//! The machines of a fleet, by what a store elsewhere has of them: their agents send it by remote write, and it answers as Prometheus does.
//!
//! The store is asked a fixed number of questions (`questions`), whatever the number of machines.

#![forbid(unsafe_code)]

mod machine;
mod options;
mod past;
mod questions;
mod rank;
mod uses;
mod why;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use query::Answer;
use remote_store::RemoteStore;

pub use remote_store::Asked;

pub use machine::{CheckCounts, FiringAlert, FullestFilesystem, Largest, Machine, Severity, Trouble, Wait};
pub use options::{FleetOptions, matchers, read};
pub use past::FleetPast;
pub use uses::{MachineUses, Use};

use questions::{LAST_SEEN, QUESTIONS, Question, SIGN_OF_LIFE};

/// Thousands of machines take some megabytes.
const MAX_ANSWER_BYTES: u64 = 64 << 20;
const TOO_SLOW: &str = "the store answers too slowly";
/// The label that names a machine, as remote write adds it.
pub const INSTANCE: &str = "instance";
/// A machine is listed if it has sent something in this time.
const DAY_MS: i64 = 86_400_000;
/// The store is asked for the last sample of so many silent machines at most.
const MAX_SILENT: usize = 100;

/// A store that has the series of a fleet.
#[derive(Clone, Debug)]
pub struct Fleet {
    store: RemoteStore,
    /// What each selector of a question contains as well: `env="prod"`.
    matchers: String,
}

/// A fleet at an instant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The instant, in milliseconds since 1970.
    pub at_ms: i64,
    /// The machines, those in trouble first.
    pub machines: Vec<Machine>,
    /// Questions that the store did not answer, and why: their figures are missing.
    pub faults: Vec<String>,
}

impl Fleet {
    /// Takes the store of these options, each of whose answers may take so long.
    pub fn new(options: &FleetOptions, longest: Duration) -> Self {
        let store =
            RemoteStore::with(&options.url, options.headers.clone(), &options.tls, longest, MAX_ANSWER_BYTES);
        Self { store, matchers: options.matchers.clone() }
    }

    /// Asks for all machines that were seen in the day before an instant in milliseconds since 1970. After the deadline nothing more is asked.
    ///
    /// # Errors
    /// If the store cannot be asked which machines there are, and when they were seen. What else it does not answer is missing.
    pub fn at(&self, at_ms: i64, deadline: Instant) -> Result<Snapshot, String> {
        let selector = format!("{SIGN_OF_LIFE}{{{}}}", self.matchers);
        let names = self.store.label_values(INSTANCE, &selector, [at_ms - DAY_MS, at_ms])?;
        let mut machines: BTreeMap<String, Machine> =
            names.into_iter().map(|name| (name.clone(), Machine::new(name))).collect();
        // Without this answer all machines would count as silent.
        self.ask(&LAST_SEEN, &mut machines, at_ms)?;
        let mut faults = Vec::new();
        for question in &QUESTIONS {
            if Instant::now() >= deadline {
                faults.push(TOO_SLOW.to_owned());
                break;
            }
            faults.extend(self.ask(question, &mut machines, at_ms).err());
        }
        if faults.is_empty() && Instant::now() < deadline {
            self.ask_for_silent(&mut machines, at_ms, &mut faults);
        }
        let mut machines: Vec<Machine> = machines.into_values().collect();
        machines.iter_mut().for_each(|machine| machine.judge(at_ms));
        machines.sort_by(Machine::worse_first);
        Ok(Snapshot { at_ms, machines, faults })
    }

    /// Lets all machines learn from the answer to a question.
    fn ask(
        &self,
        question: &Question,
        machines: &mut BTreeMap<String, Machine>,
        at_ms: i64,
    ) -> Result<(), String> {
        let expression = question.expression.replace("$match", &self.matchers);
        if let Answer::Vector(series) = self.store.ask(&expression, Asked::At { at_ms })? {
            for (name, point) in series {
                if let Some(machine) = machines.get_mut(name.get(INSTANCE)) {
                    (question.learn)(machine, &name, point.value);
                }
            }
        }
        Ok(())
    }

    /// Returns the answers to expressions about one machine, at each step of a time in milliseconds since 1970; an error is in the place of its
    /// expression.
    pub fn of_machine(
        &self,
        machine: &str,
        expressions: &[String],
        asked: Asked,
        deadline: Instant,
    ) -> Vec<Result<Answer, String>> {
        let ask = |expression: &String| {
            if Instant::now() >= deadline {
                return Err(TOO_SLOW.to_owned());
            }
            let restricted = query::restricted(expression, (INSTANCE, machine), &self.matchers);
            self.store.ask(&restricted.map_err(|error| error.to_string())?, asked)
        };
        expressions.iter().map(ask).collect()
    }

    /// Asks when machines were seen last that are silent now.
    fn ask_for_silent(&self, machines: &mut BTreeMap<String, Machine>, at_ms: i64, faults: &mut Vec<String>) {
        let silent = machines.values().filter(|machine| machine.seen_ns.is_none());
        let names: Vec<String> = silent.take(MAX_SILENT).map(|machine| escaped(&machine.name)).collect();
        if names.is_empty() {
            return;
        }
        // The last instants of a series, of a step at which the store looks back far enough.
        let expression = format!(
            "count by ({INSTANCE}) ({SIGN_OF_LIFE}{{{INSTANCE}=~\"{}\",{}}})",
            names.join("|"),
            self.matchers
        );
        let asked = Asked::Between { from_ms: at_ms - DAY_MS, to_ms: at_ms, step_ms: 300_000 };
        match self.store.ask(&expression, asked) {
            Ok(Answer::Matrix(series)) => {
                for (name, points) in series {
                    if let Some(machine) = machines.get_mut(name.get(INSTANCE)) {
                        machine.silent_since_ns = points.last().map(|point| point.at_ms * 1_000_000);
                    }
                }
            }
            Ok(_) => {}
            Err(error) => faults.push(error),
        }
    }
}

/// Writes a name as a regular expression between quotes that matches nothing else.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for letter in name.chars() {
        match letter {
            '\\' => escaped.push_str(r"\\\\"),
            '"' => escaped.push_str("\\\""),
            '.' | '+' | '*' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '^' | '$' => {
                escaped.extend([r"\\", letter.encode_utf8(&mut [0; 4])]);
            }
            letter if letter.is_control() => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(letter));
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_itself_in_a_pattern() {
        for name in ["web-1.example:9140", "a\"b\\c", "web\u{2013}1", "a\tb", "(x|y)*[z]^$"] {
            let selector = format!("up{{instance=~\"{}\"}}", escaped(name));
            let matchers = query::parse_selector(&selector).unwrap();
            let own = matchers.iter().find(|matcher| matcher.label == INSTANCE).unwrap();
            assert!(
                own.accepts(name) && !own.accepts("web-1xexample:9140") && !own.accepts("x"),
                "{selector}"
            );
        }
    }
}
