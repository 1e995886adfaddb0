//! Answers by the sums of minutes equal those of a replay.

use std::collections::BTreeMap;

use facts::task::comm::Comm;
use facts::task::figure::{Figure, Figures};
use query::{Answer, Limits, Query};
use store::{Retention, Store, Tier};

use super::random_machine::{Machine, record, recorded};
use super::{BatchedSource, BriefProcesses, Past};
use crate::task_sums::{
    MINUTE_MS, Span, SpanSums, Summarizer, SumsFile, change, check, fill, make_all, remake_all,
};

const EXPRESSIONS: [&str; 19] = [
    "sum by (comm) (increase(whit_task_on_cpu_seconds_total[10m]))",
    "sum by (comm, user, cgroup) (rate(whit_task_run_queue_seconds_total[7m]))",
    "sum(rate(whit_task_on_cpu_seconds_total[5m])) + sum(rate(whit_task_block_io_seconds_total[5m]))",
    "topk(2, sum by (comm) (increase(whit_task_on_cpu_seconds_total[9m])))",
    "topk(1, sum by (cgroup) (rate(whit_task_run_queue_seconds_total[9m])))",
    "count(sum by (comm) (rate(whit_task_block_io_seconds_total[5m] offset 2m)))",
    "sum by (user) (rate(whit_task_on_cpu_seconds_total{comm!~\"c.*\",cgroup=~\"/a.*\"}[6m]))",
    "sum without (tid, pid) (increase(whit_task_voluntary_switches_total[6m]))",
    "sum(sum by (comm, user) (rate(whit_task_on_cpu_seconds_total[400s])))",
    // Of one process: sums tell them apart where they can, and leave it to a replay where they cannot.
    "topk(1, sum by (comm, pid) (rate(whit_task_on_cpu_seconds_total[10m])))",
    "topk(3, sum by (pid) (increase(whit_task_voluntary_switches_total{comm=\"b\"}[8m])))",
    "sum(rate(whit_task_on_cpu_seconds_total{pid=\"107\"}[10m]))",
    "sum by (comm, pid) (rate(whit_task_on_cpu_seconds_total{comm=\"a\"}[3m]))",
    "sum by (comm, tid) (rate(whit_task_on_cpu_seconds_total{comm=\"a\"}[3m]))",
    // What sums say nothing of.
    "sum by (comm) (max_over_time(whit_task_resident_bytes[5m]))",
    "rate(whit_task_on_cpu_seconds_total{comm=\"c\"}[4m])",
    "sum by (comm) (rate(whit_task_on_cpu_seconds_total{comm=\"none\"}[4m]))",
    // Two metrics. Some tasks do not have the second one.
    "topk(2, sum by (pid) (rate(whit_task_on_cpu_seconds_total[9m]))) + on (pid) topk(5, sum by (pid) (rate(whit_task_block_io_seconds_total[9m])))",
    // What the path of a cgroup names.
    "sum by (unit, container) (increase(whit_task_on_cpu_seconds_total{container!=\"three\"}[8m]))",
];

/// The answers to all expressions, as text: NaN equals nothing. What the processes were that ended is one of them.
fn answers(past: &Past, at_ms: i64) -> Vec<String> {
    answers_to(&EXPRESSIONS, past, at_ms)
}

fn answers_to(expressions: &[&str], past: &Past, at_ms: i64) -> Vec<String> {
    let limits = Limits::default();
    let answer = |text: &&str| {
        let query = Query::parse(text).unwrap();
        let answer: Result<Answer, _> =
            BatchedSource::evaluate(past, &limits, |source| query.at(source, at_ms, &limits));
        format!("{answer:?}")
    };
    let mut all: Vec<String> = expressions.iter().map(answer).collect();
    let range = [at_ms - 500_000, at_ms];
    let watched = BatchedSource::evaluate(past, &limits, |source| source.watched(range, &limits));
    all.push(format!("{:?}", watched.map(|watched| watched.churn)));
    all
}

#[test]
fn sums_say_what_a_replay_says() {
    let cases = std::env::var("WHIT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_u64);
    for seed in 1..=cases.min(200) {
        // Numbers of processes are given again soon, late, or never.
        let last_pid = [400, 160, 1_000_000][seed as usize % 3];
        let (_scratch, path) = recorded("summing", seed, last_pid);
        let past = Past::open(&path).unwrap();
        let (_, last_ns) = past.extent_ns().unwrap().unwrap();
        let times_ms = [0, 1, 123_456, 217_007, 240_000].map(|back_ms| last_ns / 1_000_000 - back_ms);
        let replayed = times_ms.map(|at_ms| answers(&past, at_ms));
        make_all(&path);
        let past = Past::open(&path).unwrap();
        for (at_ms, replayed) in times_ms.into_iter().zip(replayed) {
            for ((place, replayed), summed) in replayed.iter().enumerate().zip(answers(&past, at_ms)) {
                let expression = EXPRESSIONS.get(place).unwrap_or(&"what ended");
                assert_eq!(*replayed, summed, "{expression} at {at_ms}, {last_pid} numbers");
            }
        }
    }
}

/// The unit and the container of a task are labels. A task outside of both has none of them.
#[test]
fn cgroups_have_their_names() {
    let (_scratch, path) = recorded("summing-names", 4, 1_000_000);
    let past = Past::open(&path).unwrap();
    let (_, last_ns) = past.extent_ns().unwrap().unwrap();
    let named = |expression: &str| {
        let answer = answers_to(&[expression], &past, last_ns / 1_000_000 - 1).remove(0);
        ["one.service", "two"].map(|name| answer.contains(&format!("\"{name}\"")))
    };
    let sum =
        |by, of| named(&format!("sum by ({by}) (increase(whit_task_on_cpu_seconds_total{{{of}}}[10m]))"));
    assert_eq!(sum("unit", ""), [true, false]);
    assert_eq!(sum("container", ""), [false, true]);
    assert_eq!(sum("unit, container", "container=\"two\""), [false, true]);
    assert_eq!(sum("unit, container", "container=\"\""), [true, false]);
    assert_eq!(sum("unit, container", "unit=~\"one.*\""), [true, false]);
}

/// Adds a second on a CPU to all that have been on one.
fn add_a_second(sums: &mut SpanSums) {
    let of_groups = sums.groups.sums.iter_mut().map(|sums| &mut sums.figures);
    for figures in of_groups.chain(sums.processes.seen.iter_mut().map(|sums| &mut sums.figures)) {
        figures.set(Figure::ON_CPU, figures.get(Figure::ON_CPU).map(|value| value + 1_000_000_000));
    }
}

/// Sums that are wrong make wrong answers: they are read.
#[test]
fn sums_are_read() {
    let (_scratch, path) = recorded("summing-wrong", 5, 1_000_000);
    let past = Past::open(&path).unwrap();
    let (_, last_ns) = past.extent_ns().unwrap().unwrap();
    // Between two rounds: the first one in a range belongs to it.
    let at_ms = last_ns / 1_000_000 - 1;
    let replayed = answers(&past, at_ms);
    remake_all(&path, |sums| {
        add_a_second(sums);
        sums.groups.programs.iter_mut().for_each(|sums| sums.ended += 1);
    });
    let summed = answers(&Past::open(&path).unwrap(), at_ms);
    let differs: Vec<bool> = replayed.iter().zip(&summed).map(|(one, other)| one != other).collect();
    for place in [0, 2, 3, 6, 8, 9] {
        assert!(differs[place], "{}", EXPRESSIONS[place]);
    }
    assert!(!differs[13] && !differs[14] && !differs[15]);
    assert!(differs[EXPRESSIONS.len()], "the parent");
}

/// The answer to an expression, by the names of its series.
fn series_with(past: &Past, brief: BriefProcesses, text: &str, at_ms: i64) -> BTreeMap<String, f64> {
    let (limits, query) = (Limits::default(), Query::parse(text).unwrap());
    let answer =
        BatchedSource::evaluate_with(past, brief, &limits, |source| query.at(source, at_ms, &limits));
    let Ok(Answer::Vector(series)) = answer else { panic!("{answer:?}") };
    series.into_iter().map(|(name, point)| (format!("{name:?}"), point.value)).collect()
}

/// Where numbers of processes are given again soon, exact sums by process are those of a replay; without the brief ones, sums alone say them.
#[test]
fn brief_processes_may_be_left_out() {
    let (_scratch, path) = recorded("summing-brief", 8, 160);
    make_all(&path);
    let past = Past::open(&path).unwrap();
    let (_, last_ns) = past.extent_ns().unwrap().unwrap();
    let by_process = |brief| {
        let text = "sum by (comm, pid) (increase(whit_task_on_cpu_seconds_total[10m]))";
        series_with(&past, brief, text, last_ns / 1_000_000 - 1)
    };
    let (exact, without) = (by_process(BriefProcesses::Exact), by_process(BriefProcesses::Negligible));
    assert!(without.iter().all(|(name, value)| *value <= exact[name] + 1e-9), "{without:?} {exact:?}");
    let part = without.values().sum::<f64>() / exact.values().sum::<f64>();
    assert!(part > 0.7 && part < 1.0, "{part}");
}

/// Of a program all of whose processes are brief each is negligible, since together they are much: they are not looked for in the rounds.
#[test]
fn a_program_of_brief_processes_is_not_replayed() {
    let mut machine = Machine::new(9, 1_000_000);
    machine.brief_comm = Some(Comm::new(b"z"));
    let (_scratch, path) = record("summing-program", 9, machine);
    make_all(&path);
    let past = Past::open(&path).unwrap();
    let (_, last_ns) = past.extent_ns().unwrap().unwrap();
    let count = |brief| {
        let text = "sum by (comm, pid) (increase(whit_task_on_cpu_seconds_total{comm=\"z\"}[10m]))";
        series_with(&past, brief, text, last_ns / 1_000_000 - 1).len()
    };
    // Those of the ends, which no sums have.
    let (exact, without) = (count(BriefProcesses::Exact), count(BriefProcesses::Negligible));
    assert!(without > 0 && without < exact / 4, "{without} of {exact}");
}

/// The sums that the agent makes a few minutes at a time are those that `whit history compact` makes, and that `verify` expects.
#[test]
fn sums_are_made_and_checked() {
    let (_scratch, path) = recorded("summing-upkeep", 6, 1_000_000);
    assert_eq!(check(&path).unwrap(), Vec::<String>::new());
    let past = Past::open(&path).unwrap();
    let (first_ns, last_ns) = past.extent_ns().unwrap().unwrap();
    let (first, end) = (first_ns / 1_000_000 / MINUTE_MS + 1, last_ns / 1_000_000 / MINUTE_MS);
    let now_ms = last_ns / 1_000_000 + 10_000;
    let mut summarizer = Summarizer::of(path.clone());
    let minutes = || SumsFile::open_for_reading(&path).unwrap().minutes(0..i64::MAX).unwrap();
    summarizer.look(now_ms).unwrap();
    assert_eq!(minutes(), (end - 5..end).collect::<Vec<_>>());
    for _ in 0..3 {
        summarizer.look(now_ms).unwrap();
    }
    assert_eq!(minutes(), (first..end).collect::<Vec<_>>());
    // The clock was set back.
    let set_back_ms = (end - 2) * MINUTE_MS + 7_000;
    summarizer.look(set_back_ms).unwrap();
    assert_eq!(minutes(), (first..end - 2).collect::<Vec<_>>());
    fill(&path).unwrap();
    assert_eq!(minutes(), (first..end).collect::<Vec<_>>());
    assert_eq!(check(&path).unwrap(), Vec::<String>::new());
    remake_all(&path, |sums| sums.groups.sums.iter_mut().for_each(|sums| sums.figures = Figures::NONE));
    let findings = check(&path).unwrap();
    assert!(findings.len() as i64 > (end - first) / 2, "{findings:?}");
    assert!(findings.iter().all(|finding| finding.contains("are not those of its ticks")), "{findings:?}");
}

/// A window of hours is read by their sums, if these say enough.
#[test]
fn hours_say_what_a_replay_says() {
    const EXPRESSIONS: [&str; 4] = [
        "sum by (comm) (increase(whit_task_on_cpu_seconds_total[2h]))",
        "topk(2, sum by (comm, user, cgroup) (rate(whit_task_run_queue_seconds_total[2h])))",
        "sum(rate(whit_task_block_io_seconds_total[110m]))",
        "sum by (comm, pid) (increase(whit_task_on_cpu_seconds_total{comm=\"a\"}[2h]))",
    ];
    let mut machine = Machine::new(9, 1_000_000);
    machine.step_s = 10;
    let (_scratch, path) = record("summing-hours", 9, machine);
    let past = Past::open(&path).unwrap();
    let (_, last_ns) = past.extent_ns().unwrap().unwrap();
    let times_ms = [0, 1, 123_456].map(|back_ms| last_ns / 1_000_000 - back_ms);
    let all = |past: &Past| times_ms.map(|at_ms| answers_to(&EXPRESSIONS, past, at_ms));
    let replayed = all(&past);
    make_all(&path);
    assert!(!SumsFile::open_for_reading(&path).unwrap().hours(0..i64::MAX).unwrap().is_empty());
    assert_eq!(replayed, all(&Past::open(&path).unwrap()));
    assert_eq!(check(&path).unwrap(), Vec::<String>::new());
    // Those that are wrong make wrong answers, and are found; processes are asked of minutes.
    let hours = |file: &SumsFile| file.hours(0..i64::MAX).unwrap().into_iter().map(Span::Hour).collect();
    change(&path, hours, add_a_second);
    let summed = all(&Past::open(&path).unwrap());
    assert!(replayed.iter().zip(&summed).all(|(one, other)| one[0] != other[0] && one[1..4] == other[1..4]));
    let findings = check(&path).unwrap();
    assert!(
        findings.iter().all(|finding| finding.contains("the hour")) && !findings.is_empty(),
        "{findings:?}"
    );
}

/// The minutes that have no sums yet are read by their ten seconds, where a replay takes long.
#[test]
fn ten_seconds_say_what_a_replay_says() {
    let (_scratch, path) = recorded("summing-recent", 11, 1_000_000);
    let past = Past::open(&path).unwrap();
    let (_, last_ns) = past.extent_ns().unwrap().unwrap();
    let last_ms = last_ns / 1_000_000;
    let times_ms = [0, 1, 12_345].map(|back_ms| last_ms - back_ms);
    let all = || {
        let past = Past::open(&path).unwrap();
        times_ms.map(|at_ms| answers(&past, at_ms))
    };
    let replayed = all();
    let mut summarizer = Summarizer::of(path.clone());
    let file = || SumsFile::open_for_reading(&path).unwrap();
    (0..4).for_each(|_| summarizer.look(last_ms).unwrap());
    let first = (file().minutes(0..i64::MAX).unwrap().last().unwrap() + 1) * MINUTE_MS / 10_000;
    let known = || file().ten_seconds(0..i64::MAX).unwrap();
    summarizer.is_costly = true;
    summarizer.look(last_ms).unwrap();
    // The last one is whole when a later round is there.
    assert_eq!(known(), (first..(last_ms - 1) / 10_000).collect::<Vec<_>>());
    assert!(!known().is_empty());
    assert_eq!(replayed, all());
    assert_eq!(check(&path).unwrap(), Vec::<String>::new());
    let ten_seconds = |_: &SumsFile| known().into_iter().map(Span::TenSeconds).collect();
    change(&path, ten_seconds, add_a_second);
    let summed = all();
    assert!(replayed.iter().zip(&summed).take(2).all(|(one, other)| one[0] != other[0]));
    let findings = check(&path).unwrap();
    assert!(!findings.is_empty() && findings.iter().all(|one| one.contains("ten seconds")), "{findings:?}");
    // The minute is over, and the clock was set back.
    summarizer.look(last_ms + 70_000).unwrap();
    assert!(known().is_empty());
    assert_eq!(replayed, all());
}

/// Merged rounds are replayed: they have the time of the last that is in them.
#[test]
fn sums_of_merged_rounds_are_not_read() {
    let (_scratch, path) = recorded("summing-merged", 7, 1_000_000);
    make_all(&path);
    let tiers = [(0, 400), (10, 1_000_000)].map(|(step_s, keep_s)| Tier { step_s, keep_s });
    let retention = Retention { tiers: tiers.into(), ..Retention::default() };
    let past = Past::open(&path).unwrap();
    let (_, last_ns) = past.extent_ns().unwrap().unwrap();
    drop(past);
    let mut store = Store::open(&path, retention).unwrap();
    assert!(store.compact(last_ns).unwrap());
    store.close().unwrap();
    let times_ms = [1, 100_000, 300_000].map(|back_ms| last_ns / 1_000_000 - back_ms);
    let all = || {
        let past = Past::open(&path).unwrap();
        times_ms.map(|at_ms| answers(&past, at_ms))
    };
    let summed = all();
    std::fs::remove_file(path.with_file_name("task-sums.sqlite")).unwrap();
    assert_eq!(summed, all());
}
