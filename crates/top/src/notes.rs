//! Notes on what limits the view, and how to lift it.

use facts::sample::Absence;
use probe::tasks::TaskSource;

use super::session::Session;
use crate::options::OutputKind;
use command::delay_accounting::{ENABLED, Remedy, explain_off};

/// One limit.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) topic: Topic,
    pub(super) text: String,
}

/// The topic of a note. A batch prints one note of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Captured,
    Source,
    Exits,
    Accounting,
    Impossible,
}

impl Session {
    /// Returns notes on what limits the view and how to lift it.
    pub(super) fn notes(&self, view: OutputKind) -> Vec<Note> {
        let mut notes = Vec::new();
        let mut add = |topic: Topic, text: String| notes.push(Note { topic, text });
        if self.is_of_past {
            return notes;
        }
        if self.is_captured {
            add(
                Topic::Captured,
                "A captured machine stands still: this is what tasks did since they began".to_owned(),
            );
            return notes;
        }
        let source = self.tasks.source();
        if let Some((better, refused)) = self.tasks.refused().first() {
            let known = match source {
                TaskSource::Procfs | TaskSource::Sysctl => {
                    "of delays only run queue and block I/O are known, of other users' tasks no I/O"
                }
                TaskSource::Bpf | TaskSource::Taskstats => {
                    "state and memory are known of what is on the screen"
                }
            };
            let remedy = match refused.reason {
                Absence::Denied => "run as root",
                _ => "see whit doctor",
            };
            add(
                Topic::Source,
                format!("– by {}: {known} ({}: {}; {remedy}).", source.name(), better.name(), refused.detail),
            );
        }
        if self.tasks.exits_absence().is_some() && !matches!(source, TaskSource::Procfs | TaskSource::Sysctl)
        {
            add(Topic::Exits, "Tasks that ended between two ticks are not shown: exit records need the initial namespaces (see whit doctor)".to_owned());
        }
        if self.tasks.accounting_on() == Some(false) {
            let remedy = match (self.tasks.may_enable_accounting(), view) {
                (false, _) => Remedy::Administrator,
                (true, OutputKind::Screen) => Remedy::Key,
                (true, OutputKind::Text | OutputKind::Json) => Remedy::Command,
            };
            add(Topic::Accounting, explain_off(remedy));
        } else if self.has_enabled_accounting {
            add(Topic::Accounting, ENABLED.to_owned());
        }
        if self.tasks.impossible_values > 0 {
            let text = match self.tasks.impossible_values {
                1 => "1 wait longer than the clock was left out".to_owned(),
                waits => format!("{waits} waits longer than the clock were left out"),
            };
            add(Topic::Impossible, text);
        }
        notes
    }
}
