//! Questions about a window, and what was answered.

use formats::series_name::SeriesName;
use query::{Answer, Limits, QueryError};

use super::machine_past::MachinePast;
use super::matchers::{of_cgroup, quoted};
use super::sentence::{Culprit, Evidence, Program, Window};
use crate::metrics;
use crate::past::WatchedSummary;

/// Less of an hour is no hour to compare with.
const MIN_HOUR_MS: i64 = 1_800_000;
const DAY_MS: i64 = 86_400_000;

/// A window, and what can be asked about it.
pub(super) struct Examiner<'p> {
    past: &'p dyn MachinePast,
    limits: &'p Limits<'p>,
    pub(super) window: Window,
    /// The first tick that was recorded, in milliseconds since 1970; the beginning of the window if none was.
    begins_ms: i64,
    /// The requester sees the tasks of all users.
    pub(super) sees_all: bool,
    /// It is known which tasks are in which cgroup.
    pub(super) knows_cgroups: bool,
}

/// A part of a machine's work, by who does it.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) name: SeriesName,
    pub(super) value: f64,
    /// How many processes of that name live at the end, if they are several.
    pub(super) processes: Option<u64>,
    /// Tasks of others, which the requester does not see, may do more.
    is_partial: bool,
    /// What people call its cgroup, and the container whose cgroup it is.
    cgroup_name: String,
    container: Option<String>,
    pub(super) evidence: Evidence,
}

impl<'p> Examiner<'p> {
    pub(super) fn new(past: &'p dyn MachinePast, window: Window, limits: &'p Limits<'p>) -> Self {
        let begins_ms = past.begins_ms().unwrap_or(window.from_ms);
        let (sees_all, knows_cgroups) = (past.sees_all(), past.knows_cgroups());
        Self { past, limits, window, begins_ms, sees_all, knows_cgroups }
    }

    /// As [`MachinePast::is_partial`].
    pub(super) fn is_partial(&self, error: &QueryError) -> bool {
        self.past.is_partial(error)
    }

    /// Writes the window, for which `[W]` stands in an expression, as a range of the language.
    fn fill_in(&self, expression: &str) -> String {
        let length_ms = (self.window.to_ms - self.window.from_ms).max(1);
        let range = match length_ms % 1000 {
            0 => format!("[{}s]", length_ms / 1000),
            _ => format!("[{length_ms}ms]"),
        };
        expression.replace("[W]", &range)
    }

    fn ask(&self, expression: &str) -> Result<Vec<(SeriesName, f64)>, QueryError> {
        Ok(match self.past.answer(expression, self.window.to_ms, self.limits)? {
            Answer::Scalar(point) => vec![(SeriesName::default(), point.value)],
            Answer::Vector(series) => series.into_iter().map(|(name, point)| (name, point.value)).collect(),
            _ => Vec::new(),
        })
    }

    /// The value of an expression; `None` if it has none.
    pub(super) fn number(&self, expression: &str) -> Result<Option<Evidence>, QueryError> {
        let expression = self.fill_in(expression);
        let value = self.ask(&expression)?.first().map(|(_, value)| *value);
        Ok(value.filter(|value| value.is_finite()).map(|value| Evidence { expression, value }))
    }

    /// The values of an expression that has several, in its own order.
    pub(super) fn several(&self, expression: &str) -> Result<Vec<Share>, QueryError> {
        let expression = self.fill_in(expression);
        let found = self.ask(&expression)?.into_iter().filter(|(_, value)| value.is_finite());
        let containers = self.past.container_names();
        let share = |(name, value): (SeriesName, f64)| {
            let evidence = Evidence { expression: expression.clone(), value };
            let cgroup = containers.cgroup_name(name.get("cgroup"));
            let (cgroup_name, container) = (cgroup.to_string(), cgroup.container.map(|one| one.to_string()));
            let is_partial = !self.sees_all;
            Share { name, value, processes: None, is_partial, cgroup_name, container, evidence }
        };
        Ok(found.map(share).collect())
    }

    /// Returns the first value of an expression that has several.
    pub(super) fn first(&self, expression: &str) -> Result<Option<Share>, QueryError> {
        Ok(self.several(expression)?.into_iter().next())
    }

    /// Returns what is watched beside the figures of tasks.
    pub(super) fn watched(&self) -> Result<WatchedSummary, QueryError> {
        self.past.watched([self.window.from_ms, self.window.to_ms], self.limits)
    }

    /// Returns what an expression was in the hour before the window, and a day before, in words; empty if neither is known.
    pub(super) fn compared(&self, expression: &str, unit: &str) -> Result<String, QueryError> {
        let length_s = ((self.window.to_ms - self.window.from_ms) / 1000).max(1);
        let hour = expression.replace("[W]", &format!("[1h] offset {length_s}s"));
        let day = expression.replace("[W]", &format!("[{length_s}s] offset 1d"));
        let recorded_ms = self.window.from_ms - self.begins_ms;
        let mut words = Vec::new();
        for (when, needed_ms, expression) in
            [("in the hour before", MIN_HOUR_MS, hour), ("a day ago", DAY_MS, day)]
        {
            if recorded_ms < needed_ms {
                continue;
            }
            if let Some((_, value)) = self.ask(&expression)?.first().filter(|(_, value)| value.is_finite()) {
                words.push(format!("{when} {value:.2}{unit}"));
            }
        }
        Ok(if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) })
    }

    /// Returns the share that does most of something, which is the sum of some rates.
    pub(super) fn who(&self, rates: &[&str]) -> Result<Option<Share>, QueryError> {
        Ok(self.greatest(1, rates, |_, _| true)?.pop())
    }

    /// Returns the shares that do most of something, which is the sum of some rates, the greatest first: the tasks of one name in a cgroup,
    /// or the process among them that does nearly all of it. `is_named` says of a value whether it is of interest beside that of the first
    /// share, or by itself if it is the first. Those behind one that is not are not looked at, which takes a replay for each.
    pub(super) fn greatest(
        &self,
        count: usize,
        rates: &[&str],
        is_named: impl Fn(f64, Option<f64>) -> bool,
    ) -> Result<Vec<Share>, QueryError> {
        let programs = self.several(&greatest(count, "comm, cgroup", rates))?;
        // Most of them are among these. Asked now, both are read in one replay.
        let processes = self.several(&greatest(count, "comm, cgroup, pid", rates))?;
        let mut shares: Vec<Share> = Vec::new();
        for program in programs.into_iter().filter(|program| program.value > 0.0) {
            let first = shares.first().map(|first| first.value);
            // One process of it does no more.
            if !is_named(program.value, first) {
                break;
            }
            let share = self.narrowed(program, &processes, rates)?;
            if !is_named(share.value, first) {
                break;
            }
            shares.push(share);
        }
        Ok(shares)
    }

    /// The process of a program that does nearly all of it; otherwise the program, with the number of its processes. `busiest` are the
    /// greatest of all processes, in order.
    fn narrowed(&self, program: Share, busiest: &[Share], rates: &[&str]) -> Result<Share, QueryError> {
        let matchers = program.matchers();
        let rates: Vec<String> = rates.iter().map(|rate| with_matchers(rate, &matchers)).collect();
        let expression = greatest(1, "comm, cgroup, pid", &rates);
        let is_most = |process: &Share| process.value > 0.8 * program.value;
        let process = match busiest.iter().find(|process| process.is_of(&program)) {
            Some(process) => {
                let evidence =
                    Evidence { expression: self.fill_in(&expression), value: process.evidence.value };
                Some(Share { evidence, ..process.clone() })
            }
            // No process of it is among the busiest; but each of these does so much that one may have been left out.
            None if busiest.last().is_some_and(is_most) => self.first(&expression)?,
            None => None,
        };
        if let Some(process) = process.filter(is_most) {
            return Ok(process);
        }
        let living = self.number(&format!("count(whit_task_resident_bytes{{{matchers}}})"))?;
        let processes = living.map(|living| living.value as u64).filter(|count| *count > 1);
        Ok(Share { processes, ..program })
    }

    /// The rate of a counter of the tasks in a cgroup and in those below it; `None` if no task is known to be there.
    pub(super) fn part_in(&self, cgroup: &str, counter: &str) -> Result<Option<Evidence>, QueryError> {
        self.number(&format!("sum(rate({counter}{{{}}}[W]))", of_cgroup(cgroup)))
    }

    /// Returns the sum over all tasks and its expression: the recorded total, or the sum over the visible tasks if the requester may not see
    /// that one.
    pub(super) fn total(&self, states: &str, sum: &str) -> Result<Option<(Evidence, String)>, QueryError> {
        if let Some(recorded) = self.recorded_total(states)? {
            return Ok(Some(recorded));
        }
        Ok(self.number(sum)?.map(|evidence| (evidence, sum.to_owned())))
    }

    /// Returns the recorded sum over all tasks and its expression, which takes no pass over tasks.
    pub(super) fn recorded_total(&self, states: &str) -> Result<Option<(Evidence, String)>, QueryError> {
        let recorded = format!("sum(rate({}{{state=~\"{states}\"}}[W]))", metrics::TASK_TOTALS);
        Ok(self.number(&recorded)?.map(|evidence| (evidence, recorded)))
    }
}

/// The greatest sums of some rates by labels.
fn greatest(count: usize, labels: &str, rates: &[impl AsRef<str>]) -> String {
    let sums = rates.iter().map(|rate| format!("sum by ({labels}) ({})", rate.as_ref())).collect::<Vec<_>>();
    format!("topk({count}, {})", sums.join(" + "))
}

/// Adds matchers to the selector of a rate, which is all of it.
fn with_matchers(rate: &str, matchers: &str) -> String {
    let selector = rate.strip_suffix("[W])").unwrap_or(rate);
    match selector.strip_suffix('}') {
        Some(before) => format!("{before},{matchers}}}[W])"),
        None => format!("{selector}{{{matchers}}}[W])"),
    }
}

impl Share {
    /// Returns whether it is a process of the same program in the same cgroup, or that program.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        ["comm", "cgroup"].iter().all(|label| self.name.get(label) == other.name.get(label))
    }

    /// Returns the matchers of its tasks, as they stand between braces.
    pub(super) fn matchers(&self) -> String {
        let labels = ["comm", "cgroup", "pid"].map(|label| (label, self.name.get(label)));
        // The root's path is empty, and so is the number of several processes.
        let known = labels.into_iter().filter(|(label, value)| *label != "pid" || !value.is_empty());
        known.map(|(label, value)| format!("{label}={}", quoted(value))).collect::<Vec<_>>().join(",")
    }

    /// Its program, and its number if it is one process.
    pub(super) fn label(&self) -> String {
        match self.is_partial {
            true => format!("of the tasks that you may see {}", self.label_of_task()),
            false => self.label_of_task(),
        }
    }

    fn label_of_task(&self) -> String {
        let comm = match self.name.get("comm") {
            "" => "a task without a name",
            comm => comm,
        };
        let task = match (self.name.get("pid"), self.processes) {
            ("", Some(count)) => format!("{count} processes named {comm}"),
            ("", None) => format!("processes named {comm}"),
            (pid, _) => format!("{comm} ({pid})"),
        };
        match &self.container {
            Some(container) => format!("{task} in {container}"),
            None => task,
        }
    }

    /// That it waits most, in words.
    pub(super) fn waits_most(&self) -> String {
        format!("{} waited most, {:.2} s in each second", self.label(), self.value)
    }

    /// The program, if no task that is not seen can do more.
    pub(super) fn culprit(&self) -> Option<Culprit> {
        let comm = self.name.get("comm");
        let cgroup = Some(self.name.get("cgroup").to_owned()).filter(|cgroup| !cgroup.is_empty());
        (!comm.is_empty() && !self.is_partial).then(|| {
            Culprit::Program(Program {
                comm: comm.to_owned(),
                pid: self.name.get("pid").parse().ok(),
                cgroup,
                container: self.container.clone(),
            })
        })
    }

    /// The cgroup that it is about.
    pub(super) fn cgroup(&self) -> Culprit {
        Culprit::Cgroup(self.name.get("cgroup").to_owned())
    }

    /// What people call its cgroup.
    pub(super) fn cgroup_name(&self) -> &str {
        &self.cgroup_name
    }
}

#[cfg(test)]
mod tests {
    use query::Query;

    use super::*;

    #[test]
    fn selectors_get_matchers() {
        let matchers = "comm=\"a \\\"b\\\\\",cgroup=\"/x\"";
        for (rate, expected) in [
            ("rate(a_total[W])", format!("rate(a_total{{{matchers}}}[W])")),
            ("rate(b_total{comm!~\"x.*\"}[W])", format!("rate(b_total{{comm!~\"x.*\",{matchers}}}[W])")),
        ] {
            let found = with_matchers(rate, matchers);
            assert_eq!(found, expected);
            assert!(Query::parse(&found.replace("[W]", "[4s]")).is_ok());
        }
        let sums = greatest(2, "comm, pid", &["rate(a_total[W])", "rate(b_total[W])"]);
        assert_eq!(
            sums,
            "topk(2, sum by (comm, pid) (rate(a_total[W])) + sum by (comm, pid) (rate(b_total[W])))"
        );
    }
}
