//! What is wrong with a machine. Each function is a trouble: when it is one, how much it explains, who causes it.

use query::QueryError;
use text::plot::Measure;

use super::examiner::{Examiner, Share};
use super::sentence::{Evidence, Sentence, Trouble};
use crate::past::ParentOfMost;

type Found = Result<Option<Sentence>, QueryError>;

/// All troubles of the machine in the window.
pub(super) fn sentences(examiner: &Examiner<'_>) -> Result<Vec<Sentence>, QueryError> {
    let troubles = [
        out_of_memory,
        full_filesystem,
        forks,
        swapping,
        memory,
        network,
        locks,
        quota,
        disk,
        cpu,
        steal,
        computing,
    ];
    let mut sentences = Vec::new();
    for trouble in troubles {
        sentences.extend(trouble(examiner)?);
    }
    // Who computes is said already where others wait for it.
    if sentences.iter().any(|sentence| sentence.trouble != Trouble::Computing && sentence.culprit.is_some()) {
        sentences.retain(|sentence| sentence.trouble != Trouble::Computing);
    }
    Ok(sentences)
}

/// Returns what cannot be known of the window, or only at fewer instants.
pub(super) fn missing(examiner: &Examiner<'_>) -> Result<Vec<String>, QueryError> {
    let mut missing = Vec::new();
    let stride = examiner.number("max_over_time(whit_agent_ticks_between_task_readings[W])")?;
    let stride = stride.filter(|stride| stride.value > 1.0);
    if let Some(stride) = &stride {
        let ticks = stride.value;
        missing
            .push(format!("what tasks did between two readings: they were read at every {ticks:.0}th tick"));
    }
    // Both are asked before either answer is needed, so that one replay answers them.
    let count_of = |counter: &str| examiner.number(&format!("count(sum by (comm) (rate({counter}[W])))"));
    let on_cpu = count_of("whit_task_on_cpu_seconds_total")?;
    let block_io = count_of("whit_task_block_io_seconds_total")?;
    if on_cpu.is_none() {
        if stride.is_none() {
            missing.push("no tasks were recorded then: who caused anything is unknown".to_owned());
        }
    } else if block_io.is_none() {
        missing.push(
            "who waited for disks is unknown: the agent needs CAP_NET_ADMIN, and sysctl kernel.task_delayacct=1".to_owned(),
        );
    }
    Ok(missing)
}

/// How many CPUs there are, and which part of their time was used.
fn cpus(examiner: &Examiner<'_>) -> Result<Option<(Evidence, Evidence)>, QueryError> {
    let count = examiner.number("count(count by (cpu) (node_cpu_seconds_total))")?;
    let busy = examiner
        .number("1 - sum(rate(node_cpu_seconds_total{mode=~\"idle|iowait|steal\"}[W])) / sum(rate(node_cpu_seconds_total[W]))")?;
    Ok(count.zip(busy))
}

/// If more than this part of all memory was available at each tick, the machine was not short of memory.
const LEAST_LEFT: f64 = 0.1;
/// Who started a smaller part of the processes is not named.
const LEAST_PART: f64 = 0.2;
const ON_CPU: &str = "rate(whit_task_on_cpu_seconds_total[W])";
const QUEUE: &str = "rate(whit_task_run_queue_seconds_total[W])";
const BLOCK_IO: &str = "rate(whit_task_block_io_seconds_total[W])";
/// The time in which any task waited for a disk. Tasks' own charges fall short of it where the kernel makes them longer than the
/// time, so that they were left out.
const IO_PRESSURE: &str = "rate(node_pressure_io_waiting_seconds_total[W])";

/// Tasks of the kernel that write what others have changed.
const FLUSHERS: &str = "comm!~\"kworker/.*|jbd2/.*|loop[0-9]+|kswapd[0-9]+|flush-.*\"";

/// The rate, or increase, of a counter of tasks that are not the kernel's flushers.
fn of_programs(function: &str, counter: &str) -> String {
    format!("{function}({counter}{{{FLUSHERS}}}[W])")
}

fn sentence(
    trouble: Trouble,
    weight: f64,
    text: String,
    culprit: Option<String>,
    evidence: impl IntoIterator<Item = Evidence>,
) -> Sentence {
    Sentence {
        trouble,
        weight: weight.clamp(0.0, 1.0),
        text,
        culprit,
        evidence: evidence.into_iter().collect(),
    }
}

fn percent(ratio: f64) -> String {
    format!("{:.0} %", ratio * 100.0)
}

fn bytes(value: f64) -> String {
    Measure::Bytes.write(value)
}

/// Packets, switches, pages.
fn count(value: f64) -> String {
    format!("{value:.0}")
}

/// How many processes, in words.
fn processes(number: f64) -> String {
    match count(number).as_str() {
        "1" => "1 process".to_owned(),
        number => format!("{number} processes"),
    }
}

fn out_of_memory(examiner: &Examiner<'_>) -> Found {
    let Some(kills) =
        examiner.number("increase(node_vmstat_oom_kill[W])")?.filter(|kills| kills.value >= 0.5)
    else {
        return Ok(None);
    };
    let killed = processes(kills.value.max(1.0));
    let left = examiner.number("min_over_time(node_memory_MemAvailable_bytes[W])")?;
    let part =
        examiner.number("min_over_time(node_memory_MemAvailable_bytes[W]) / node_memory_MemTotal_bytes")?;
    if let (Some(left), Some(_)) = (left, part.filter(|part| part.value > LEAST_LEFT)) {
        // Who is in it is not known, so that the largest of the machine is not named.
        let text = format!(
            "The kernel killed {killed} while {} of memory was available: a cgroup reached its limit.",
            bytes(left.value)
        );
        return Ok(Some(sentence(Trouble::OutOfMemory, 1.0, text, None, [kills, left])));
    }
    let largest =
        examiner.first("topk(1, sum by (comm, pid) (max_over_time(whit_task_resident_bytes[W])))")?;
    let who = largest.as_ref().map_or(String::new(), |share| {
        format!("; the largest in memory was {} with {}", share.label(), bytes(share.value))
    });
    let text = format!("There was no memory left: the kernel killed {killed}{who}.");
    let culprit = largest.as_ref().and_then(Share::culprit);
    Ok(Some(sentence(
        Trouble::OutOfMemory,
        1.0,
        text,
        culprit,
        [kills].into_iter().chain(largest.map(|share| share.evidence)),
    )))
}

fn full_filesystem(examiner: &Examiner<'_>) -> Found {
    for (what, left) in [
        ("room", "bottomk(1, node_filesystem_avail_bytes / (node_filesystem_size_bytes > 0))"),
        ("inodes", "bottomk(1, node_filesystem_files_free / (node_filesystem_files > 0))"),
    ] {
        let Some(least) = examiner.first(left)?.filter(|least| least.value < 0.02) else { continue };
        let writer = examiner.who(&of_programs("increase", "whit_task_written_bytes_total"))?;
        let writer = writer.filter(|share| share.value > 1e6);
        let who = writer.as_ref().map_or(String::new(), |share| {
            format!("; {} wrote {} in this time", share.label(), bytes(share.value))
        });
        let mount = least.name.get("mountpoint");
        let text = format!("{mount} has {} of its {what} left{who}.", percent(least.value));
        let culprit = writer.as_ref().and_then(Share::culprit).or_else(|| Some(mount.to_owned()));
        let evidence = [least.evidence].into_iter().chain(writer.map(|share| share.evidence));
        return Ok(Some(sentence(Trouble::FullFilesystem, 0.97, text, culprit, evidence)));
    }
    Ok(None)
}

fn forks(examiner: &Examiner<'_>) -> Found {
    let Some(rate) = examiner.number("rate(node_forks_total[W])")?.filter(|rate| rate.value > 200.0) else {
        return Ok(None);
    };
    let parent = examiner.parent_of_most()?.filter(|parent| parent.ratio >= LEAST_PART);
    let who = parent.as_ref().map_or(String::new(), |ParentOfMost { comm, pid, ratio }| {
        format!(", {} of them by {comm} ({pid})", percent(*ratio))
    });
    let text = format!("{} processes were started in each second{who}.", count(rate.value));
    let culprit = parent.map(|parent| parent.comm);
    Ok(Some(sentence(Trouble::Forks, 0.95, text, culprit, [rate])))
}

/// Who grew most in the window; if nobody did, who waits most for memory, or is largest.
fn who_took_memory(examiner: &Examiner<'_>) -> Result<Option<(Share, String)>, QueryError> {
    let grown = examiner.first("topk(1, sum by (comm, pid) (delta(whit_task_resident_bytes[W])))")?;
    if let Some(share) = grown.filter(|share| share.value > 16e6) {
        let words = format!("{} grew by {}", share.label(), bytes(share.value));
        return Ok(Some((share, words)));
    }
    let waits = "rate(whit_task_reclaim_seconds_total[W]) + rate(whit_task_thrashing_seconds_total[W])";
    if let Some(share) = examiner.who(waits)?.filter(|share| share.value > 0.05) {
        let words = format!("{} waited most, {:.2} s", share.label(), share.value);
        return Ok(Some((share, words)));
    }
    let largest =
        examiner.first("topk(1, sum by (comm, pid) (max_over_time(whit_task_resident_bytes[W])))")?;
    Ok(largest.map(|share| {
        let words = format!("{} has {}", share.label(), bytes(share.value));
        (share, words)
    }))
}

fn swapping(examiner: &Examiner<'_>) -> Found {
    let pages = "rate(node_vmstat_pswpin[W]) + rate(node_vmstat_pswpout[W])";
    let Some(rate) = examiner.number(pages)?.filter(|rate| rate.value > 200.0) else { return Ok(None) };
    let taken = who_took_memory(examiner)?;
    let who = taken.as_ref().map_or(String::new(), |(_, words)| format!("; {words}"));
    let before = examiner.compared(pages, " pages")?;
    let text = format!("{} pages in each second went to swap and back{before}{who}.", count(rate.value));
    let culprit = taken.as_ref().and_then(|(share, _)| share.culprit());
    let evidence = [rate].into_iter().chain(taken.map(|(share, _)| share.evidence));
    Ok(Some(sentence(Trouble::Swapping, 0.93, text, culprit, evidence)))
}

fn memory(examiner: &Examiner<'_>) -> Found {
    let waits =
        "sum(rate(whit_task_reclaim_seconds_total[W])) + sum(rate(whit_task_thrashing_seconds_total[W]))";
    let Some((waited, waits)) = examiner.total("reclaim|thrashing", waits)? else { return Ok(None) };
    if waited.value <= 0.05 {
        return Ok(None);
    }
    let taken = who_took_memory(examiner)?;
    let who = taken.as_ref().map_or(String::new(), |(_, words)| format!("; {words}"));
    let before = examiner.compared(&waits, " s")?;
    let text =
        format!("Tasks waited {:.2} s in each second for memory to be freed{before}{who}.", waited.value);
    let culprit = taken.as_ref().and_then(|(share, _)| share.culprit());
    let weight = 0.8 + (waited.value / 10.0).min(0.12);
    let evidence = [waited].into_iter().chain(taken.map(|(share, _)| share.evidence));
    Ok(Some(sentence(Trouble::Memory, weight, text, culprit, evidence)))
}

fn network(examiner: &Examiner<'_>) -> Found {
    let packets = "sum(rate(node_network_receive_packets_total[W]))";
    let Some(rate) = examiner.number(packets)?.filter(|rate| rate.value > 20_000.0) else { return Ok(None) };
    let device = examiner.first("topk(1, rate(node_network_receive_packets_total[W]))")?;
    let at = device.as_ref().map_or(String::new(), |share| format!(" at {}", share.name.get("device")));
    let kernel = examiner.who("rate(whit_task_system_seconds_total[W])")?;
    let who = kernel.as_ref().map_or(String::new(), |share| {
        format!("; {} spent most time in the kernel, {}", share.label(), percent(share.value))
    });
    let before = examiner.compared(packets, "")?;
    let text = format!("{} packets came in each second{at}{before}{who}.", count(rate.value));
    let culprit = kernel.as_ref().and_then(Share::culprit);
    let evidence = [rate].into_iter().chain(kernel.map(|share| share.evidence));
    Ok(Some(sentence(Trouble::Network, 0.85, text, culprit, evidence)))
}

fn locks(examiner: &Examiner<'_>) -> Found {
    let Some(most) = examiner.who("rate(whit_task_voluntary_switches_total[W])")? else { return Ok(None) };
    if most.value < 20_000.0 {
        return Ok(None);
    }
    let text = format!(
        "{} gave up the CPU {} times in each second to wait for something.",
        most.label(),
        count(most.value)
    );
    Ok(Some(sentence(Trouble::Locks, 0.78, text, most.culprit(), [most.evidence])))
}

/// Waits for a CPU while CPUs are idle.
fn quota(examiner: &Examiner<'_>) -> Found {
    let Some((count, busy)) = cpus(examiner)? else { return Ok(None) };
    let Some(most) = examiner.first(&format!("topk(1, sum by (cgroup) ({QUEUE}))"))? else { return Ok(None) };
    let idle = (1.0 - busy.value) * count.value;
    if most.value < 0.3 || idle < 0.35 || most.value < (busy.value * count.value) * 0.5 {
        return Ok(None);
    }
    let cgroup = most.name.get("cgroup");
    let text = format!(
        "Tasks in {} waited {:.2} s in each second for a CPU, while {} of the CPU time was idle: its quota (cpu.max) or \
         their affinity holds them.",
        if cgroup.is_empty() { "a cgroup" } else { cgroup },
        most.value,
        percent(1.0 - busy.value)
    );
    let culprit = Some(cgroup.to_owned()).filter(|cgroup| !cgroup.is_empty());
    Ok(Some(sentence(Trouble::Quota, 0.76, text, culprit, [most.evidence, busy])))
}

fn disk(examiner: &Examiner<'_>) -> Found {
    let of_tasks = format!("sum({BLOCK_IO})");
    let is_trouble = |waited: &Evidence| waited.value > 0.2;
    let (waited, how_long) = match examiner.number(IO_PRESSURE)?.filter(is_trouble) {
        Some(pressure) => {
            let before = examiner.compared(&format!("100 * {IO_PRESSURE}"), " %")?;
            let how_long = format!("for disks {} of the time{before}", percent(pressure.value));
            (pressure, how_long)
        }
        None => {
            let Some((waited, of_tasks)) = examiner.total("block_io", &of_tasks)? else { return Ok(None) };
            if !is_trouble(&waited) {
                return Ok(None);
            }
            let before = examiner.compared(&of_tasks, " s")?;
            let how_long = format!("{:.2} s in each second for disks{before}", waited.value);
            (waited, how_long)
        }
    };
    let device = examiner.first("topk(1, rate(node_disk_io_time_seconds_total[W]))")?;
    // One that is throttled is idle meanwhile.
    let device = device.filter(|device| device.value > 0.1);
    let victim = examiner.who(BLOCK_IO)?.filter(|victim| victim.value > 0.05);
    let [written, read] = ["whit_task_written_bytes_total", "whit_task_read_bytes_total"]
        .map(|counter| of_programs("rate", counter));
    let writer = examiner.who(&format!("{written} + {read}"))?;
    let writer = writer.filter(|share| share.value > 100e3);
    let at = device.as_ref().map_or(String::new(), |share| {
        format!(", {} was busy {} of the time", share.name.get("device"), percent(share.value))
    });
    let who = match (&writer, &victim) {
        (Some(writer), Some(victim)) if writer.name != victim.name => format!(
            "; {} moved {} in each second, {} waited {:.2} s",
            writer.label(),
            bytes(writer.value),
            victim.label(),
            victim.value
        ),
        (Some(writer), _) => format!("; {} moved {} in each second", writer.label(), bytes(writer.value)),
        (None, Some(victim)) => format!("; {} waited most, {:.2} s", victim.label(), victim.value),
        (None, None) => String::new(),
    };
    let text = format!("Tasks waited {how_long}{at}{who}.");
    let culprit = writer.as_ref().or(victim.as_ref()).and_then(Share::culprit);
    let weight = 0.6 + (waited.value / 10.0).min(0.15);
    let evidence = [waited]
        .into_iter()
        .chain([device, writer, victim].into_iter().flatten().map(|share| share.evidence));
    Ok(Some(sentence(Trouble::Disk, weight, text, culprit, evidence)))
}

fn cpu(examiner: &Examiner<'_>) -> Found {
    let Some((cpus, busy)) = cpus(examiner)? else { return Ok(None) };
    let Some((waited, waits)) = examiner.total("run_queue", &format!("sum({QUEUE})"))? else {
        return Ok(None);
    };
    if busy.value < 0.85 || waited.value < 0.25 * cpus.value {
        return Ok(None);
    }
    let hog = examiner.who(ON_CPU)?;
    let victim = examiner.who(QUEUE)?;
    let who = match (&hog, &victim) {
        (Some(hog), Some(victim)) if victim.name.get("comm") != hog.name.get("comm") => format!(
            "; {} used {:.2} of {:.0} CPUs, {} waited {:.2} s",
            hog.label(),
            hog.value,
            cpus.value,
            victim.label(),
            victim.value
        ),
        (Some(hog), _) => format!("; {} used {:.2} of {:.0} CPUs", hog.label(), hog.value, cpus.value),
        _ => String::new(),
    };
    let before = examiner.compared(&waits, " s")?;
    let text = format!(
        "Tasks waited {:.2} s in each second for a CPU{before}: the CPUs were {} busy{who}.",
        waited.value,
        percent(busy.value)
    );
    let culprit = hog.as_ref().and_then(Share::culprit);
    let weight = 0.5 + (waited.value / cpus.value / 10.0).min(0.25);
    let evidence =
        [waited, busy].into_iter().chain([hog, victim].into_iter().flatten().map(|share| share.evidence));
    Ok(Some(sentence(Trouble::Cpu, weight, text, culprit, evidence)))
}

fn steal(examiner: &Examiner<'_>) -> Found {
    let stolen = examiner.number("avg(rate(node_cpu_seconds_total{mode=\"steal\"}[W]))")?;
    let Some(stolen) = stolen.filter(|stolen| stolen.value > 0.1) else { return Ok(None) };
    let text = format!("The host gave {} of this machine's CPU time to others.", percent(stolen.value));
    Ok(Some(sentence(Trouble::Steal, 0.7, text, None, [stolen])))
}

fn computing(examiner: &Examiner<'_>) -> Found {
    let Some(hog) = examiner.who(ON_CPU)?.filter(|hog| hog.value > 0.7) else { return Ok(None) };
    let text = format!("{} used {:.2} CPUs; nothing waited for it.", hog.label(), hog.value);
    Ok(Some(sentence(Trouble::Computing, 0.2, text, hog.culprit(), [hog.evidence])))
}
