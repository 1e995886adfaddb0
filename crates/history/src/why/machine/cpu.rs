//! CPUs: who uses them, who waits for them, and what makes them wait.

use query::QueryError;

use super::cpu_waits::{self, BUSY, CpuWaits, throttled};
use super::words::{count, percent};
use crate::metrics::TASK_TOTALS;
use crate::task_sums::ChurnSummary;
use crate::why::examiner::{Examiner, Share};
use crate::why::finding::{Cost, Found, sentence};
use crate::why::sentence::{Culprit, Evidence, Program, Sentence, Trouble};

const ON_CPU: &str = "rate(whit_task_on_cpu_seconds_total[W])";
/// A program that uses nearly as much as the greatest is named beside it.
const NEARLY: f64 = 0.7;
/// A program that uses fewer CPUs computes nothing worth a sentence.
const MIN_COMPUTED: f64 = 0.7;
/// So many are named at most.
const MAX_HOGS: usize = 2;
/// Fewer starts in each second are no trouble.
const MANY_STARTS: f64 = 200.0;
/// If fewer of what was started have ended as processes, their summary says too little.
const MIN_ENDED: f64 = 0.2;

/// How many CPUs there are, and which part of their time was used.
fn cpus(examiner: &Examiner<'_>) -> Result<Option<(Evidence, Evidence)>, QueryError> {
    let count = examiner.number("count(count by (cpu) (node_cpu_seconds_total))")?;
    let busy = examiner
        .number("1 - sum(rate(node_cpu_seconds_total{mode=~\"idle|iowait|steal\"}[W])) / sum(rate(node_cpu_seconds_total[W]))")?;
    Ok(count.zip(busy))
}

/// Which part of the CPU time was idle. What a hypervisor took away was not.
fn idle_part(examiner: &Examiner<'_>) -> Result<Option<Evidence>, QueryError> {
    examiner.number(
        "sum(rate(node_cpu_seconds_total{mode=~\"idle|iowait\"}[W])) / sum(rate(node_cpu_seconds_total[W]))",
    )
}

/// How long tasks waited, as far as that may be for want of CPUs.
pub(super) fn waits(examiner: &Examiner<'_>) -> Result<Option<CpuWaits>, QueryError> {
    let busy = cpus(examiner)?.map_or(0.0, |(_, busy)| busy.value);
    CpuWaits::find(examiner, busy)
}

/// Processes that are started all the time.
pub(super) fn forks(examiner: &Examiner<'_>) -> Found {
    let rate = examiner.number("rate(node_forks_total[W])")?;
    let Some(rate) = rate.filter(|rate| rate.value > MANY_STARTS) else { return Ok(None) };
    let churn = examiner.watched()?.churn;
    // The counter is of threads, and of all users: what ended says little if it is few of them, or of one user.
    let started = rate.value * (examiner.window.to_ms - examiner.window.from_ms) as f64 / 1e3;
    let is_known = examiner.sees_all && churn.ended as f64 >= started * MIN_ENDED;
    let churn = if is_known { churn } else { ChurnSummary::default() };
    let program = churn.program.as_ref().map(|part| format!("{} were {}", percent(part.ratio), part.comm));
    let ancestor = churn
        .ancestor
        .as_ref()
        .map(|(pid, part)| format!("{} came from {} ({pid})", percent(part.ratio), part.comm));
    let parts: Vec<String> = program.into_iter().chain(ancestor).collect();
    let of_ended = match parts.is_empty() {
        true => String::new(),
        false => format!("; of the processes that ended {}", parts.join(", ")),
    };
    let text = format!("{} processes or threads were started in each second{of_ended}.", count(rate.value));
    let mut waited = waits(examiner)?.map(|waits| waits.waited);
    if let Some((waited, part)) = waited.as_mut().zip(part_of_churn(examiner, &churn)?) {
        waited.value *= part;
    }
    let ancestor = churn.ancestor.map(|(pid, part)| Program::new(part.comm, Some(pid)));
    let program = churn.program.map(|part| Program::new(part.comm, None));
    let culprit = ancestor.or(program).map(Culprit::Program);
    Ok(Some(sentence(Trouble::Forks, Cost::of([waited]), text, culprit, [rate])))
}

/// Returns the part of the CPU waits that new processes cause: the part of the CPU time that they and the process which starts them
/// used, or all of it if they used most. `None` if that is not known: nearly all of them must be of one program.
fn part_of_churn(examiner: &Examiner<'_>, churn: &ChurnSummary) -> Result<Option<f64>, QueryError> {
    const MOST: f64 = 0.5;
    const NEARLY_ALL: f64 = 0.8;
    let ancestor = churn.ancestor.as_ref().map(|(_, part)| part);
    let program = churn.program.as_ref().filter(|part| part.ratio >= NEARLY_ALL);
    let Some(program) = program else { return Ok(None) };
    let mut names: Vec<&str> = [program].into_iter().chain(ancestor).map(|part| part.comm.as_str()).collect();
    names.dedup();
    let Some((count, busy)) = cpus(examiner)? else { return Ok(None) };
    // No record says whose it is; that of processes which end at once is in it.
    let unrecorded = format!("sum(rate({TASK_TOTALS}{{state=\"unrecorded\"}}[W]))");
    let unrecorded = examiner.number(&unrecorded)?.map_or(0.0, |unrecorded| unrecorded.value);
    // That of each program is read for [`super::missing`] as well. One expression a program would be a replay.
    let of_programs = examiner.several(&format!("sum by (comm) ({ON_CPU})"))?;
    let of_churn = of_programs.iter().filter(|program| names.contains(&program.name.get("comm")));
    let used = unrecorded + of_churn.map(|program| program.value).sum::<f64>();
    let part = used / (count.value * busy.value);
    Ok(Some(if part < MOST { part } else { 1.0 }))
}

/// A cgroup that may not use CPUs for longer: that whose tasks were kept from them for longest.
pub(super) fn quota(examiner: &Examiner<'_>) -> Found {
    Ok(quotas(examiner)?.into_iter().next())
}

/// All such cgroups.
pub(super) fn quotas(examiner: &Examiner<'_>) -> Result<Vec<Sentence>, QueryError> {
    throttled(examiner)?.into_iter().map(|cgroup| of_quota(examiner, cgroup)).collect()
}

fn of_quota(examiner: &Examiner<'_>, most: Share) -> Result<Sentence, QueryError> {
    let idle_part = idle_part(examiner)?;
    let idle = idle_part
        .as_ref()
        .map_or(String::new(), |idle| format!(", while {} of the CPU time was idle", percent(idle.value)));
    let (culprit, name) = (most.cgroup(), most.cgroup_name());
    let text =
        format!("The quota of {name} kept its tasks from CPUs for {:.2} s in each second{idle}.", most.value);
    let evidence = [most.evidence].into_iter().chain(idle_part);
    Ok(sentence(Trouble::Quota, Cost::Lost(most.value), text, Some(culprit), evidence))
}

/// Waits for a CPU while CPUs are idle, which no quota explains.
pub(super) fn idle(examiner: &Examiner<'_>) -> Found {
    // A quota explains it, and which tasks it holds is not known.
    if !examiner.knows_cgroups && !throttled(examiner)?.is_empty() {
        return Ok(None);
    }
    let (cpus, waits, idle_part) = (cpus(examiner)?, waits(examiner)?, idle_part(examiner)?);
    let (Some((count, busy)), Some(waits), Some(idle_part)) = (cpus, waits, idle_part) else {
        return Ok(None);
    };
    let waited = waits.waited.clone();
    let idle = idle_part.value * count.value;
    // Tasks that run wait now and then as well.
    if waited.value < 0.3 || idle < 0.35 || waited.value < busy.value * count.value * 0.5 {
        return Ok(None);
    }
    let most = waits.victim(examiner)?;
    let who = most.as_ref().map_or(String::new(), |most| format!("; {}", most.waits_most()));
    let reasons = match cpu_waits::are_quotas_unknown(examiner)? {
        true => {
            "a quota, affinity, a cpuset or bursts can do that, which are not recorded for so short a time"
        }
        false => "affinity, a cpuset or bursts can do that, which are not recorded",
    };
    let text = format!(
        "{} waited {:.2} s in each second for a CPU, while {} of the CPU time was idle: {reasons}{who}.",
        waits.subject(),
        waited.value,
        percent(idle_part.value)
    );
    let cost = Cost::Lost(waited.value);
    let evidence = [waited, idle_part].into_iter().chain(most.map(|share| share.evidence));
    Ok(Some(sentence(Trouble::IdleCpus, cost, text, None, evidence)))
}

/// Tasks that wait for CPUs that others use.
pub(super) fn waiting(examiner: &Examiner<'_>) -> Found {
    let Some((cpus, busy)) = cpus(examiner)? else { return Ok(None) };
    let Some(waits) = CpuWaits::find(examiner, busy.value)? else { return Ok(None) };
    let waited = waits.waited.clone();
    if busy.value < BUSY || waited.value < 0.25 * cpus.value {
        return Ok(None);
    }
    let is_hog = |value: f64, first: Option<f64>| first.is_none_or(|first| value >= first * NEARLY);
    let hogs = examiner.greatest(MAX_HOGS, &[ON_CPU], is_hog)?;
    let victim = waits.victim(examiner)?;
    let victim = victim.filter(|victim| hogs.iter().all(|hog| !hog.is_of(victim)));
    let mut who = match hogs.as_slice() {
        [] => String::new(),
        [hog] => format!("; {} used {:.2} of {:.0} CPUs", hog.label(), hog.value, cpus.value),
        [hog, other, ..] => format!(
            "; {} used {:.2} and {} {:.2} of {:.0} CPUs",
            hog.label(),
            hog.value,
            other.label(),
            other.value,
            cpus.value
        ),
    };
    if let Some(victim) = &victim {
        who += &format!("; {}", victim.waits_most());
    }
    let before = examiner.compared(&waits.expression, " s")?;
    let text = format!(
        "{} waited {:.2} s in each second for a CPU{before}: the CPUs were {} busy{who}.",
        waits.subject(),
        waited.value,
        percent(busy.value)
    );
    // They may wait for nothing but their quota.
    let is_known = !cpu_waits::are_quotas_unknown(examiner)?;
    let culprit = hogs.first().and_then(Share::culprit).filter(|_| is_known);
    let cost = Cost::Lost(waited.value);
    let evidence =
        [waited, busy].into_iter().chain(hogs.into_iter().chain(victim).map(|share| share.evidence));
    Ok(Some(sentence(Trouble::Cpu, cost, text, culprit, evidence)))
}

/// CPU time that a hypervisor gave to other machines.
pub(super) fn steal(examiner: &Examiner<'_>) -> Found {
    let stolen = examiner.number("sum(rate(node_cpu_seconds_total{mode=\"steal\"}[W]))")?;
    let Some((stolen, (cpus, _))) = stolen.zip(cpus(examiner)?) else { return Ok(None) };
    if stolen.value <= 0.1 * cpus.value {
        return Ok(None);
    }
    let part = percent(stolen.value / cpus.value);
    let text = format!("The host gave {part} of this machine's CPU time to others.");
    Ok(Some(sentence(Trouble::Steal, Cost::Lost(stolen.value), text, None, [stolen])))
}

/// Finds the program that computes, where little waits.
pub(super) fn computing(examiner: &Examiner<'_>) -> Found {
    // The question that [`waiting`] asks as well: one pass answers both.
    let is_much = |value: f64, first: Option<f64>| first.is_none() && value > MIN_COMPUTED;
    let hog = examiner.greatest(MAX_HOGS, &[ON_CPU], is_much)?.into_iter().next();
    let waited = cpu_waits::all(examiner)?.map(|(waited, _)| waited);
    let Some(hog) = hog else { return Ok(None) };
    let waits = waited.as_ref().map_or(String::new(), |waited| {
        format!("; tasks waited {:.2} s in each second for a CPU", waited.value)
    });
    let text = format!("{} used {:.2} CPUs{waits}.", hog.label(), hog.value);
    let evidence = [hog.evidence.clone()].into_iter().chain(waited);
    Ok(Some(sentence(Trouble::Computing, Cost::None, text, hog.culprit(), evidence)))
}
