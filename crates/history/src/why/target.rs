//! Where the time of some tasks went.

use std::fmt;

use facts::cgroup_name::container_of_id;
use query::QueryError;

use super::examiner::{Examiner, Share};
use super::matchers::{of_cgroup, of_unit, quoted};
use super::sentence::{Culprit, Evidence, Sentence, Trouble};

/// What stands before the name of a container.
const CONTAINER: &str = "container:";

/// The tasks whose time is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A process.
    Process(u32),
    /// All tasks of a name.
    Name(String),
    /// All tasks in a cgroup and those below it.
    Cgroup(String),
    /// All tasks of a unit of systemd.
    Unit(String),
    /// All tasks of a container, by its id or the beginning of that.
    ContainerId(String),
    /// All tasks of the containers of a name.
    Container(String),
}

impl Target {
    /// A number is a process, a path a cgroup, what ends as units do a unit, an id a container, what begins with `container:` the name of
    /// one, all else a name.
    pub fn parse(text: &str) -> Self {
        const UNITS: [&str; 5] = [".service", ".scope", ".slice", ".socket", ".mount"];
        match text.parse() {
            Ok(pid) => Self::Process(pid),
            Err(_) if text.starts_with('/') => Self::Cgroup(text.trim_end_matches('/').to_owned()),
            Err(_) if UNITS.iter().any(|end| text.ends_with(end)) => Self::Unit(text.to_owned()),
            Err(_) => match text.strip_prefix(CONTAINER) {
                Some(name) => Self::Container(name.to_owned()),
                None if container_of_id(text).is_some() => Self::ContainerId(text.to_owned()),
                None => Self::Name(text.to_owned()),
            },
        }
    }

    /// What is meant if there are no such tasks: a container can be called as no program is.
    pub(super) fn otherwise(&self) -> Option<Self> {
        match self {
            Self::Name(name) | Self::ContainerId(name) => Some(Self::Container(name.clone())),
            _ => None,
        }
    }

    /// The condition on tasks that it is.
    fn matcher(&self) -> String {
        match self {
            Self::Process(pid) => format!("pid=\"{pid}\""),
            Self::Name(name) => format!("comm={}", quoted(name)),
            Self::Cgroup(path) => of_cgroup(path),
            Self::Unit(unit) => of_unit(unit),
            // It is in the path, whatever the container is called.
            Self::ContainerId(digits) => format!("cgroup=~\"(.*[-/:])?{digits}[0-9a-f]*([./].*)?\""),
            Self::Container(name) => format!("container={}", quoted(name)),
        }
    }
}

/// As [`Target::parse`] reads it.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(pid) => pid.fmt(f),
            // Of the root all cgroups are below it.
            Self::Cgroup(path) if path.is_empty() => f.write_str("/"),
            Self::Name(text) | Self::Cgroup(text) | Self::Unit(text) | Self::ContainerId(text) => {
                f.write_str(text)
            }
            Self::Container(name) => write!(f, "{CONTAINER}{name}"),
        }
    }
}

/// The words for each wait, its series, and the troubles of the machine that explain it.
const WAITS: [(&str, &str, &[Trouble]); 7] = [
    (
        "waited for a CPU",
        "whit_task_run_queue_seconds_total",
        &[
            Trouble::Cpu,
            Trouble::Quota,
            Trouble::IdleCpus,
            Trouble::Forks,
            Trouble::Steal,
            Trouble::Computing,
        ],
    ),
    (
        "waited for disks, as the kernel charges it,",
        "whit_task_block_io_seconds_total",
        &[Trouble::Disk, Trouble::Stuck],
    ),
    ("waited for swapped pages", "whit_task_swap_in_seconds_total", &[Trouble::Swapping]),
    (
        "waited for memory to be freed",
        "whit_task_reclaim_seconds_total",
        &[Trouble::Memory, Trouble::Swapping],
    ),
    (
        "waited for pages that had just been evicted",
        "whit_task_thrashing_seconds_total",
        &[Trouble::Memory, Trouble::Swapping],
    ),
    ("waited for memory to be compacted", "whit_task_compaction_seconds_total", &[Trouble::Memory]),
    ("was interrupted", "whit_task_irq_seconds_total", &[Trouble::Network]),
];

/// The least part of their time that is mentioned.
const MIN_TOLD: f64 = 0.001;
/// A wait that the machine's troubles are searched for.
const MIN_EXPLAINED: f64 = 0.02;
/// Tasks that sleep for a smaller part of their time do something.
const MOSTLY: f64 = 0.9;

/// Returns what the tasks did and waited for, and the troubles of the machine that explain it.
pub(super) fn sentences(
    examiner: &Examiner<'_>,
    target: &Target,
    of_machine: &[Sentence],
) -> Result<Vec<Sentence>, QueryError> {
    let matcher = target.matcher();
    let rate = |series: &str| examiner.number(&format!("sum(rate({series}{{{matcher}}}[W]))"));
    let Some(on_cpu) = rate("whit_task_on_cpu_seconds_total")? else { return Ok(Vec::new()) };
    let waits = WAITS.map(|(words, series, troubles)| Ok((words, rate(series)?, troubles)));
    let waits = waits.into_iter().collect::<Result<Vec<_>, QueryError>>()?;
    // The first two waits and the time on a CPU are what a task does when it does not sleep.
    let awake = waits[..2].iter().map(|(_, wait, _)| Some(wait.as_ref()?.value)).sum::<Option<f64>>();
    let mut sentences: Vec<Sentence> = match awake {
        Some(waited) => slept(examiner, &matcher, on_cpu.value + waited)?.into_iter().collect(),
        // Where the kernel does not count waits for disks, they look like sleep.
        None => Vec::new(),
    };
    if sentences.is_empty() || on_cpu.value > MIN_TOLD {
        let text = format!("It was on a CPU {:.3} s in each second.", on_cpu.value);
        sentences.push(of_own_time(on_cpu.value.clamp(0.01, 1.0), text, [on_cpu]));
    }
    sentences.extend(asleep(examiner, &matcher)?);
    for (words, waited, troubles) in waits {
        let Some(waited) = waited.filter(|waited| waited.value > MIN_TOLD) else { continue };
        let weight = waited.value.clamp(0.0, 1.0);
        let text = format!("It {words} {:.3} s in each second.", waited.value);
        let is_large = waited.value > MIN_EXPLAINED;
        sentences.push(of_own_time(weight, text, [waited]));
        let reasons = of_machine.iter().filter(|sentence| is_large && troubles.contains(&sentence.trouble));
        let mut place = 0;
        for reason in reasons {
            if !concerns(examiner, &matcher, reason)? {
                continue;
            }
            place += 1;
            // Right behind what it explains.
            let weight = weight - 1e-9 * f64::from(place);
            if sentences.iter().all(|sentence| sentence.text != reason.text) {
                sentences.push(Sentence { weight, ..reason.clone() });
            }
        }
    }
    Ok(sentences)
}

/// Returns whether a trouble can make some tasks wait: the limit of a cgroup holds those that are in it.
fn concerns(examiner: &Examiner<'_>, matcher: &str, trouble: &Sentence) -> Result<bool, QueryError> {
    let Some(Culprit::Cgroup(path)) = &trouble.culprit else { return Ok(true) };
    // Where no task is known to be in it, its hierarchy is not the one with which tasks are recorded, or they are not seen.
    let members = examiner.part_in(path, "whit_task_on_cpu_seconds_total")?;
    let own = format!("sum(rate(whit_task_on_cpu_seconds_total{{{matcher},{}}}[W]))", of_cgroup(path));
    Ok(members.is_none() && examiner.sees_all || examiner.number(&own)?.is_some())
}

/// How long they slept, if that was most of the time and as many of them were there at its beginning as at its end.
fn slept(examiner: &Examiner<'_>, matcher: &str, awake: f64) -> Result<Option<Sentence>, QueryError> {
    // A wait for a disk is charged when it ends: it may be one of these.
    if !examiner.watched()?.stuck.is_empty() {
        return Ok(None);
    }
    let length_s = (examiner.window.to_ms - examiner.window.from_ms) as f64 / 1e3;
    let count = format!("count(whit_task_on_cpu_seconds_total{{{matcher}}}");
    // The first reading is somewhere in the first tenth.
    let first = examiner.number(&format!("{count} offset {:.0}ms)", length_s * 900.0))?;
    let last = examiner.number(&format!("{count})"))?;
    let Some((first, last)) = first.zip(last) else { return Ok(None) };
    let slept = last.value - awake;
    if first.value != last.value || slept < MOSTLY * last.value {
        return Ok(None);
    }
    let [slept_s, all_s] = [slept, last.value].map(|part| part * length_s);
    let text = match last.value {
        1.0 => format!("It slept {slept_s:.1} of {all_s:.1} s."),
        threads => format!("Its {threads:.0} threads slept {slept_s:.1} of {all_s:.1} s, added up."),
    };
    Ok(Some(of_own_time(1.0, text, [last])))
}

/// Readings of so long before the end of the window are counted, in seconds.
const MAX_COUNTED_S: i64 = 120;
/// The most reasons that are named, and the least part of the readings for which one is.
const MAX_REASONS: usize = 3;
const MIN_PART: f64 = 0.05;

/// For what they slept, as a sentence about them.
fn asleep(examiner: &Examiner<'_>, matcher: &str) -> Result<Option<Sentence>, QueryError> {
    let seen = seen_asleep(examiner, matcher)?;
    // Behind how long it slept.
    Ok(seen.map(|(reasons, evidence)| of_own_time(0.9, format!("Asleep it waited {reasons}."), evidence)))
}

/// Returns how many readings found tasks asleep for each reason, in so many seconds before the end of the window.
pub(super) fn readings_asleep(
    examiner: &Examiner<'_>,
    matcher: &str,
    length_s: i64,
) -> Result<Vec<Share>, QueryError> {
    examiner
        .several(&format!("sum by (reason) (count_over_time(whit_task_waiting{{{matcher}}}[{length_s}s]))"))
}

/// Returns for what tasks slept, in words, such as `≈ 86 % for lock (948 readings)`: a reading at each tick is a sample. `None` if reasons are not
/// recorded, or the tasks were never seen asleep.
pub(super) fn seen_asleep(
    examiner: &Examiner<'_>,
    matcher: &str,
) -> Result<Option<(String, Vec<Evidence>)>, QueryError> {
    let length_s = ((examiner.window.to_ms - examiner.window.from_ms) / 1000).clamp(1, MAX_COUNTED_S);
    let mut reasons = readings_asleep(examiner, matcher, length_s)?;
    reasons.sort_by(|one, other| other.value.total_cmp(&one.value));
    let all: f64 = reasons.iter().map(|reason| reason.value).sum();
    let parts: Vec<String> = reasons
        .iter()
        .filter(|reason| reason.value >= all * MIN_PART)
        .take(MAX_REASONS)
        .map(|reason| format!("≈ {:.0} % for {}", reason.value / all * 100.0, reason.name.get("reason")))
        .collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let words = format!("{} ({all:.0} readings)", parts.join(", "));
    Ok(Some((words, reasons.into_iter().map(|reason| reason.evidence).collect())))
}

fn of_own_time(weight: f64, text: String, evidence: impl IntoIterator<Item = Evidence>) -> Sentence {
    let evidence = evidence.into_iter().collect();
    Sentence { trouble: Trouble::OwnTime, weight, lost: None, text, culprit: None, evidence }
}
