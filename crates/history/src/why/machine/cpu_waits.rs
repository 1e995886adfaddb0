//! How long tasks waited for CPUs, without the waits that no shortage of CPUs explains.

use query::QueryError;

use crate::metrics::LOW_PRIORITY_TOTALS;
use crate::why::examiner::{Examiner, Share};
use crate::why::matchers::{of_cgroup, outside_of};
use crate::why::sentence::Evidence;

const RUN_QUEUE: &str = "whit_task_run_queue_seconds_total";
const THROTTLED: &str = "whit_cgroup_throttled_seconds_total";
/// The least throttled time in each second that is reported.
const MIN_THROTTLED: f64 = 0.1;
/// The most throttled cgroups whose tasks' waits are read. Of the others only the throttled time is.
const MAX_ASKED: usize = 4;
/// If a larger part of the CPU time is used, CPUs are scarce.
pub(super) const BUSY: f64 = 0.85;

/// Waits of tasks of ordinary priority that no quota holds.
pub(super) struct CpuWaits {
    /// In seconds in each second.
    pub(super) waited: Evidence,
    /// Its expression, with `W` for the window.
    pub(super) expression: String,
    /// How long tasks of low priority waited: who waited most may be one of them.
    low_priority: f64,
    /// The cgroups whose tasks' waits are left out, by path.
    held: Vec<String>,
    has_quotas: bool,
}

impl CpuWaits {
    /// `None` if waits are not recorded. `busy` is the part of the CPU time that is used.
    pub(super) fn find(examiner: &Examiner<'_>, busy: f64) -> Result<Option<Self>, QueryError> {
        let Some((all, mut expression)) = all(examiner)? else { return Ok(None) };
        let mut parts = Vec::new();
        let low_priority = format!("rate({LOW_PRIORITY_TOTALS}[W])");
        let low = examiner.number(&low_priority)?.map_or(0.0, |low| low.value);
        if low > 0.0 {
            parts.push(format!("sum({low_priority})"));
        }
        let quotas = Quotas::find(examiner, busy)?;
        let has_quotas = !quotas.parts.is_empty();
        parts.extend(quotas.parts);
        let waited = match parts.is_empty() {
            true => Some(all),
            false => {
                expression = format!("clamp_min({expression} - {}, 0)", parts.join(" - "));
                examiner.number(&expression)?
            }
        };
        let held = quotas.asked;
        Ok(waited.map(|waited| Self { waited, expression, low_priority: low, held, has_quotas }))
    }

    /// Returns the tasks that wait, as the subject of a sentence.
    pub(super) fn subject(&self) -> &'static str {
        match (self.low_priority > 0.0, self.has_quotas) {
            (false, false) => "Tasks",
            (true, false) => "Tasks of ordinary priority",
            (false, true) => "Tasks that no quota holds",
            (true, true) => "Tasks of ordinary priority that no quota holds",
        }
    }

    /// Returns the tasks that waited most, if their waits are not left out.
    pub(super) fn victim(&self, examiner: &Examiner<'_>) -> Result<Option<Share>, QueryError> {
        let held: Vec<&str> = self.held.iter().map(String::as_str).collect();
        let rate = match held.is_empty() {
            true => format!("rate({RUN_QUEUE}[W])"),
            false => format!("rate({RUN_QUEUE}{{{}}}[W])", outside_of(&held)),
        };
        let most = examiner.who(&[&rate])?;
        Ok(most.filter(|most| most.value > self.low_priority && most.value <= self.waited.value * 1.05))
    }
}

/// How long all tasks waited for a CPU in each second, and the expression of that.
pub(super) fn all(examiner: &Examiner<'_>) -> Result<Option<(Evidence, String)>, QueryError> {
    examiner.total("run_queue", &format!("sum(rate({RUN_QUEUE}[W]))"))
}

/// The cgroups whose quota kept their tasks from CPUs, the most throttled first.
pub(super) fn throttled(examiner: &Examiner<'_>) -> Result<Vec<Share>, QueryError> {
    let mut found = examiner.several(&format!("topk(8, rate({THROTTLED}[W]))"))?;
    found.retain(|cgroup| cgroup.value > MIN_THROTTLED);
    Ok(found)
}

/// Returns whether there are quotas without two readings in the window: whether they kept tasks from CPUs is unknown then.
pub(super) fn are_quotas_unknown(examiner: &Examiner<'_>) -> Result<bool, QueryError> {
    let are_there = examiner.number(&format!("count({THROTTLED})"))?.is_some();
    Ok(are_there && examiner.number(&format!("count(rate({THROTTLED}[W]))"))?.is_none())
}

/// The waits of tasks that quotas hold.
#[derive(Default)]
struct Quotas {
    /// Expressions that are subtracted from all waits.
    parts: Vec<String>,
    /// The cgroups among them whose tasks were asked, by path.
    asked: Vec<String>,
}

impl Quotas {
    /// On busy CPUs the tasks of a throttled cgroup wait for others as well: then only the time is known for which it was throttled, on each CPU
    /// with at least one task that waited. On idle ones all that they wait is that.
    fn find(examiner: &Examiner<'_>, busy: f64) -> Result<Self, QueryError> {
        let throttled_s = examiner.number(&format!("sum(rate({THROTTLED}[W]))"))?;
        if throttled_s.is_none_or(|throttled_s| throttled_s.value <= 0.0) {
            return Ok(Self::default());
        }
        let mut asked: Vec<String> = Vec::new();
        let mut parts = Vec::new();
        if busy < BUSY {
            for cgroup in outermost(throttled(examiner)?).iter().take(MAX_ASKED) {
                let path = cgroup.name.get("cgroup");
                let of_tasks = format!("sum(rate({RUN_QUEUE}{{{}}}[W]))", of_cgroup(path));
                // Where tasks are recorded with another hierarchy, none of them is known to be in it.
                if examiner.number(&of_tasks)?.is_some_and(|waited| waited.value >= cgroup.value) {
                    asked.push(path.to_owned());
                    parts.push(of_tasks);
                }
            }
        }
        let others: Vec<&str> = asked.iter().map(String::as_str).collect();
        let matchers = if others.is_empty() { String::new() } else { outside_of(&others) };
        parts.push(format!("(sum(rate({THROTTLED}{{{matchers}}}[W])) or vector(0))"));
        Ok(Self { parts, asked })
    }
}

/// Returns the cgroups that are in no other of them.
fn outermost(cgroups: Vec<Share>) -> Vec<Share> {
    let is_in = |inner: &Share, outer: &Share| {
        let outer = outer.name.get("cgroup").trim_end_matches('/');
        inner
            .name
            .get("cgroup")
            .strip_prefix(outer)
            .is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
    };
    let outermost = cgroups.iter().filter(|inner| !cgroups.iter().any(|outer| is_in(inner, outer)));
    outermost.cloned().collect()
}
