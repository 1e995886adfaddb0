//! Troubles that are put together at random. Whatever `whit why` says of them must hold by what the trial knows of its parts, and by what it
//! measured itself meanwhile.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use libtest_mimic::Failed;
use serde_json::Value;

use super::super::machine::{
    Cgroup, Load, Scratch, busiest_program, copy_program, enable_accounting, is_load, peer, shell,
};
use super::super::random::Random;
use super::super::trials::times;
use super::{SETTLED, stages, why_of};

/// What a part does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Computes.
    Spin,
    /// Writes and waits until it is on the disk.
    Write,
    /// Reads again and again what does not fit into its cgroup.
    Thrash,
    /// Takes memory that is there.
    Grow,
    Fork,
    Flood,
    Locks,
    /// Waits in io_uring for nothing.
    Ring,
    /// Writes a little.
    Trickle,
}

const KINDS: [Kind; 9] = [
    Kind::Spin,
    Kind::Write,
    Kind::Thrash,
    Kind::Grow,
    Kind::Fork,
    Kind::Flood,
    Kind::Locks,
    Kind::Ring,
    Kind::Trickle,
];

/// Processes of one name.
struct Part {
    name: String,
    kind: Kind,
    nice: u64,
    processes: u64,
    // They end before their cgroup goes.
    loads: Vec<Load>,
    limit: Option<Cgroup>,
}

impl Part {
    fn start(scratch: &Scratch, place: usize, kind: Kind, random: &mut Random) -> Self {
        let name = format!("{kind:?}{place}").to_lowercase();
        let program = scratch.0.join(&name);
        copy_program(peer("trouble"), &program);
        let file = scratch.0.join(format!("{name}.file"));
        let is_limited = random.below(3) == 0;
        let limit = match kind {
            Kind::Spin if is_limited => Some(stages::limit_cpu()),
            Kind::Write if is_limited => Some(stages::limit_writes(&scratch.0)),
            Kind::Thrash => Some(stages::limit_memory(32)),
            _ => None,
        };
        let words = match kind {
            Kind::Spin => "spin".to_owned(),
            Kind::Write => format!("write {}", file.display()),
            Kind::Thrash => {
                let made =
                    shell(&format!("dd if=/dev/zero of={} bs=1M count=150 oflag=direct", file.display()));
                assert!(made.status.success());
                format!("map {} 150", file.display())
            }
            Kind::Grow => "grow - 100".to_owned(),
            Kind::Fork => "fork".to_owned(),
            Kind::Flood => "flood".to_owned(),
            Kind::Locks => "locks".to_owned(),
            Kind::Ring => "ring".to_owned(),
            Kind::Trickle => format!("trickle {}", file.display()),
        };
        let nice = [0, 0, 10, 19][random.below(4) as usize];
        let processes = if kind == Kind::Spin { 1 + random.below(3) } else { 1 };
        let enter = limit.as_ref().map_or(String::new(), |limit| {
            format!("echo $$ > {}/cgroup.procs && ", limit.directory.display())
        });
        let command = format!("{enter}exec nice -n {nice} {} {words}", program.display());
        let loads = (0..processes).map(|_| Load::start(&["sh", "-c", &command])).collect();
        Self { name, kind, nice, processes, loads, limit }
    }

    fn describe(&self) -> String {
        let limit = if self.limit.is_some() { ", limited" } else { "" };
        format!("{} × {} nice {}{limit}", self.processes, self.name, self.nice)
    }

    /// Whether a sentence names its cgroup.
    fn is_limit(&self, culprit: &str) -> bool {
        let name = self.limit.as_ref().and_then(|limit| limit.directory.file_name());
        name.is_some_and(|name| culprit.ends_with(&*name.to_string_lossy()))
    }

    /// CPU time and waits for a CPU of its processes in seconds: schedstat of all their threads.
    fn times(&self) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for load in &self.loads {
            for thread in fs::read_dir(format!("/proc/{}/task", load.id())).into_iter().flatten().flatten() {
                let text = fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
                let mut numbers =
                    text.split_whitespace().map(|word| word.parse::<f64>().unwrap_or(0.0) / 1e9);
                sums.0 += numbers.next().unwrap_or(0.0);
                sums.1 += numbers.next().unwrap_or(0.0);
            }
        }
        sums
    }
}

/// What the trial measured itself, in seconds in each second.
#[derive(Debug)]
struct Measured {
    /// Of each part: on a CPU, and waiting for one.
    parts: Vec<(f64, f64)>,
    /// All other tasks waited for a CPU: the parts keep them from one.
    others: f64,
    idle: f64,
    for_disks: f64,
}

/// How long each living task has waited for a CPU, by its number, in seconds.
fn waits() -> HashMap<String, f64> {
    let directories = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let tasks = directories(Path::new("/proc")).flat_map(|process| directories(&process.path().join("task")));
    tasks
        .filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            let waited_ns: f64 = text.split_whitespace().nth(1)?.parse().ok()?;
            Some((task.file_name().to_string_lossy().into_owned(), waited_ns / 1e9))
        })
        .collect()
}

/// The idle time of all CPUs, and the time that tasks waited for disks, in seconds.
fn machine() -> (f64, f64) {
    let stat = fs::read_to_string("/proc/stat").unwrap();
    let ticks: Vec<f64> = stat.lines().next().map_or(Vec::new(), |line| {
        line.split_whitespace().skip(1).map(|word| word.parse().unwrap_or(0.0)).collect()
    });
    let pressure = fs::read_to_string("/proc/pressure/io").unwrap_or_default();
    let total = pressure.lines().next().and_then(|line| line.rsplit_once('=')?.1.parse::<f64>().ok());
    ((ticks[3] + ticks[4]) / 100.0, total.unwrap_or(0.0) / 1e6)
}

/// What is said about some parts, and what they did meanwhile.
fn observe(parts: &[Part]) -> (Vec<Value>, Measured) {
    let begun = Instant::now();
    let (before, waited) = (machine(), waits());
    let of_parts: Vec<_> = parts.iter().map(Part::times).collect();
    let sentences = why_of(&[], "3s");
    let seconds = begun.elapsed().as_secs_f64();
    let (after, now) = (machine(), parts.iter().map(Part::times));
    let each =
        now.zip(of_parts).map(|(now, before)| ((now.0 - before.0) / seconds, (now.1 - before.1) / seconds));
    let each: Vec<(f64, f64)> = each.collect();
    let of_all: f64 =
        waits().iter().map(|(task, now)| now - waited.get(task).copied().unwrap_or_default()).sum();
    let measured = Measured {
        others: of_all / seconds - each.iter().map(|times| times.1).sum::<f64>(),
        parts: each,
        idle: (after.0 - before.0) / seconds,
        for_disks: (after.1 - before.1) / seconds,
    };
    (sentences, measured)
}

/// The number in a text behind some words.
fn number_behind(text: &str, words: &str) -> Option<f64> {
    text.split_once(words)?.1.split(' ').next()?.parse().ok()
}

/// What is known of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    True,
    False,
    /// It may be about the load of other programs, which the trial does not measure.
    Unproven,
}

/// Judges a sentence. `has_others`: programs that the trial did not start use CPUs.
fn judge(sentence: &Value, parts: &[Part], measured: &Measured, has_others: bool) -> Verdict {
    // These do nothing that anything waits for.
    let text = sentence["text"].as_str().unwrap_or_default();
    let is_bystander =
        |part: &Part| matches!(part.kind, Kind::Grow | Kind::Ring) && text.contains(&part.name);
    let is_of_cpus = matches!(sentence["trouble"].as_str(), Some("cpu" | "computing" | "idle_cpus"));
    match holds(sentence, parts, measured) {
        _ if parts.iter().any(is_bystander) => Verdict::False,
        true => Verdict::True,
        false if has_others && is_of_cpus => Verdict::Unproven,
        false => Verdict::False,
    }
}

/// Whether a sentence holds. Figures may differ by what happens at both ends of the window.
fn holds(sentence: &Value, parts: &[Part], measured: &Measured) -> bool {
    let text = sentence["text"].as_str().unwrap_or_default();
    let culprit = sentence["culprit"].as_str();
    let of =
        |kinds: &[Kind], name: &str| parts.iter().any(|part| kinds.contains(&part.kind) && part.name == name);
    let cgroup_of =
        |kind: Kind, path: &str| parts.iter().any(|part| part.kind == kind && part.is_limit(path));
    let on_cpu = |name: &str| {
        parts
            .iter()
            .zip(&measured.parts)
            .find(|(part, _)| part.name == name)
            .map_or(0.0, |(_, times)| times.0)
    };
    // Whose waits count: those of ordinary priority that no quota holds. What a fork's children wait is not measured.
    let waiting = parts.iter().zip(&measured.parts);
    let ordinary = waiting.filter(|(part, _)| part.nice == 0 && part.limit.is_none());
    let waited = ordinary.map(|(_, times)| times.1).sum::<f64>() + measured.others;
    let all_waited = measured.parts.iter().map(|times| times.1).sum::<f64>() + measured.others;
    let forks = parts.iter().any(|part| part.kind == Kind::Fork);
    // Both windows are of three seconds, and not the same; whit's own processes wait as well.
    let says = |truth: f64| {
        forks || number_behind(text, "waited ").is_none_or(|said| (said - truth).abs() < 0.3 + 0.3 * truth)
    };
    let most = parts.iter().map(|part| on_cpu(&part.name)).fold(0.0, f64::max);
    match sentence["trouble"].as_str().unwrap_or_default() {
        "cpu" => {
            let is_hog = culprit.is_none_or(|name| on_cpu(name) > 0.6 * most || of(&[Kind::Fork], name));
            (waited > 0.2 || forks) && says(waited) && measured.idle < 0.5 && is_hog
        }
        "computing" => culprit.is_some_and(|name| on_cpu(name) > 0.5) && says(all_waited),
        "quota" => culprit.is_some_and(|path| cgroup_of(Kind::Spin, path)),
        "idle_cpus" => (waited > 0.2 || forks) && says(waited) && measured.idle > 0.25,
        "disk" => {
            let is_cause = culprit
                .is_none_or(|name| of(&[Kind::Write, Kind::Thrash], name) || cgroup_of(Kind::Write, name));
            measured.for_disks > 0.15 && is_cause
        }
        "memory" => {
            parts.iter().any(|part| part.kind == Kind::Thrash)
                && culprit.is_none_or(|path| cgroup_of(Kind::Thrash, path))
        }
        "stuck" => parts.iter().any(|part| {
            matches!(part.kind, Kind::Write | Kind::Thrash) && text.starts_with(&format!("{} (", part.name))
        }),
        // Several of them come from this program.
        "forks" => {
            let is_several = parts.iter().filter(|part| part.kind == Kind::Fork).count() > 1;
            let own = fs::read_to_string("/proc/self/comm").unwrap_or_default();
            forks && culprit.is_none_or(|name| of(&[Kind::Fork], name) || is_several && name == own.trim())
        }
        "network" => culprit.is_some_and(|name| of(&[Kind::Flood], name)),
        "locks" => culprit.is_some_and(|name| of(&[Kind::Locks], name)),
        // A host does that to each of them.
        "steal" => true,
        _ => false,
    }
}

/// Nothing is said that does not hold. WHIT_TROUBLES says how many are put together.
pub(super) fn troubles() -> Result<(), Failed> {
    enable_accounting();
    let count = times("WHIT_TROUBLES", 2);
    let mut wrong = Vec::new();
    for seed in 1..=count {
        let mut random = Random::new(seed);
        let (_, others) = busiest_program();
        let scratch = Scratch::new(&format!("why-generated-{seed}"));
        let number = 1 + random.below(3) as usize;
        let parts: Vec<Part> = (0..number)
            .map(|place| {
                let kind = KINDS[random.below(KINDS.len() as u64) as usize];
                Part::start(&scratch, place, kind, &mut random)
            })
            .collect();
        std::thread::sleep(SETTLED);
        let (sentences, measured) = observe(&parts);
        let described = parts.iter().map(Part::describe).collect::<Vec<_>>().join(", ");
        println!("{seed}: {described}; {measured:.2?}");
        // Who keeps a CPU busy is named in some way.
        let is_busy = measured.parts.iter().any(|times| times.0 > 0.8);
        if is_busy && sentences.is_empty() {
            wrong.push(format!("{seed}: {described}; {measured:.2?}: nothing is said"));
        }
        for sentence in &sentences {
            let verdict = judge(sentence, &parts, &measured, is_load(others));
            println!("    {verdict:?} {}", sentence["text"]);
            if verdict == Verdict::False {
                wrong.push(format!("{seed}: {described}; {measured:.2?}: {sentence:#}"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
