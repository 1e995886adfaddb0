//! Where the time of some tasks went.

use query::QueryError;

use super::examiner::Examiner;
use super::sentence::{Sentence, Trouble};

/// Whose time is asked about.
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
}

impl Target {
    /// A number is a process, a path a cgroup, what ends as units do a unit, all else a name.
    pub fn parse(text: &str) -> Self {
        const UNITS: [&str; 5] = [".service", ".scope", ".slice", ".socket", ".mount"];
        match text.parse() {
            Ok(pid) => Self::Process(pid),
            Err(_) if text.starts_with('/') => Self::Cgroup(text.trim_end_matches('/').to_owned()),
            Err(_) if UNITS.iter().any(|end| text.ends_with(end)) => Self::Unit(text.to_owned()),
            Err(_) => Self::Name(text.to_owned()),
        }
    }

    /// The condition on tasks that it is.
    fn matcher(&self) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let literal = |text: &str| {
            let escaped: String = text
                .chars()
                .flat_map(|letter| {
                    let is_plain = letter.is_alphanumeric() || "/_-:@ ".contains(letter);
                    (!is_plain).then_some('\\').into_iter().chain([letter])
                })
                .collect();
            quoted(&escaped)
        };
        match self {
            Self::Process(pid) => format!("pid=\"{pid}\""),
            Self::Name(name) => format!("comm=\"{}\"", quoted(name)),
            Self::Cgroup(path) => format!("cgroup=~\"{}(/.*)?\"", literal(path)),
            Self::Unit(unit) => format!("cgroup=~\"(.*/)?{}(/.*)?\"", literal(unit)),
        }
    }
}

/// What a wait is called, its series, and the trouble of the machine that explains it.
const WAITS: [(&str, &str, &[Trouble]); 7] = [
    (
        "waited for a CPU",
        "whit_task_run_queue_seconds_total",
        &[Trouble::Cpu, Trouble::Quota, Trouble::Forks, Trouble::Steal],
    ),
    ("waited for disks", "whit_task_block_io_seconds_total", &[Trouble::Disk]),
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

/// What the tasks did and waited for, and the troubles of the machine that explain it.
pub(super) fn sentences(
    examiner: &Examiner<'_>,
    target: &Target,
    of_machine: &[Sentence],
) -> Result<Vec<Sentence>, QueryError> {
    let matcher = target.matcher();
    let rate = |series: &str| examiner.number(&format!("sum(rate({series}{{{matcher}}}[W]))"));
    let Some(on_cpu) = rate("whit_task_on_cpu_seconds_total")? else { return Ok(Vec::new()) };
    let mut sentences = vec![Sentence {
        trouble: Trouble::OwnTime,
        weight: on_cpu.value.clamp(0.01, 1.0),
        text: format!("It was on a CPU {:.3} s in each second.", on_cpu.value),
        culprit: None,
        evidence: vec![on_cpu],
    }];
    for (words, series, troubles) in WAITS {
        let Some(waited) = rate(series)?.filter(|waited| waited.value > 0.001) else { continue };
        let weight = waited.value.clamp(0.0, 1.0);
        let text = format!("It {words} {:.3} s in each second.", waited.value);
        let is_large = waited.value > 0.02;
        sentences.push(Sentence {
            trouble: Trouble::OwnTime,
            weight,
            text,
            culprit: None,
            evidence: vec![waited],
        });
        let reasons = of_machine.iter().filter(|sentence| is_large && troubles.contains(&sentence.trouble));
        for (place, reason) in reasons.enumerate() {
            // Right behind what it explains.
            let weight = weight - 1e-9 * (place + 1) as f64;
            if sentences.iter().all(|sentence| sentence.text != reason.text) {
                sentences.push(Sentence { weight, ..reason.clone() });
            }
        }
    }
    Ok(sentences)
}
