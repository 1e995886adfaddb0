//! Memory: what the kernel killed, what it swaps, what waits until some is free.

use query::QueryError;

use super::rates::IO_PRESSURE;
use super::words::{bytes, count, processes};
use crate::why::examiner::{Examiner, Share};
use crate::why::finding::{Cost, Found, sentence};
use crate::why::matchers::{of_cgroup, quoted};
use crate::why::sentence::{Culprit, Evidence, Trouble};

/// A limit in which a smaller part of the waits for memory were does not explain them.
const MIN_PART: f64 = 0.5;
/// If more than this part of all memory was available at each tick, the machine was not short of memory.
const MIN_LEFT: f64 = 0.1;
/// The smallest page that Linux has; /proc/vmstat counts pages.
const PAGE_BYTES: f64 = 4096.0;
/// Waits for memory in each second that are no trouble.
const MIN_WAITED: f64 = 0.05;
/// Fewer pages in each second do not make tasks wait.
const MIN_PAGES: f64 = 200.0;
const RECLAIM: &str = "whit_task_reclaim_seconds_total";
const THRASHING: &str = "whit_task_thrashing_seconds_total";
const SWAP_IN: &str = "whit_task_swap_in_seconds_total";

/// Processes that the kernel killed for want of memory.
pub(super) fn out_of_memory(examiner: &Examiner<'_>) -> Found {
    let Some(kills) =
        examiner.number("increase(node_vmstat_oom_kill[W])")?.filter(|kills| kills.value >= 0.5)
    else {
        return Ok(None);
    };
    let killed = processes(kills.value.max(1.0));
    let limited = limit_of_kills(examiner, kills.value)?;
    let left = available(examiner)?;
    if limited.is_some() || left.is_some() {
        // Who is in the cgroup is not known, so that the largest process of the machine is not named.
        let beside = beside(left.as_ref());
        let reason = match &limited {
            Some(share) => format!("{} reached its memory limit", share.cgroup_name()),
            None => {
                "a limit was reached that is not recorded, or memory was short between two ticks".to_owned()
            }
        };
        let text = format!("The kernel killed {killed}{beside}: {reason}.");
        let culprit = limited.as_ref().map(Share::cgroup);
        let evidence = [kills].into_iter().chain(limited.map(|share| share.evidence)).chain(left);
        return Ok(Some(sentence(Trouble::OutOfMemory, Cost::Failure, text, culprit, evidence)));
    }
    let largest = largest(examiner)?;
    let who = largest.as_ref().map_or(String::new(), |share| {
        format!("; the largest in memory was {} with {}", share.label(), bytes(share.value))
    });
    let text = format!("There was no memory left: the kernel killed {killed}{who}.");
    let culprit = largest.as_ref().and_then(Share::culprit);
    let evidence = [kills].into_iter().chain(largest.map(|share| share.evidence));
    Ok(Some(sentence(Trouble::OutOfMemory, Cost::Failure, text, culprit, evidence)))
}

/// Pages that go to swap and come back.
pub(super) fn swapping(examiner: &Examiner<'_>) -> Found {
    let pages = "rate(node_vmstat_pswpin[W]) + rate(node_vmstat_pswpout[W])";
    let Some(rate) = examiner.number(pages)?.filter(|rate| rate.value > MIN_PAGES) else { return Ok(None) };
    let waits = [SWAP_IN, RECLAIM, THRASHING];
    let waited = total(examiner, "swap_in|reclaim|thrashing", &waits)?.map(|(waited, _)| waited);
    let scarcity = Scarcity::find(examiner, &waits)?;
    let for_disks = examiner.number(IO_PRESSURE)?;
    let cost = match is_most_of_disks(examiner, rate.value)? {
        true => Cost::of([waited, for_disks]),
        false => Cost::of_memory(waited, for_disks),
    };
    let before = examiner.compared(pages, " pages")?;
    let text = format!(
        "{} pages in each second went to swap and back{before}{}.",
        count(rate.value),
        scarcity.words
    );
    let evidence = [rate].into_iter().chain(scarcity.evidence);
    Ok(Some(sentence(Trouble::Swapping, cost, text, scarcity.culprit, evidence)))
}

/// Returns whether pages are at least half of what the disk moves that moves most: tasks wait for disks because of them then.
fn is_most_of_disks(examiner: &Examiner<'_>, pages_per_s: f64) -> Result<bool, QueryError> {
    let [written, read] = ["node_disk_written_bytes_total", "node_disk_read_bytes_total"];
    let moved = examiner.number(&format!("max(rate({written}[W]) + on (device) rate({read}[W]))"))?;
    Ok(moved.is_some_and(|moved| pages_per_s * PAGE_BYTES >= moved.value / 2.0))
}

/// Returns the pages of files in each second that were dropped and read again, if they are most of what a disk moves.
fn read_again(examiner: &Examiner<'_>) -> Result<Option<Evidence>, QueryError> {
    let Some(pages) = examiner.number("rate(node_vmstat_workingset_refault_file[W])")? else {
        return Ok(None);
    };
    let is_most = is_most_of_disks(examiner, pages.value)?;
    Ok(Some(pages).filter(|pages| is_most && pages.value > MIN_PAGES))
}

/// Tasks that wait until memory is freed, or until what was dropped is read again.
pub(super) fn waiting(examiner: &Examiner<'_>) -> Found {
    const STATES: &str = "reclaim|thrashing";
    let is_little = |waited: &Evidence| waited.value <= MIN_WAITED;
    // Mostly they wait for nothing, which the recorded sum says alone.
    if examiner.recorded_total(STATES)?.is_some_and(|(waited, _)| is_little(&waited)) {
        return Ok(None);
    }
    let Some((waited, waits)) = total(examiner, STATES, &[RECLAIM, THRASHING])? else { return Ok(None) };
    if is_little(&waited) {
        return Ok(None);
    }
    let scarcity = Scarcity::find(examiner, &[RECLAIM, THRASHING])?;
    let before = examiner.compared(&waits, " s")?;
    let for_disks = examiner.number(IO_PRESSURE)?;
    let read_again = read_again(examiner)?;
    let (cost, again) = match &read_again {
        Some(pages) => {
            let again = format!("; {} pages in each second were dropped and read again", count(pages.value));
            (Cost::of([Some(waited.clone()), for_disks]), again)
        }
        None => (Cost::of_memory(Some(waited.clone()), for_disks), String::new()),
    };
    let text = format!(
        "Tasks waited {:.2} s in each second for memory to be freed{before}{}{again}.",
        waited.value, scarcity.words
    );
    let evidence = [waited].into_iter().chain(scarcity.evidence).chain(read_again);
    Ok(Some(sentence(Trouble::Memory, cost, text, scarcity.culprit, evidence)))
}

/// Why memory is scarce for those who wait for it: they share what ran out, a cgroup's limit or the machine's memory.
struct Scarcity {
    words: String,
    culprit: Option<Culprit>,
    evidence: Vec<Evidence>,
}

impl Scarcity {
    fn find(examiner: &Examiner<'_>, waits: &[&str]) -> Result<Self, QueryError> {
        let limited = limit_of_waits(examiner, waits)?;
        let rates = waits.iter().map(|counter| format!("rate({counter}[W])")).collect::<Vec<_>>();
        let rates: Vec<&str> = rates.iter().map(String::as_str).collect();
        let waits_most = examiner.who(&rates)?.filter(|share| share.value > 0.05);
        match available(examiner)? {
            Some(left) => Ok(Self::of_limit(left, limited, waits_most)),
            None => Self::of_machine(examiner, waits_most),
        }
    }

    /// The machine had memory: a cgroup's limit ran out if one was reached. Otherwise why it is scarce is not known.
    fn of_limit(left: Evidence, limited: Option<(Share, Bound)>, waits_most: Option<Share>) -> Self {
        let mut words = beside(Some(&left));
        if let Some((share, bound)) = &limited {
            words += &format!(": {} {}", share.cgroup_name(), bound.words());
        }
        if let Some(share) = &waits_most {
            words += &format!("; {} waited most, {:.2} s", share.label(), share.value);
        }
        let culprit = limited.as_ref().map(|(share, _)| share.cgroup());
        let limited = limited.map(|(share, _)| share);
        let shares = [limited, waits_most].into_iter().flatten();
        let evidence = std::iter::once(left).chain(shares.map(|share| share.evidence)).collect();
        Self { words, culprit, evidence }
    }

    /// The process that grew most in the window; if none did, the one that waits most for memory, or is largest.
    fn of_machine(examiner: &Examiner<'_>, waits_most: Option<Share>) -> Result<Self, QueryError> {
        let grown = examiner.first("topk(1, sum by (comm, pid) (delta(whit_task_resident_bytes[W])))")?;
        let (share, words) = match (grown.filter(|share| share.value > 16e6), waits_most) {
            (Some(share), _) => {
                let words = format!("; {} grew by {}", share.label(), bytes(share.value));
                (Some(share), words)
            }
            (None, Some(share)) => {
                let words = format!("; {} waited most, {:.2} s", share.label(), share.value);
                (Some(share), words)
            }
            (None, None) => match largest(examiner)? {
                Some(share) => {
                    let words = format!("; {} has {}", share.label(), bytes(share.value));
                    (Some(share), words)
                }
                None => (None, String::new()),
            },
        };
        let culprit = share.as_ref().and_then(Share::culprit);
        Ok(Self { words, culprit, evidence: share.map(|share| share.evidence).into_iter().collect() })
    }
}

/// How much memory was available at the scarcest tick, if the machine was not short of it.
fn available(examiner: &Examiner<'_>) -> Result<Option<Evidence>, QueryError> {
    let left = examiner.number("min_over_time(node_memory_MemAvailable_bytes[W])")?;
    let part =
        examiner.number("min_over_time(node_memory_MemAvailable_bytes[W]) / node_memory_MemTotal_bytes")?;
    Ok(left.filter(|_| part.is_some_and(|part| part.value > MIN_LEFT)))
}

fn beside(left: Option<&Evidence>) -> String {
    left.map_or(String::new(), |left| format!(", while {} of memory was available", bytes(left.value)))
}

/// A bound that a cgroup's memory can be held by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// Beyond it nothing is given.
    Limit,
    /// `memory.high`, beyond which tasks are slowed down.
    High,
}

impl Bound {
    fn counter(self) -> &'static str {
        match self {
            Self::Limit => "whit_cgroup_memory_limit_reached_total",
            Self::High => "whit_cgroup_memory_high_passed_total",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Limit => "reached its memory limit",
            Self::High => "passed its memory.high",
        }
    }
}

/// The cgroups whose counter grew, the innermost first. The counters of a cgroup contain those of the cgroups in it.
fn innermost(examiner: &Examiner<'_>, counter: &str) -> Result<Vec<Share>, QueryError> {
    let mut found = examiner.several(&format!("topk(8, increase({counter}[W]))"))?;
    found.retain(|share| share.value >= 0.5);
    found.sort_by_key(|share| std::cmp::Reverse(share.name.get("cgroup").matches('/').count()));
    Ok(found)
}

/// The cgroup whose limit ran out for more than half of the kills. A kill counts where the process was; the limit is one that was reached.
fn limit_of_kills(examiner: &Examiner<'_>, kills: f64) -> Result<Option<Share>, QueryError> {
    for cgroup in innermost(examiner, "whit_cgroup_oom_kills_total")? {
        if cgroup.value > kills * MIN_PART && has_reached_limit(examiner, &cgroup)? {
            return Ok(Some(cgroup));
        }
    }
    Ok(None)
}

/// Returns whether the limit of a cgroup was reached in the window.
fn has_reached_limit(examiner: &Examiner<'_>, cgroup: &Share) -> Result<bool, QueryError> {
    let (counter, path) = (Bound::Limit.counter(), quoted(cgroup.name.get("cgroup")));
    let reached = examiner.number(&format!("increase({counter}{{cgroup={path}}}[W])"))?;
    Ok(reached.is_some_and(|reached| reached.value >= 0.5))
}

fn largest(examiner: &Examiner<'_>) -> Result<Option<Share>, QueryError> {
    examiner.first("topk(1, sum by (comm, pid) (max_over_time(whit_task_resident_bytes[W])))")
}

/// The cgroup that was held by a bound in the window, and in which at least half of the waits for memory were, as far as that is known.
fn limit_of_waits(examiner: &Examiner<'_>, waits: &[&str]) -> Result<Option<(Share, Bound)>, QueryError> {
    if !examiner.knows_cgroups {
        return Ok(None);
    }
    let waits = known(examiner, waits)?;
    let of_all = match waits.is_empty() {
        true => None,
        false => examiner.number(&sum_of(&waits, ""))?,
    };
    for bound in [Bound::Limit, Bound::High] {
        for cgroup in innermost(examiner, bound.counter())? {
            let is_most = match &of_all {
                None => true,
                Some(all) => {
                    let in_it = examiner.number(&sum_of(&waits, &of_cgroup(cgroup.name.get("cgroup"))))?;
                    in_it.is_none_or(|part| part.value > all.value * MIN_PART)
                }
            };
            if is_most {
                return Ok(Some((cgroup, bound)));
            }
        }
    }
    Ok(None)
}

/// Returns the time that all tasks waited together, by the recorded totals of some states or else by the counters of the tasks that are
/// seen. One that a kernel does not have adds nothing; `None` if all are missing.
fn total(
    examiner: &Examiner<'_>,
    states: &str,
    counters: &[&str],
) -> Result<Option<(Evidence, String)>, QueryError> {
    let known = known(examiner, counters)?;
    if known.is_empty() { Ok(None) } else { examiner.total(states, &sum_of(&known, "")) }
}

/// Returns those of some counters of tasks that are recorded.
fn known<'c>(examiner: &Examiner<'_>, counters: &[&'c str]) -> Result<Vec<&'c str>, QueryError> {
    let mut known = Vec::new();
    for counter in counters {
        if examiner.number(&format!("sum(rate({counter}[W]))"))?.is_some() {
            known.push(*counter);
        }
    }
    Ok(known)
}

/// The sum of the rates of several counters of tasks.
fn sum_of(counters: &[&str], matchers: &str) -> String {
    let sums = counters.iter().map(|counter| format!("sum(rate({counter}{{{matchers}}}[W]))"));
    sums.collect::<Vec<_>>().join(" + ")
}
