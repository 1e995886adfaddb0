//! Thousands of processes that begin and end within a second: none is missed.

use std::process::{Command, Stdio};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{WHIT, documents, peer};
use super::trials::{Need, Trial, timed};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        timed(
            "every_fork_of_a_storm_is_reported",
            &[Need::Root, Need::Program("cc")],
            "at least 1,500 forks in 3 s, a quarter of what is asked for",
            forks,
        ),
        timed(
            "the_time_of_what_ended_adds_up",
            &[Need::Root, Need::Program("cc")],
            "5 % of wait4's time, which is counted by another clock",
            execs,
        ),
    ]
}

const SPAWNERS: usize = 4;
const SECONDS: &str = "3";

/// Several at once; how many each started and the CPU time of those, by wait4.
fn spawn_all(words: &[&str]) -> (u64, u64) {
    let program = peer("execs");
    let spawners: Vec<_> = (0..SPAWNERS)
        .map(|_| Command::new(&program).args(words).stdout(Stdio::piped()).spawn().unwrap())
        .collect();
    let mut sums = (0, 0);
    for spawner in spawners {
        let text = String::from_utf8(spawner.wait_with_output().unwrap().stdout).unwrap();
        let (started, cpu_ns) = text.trim().split_once(' ').unwrap();
        sums = (sums.0 + started.parse::<u64>().unwrap(), sums.1 + cpu_ns.parse::<u64>().unwrap());
    }
    sums
}

/// What whit printed, what it said, and what the load was.
type Beside = (Vec<Value>, String, (u64, u64));

/// whit beside them, from before their start until after their end.
fn beside(words: &[&str], load: impl FnOnce() -> (u64, u64)) -> Result<Beside, Failed> {
    let whit = Command::new(WHIT).args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let pid = rustix::process::Pid::from_raw(whit.id().cast_signed()).unwrap();
    let reader = std::thread::spawn(move || whit.wait_with_output());
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let sums = load();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    let output = reader.join().unwrap()?;
    Ok((documents(&String::from_utf8(output.stdout)?), String::from_utf8(output.stderr)?, sums))
}

fn forks() -> Result<(), Failed> {
    // 2,000 a second of them all.
    let (records, said, (started, _)) =
        beside(&["delays", "--exits", "--json"], || spawn_all(&["fork", SECONDS, "500"]))?;
    let told = records.iter().filter(|record| record["comm"] == "execs").count() as u64;
    let lost = super::delays::lost_records(&said) as u64;
    let below_tick = records.iter().filter(|record| record["ended"]["on_cpu_below_tick"] == true).count();
    println!("{started} forks, {told} told, {lost} lost, {below_tick} below a tick");
    assert!(started >= 1_500, "no storm: {started} forks");
    assert!(told <= started + SPAWNERS as u64 && told + lost >= started, "{told} and {lost} of {started}");
    assert!(below_tick > 0);
    Ok(())
}

fn execs() -> Result<(), Failed> {
    let ratio = ratio_of_execs()?;
    assert!((0.95..=1.05).contains(&ratio), "{ratio} of what wait4 says");
    Ok(())
}

/// The CPU time of the ended and the living, as a share of what wait4 reported to their parents.
fn ratio_of_execs() -> Result<f64, Failed> {
    let (ticks, _, (started, cpu_ns)) =
        beside(&["top", "--json", "-d", "1"], || spawn_all(&["exec", SECONDS]))?;
    let (mut seen, mut told_ns, mut unrecorded_ns, mut lost) = (0, 0, 0, 0);
    for tick in &ticks {
        lost = tick["whit"]["lost_exit_records"].as_u64().unwrap();
        // What a task does after its record is made: giving back its memory, which of so short ones is a tenth.
        unrecorded_ns += tick["whit"]["unrecorded_cpu_ns"].as_u64().unwrap();
        for row in tick["tasks"].as_array().unwrap() {
            if row["comm"] == "true" {
                told_ns += row["on_cpu_ns"].as_u64().unwrap_or(0);
                seen += if row["is_ended"] == true { row["processes"].as_u64().unwrap() } else { 0 };
            }
        }
    }
    let ratio = (told_ns + unrecorded_ns) as f64 / cpu_ns as f64;
    println!("{:.3} in records", told_ns as f64 / cpu_ns as f64);
    println!(
        "{started} execs, {seen} seen to end, {lost} lost; their CPU time {ratio:.3} of what wait4 says"
    );
    assert!(seen + lost >= started && seen <= started, "{seen} and {lost} of {started}");
    Ok(ratio)
}
