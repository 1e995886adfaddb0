//! The kinds of checks that whit does itself: one row each. A new kind is a file with a [`Probe`], and a row.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use configuration::{Fault, Options};
use http_client::KeptClients;

use super::outcome::Outcome;
use super::probe::{Limits, Probe};
use super::{certificate, expression, files, http, names, ping, processes, tcp, units};
use crate::runner::RunCost;
use crate::status::Finding;

/// A kind of check. Its name is the option whose value is the subject: a host, a path, an expression.
#[derive(Debug)]
pub struct Kind {
    /// The option.
    pub name: &'static str,
    /// The subject in words, with `{}` for its text.
    about: &'static str,
    /// Its other options.
    pub options: &'static [&'static str],
    /// The row of docs/CHECKS.md.
    pub documentation: &'static str,
    /// Reads its other options; the subject is given to be checked.
    read: Read,
}

/// Reads the options of a table for a subject.
type Read = fn(&Options<'_, '_>, &str) -> Result<Arc<dyn Probe>, Fault>;

/// All kinds.
pub static KINDS: [Kind; 9] = [
    Kind {
        name: "expression",
        about: "the expression {}",
        options: &["state", "for"],
        documentation: "PromQL over what the agent records ([QUERY.md](QUERY.md)): each series of its answer is a problem. `state`: `critical`, `warning` or `unknown`. `for = \"2m\"`: only if the series is there all the time. `'node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes < 0.1'`",
        read: expression::read,
    },
    Kind {
        name: "tcp",
        about: "a connection to {}",
        options: &[],
        documentation: "a server accepts connections: `\"{address}:22\"`",
        read: tcp::read,
    },
    Kind {
        name: "http",
        about: "a request of {}",
        options: &["status", "contains", "slow"],
        documentation: "a web server answers: `\"https://{address}/\"`; `status` (any below 400), `contains` a text, `slow` is a warning",
        read: http::read,
    },
    Kind {
        name: "dns",
        about: "the addresses of {}",
        options: &["addresses", "slow"],
        documentation: "a name has an address, and those of `addresses`; `slow` is a warning",
        read: names::read,
    },
    Kind {
        name: "ping",
        about: "a ping of {}",
        options: &["packets", "slow"],
        documentation: "a host answers `packets` (5) echo requests: if some are lost, that is a warning; `slow` is one, too. Needs root, or `net.ipv4.ping_group_range`",
        read: ping::read,
    },
    Kind {
        name: "certificate",
        about: "the certificate of {}",
        options: &["warn_before", "critical_before"],
        documentation: "the certificate of a TLS server is trusted: `\"{address}:443\"`. It is a warning `warn_before` (30 days) it expires, and critical `critical_before` (7 days)",
        read: certificate::read,
    },
    Kind {
        name: "unit",
        about: "the unit {} of systemd",
        options: &[],
        documentation: "the unit of systemd is active: `\"nginx.service\"`; of a pattern, `\"*\"`, none has failed",
        read: units::read,
    },
    Kind {
        name: "file",
        about: "the age and size of {}",
        options: &["older", "smaller", "most"],
        documentation: "`older` than an age or `smaller` than a size is critical. Of a directory: `most` files, or files that are `older`",
        read: files::read,
    },
    Kind {
        name: "process",
        about: "processes called {}",
        options: &["least", "most"],
        documentation: "`least` (1) and `most` processes with this name",
        read: processes::read,
    },
];

/// A check without a process. Two are equal if all their options are.
#[derive(Clone, Debug)]
pub struct Native {
    kind: &'static Kind,
    subject: String,
    probe: Arc<dyn Probe>,
}

impl PartialEq for Native {
    fn eq(&self, other: &Self) -> bool {
        let options = |native: &Self| format!("{:?}", native.probe);
        (self.kind.name, &self.subject) == (other.kind.name, &other.subject)
            && options(self) == options(other)
    }
}

impl Native {
    /// Reads a table; `None` if it has none of the kinds.
    pub(crate) fn read(table: &Options<'_, '_>) -> Result<Option<Self>, Fault> {
        let mut kinds = KINDS.iter().filter(|kind| table.get(kind.name).is_some());
        let Some(kind) = kinds.next() else { return Ok(None) };
        if let Some(second) = kinds.next() {
            return Err(table.fault_of(second.name, "a check looks at one thing"));
        }
        let subject = table.required_text(kind.name, "\"…\"")?.to_owned();
        let probe = (kind.read)(table, &subject)?;
        Ok(Some(Self { kind, subject, probe }))
    }

    /// Returns it with the values of its variables.
    pub(crate) fn filled(&self, fill: impl Fn(&str) -> Result<String, String>) -> Result<Self, String> {
        let is_filled = self.probe.has_variables();
        let subject = if is_filled { fill(&self.subject)? } else { self.subject.clone() };
        Ok(Self { subject, ..self.clone() })
    }

    /// Says what it looks at.
    pub fn about(&self) -> String {
        self.kind.about.replace("{}", &self.subject) + &self.probe.condition()
    }

    /// Looks, and measures how long that takes; `history` is that of the agent.
    pub(crate) fn run(&self, timeout: Duration, history: &Path, clients: &KeptClients) -> (Finding, RunCost) {
        let begun = Instant::now();
        let Outcome { state, text, figures } =
            self.probe.run(&self.subject, &Limits { timeout, history, clients });
        let at_ms = jiff::Timestamp::now().as_millisecond();
        let cost = RunCost { wall_ns: begun.elapsed().as_nanos() as u64, ..RunCost::default() };
        (Finding { state, text, figures, at_ms, ..Finding::default() }, cost)
    }
}

/// Returns the options of all kinds, each once.
pub(crate) fn options() -> Vec<&'static str> {
    let of_kind = |kind: &'static Kind| std::iter::once(kind.name).chain(kind.options.iter().copied());
    let mut names: Vec<&str> = KINDS.iter().flat_map(of_kind).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference of users is what the table says.
    #[test]
    fn the_document_has_every_kind() {
        let document = include_str!("../../../../docs/CHECKS.md");
        for kind in &KINDS {
            let row = format!("| `{}` | {} |", kind.name, kind.documentation);
            assert!(document.lines().any(|line| line == row), "docs/CHECKS.md lacks: {row}");
            for option in kind.options {
                assert!(row.contains(&format!("`{option}")), "{row} does not name {option}");
            }
        }
    }
}
