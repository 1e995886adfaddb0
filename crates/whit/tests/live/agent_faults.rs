//! What the agent records while something goes wrong.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use facts::task::figure::Figure;
use libtest_mimic::Failed;
use rustix::process::{Pid, Signal, kill_process};
use store::History;

use super::machine::{Scratch, WHIT, documents, shell, wait_for, whit};
use super::scheduler_clock::SchedulerClock;
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("a_full_disk_loses_no_tick", &[Need::Root, Need::Program("mount")], full_disk),
        exact(
            "an_agent_starts_where_nothing_can_be_written",
            &[Need::Root, Need::Program("setpriv")],
            read_only,
        ),
        timed(
            "a_reload_loses_no_tick",
            &[],
            "at most 50 of 250 ticks of 20 ms are late: a debug build reloads 100 times beside them",
            reload,
        ),
        timed(
            "the_tasks_of_a_history_used_what_the_machine_did",
            &[Need::Root, Need::Accounting],
            "1 % of the scheduler's clock: tasks are read one by one, for some milliseconds at either end of 11 s. 10 % of /proc/stat, which is sampled 100 to 1000 times a second, if there is no cpuacct",
            all_cpu,
        ),
    ]
}

fn agent(data: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(WHIT);
    command.arg("agent").arg("--data").arg(data).arg("--now").arg(data.join("../now"));
    command.arg("--socket").arg(data.join("../agent.sock")).args(more).stderr(Stdio::piped());
    command
}

/// Waits for its end, and returns what it said.
fn words_of(child: Child) -> Result<String, Failed> {
    let output = child.wait_with_output()?;
    assert!(output.status.success(), "{output:?}");
    Ok(String::from_utf8(output.stderr)?)
}

fn ticks(data: &Path) -> Result<u64, Failed> {
    let text = whit(&["history", "--json", "--data", data.to_str().ok_or("the path")?]);
    Ok(documents(&text).remove(0)["ticks"].as_u64().ok_or("ticks")?)
}

/// Unmounted with the trial.
struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn full_disk() -> Result<(), Failed> {
    let scratch = Scratch::new("agent-full");
    let disk = scratch.0.join("disk");
    std::fs::create_dir(&disk)?;
    let status = Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "none"]).arg(&disk).status()?;
    assert!(status.success());
    let _mounted = Mounted(disk.clone());
    let data = disk.join("data");
    let child = agent(&data, &["-i", "20ms", "-n", "300"]).spawn()?;
    wait_for("the first tick", || scratch.0.join("disk/now").exists());
    std::thread::sleep(Duration::from_secs(1));
    // Everything that is left, and nothing for two seconds.
    shell(&format!("dd if=/dev/zero of={}/filler bs=4k 2>/dev/null", disk.display()));
    std::thread::sleep(Duration::from_secs(2));
    std::fs::remove_file(disk.join("filler"))?;
    let words = words_of(child)?;
    assert!(words.contains("full") && words.contains("history: works again"), "{words}");
    assert_eq!(ticks(&data)?, 300, "{words}");
    Ok(())
}

fn read_only() -> Result<(), Failed> {
    let scratch = Scratch::new("agent-read-only");
    let runtime = scratch.0.join("runtime");
    std::fs::create_dir(&runtime)?;
    std::os::unix::fs::chown(&runtime, Some(4242), Some(4242))?;
    let output = Command::new("setpriv")
        .args(["--reuid", "4242", "--regid", "4242", "--clear-groups", WHIT, "agent"])
        .args(["--data", "/proc/whit", "-i", "50ms", "-n", "10"])
        .env("XDG_RUNTIME_DIR", &runtime)
        .output()?;
    let words = String::from_utf8(output.stderr)?;
    assert!(output.status.success() && words.contains("until a restart the history is in"), "{words}");
    assert_eq!(ticks(&runtime.join("whit/history"))?, 10);
    Ok(())
}

fn reload() -> Result<(), Failed> {
    let scratch = Scratch::new("agent-reload");
    let (data, config) = (scratch.0.join("data"), scratch.0.join("agent.toml"));
    std::fs::write(&config, "[now]\nmetrics = [\"node_load1\"]\n")?;
    let path = config.to_str().ok_or("the path")?;
    let child = agent(&data, &["-i", "20ms", "-n", "250", "-c", path]).spawn()?;
    let pid = Pid::from_child(&child);
    std::thread::sleep(Duration::from_millis(800));
    for round in 0..100 {
        let good = "[now]\nmetrics = [\"node_load5\"]\n";
        std::fs::write(&config, if round % 2 == 0 { "interval = \n" } else { good })?;
        kill_process(pid, Signal::HUP)?;
        std::thread::sleep(Duration::from_millis(30));
    }
    let now = std::fs::read_to_string(scratch.0.join("now"))?;
    // Behind its time and the process id.
    let series: Vec<&str> = now.lines().skip(2).collect();
    assert!(series.len() == 1 && series[0].starts_with("node_load5 "), "{now}");
    let words = words_of(child)?;
    assert!(words.contains("agent.toml:1:") && words.contains("the configuration was read again"), "{words}");
    assert_eq!(ticks(&data)?, 250);
    let mut missed = 0.0;
    let history = History::open(&data.join("history.sqlite"))?;
    history.read("whit_agent_missed_ticks_total", 0, i64::MAX, |sample| missed = sample.value)?;
    // On a machine that is busy some are late by more than an interval.
    assert!(missed < 50.0, "{missed}");
    Ok(())
}

/// Of a storm of short processes: living tasks, exits and what no record contains are what the scheduler counts.
fn all_cpu() -> Result<(), Failed> {
    let scratch = Scratch::new("agent-storm");
    let data = scratch.0.join("data");
    let clock = SchedulerClock::start();
    let child = agent(&data, &["-n", "12"]).spawn()?;
    std::thread::sleep(Duration::from_secs(2));
    let storm = shell(
        "end=$(($(date +%s) + 8)); n=0; while [ $(date +%s) -lt $end ]; do i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done; \
         n=$((n+100)); done; echo $n",
    );
    let started: usize = String::from_utf8(storm.stdout)?.trim().parse()?;
    words_of(child)?;
    let history = History::open(&data.join("history.sqlite"))?;
    let mut replay = history.tasks(0, i64::MAX)?;
    let (mut tasks_ns, mut ended, mut first_ns, mut last_ns) = (0, 0, None, 0);
    while replay.advance()? {
        let store = replay.store();
        last_ns = replay.round().clock.realtime.0.cast_signed();
        first_ns.get_or_insert(last_ns);
        let living = store.rows().filter_map(|row| store.delta(row.key.pid, Figure::ON_CPU));
        tasks_ns += living.sum::<u64>() + store.ended().filter_map(|one| one.cpu_ns()).sum::<u64>();
        tasks_ns += replay.round().unrecorded_cpu.map_or(0, |cpu| cpu.0);
        ended += store.ended().len();
    }
    assert_eq!(replay.damaged(), 0);
    assert!(started >= 100 && ended >= started, "{ended} of {started}");
    let tasks_s = tasks_ns as f64 / 1e9;
    let first_ns = first_ns.ok_or("no round")?;
    let seconds = |time_ns: i64| time_ns as f64 / 1e9;
    match clock.and_then(|clock| clock.end(seconds(first_ns), seconds(last_ns))) {
        Some(machine_s) => {
            println!("{ended} ended; tasks {tasks_s:.3} s, the scheduler {machine_s:.3} s");
            let ratio = tasks_s / machine_s;
            assert!((0.99..1.01).contains(&ratio), "{tasks_s} {machine_s}");
        }
        None => {
            let machine_s = sampled_cpu_s(&history, first_ns, last_ns)?;
            println!("{ended} ended; tasks {tasks_s:.3} s, /proc/stat {machine_s:.3} s");
            assert!((0.9..1.1).contains(&(tasks_s / machine_s)), "{tasks_s} {machine_s}");
        }
    }
    Ok(())
}

/// The CPU time of tasks and interrupts as /proc/stat counts it, by the history.
fn sampled_cpu_s(history: &History, first_ns: i64, last_ns: i64) -> Result<f64, Failed> {
    let mut all_s = 0.0;
    for (name, _) in history.series() {
        let is_idle = ["idle", "iowait"].iter().any(|mode| name.contains(&format!("mode=\"{mode}\"")));
        if name.starts_with("node_cpu_seconds_total") && !is_idle {
            let (mut from, mut to) = (None, 0.0);
            // The machine is read some milliseconds before its tasks.
            history.read(name, first_ns - 300_000_000, last_ns, |sample| {
                from.get_or_insert(sample.value);
                to = sample.value;
            })?;
            all_s += to - from.unwrap_or(to);
        }
    }
    Ok(all_s)
}
