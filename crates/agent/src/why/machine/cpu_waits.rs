//! How long tasks waited for CPUs, without the waits that no shortage of CPUs explains.

use query::QueryError;

use crate::task_series::LOW_PRIORITY_RUN_QUEUE;
use crate::why::examiner::{Examiner, Share};
use crate::why::matchers::{of_cgroup, quoted};
use crate::why::sentence::Evidence;

pub(super) const RUN_QUEUE: &str = "whit_task_run_queue_seconds_total";
/// A shorter throttled time in each second is left out.
const LEAST_THROTTLED: f64 = 0.1;
/// The waits of so many throttled cgroups are subtracted.
const MOST_THROTTLED: usize = 4;

/// Waits of tasks of ordinary priority that no quota holds.
pub(super) struct CpuWaits {
    /// In seconds in each second.
    pub(super) waited: Evidence,
    /// Its expression, with `W` for the window.
    pub(super) expression: String,
    /// How long tasks of low priority waited: who waited most may be one of them.
    low_priority: f64,
}

impl CpuWaits {
    /// `None` if waits are not recorded.
    pub(super) fn find(examiner: &Examiner<'_>) -> Result<Option<Self>, QueryError> {
        let of_all = examiner.total("run_queue", &format!("sum(rate({RUN_QUEUE}[W]))"))?;
        let Some((waited, mut expression)) = of_all else { return Ok(None) };
        let low_priority = format!("rate({LOW_PRIORITY_RUN_QUEUE}[W])");
        let mut held = Vec::new();
        let low = examiner.number(&low_priority)?.filter(|low| low.value > 0.0);
        if low.is_some() {
            held.push(format!("sum({low_priority})"));
        }
        for cgroup in throttled(examiner)?.iter().take(MOST_THROTTLED) {
            held.push(held_by_quota(examiner, cgroup)?);
        }
        for part in &held {
            expression += &format!(" - {part}");
        }
        let low_priority = low.map_or(0.0, |low| low.value);
        let waited = match held.is_empty() {
            true => Some(waited),
            false => examiner.number(&format!("clamp_min({expression}, 0)"))?,
        };
        Ok(waited.map(|waited| Self { waited, expression, low_priority }))
    }

    /// Who waited most, if that was no task of low priority.
    pub(super) fn victim(&self, examiner: &Examiner<'_>) -> Result<Option<Share>, QueryError> {
        let most = examiner.who(&[&format!("rate({RUN_QUEUE}[W])")])?;
        Ok(most.filter(|most| most.value > self.low_priority))
    }
}

/// The cgroups whose quota kept their tasks from CPUs, the most throttled first.
pub(super) fn throttled(examiner: &Examiner<'_>) -> Result<Vec<Share>, QueryError> {
    let mut found = examiner.several("topk(8, rate(whit_cgroup_throttled_seconds_total[W]))")?;
    found.retain(|cgroup| cgroup.value > LEAST_THROTTLED);
    Ok(found)
}

/// The expression of what the tasks of a throttled cgroup waited. Where they are recorded with another hierarchy, each CPU that is throttled has
/// at least one that waits.
fn held_by_quota(examiner: &Examiner<'_>, cgroup: &Share) -> Result<String, QueryError> {
    let path = cgroup.name.get("cgroup");
    let least = format!("sum(rate(whit_cgroup_throttled_seconds_total{{cgroup={}}}[W]))", quoted(path));
    let of_tasks = format!("sum(rate({RUN_QUEUE}{{{}}}[W]))", of_cgroup(path));
    let waited = examiner.number(&of_tasks)?;
    Ok(if waited.is_some_and(|waited| waited.value >= cgroup.value) { of_tasks } else { least })
}
