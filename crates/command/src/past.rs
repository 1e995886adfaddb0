//! The past for commands that otherwise show the present: a machine, its tasks and what stands out, at any recorded instant.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use ::history::past::Past;
use ::query::{Answer, Limits, Query, QueryError};
use facts::container::ContainerNames;
use facts::sample::Clock;
use facts::task::TaskRow;
use facts::task::store::TaskStore;
use sampling::machine::MachineSampler;
use sampling::task_labels::TaskLabels;
use sampling::tasks::TaskSampler;
use store::StoreError;
use text::printable::Shown as _;

use crate::failure::Failure;
use crate::past_origin::{self, PastOrigin};
use crate::paths;
use crate::time_zone::written;

pub use ::history::past::EndedProcess;

/// A history, as it was when it was opened.
pub struct PastView {
    directory: PathBuf,
    past: Past,
    /// The first and the last tick, in nanoseconds since 1970.
    extent_ns: (i64, i64),
}

/// How far a spike is looked for, and in how many steps.
const SPIKE_RANGE_MS: i64 = 3_600_000;
const SPIKE_STEPS: i64 = 360;

impl PastView {
    /// Opens the history of a data directory.
    ///
    /// # Errors
    /// If there is none, or nothing is in it.
    pub fn open(directory: &Path) -> Result<Self, Failure> {
        let past = open(directory)?;
        let extent = past.extent_ns().map_err(|error| unreadable(directory, &error))?;
        let extent_ns =
            extent.ok_or_else(|| Failure::new(format!("{}: nothing is recorded yet", directory.shown())))?;
        Ok(Self { directory: directory.to_owned(), past, extent_ns })
    }

    /// Looks at what was recorded meanwhile, too.
    pub fn reopen(&mut self) -> Result<(), Failure> {
        *self = Self::open(&self.directory)?;
        Ok(())
    }

    /// The first and the last tick, in nanoseconds since 1970.
    pub fn extent_ns(&self) -> (i64, i64) {
        self.extent_ns
    }

    /// The first tick that has one before it, which rates need, and tasks, in nanoseconds since 1970.
    pub fn oldest_ns(&self) -> Result<i64, Failure> {
        let first_tasks = self.past.first_tasks_ns().map_err(|error| unreadable(&self.directory, &error))?;
        let first_ns = self.extent_ns.0.max(first_tasks.unwrap_or(i64::MIN));
        Ok(self.tick_after(first_ns)?.unwrap_or(first_ns))
    }

    /// The machine at the last tick before a time in nanoseconds since 1970.
    ///
    /// # Errors
    /// If nothing was recorded then.
    pub fn machine_at(&self, at_ns: i64) -> Result<MachineSampler, Failure> {
        let machine = self.past.machine_at(at_ns).map_err(|error| unreadable(&self.directory, &error))?;
        let machine = machine.ok_or_else(|| self.nothing_at(at_ns))?;
        Ok(MachineSampler::of_past(machine.before, machine.now))
    }

    fn nothing_at(&self, at_ns: i64) -> Failure {
        let (first, last) = self.extent_ns;
        Failure::new(format!(
            "nothing was recorded at {}: the history is from {} to {}",
            written(at_ns),
            written(first),
            written(last)
        ))
    }

    /// Lets a sampler have the tasks of the last reading before a time in nanoseconds since 1970, and their cgroups and command lines be
    /// known.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn show_tasks(
        &self,
        at_ns: i64,
        tasks: &mut TaskSampler,
        labels: &mut TaskLabels,
    ) -> Result<(), Failure> {
        let found = self.past.tasks_at(at_ns).map_err(|error| unreadable(&self.directory, &error))?;
        let found =
            found.ok_or_else(|| Failure::new(format!("no tasks were recorded at {}", written(at_ns))))?;
        tasks.show_past(found.store, found.unrecorded_cpu, found.lost_exits);
        labels.show_past(found.cgroups, found.command_lines);
        Ok(())
    }

    /// The names of containers that the history knows.
    pub fn container_names(&self) -> ContainerNames {
        self.past.container_names().clone()
    }

    /// All tasks at the last reading before a time in nanoseconds since 1970, and when that was.
    ///
    /// # Errors
    /// If none were recorded then.
    pub fn tasks(&self, at_ns: i64) -> Result<(TaskStore, Clock), Failure> {
        let found = self.past.tasks_at(at_ns).map_err(|error| unreadable(&self.directory, &error))?;
        let found = found.ok_or_else(|| self.nothing_at(at_ns))?;
        Ok((found.store, found.clock))
    }

    /// The processes that ended between two times in nanoseconds since 1970 and are wanted.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn ended_processes(
        &self,
        times_ns: [i64; 2],
        is_wanted: impl Fn(&TaskRow) -> bool,
    ) -> Result<Vec<EndedProcess>, Failure> {
        self.past.ended_processes(times_ns, is_wanted).map_err(|error| unreadable(&self.directory, &error))
    }

    /// The first tick after a time in nanoseconds since 1970; `None` if there is none.
    pub fn tick_after(&self, at_ns: i64) -> Result<Option<i64>, Failure> {
        self.past.tick_after(at_ns).map_err(|error| unreadable(&self.directory, &error))
    }

    /// The first tick after a time at which the machine can be shown, in nanoseconds since 1970.
    pub fn machine_after(&self, at_ns: i64) -> Result<Option<i64>, Failure> {
        self.past.machine_after(at_ns).map_err(|error| unreadable(&self.directory, &error))
    }

    /// Returns the last tick up to a time, in nanoseconds since 1970.
    pub fn tick_until(&self, at_ns: i64) -> Result<Option<i64>, Failure> {
        self.past.tick_until(at_ns).map_err(|error| unreadable(&self.directory, &error))
    }

    /// The next time, or the one before, at which an expression stands out from its hour, in nanoseconds since 1970. `expression` is
    /// given the range of its rates.
    pub fn next_spike(
        &self,
        expression: impl FnOnce(&str) -> String,
        at_ns: i64,
        is_forward: bool,
    ) -> Result<Option<i64>, Failure> {
        let [at_ms, first_ms, last_ms] = [at_ns, self.extent_ns.0, self.extent_ns.1].map(|ns| ns / 1_000_000);
        let (from_ms, to_ms) = match is_forward {
            true => (at_ms, at_ms.saturating_add(SPIKE_RANGE_MS).min(last_ms)),
            false => (at_ms.saturating_sub(SPIKE_RANGE_MS).max(first_ms), at_ms),
        };
        let step_ms = ((to_ms - from_ms) / SPIKE_STEPS).max(1000);
        // Two steps, and at least four ticks of a second.
        let range = format!("{}ms", (step_ms * 2).max(4000));
        let query = Query::parse(&expression(&range)).map_err(|error| Failure::new(error.to_string()))?;
        let answer = query.between(&self.past, [from_ms, to_ms], step_ms, &Limits::default());
        let Answer::Matrix(series) = answer.map_err(|error| Failure::new(error.to_string()))? else {
            return Ok(None);
        };
        let points = series.into_iter().next().map(|(_, points)| points).unwrap_or_default();
        let mut values: Vec<(i64, f64)> = points.iter().map(|point| (point.at_ms, point.value)).collect();
        if !is_forward {
            values.reverse();
        }
        Ok(first_spike(&values).map(|at_ms| at_ms.saturating_mul(1_000_000)))
    }

    /// Divides the history into `count` equal parts. Each says whether anything was recorded then, and whether an alert fired.
    pub fn parts(&self, count: usize) -> Result<Vec<Part>, Failure> {
        let (first, last) = self.extent_ns;
        let length = (last - first).max(1);
        let place = |at_ns: i64| {
            let part = (at_ns.clamp(first, last) - first) as i128 * count as i128 / i128::from(length);
            (part as usize).min(count.saturating_sub(1))
        };
        let mut parts = vec![Part::default(); count];
        if count == 0 {
            return Ok(parts);
        }
        let history = self.past.history();
        let failed = |error: StoreError| unreadable(&self.directory, &error);
        for (from, to) in history.spans().map_err(failed)? {
            parts[place(from)..=place(to)].iter_mut().for_each(|part| part.is_recorded = true);
        }
        let alerts: Vec<&str> = history
            .series()
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| name.starts_with("ALERTS{") && name.contains("alertstate=\"firing\""))
            .collect();
        history
            .read_all(&alerts, first, last, |_, reading| {
                if let store::Reading::Sample(sample) = reading {
                    parts[place(sample.clock.realtime.0.cast_signed())].has_alert = true;
                }
            })
            .map_err(failed)?;
        Ok(parts)
    }
}

/// The contents of a part of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Something was recorded then.
    pub is_recorded: bool,
    /// An alert fired then.
    pub has_alert: bool,
}

fn unreadable(directory: &Path, error: &StoreError) -> Failure {
    Failure::new(format!("{}: {error}", directory.shown()))
}

/// The highest value of the first stretch of values that are far above the middle one. The stretch in which the values begin is not
/// one: that is where one comes from.
fn first_spike(values: &[(i64, f64)]) -> Option<i64> {
    let middle = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let usual = middle(values.iter().map(|(_, value)| *value).collect())?;
    let spread = middle(values.iter().map(|(_, value)| (value - usual).abs()).collect())?;
    let limit = (usual + 5.0 * spread).max(usual * 1.5);
    let is_high = |value: f64| value > limit;
    let mut rest =
        values.iter().skip_while(|(_, value)| is_high(*value)).skip_while(|(_, value)| !is_high(*value));
    let mut highest = *rest.next()?;
    for point in rest.take_while(|(_, value)| is_high(*value)) {
        if point.1 > highest.1 {
            highest = *point;
        }
    }
    Some(highest.0)
}

/// Finds the directory of the past that is read, as [`past_origin::find`] does.
///
/// # Errors
/// As that, and if the history is that of an agent which would have to be asked.
pub fn directory(named: Option<&Path>) -> Result<PathBuf, Failure> {
    match past_origin::find(named)? {
        PastOrigin::Directory(directory) => Ok(directory),
        PastOrigin::Server(url) => Err(Failure::new(format!(
            "the agent's history may be read by its own user and by root; {url} answers whit query, plot and why"
        ))),
    }
}

/// Returns the failure of a history that is not there. It says what makes one, and whether the machine's service has ended.
pub fn no_history(path: &Path) -> Failure {
    // Other commands of root keep files there, too.
    let has_service = std::fs::metadata(paths::SERVICE_DATA).is_ok_and(|found| found.uid() != 0);
    let is_service_down = has_service && !paths::system_agent_socket().exists();
    let more = if is_service_down { "; the machine's agent does not run: systemctl status whit" } else { "" };
    Failure::new(format!("{}: there is none yet; whit agent makes it{more}", path.shown()))
}

/// Returns whether a file of a data directory is there.
///
/// # Errors
/// If this user may not look: it can be there.
pub fn is_there(path: &Path) -> Result<bool, Failure> {
    path.try_exists().map_err(|error| unseen(path, &error))
}

/// Returns the failure to find out whether a file exists.
pub fn unseen(path: &Path, error: &std::io::Error) -> Failure {
    let more = match error.kind() {
        std::io::ErrorKind::PermissionDenied => "; its own user and root may read it",
        _ => "",
    };
    Failure::new(format!("{}: {error}{more}", path.shown()))
}

/// Opens the history of a data directory.
pub fn open(directory: &Path) -> Result<Past, Failure> {
    let path = directory.join(::history::HISTORY);
    if !is_there(&path)? {
        return Err(no_history(&path));
    }
    Past::open(&path).map_err(|error| Failure::new(format!("{}: {error}", path.shown())))
}

/// Describes the error, with the line of the expression and a mark under the place.
pub fn explain(expression: &str, error: &QueryError) -> Failure {
    let QueryError::Malformed(fault) = error else { return Failure::new(error.to_string()) };
    let Some((line, column)) = fault.line_and_column(expression) else {
        return Failure::usage(fault.message.clone());
    };
    let shown = expression.lines().nth(line - 1).unwrap_or_default();
    let place = if expression.lines().count() > 1 { format!("line {line}, ") } else { String::new() };
    let mark = " ".repeat(column - 1);
    Failure::usage(format!("{place}column {column}: {}\n  {}\n  {mark}^", fault.message, shown.shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_is_far_above_the_rest() {
        let values = |values: &[f64]| -> Vec<(i64, f64)> { (0..).zip(values.iter().copied()).collect() };
        assert_eq!(first_spike(&values(&[1.0, 1.1, 0.9, 1.0, 5.0, 7.0, 6.0, 1.0, 9.0, 1.0])), Some(5));
        // From within one to the next.
        assert_eq!(first_spike(&values(&[7.0, 6.0, 1.0, 1.1, 1.0, 1.0, 0.9, 8.0, 1.0])), Some(7));
        assert_eq!(first_spike(&values(&[1.0, 1.2, 0.9, 1.1, 1.0])), None);
        assert_eq!(first_spike(&values(&[0.0, 0.0, 0.0, 0.2, 0.0])), Some(3));
        assert_eq!(first_spike(&[]), None);
    }
}
