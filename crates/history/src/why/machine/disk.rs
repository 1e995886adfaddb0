//! Disks: who waits for them and why, and what is full.

use facts::task::wait::WaitReason;
use query::QueryError;

use super::rates::{IO_PRESSURE, of_programs};
use super::words::{bytes, percent};
use crate::metrics::UNINTERRUPTIBLE;
use crate::why::examiner::{Examiner, Share};
use crate::why::finding::{Cost, Found, sentence};
use crate::why::matchers::quoted;
use crate::why::sentence::{Culprit, Evidence, Trouble};

const BLOCK_IO: &str = "rate(whit_task_block_io_seconds_total[W])";
const BLOCK_IO_COUNTER: &str = "whit_task_block_io_seconds_total";
/// The most cgroups with I/O limits that are examined.
const MAX_LIMITED: usize = 20;
/// Waits for a smaller part of the time are no trouble.
const MIN_WAITED: f64 = 0.2;
/// A disk that is busy for a smaller part of the time in which tasks wait for disks is not what they wait for.
const MIN_BUSY: f64 = 0.5;
/// A state at the last reading is taken for that at the end of a window, if the reading was so short before.
const LAST_READING_MS: i64 = 2_000;
/// A task that moves a smaller part of what the disk moves is not named.
const MIN_PART: f64 = 0.2;

/// A filesystem on which nothing can be written any more.
pub(super) fn full_filesystem(examiner: &Examiner<'_>) -> Found {
    for (what, left) in [
        (
            "room",
            "bottomk(1, (node_filesystem_avail_bytes / (node_filesystem_size_bytes > 0)) unless on (mountpoint) (node_filesystem_readonly == 1))",
        ),
        (
            "inodes",
            "bottomk(1, (node_filesystem_files_free / (node_filesystem_files > 0)) unless on (mountpoint) (node_filesystem_readonly == 1))",
        ),
    ] {
        let Some(least) = examiner.first(left)?.filter(|least| least.value < 0.02) else { continue };
        let writer = examiner.who(&[&of_programs("increase", "whit_task_written_bytes_total")])?;
        let writer = writer.filter(|share| share.value > 1e6);
        // Where it wrote is not recorded, nor what tasks do that are not seen.
        let writer = writer.filter(|_| examiner.sees_all);
        let who = writer.as_ref().map_or(String::new(), |share| {
            format!(
                "; probably for {}, which wrote most on this machine, {}",
                share.label(),
                bytes(share.value)
            )
        });
        let mount = least.name.get("mountpoint");
        let text = format!("{mount} has {} of its {what} left{who}.", percent(least.value));
        let culprit = writer.as_ref().and_then(Share::culprit);
        let culprit = culprit.or_else(|| Some(Culprit::Filesystem(mount.to_owned())));
        let evidence = [least.evidence].into_iter().chain(writer.map(|share| share.evidence));
        return Ok(Some(sentence(Trouble::FullFilesystem, Cost::Failure, text, culprit, evidence)));
    }
    Ok(None)
}

/// Tasks that wait for disks: for a busy one, or for one that does nothing because a limit holds them.
pub(super) fn waiting(examiner: &Examiner<'_>) -> Found {
    let Some((waited, how_long)) = waited(examiner)? else { return Ok(None) };
    let device = examiner.first("topk(1, rate(node_disk_io_time_seconds_total[W]))")?;
    let victim = examiner.who(&[BLOCK_IO])?.filter(|victim| victim.value > 0.05);
    let cost = Cost::Lost(waited.value);
    let (words, culprit, evidence) = match device {
        // Who waits for io_uring is counted as waiting for disks, and sleeps otherwise.
        Some(_) if !are_uninterruptible(examiner, waited.value)? => return Ok(None),
        Some(device) if device.value > waited.value.min(1.0) * MIN_BUSY => {
            of_neighbours(examiner, device, victim)?
        }
        Some(device) => of_limits(examiner, device, victim)?,
        None => {
            let words =
                victim.as_ref().map_or(String::new(), |victim| format!("; {}", waits_as_charged(victim)));
            (words, None, victim.map(|share| share.evidence).into_iter().collect())
        }
    };
    let text = format!("Tasks waited {how_long}{words}.");
    Ok(Some(sentence(Trouble::Disk, cost, text, culprit, [waited].into_iter().chain(evidence))))
}

/// Tasks that wait in the kernel and do not go on.
pub(super) fn stuck(examiner: &Examiner<'_>) -> Found {
    let stuck = examiner.watched()?.stuck;
    let Some(longest) = stuck.first() else { return Ok(None) };
    let who = match stuck.len() {
        1 => format!("{} ({}) was", longest.comm, longest.tid),
        count => format!("{count} tasks were, the longest {} ({}),", longest.comm, longest.tid),
    };
    let until =
        if longest.until_ms + LAST_READING_MS >= examiner.window.to_ms { " and still is" } else { "" };
    let call = longest.wait.and_then(|wait| wait.call);
    let in_call = call.map_or(String::new(), |call| format!(" in {}", call.name()));
    let reasons = match longest.wait.map(|wait| wait.reason) {
        Some(WaitReason::Disk) => "a disk does not answer, or a limit holds it",
        Some(WaitReason::Filesystem) => "who serves the filesystem does not answer",
        _ => "a disk or remote filesystem does not answer, a limit holds it, or its cgroup is frozen",
    };
    let text = format!(
        "{who} in one uninterruptible sleep{in_call} for {:.1} s{until}: {reasons}.",
        longest.length_ms() as f64 / 1e3
    );
    let window_ms = (examiner.window.to_ms - examiner.window.from_ms).max(1) as f64;
    let lost = stuck.iter().map(|task| task.length_ms() as f64).sum::<f64>() / window_ms;
    let evidence = examiner
        .number(&format!("increase(whit_task_voluntary_switches_total{{tid=\"{}\"}}[W])", longest.tid))?;
    Ok(Some(sentence(Trouble::Stuck, Cost::Lost(lost), text, None, evidence)))
}

/// How long tasks waited for disks, if it is a trouble. The kernel charges some waits of tasks twice: where it measures pressure, that
/// decides, and what tasks are charged with only says who waits most.
fn waited(examiner: &Examiner<'_>) -> Result<Option<(Evidence, String)>, QueryError> {
    let is_trouble = |waited: &Evidence| waited.value > MIN_WAITED;
    if let Some(pressure) = examiner.number(IO_PRESSURE)? {
        if !is_trouble(&pressure) {
            return Ok(None);
        }
        let before = examiner.compared(&format!("100 * {IO_PRESSURE}"), " %")?;
        let how_long = format!("for disks {} of the time{before}", percent(pressure.value));
        return Ok(Some((pressure, how_long)));
    }
    let total = examiner.total("block_io", &format!("sum({BLOCK_IO})"))?;
    let Some((waited, of_tasks)) = total.filter(|(waited, _)| is_trouble(waited)) else { return Ok(None) };
    let before = examiner.compared(&of_tasks, " s")?;
    let how_long = format!("{:.2} s in each second for disks{before}", waited.value);
    Ok(Some((waited, how_long)))
}

/// Returns whether tasks were in uninterruptible sleep for at least half of the time that they are said to have waited, as far as that is
/// known.
fn are_uninterruptible(examiner: &Examiner<'_>, waited: f64) -> Result<bool, QueryError> {
    let asleep = examiner.number(&format!("avg_over_time({UNINTERRUPTIBLE}[W])"))?;
    Ok(asleep.is_none_or(|asleep| asleep.value >= waited.min(1.0) * MIN_BUSY))
}

/// The end of a sentence, who causes it, and where its figures are from.
type Cause = (String, Option<Culprit>, Vec<Evidence>);

/// Returns words for the tasks that wait most, without the figure: since Linux 6.12 the kernel charges some waits twice.
fn waits_as_charged(victim: &Share) -> String {
    format!("{} waited most, as the kernel charges it", victim.label())
}

/// A disk is busy: with what most was moved by.
fn of_neighbours(examiner: &Examiner<'_>, device: Share, victim: Option<Share>) -> Result<Cause, QueryError> {
    let [written, read] = ["whit_task_written_bytes_total", "whit_task_read_bytes_total"]
        .map(|counter| of_programs("rate", counter));
    let mover = match bytes_moved(examiner, device.name.get("device"))? {
        Some(least) => examiner.who(&[&written, &read])?.filter(|share| share.value > least * MIN_PART),
        None => None,
    };
    let mut words = format!(", {} was busy {} of the time", device.name.get("device"), percent(device.value));
    if let Some(mover) = &mover {
        words += &format!("; {} moved {} in each second", mover.label(), bytes(mover.value));
    }
    let others = victim.as_ref().filter(|victim| mover.as_ref().is_none_or(|mover| !mover.is_of(victim)));
    if let Some(victim) = others {
        words += &format!("; {}", waits_as_charged(victim));
    }
    let culprit = mover.as_ref().and_then(Share::culprit);
    let shares = [Some(device), mover, victim].into_iter().flatten();
    Ok((words, culprit, shares.map(|share| share.evidence).collect()))
}

/// The bytes that a disk moves in each second, at least 500,000; `None` if another disk moves many more: which of them a task uses is not
/// recorded. A disk on top of another moves as much as that.
fn bytes_moved(examiner: &Examiner<'_>, device: &str) -> Result<Option<f64>, QueryError> {
    /// A task that moves fewer bytes than a fifth of these does not keep a disk busy with them.
    const LEAST: f64 = 500e3;
    const MANY_MORE: f64 = 1.5;
    let moved = |function: &str, matchers: &str| {
        let rate = |counter: &str| format!("rate({counter}{{{matchers}}}[W])");
        let [written, read] = ["node_disk_written_bytes_total", "node_disk_read_bytes_total"].map(rate);
        examiner.number(&format!("{function}({written} + on (device) {read})"))
    };
    let of_it =
        moved("sum", &format!("device={}", quoted(device)))?.map_or(LEAST, |bytes| bytes.value.max(LEAST));
    let most = moved("max", "")?.map_or(of_it, |bytes| bytes.value);
    Ok((most <= of_it * MANY_MORE).then_some(of_it))
}

/// No disk is busy enough: a limit holds those who wait, or a disk that does not answer.
fn of_limits(examiner: &Examiner<'_>, device: Share, victim: Option<Share>) -> Result<Cause, QueryError> {
    // Read every ten seconds: in a shorter window the last value says it.
    let limited = examiner.several("max_over_time(whit_cgroup_io_limited[W]) or whit_cgroup_io_limited")?;
    let mut holding = Vec::new();
    for cgroup in limited.into_iter().take(MAX_LIMITED) {
        if holds_waiters(examiner, &cgroup)? {
            holding.push(cgroup);
        }
    }
    let mut words = format!(", and no disk was busy for more than {} of it", percent(device.value));
    let culprit = match holding.as_slice() {
        [] => {
            words += ": one does not answer, or a limit holds them that is not recorded";
            None
        }
        [one] => {
            words += &format!(": probably the I/O limit of {} holds them", one.cgroup_name());
            Some(one.cgroup())
        }
        [_, ..] => {
            words += ": probably the I/O limit of a cgroup holds them";
            None
        }
    };
    if let Some(victim) = &victim {
        words += &format!("; {}", waits_as_charged(victim));
    }
    let only = holding.into_iter().next().filter(|_| culprit.is_some());
    let shares = [Some(device), only, victim].into_iter().flatten();
    Ok((words, culprit, shares.map(|share| share.evidence).collect()))
}

/// Returns whether the tasks that wait for disks can be those of a cgroup: at least half of the waits are in it. This is not known of a
/// cgroup whose hierarchy is not the one that tasks are recorded with.
fn holds_waiters(examiner: &Examiner<'_>, cgroup: &Share) -> Result<bool, QueryError> {
    let in_it = examiner.part_in(cgroup.name.get("cgroup"), BLOCK_IO_COUNTER)?;
    let of_all = examiner.number(&format!("sum({BLOCK_IO})"))?;
    // The tasks of others may be in it, and are not seen.
    let if_unknown = examiner.sees_all && examiner.knows_cgroups;
    Ok(in_it.zip(of_all).map_or(if_unknown, |(part, all)| part.value >= all.value / 2.0))
}
