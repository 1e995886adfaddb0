//! Troubles that are staged, and what `whit why` says of them.

mod generated;
mod stages;
mod storm;

use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Load, Scratch, busiest_program, documents, enable_accounting, is_load, whit};
use super::trials::{Need, Trial, alone, timed};
use stages::{Staged, programs};
use storm::Storm;

/// How long a trouble goes on before it is observed: its programs run by then, and what they began with is over.
const SETTLED: Duration = Duration::from_millis(300);

/// The tolerance of them all.
const LARGEST: &str = "the named trouble is the largest of a window of 2 s";

pub(crate) fn trials() -> Vec<Trial> {
    let all = [
        Need::Root,
        Need::Accounting,
        Need::Program("cc"),
        Need::Controller("cpu"),
        Need::Controller("io"),
        Need::Controller("memory"),
        Need::Program("mkfs.ext4"),
    ];
    let names = |name, run| timed(name, &all, LARGEST, run);
    vec![
        names("why_names_who_computes", who_computes),
        names("why_names_the_winner_of_a_nice_fight", || first("cpu", "culprit", stages::nice_fight)),
        names("why_says_nothing_of_nice_tasks_among_themselves", nice_tasks),
        names("why_names_two_who_use_as_much", two_who_use_as_much),
        names("why_names_a_cgroup_with_a_quota", || first("quota", "whit-test-cpu", stages::quota)),
        names("why_blames_no_quota_for_affinity", affinity),
        names("why_blames_no_quota_of_others", quota_elsewhere),
        names("why_names_the_neighbour_that_writes", neighbour),
        names("why_says_what_does_not_go_on", does_not_go_on),
        names("why_names_a_cgroup_that_may_write_little", || {
            first("disk", "whit-test-io", stages::throttled_disk)
        }),
        names("why_blames_no_disk_for_charges", charges),
        names("why_blames_no_disk_for_io_uring", ring),
        names("why_names_the_cgroup_that_is_short_of_memory", short_of_memory),
        names("why_names_the_cgroup_that_was_killed", who_reached_a_limit),
        names("why_names_the_cgroup_that_swaps", || first("swapping", "whit-test-memory", stages::swapping)),
        names("why_names_what_is_forked_and_who_forks", storm),
        names("why_names_hogs_before_a_storm_that_uses_little", little_storm),
        names("why_names_who_floods_the_network", || first("network", "culprit", stages::network)),
        names("why_names_who_accepts_no_connection", || first("connections", "culprit", stages::unaccepted)),
        names("why_names_who_reads_no_datagram", || first("datagrams", "culprit", stages::unread)),
        names("why_names_who_fills_a_disk", || first("full_filesystem", "culprit", stages::full)),
        names("why_names_a_lock_convoy", || first("locks", "culprit", stages::locks)),
        names("why_names_who_looks_again_and_again", || first("polling", "culprit", stages::polling)),
        names("why_says_nothing_false_of_generated_troubles", generated::troubles),
        alone("why_names_nobody_on_a_quiet_machine", &[Need::Root, Need::Accounting], quiet),
        names("a_process_has_a_why_of_its_own", own),
        names("a_task_that_sleeps_sleeps", sleeper),
    ]
}

/// The sentences about a window of two seconds.
fn why(target: &[&str]) -> Vec<Value> {
    why_of(target, "2s")
}

/// The sentences about a window.
fn why_of(target: &[&str], window: &str) -> Vec<Value> {
    // There is no history there, so that the machine is observed.
    let mut words = vec!["why", "--json", "--observe", window, "--data", "/nowhere"];
    words.extend(target);
    let storm = Storm::start();
    let document = documents(&whit(&words)).remove(0);
    let mut sentences = document["sentences"].as_array().cloned().expect("sentences");
    // What the host takes away is true, and none of what was staged; nor is a storm beside it.
    sentences
        .retain(|sentence| sentence["trouble"] != "steal" && !(storm.is_some() && storm::is_named(sentence)));
    sentences
}

/// The sentences about a trouble, and how busy others were before it was staged.
fn staged(trouble: &str, stage: fn(&Scratch) -> Staged) -> (Vec<Value>, f64) {
    enable_accounting();
    let scratch = Scratch::new(&format!("why-{trouble}"));
    let (_, others) = busiest_program();
    let staged = stage(&scratch);
    std::thread::sleep(SETTLED);
    let sentences = why(&[]);
    for one in staged.into_iter().rev() {
        drop(one);
    }
    (sentences, others)
}

/// What the kernel says of waits for disks, for the message of a trial that failed.
fn io_pressure() -> String {
    std::fs::read_to_string("/proc/pressure/io").unwrap_or_else(|error| error.to_string())
}

/// Who waits for a disk again and again goes on.
fn neighbour() -> Result<(), Failed> {
    let before = io_pressure();
    let (sentences, others) = staged("disk", stages::disk);
    let is_named =
        sentences.first().is_some_and(|first| first["trouble"] == "disk" && first["culprit"] == "culprit");
    assert!(
        is_load(others) || is_named,
        "{others} CPUs used by others, before {before}, then {}: {sentences:#?}",
        io_pressure()
    );
    assert_eq!(about(&sentences, "stuck"), None);
    Ok(())
}

fn does_not_go_on() -> Result<(), Failed> {
    let (sentences, _) = staged("stuck", stages::long_reads);
    let text = about(&sentences, "stuck").ok_or_else(|| format!("{sentences:#?}"))?;
    assert!(text.starts_with("culprit ("), "{text}");
    Ok(())
}

/// The first sentence is about a trouble, and names who causes it. Beside a load of others there may be a larger one.
fn first(trouble: &str, culprit: &str, stage: fn(&Scratch) -> Staged) -> Result<(), Failed> {
    told(trouble, culprit, stage).map(drop)
}

/// What whit sees itself at the end has no expression.
fn is_of_present(sentence: &Value) -> bool {
    ["deadlock", "contention", "reader", "server"].iter().any(|trouble| sentence["trouble"] == *trouble)
}

/// The same, and what that sentence says.
fn told(trouble: &str, culprit: &str, stage: fn(&Scratch) -> Staged) -> Result<String, Failed> {
    let (sentences, others) = staged(trouble, stage);
    for sentence in sentences.iter().filter(|sentence| !is_of_present(sentence)) {
        assert!(!sentence["evidence"].as_array().unwrap().is_empty(), "{sentence}");
    }
    let is_by_culprit =
        |sentence: &&Value| sentence["culprit"].as_str().unwrap_or_default().contains(culprit);
    let is_named = |sentence: &&Value| sentence["trouble"] == trouble && is_by_culprit(sentence);
    let count = match () {
        () if is_load(others) => sentences.len(),
        // The tasks of a storm wait for the culprit's as well: that is another trouble by the same.
        () if storm::rate() > 0 => sentences.iter().take_while(is_by_culprit).count(),
        () => 1,
    };
    let found = sentences.iter().take(count).find(is_named);
    let found = found.ok_or_else(|| format!("{others} CPUs used by others: {sentences:#?}"))?;
    Ok(found["text"].as_str().unwrap_or_default().to_owned())
}

/// What is said of a trouble, which may be nothing.
fn about<'s>(sentences: &'s [Value], trouble: &str) -> Option<&'s str> {
    sentences.iter().find(|sentence| sentence["trouble"] == trouble)?["text"].as_str()
}

fn two_who_use_as_much() -> Result<(), Failed> {
    let (sentences, others) = staged("equal", stages::equal_hogs);
    let text = about(&sentences, "cpu").ok_or_else(|| format!("{sentences:#?}"))?;
    let are_named = ["culprit used", "victim used", "and 2 processes named"];
    assert!(
        is_load(others) || are_named.iter().filter(|words| text.contains(**words)).count() == 2,
        "{text}"
    );
    Ok(())
}

/// Two that share a CPU wait for it, but no quota holds them.
fn affinity() -> Result<(), Failed> {
    let (sentences, others) = staged("affinity", stages::one_cpu);
    assert_eq!(about(&sentences, "quota"), None);
    assert!(is_load(others) || about(&sentences, "idle_cpus").is_some(), "{sentences:#?}");
    Ok(())
}

/// They use what no one else wants.
fn nice_tasks() -> Result<(), Failed> {
    let (sentences, others) = staged("nice", stages::nice_tasks);
    let waits = ["cpu", "idle_cpus"].map(|trouble| about(&sentences, trouble));
    // Those of a storm are not nice, and wait for them.
    if is_load(others) || storm::rate() > 0 {
        return Ok(());
    }
    assert_eq!(waits, [None, None], "{sentences:#?}");
    // They wait for one another: that is no trouble, but the sentence has the figure.
    let text = about(&sentences, "computing").unwrap_or_default();
    assert!(!text.contains("waited 0.0"), "{sentences:#?}");
    Ok(())
}

/// A quota holds those who are in its cgroup.
fn quota_elsewhere() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("why-elsewhere");
    let staged = stages::quota_elsewhere(&scratch);
    std::thread::sleep(SETTLED);
    let (of_machine, sentences) = (why(&[]), why(&["culprit"]));
    staged.into_iter().rev().for_each(drop);
    assert!(about(&of_machine, "quota").is_some(), "{of_machine:#?}");
    assert!(about(&sentences, "own_time").is_some(), "{sentences:#?}");
    assert_eq!(about(&sentences, "quota"), None);
    Ok(())
}

fn ring() -> Result<(), Failed> {
    let (sentences, _) = staged("ring", stages::ring);
    assert_eq!(about(&sentences, "disk"), None);
    Ok(())
}

/// Where no task waits for a disk for long, what the kernel charges is no trouble.
fn charges() -> Result<(), Failed> {
    let (sentences, _) = staged("charges", stages::sips);
    assert_eq!(about(&sentences, "disk"), None);
    Ok(())
}

/// Who grows outside of the cgroup has no part in it.
fn short_of_memory() -> Result<(), Failed> {
    let text = told("memory", "whit-test-memory", stages::memory)?;
    assert!(text.contains("victim (") && !text.contains("culprit"), "{text}");
    Ok(())
}

/// The largest process of the machine has no part in it.
fn who_reached_a_limit() -> Result<(), Failed> {
    let text = told("out_of_memory", "whit-test-memory", stages::limit_that_kills)?;
    assert!(text.contains("reached its memory limit"), "{text}");
    Ok(())
}

fn storm() -> Result<(), Failed> {
    let text = told("forks", "culprit", stages::forks)?;
    assert!(text.contains("% were culprit") && text.contains("% came from culprit ("), "{text}");
    Ok(())
}

fn little_storm() -> Result<(), Failed> {
    let _storm = Storm::of(300);
    first("cpu", "culprit", stages::nice_fight)
}

fn sleeper() -> Result<(), Failed> {
    enable_accounting();
    let load = Load::start(&["sleep", "600"]);
    let sentences = why(&[&load.id().to_string()]);
    let text = sentences[0]["text"].as_str().unwrap_or_default();
    // "It slept 2.0 of 2.1 s", or 2.1 of them if the last tick was late.
    let numbers = text.split(' ').filter_map(|word| word.parse::<f64>().ok());
    let [slept, all] = numbers.take(2).collect::<Vec<_>>()[..] else { return Err(text.into()) };
    assert!(text.starts_with("It slept ") && slept >= 0.9 * all && all < 3.0, "{sentences:#?}");
    Ok(())
}

/// A sentence about CPU time that names the busiest program.
fn is_about(sentence: &Value, busiest: &str) -> bool {
    let is_of_cpu = ["computing", "cpu"].iter().any(|trouble| sentence["trouble"] == *trouble);
    is_of_cpu && sentence["culprit"].as_str().unwrap_or_default().contains(busiest)
}

/// On a quiet machine the busiest program is the one that is staged; beside a load of others it may be theirs.
fn who_computes() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("why-computing");
    let (_, others) = busiest_program();
    let (culprit, _) = programs(&scratch);
    let load = Load::start(&[&culprit, "spin"]);
    let (busiest, _) = busiest_program();
    let sentences = why(&[]);
    let pid = load.id();
    drop(load);
    // That one program computes is said where there is nothing else to say.
    if sentences.is_empty() && storm::rate() > 0 {
        return Ok(());
    }
    let first = sentences.first().ok_or("nothing is wrong")?;
    assert!(is_about(first, &busiest), "{busiest}: {sentences:#?}");
    let is_it = first["trouble"] == "computing" && first["culprit_pid"] == pid;
    assert!(is_load(others) || busiest == "culprit" && is_it, "{sentences:#?}");
    Ok(())
}

fn quiet() -> Result<(), Failed> {
    enable_accounting();
    let (busiest, others) = busiest_program();
    for window in 0..3 {
        let sentences = why_of(&[], "1s");
        // Beside a load of others that is what there is to say.
        let is_right = |sentence| is_load(others) && is_about(sentence, &busiest);
        assert!(sentences.iter().all(is_right), "window {window}, {busiest} {others}: {sentences:#?}");
    }
    Ok(())
}

/// The time of one process, and what explains it.
fn own() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("why-own");
    let (culprit, victim) = programs(&scratch);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let slow = Load::start(&["nice", "-n", "19", &victim, "spin"]);
    // They use more than whatever else runs here, and leave something to whit.
    let spin = || Load::start(&["nice", "-n", "-5", &culprit, "spin"]);
    let _load: Vec<Load> = (0..=cpus).map(|_| spin()).collect();
    std::thread::sleep(SETTLED);
    for target in [slow.id().to_string(), "victim".to_owned()] {
        let sentences = why(&[&target]);
        let text = sentences[0]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("It waited for a CPU"), "{sentences:#?}");
        assert_eq!(sentences[1]["culprit"], "culprit", "{sentences:#?}");
    }
    Ok(())
}
