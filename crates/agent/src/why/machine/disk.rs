//! Disks: who waits for them and why, and what is full.

use query::QueryError;

use super::finding::{Cost, Found, sentence};
use super::rates::{IO_PRESSURE, of_programs};
use super::words::{bytes, percent};
use crate::why::examiner::{Examiner, Share};
use crate::why::sentence::{Evidence, Trouble};

const BLOCK_IO: &str = "rate(whit_task_block_io_seconds_total[W])";
/// Waits for a smaller part of the time are no trouble.
const LEAST_WAITED: f64 = 0.2;
/// A disk that is busy for a smaller part of the time in which tasks wait for disks is not what they wait for.
const LEAST_BUSY: f64 = 0.5;
/// What is as it was at the last reading is so at the end of a window, if that was so short before.
const LAST_READING_MS: i64 = 2_000;
/// Who moves a smaller part of what the disk moves is not named.
const LEAST_PART: f64 = 0.2;

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
        let who = writer.as_ref().map_or(String::new(), |share| {
            format!("; {} wrote {} in this time", share.label(), bytes(share.value))
        });
        let mount = least.name.get("mountpoint");
        let text = format!("{mount} has {} of its {what} left{who}.", percent(least.value));
        let culprit = writer.as_ref().and_then(Share::culprit).or_else(|| Some(mount.to_owned()));
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
        Some(device) if device.value > waited.value.min(1.0) * LEAST_BUSY => {
            of_neighbours(examiner, device, victim)?
        }
        Some(device) => of_limits(examiner, device, victim)?,
        None => {
            let words = victim.as_ref().map_or(String::new(), |victim| format!("; {}", victim.waits_most()));
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
    let text = format!(
        "{who} in one uninterruptible sleep for {:.1} s{until}: a disk or remote filesystem does not answer, a limit holds it, or its \
         cgroup is frozen.",
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
    let is_trouble = |waited: &Evidence| waited.value > LEAST_WAITED;
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

/// The end of a sentence, who causes it, and where its figures are from.
type Cause = (String, Option<String>, Vec<Evidence>);

/// A disk is busy: with what most was moved by.
fn of_neighbours(examiner: &Examiner<'_>, device: Share, victim: Option<Share>) -> Result<Cause, QueryError> {
    let [written, read] = ["whit_task_written_bytes_total", "whit_task_read_bytes_total"]
        .map(|counter| of_programs("rate", counter));
    let moved = examiner.number(
        "max(rate(node_disk_written_bytes_total[W]) + on (device) rate(node_disk_read_bytes_total[W]))",
    )?;
    let least = moved.map_or(0.0, |moved| moved.value * LEAST_PART).max(100e3);
    let mover = examiner.who(&[&written, &read])?.filter(|share| share.value > least);
    let mut words = format!(", {} was busy {} of the time", device.name.get("device"), percent(device.value));
    if let Some(mover) = &mover {
        words += &format!("; {} moved {} in each second", mover.label(), bytes(mover.value));
    }
    let others = victim.as_ref().filter(|victim| mover.as_ref().is_none_or(|mover| !mover.is_of(victim)));
    if let Some(victim) = others {
        words += &format!("; {}", victim.waits_most());
    }
    let culprit = mover.as_ref().and_then(Share::culprit);
    let shares = [Some(device), mover, victim].into_iter().flatten();
    Ok((words, culprit, shares.map(|share| share.evidence).collect()))
}

/// No disk is busy enough: a limit holds those who wait, or a disk that does not answer.
fn of_limits(examiner: &Examiner<'_>, device: Share, victim: Option<Share>) -> Result<Cause, QueryError> {
    let limited = examiner.several("max_over_time(whit_cgroup_io_limited[W])")?;
    let mut words = format!(", and no disk was busy for more than {} of it", percent(device.value));
    let culprit = match limited.as_slice() {
        [] => {
            words += ": one does not answer, or a limit holds them that is not recorded";
            None
        }
        [one] => {
            let cgroup = one.name.get("cgroup");
            words += &format!(": probably the I/O limit of {cgroup} holds them");
            Some(cgroup.to_owned())
        }
        [_, ..] => {
            words += ": probably the I/O limit of a cgroup holds them";
            None
        }
    };
    if let Some(victim) = &victim {
        words += &format!("; {}", victim.waits_most());
    }
    let only = limited.into_iter().next().filter(|_| culprit.is_some());
    let shares = [Some(device), only, victim].into_iter().flatten();
    Ok((words, culprit, shares.map(|share| share.evidence).collect()))
}
