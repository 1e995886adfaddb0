//! `whit agent`: what it recorded is there, however it ends.

use std::process::{Command, Stdio};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Cgroup, Load, Running, Scratch, WHIT, documents, wait_for, wait_for_end, whit};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("a_killed_agent_loses_no_finished_tick", &[], killed),
        exact("one_agent_records_in_a_directory", &[], alone),
        exact("no_tick_waits_for_a_slow_disk", &[Need::Root, Need::Controller("io")], slow_disk),
        exact("a_shell_reads_the_last_tick_without_a_fork", &[Need::Program("strace")], now),
        exact("a_system_call_trace_shows_no_fork", &[Need::Program("strace")], forkless),
    ]
}

/// What is recorded; null if nothing is yet.
fn extent(directory: &str) -> Value {
    let output = Command::new(WHIT).args(["history", "--json", "--data", directory]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    if text.is_empty() { Value::Null } else { documents(&text).remove(0) }
}

/// Killed at instants of every kind. A tick that a reader has seen is there for ever, and the next agent goes on.
fn killed() -> Result<(), Failed> {
    let scratch = Scratch::new("agent-killed");
    let directory = scratch.0.to_str().ok_or("the path")?;
    let (now, socket) = (format!("{directory}/now"), format!("{directory}/agent.sock"));
    let mut seen = 0;
    for round in 0..20_u64 {
        let mut agent = Command::new(WHIT)
            .args(["agent", "--data", directory, "--now", &now, "--socket", &socket, "-i", "20ms"])
            .stderr(Stdio::null())
            .spawn()?;
        // Until it has done something, and then at any moment.
        let ticks = || extent(directory)["ticks"].as_u64().unwrap_or(0);
        wait_for("a tick", || ticks() > seen);
        std::thread::sleep(Duration::from_micros(round * 7_919));
        let before = ticks();
        agent.kill()?;
        agent.wait()?;
        let after = extent(directory)["ticks"].as_u64().ok_or("ticks")?;
        assert!(after >= before && before > seen, "{seen}, then {before}, then {after}");
        seen = after;
    }
    let extent = extent(directory);
    assert_eq!(extent["boots"], 1, "{extent}");
    assert!(extent["series"].as_u64() > Some(50), "{extent}");
    Ok(())
}

/// A history on a disk that needs many seconds for a sync.
fn slow_disk() -> Result<(), Failed> {
    const TICKS: usize = 50;
    let scratch = Scratch::new("agent-slow-disk");
    let directory = scratch.0.to_str().ok_or("the path")?;
    let limit = Cgroup::with_write_limit(&scratch.0, 32 << 10);
    // A rename over a file of a disk can wait for it. The priority is that of the unit: other trials run beside this one.
    let memory = Scratch::in_memory("agent-slow-disk");
    let program = format!(
        "echo $$ > {}/cgroup.procs && exec nice -n -5 {WHIT} agent -i 200ms --data {directory} --now {memory}/now \
         --socket {memory}/socket",
        limit.directory.display(),
        memory = memory.0.display()
    );
    let mut agent = Running(Command::new("sh").args(["-c", &program]).spawn()?);
    let tasks = format!("/proc/{}/task", agent.0.id());
    let is_syncing = || {
        let tasks = std::fs::read_dir(&tasks).into_iter().flatten().flatten();
        tasks.filter_map(|task| std::fs::read(task.path().join("comm")).ok()).any(|name| name == b"sync\n")
    };
    wait_for("a sync", is_syncing);
    // Ten ticks at the least are due during one sync.
    for _ in 0..20 {
        assert!(is_syncing(), "the disk is not slow");
        std::thread::sleep(Duration::from_millis(100));
    }
    limit.limit_writes(&scratch.0, None);
    let ticks = || extent(directory)["ticks"].as_u64().unwrap_or(0);
    wait_for("the ticks of ten seconds", || ticks() >= TICKS as u64);
    let pid = rustix::process::Pid::from_child(&agent.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    assert!(wait_for_end(&mut agent.0).success());
    let query = whit(&["query", "--json", "--data", directory, "whit_agent_missed_ticks_total"]);
    let missed =
        documents(&query)[0]["data"]["result"][0]["value"][1].as_str().and_then(|count| count.parse().ok());
    // One that waited for the disk would miss all of these; beside other trials the recorder may wait for a CPU.
    assert!(missed.is_some_and(|missed: u32| missed < 10), "{query}");
    Ok(())
}

fn alone() -> Result<(), Failed> {
    let scratch = Scratch::new("agent-alone");
    let directory = scratch.0.to_str().ok_or("the path")?;
    let (now, socket) = (format!("{directory}/now"), format!("{directory}/agent.sock"));
    let places = ["agent", "--data", directory, "--now", &now, "--socket", &socket];
    let mut first = Running(Command::new(WHIT).args(places).args(["-i", "50ms"]).spawn()?);
    wait_for("the first records", || extent(directory)["ticks"].as_u64() > Some(0));
    let second = Command::new(WHIT).args(places).output()?;
    assert_eq!(second.status.code(), Some(1), "{second:?}");
    assert!(String::from_utf8(second.stderr)?.contains("another agent records there"));
    let pid = rustix::process::Pid::from_child(&first.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
    assert!(wait_for_end(&mut first.0).success());
    // The other one has left it as it was.
    whit(&["history", "verify", "--data", directory]);
    Ok(())
}

fn forkless() -> Result<(), Failed> {
    let scratch = Scratch::new("agent-forkless");
    let (directory, trace) = (scratch.0.join("data"), scratch.0.join("trace"));
    let status = Command::new("strace")
        .args(["-f", "-e", "trace=execve,fork,vfork", "-o"])
        .arg(&trace)
        .args([WHIT, "agent", "-i", "50ms", "-n", "60", "--data"])
        .arg(&directory)
        .arg("--now")
        .arg(directory.join("now"))
        .arg("--socket")
        .arg(directory.join("agent.sock"))
        .status()?;
    assert!(status.success());
    let text = std::fs::read_to_string(trace)?;
    // The agent itself, its server, and the inspector, which waits to be asked.
    let executed: Vec<&str> = text.lines().filter(|line| line.contains("execve(")).collect();
    let [_, server, inspector] = executed[..] else { return Err(text.into()) };
    assert!(server.contains("\"--serve\"") && inspector.contains("\"inspector\""), "{text}");
    assert!(!text.contains("fork("), "{text}");
    Ok(())
}

/// The loop of docs/recipes.md, in every shell that is here, over an agent that replaces the file all the time.
fn now() -> Result<(), Failed> {
    const LOOP: &str = "load= memory=; while read -r name value; do case $name in node_load1) load=$value;; \
                        node_memory_MemTotal_bytes) memory=$value;; esac; done < \"$NOW\"; echo \"$load $memory\"";
    let scratch = Scratch::new("agent-now");
    let (directory, path) = (scratch.0.join("data"), scratch.0.join("now"));
    let agent = Load::start(&[
        WHIT,
        "agent",
        "-i",
        "20ms",
        "--data",
        directory.to_str().ok_or("the path")?,
        "--now",
        path.to_str().ok_or("the path")?,
        "--socket",
        scratch.0.join("agent.sock").to_str().ok_or("the path")?,
    ]);
    wait_for("a tick", || path.exists());
    let total = std::fs::read_to_string("/proc/meminfo")?;
    let total: u64 = total.split_whitespace().nth(1).ok_or("no total")?.parse::<u64>()? * 1024;
    for _ in 0..30 {
        for shell in [&["sh"][..], &["bash"], &["dash"], &["busybox", "sh"]] {
            let run = Command::new(shell[0]).args(&shell[1..]).args(["-c", LOOP]).env("NOW", &path).output();
            // A shell that is not installed.
            let Ok(output) = run else { continue };
            let told = String::from_utf8(output.stdout)?;
            let (load, memory) = told.trim().split_once(' ').ok_or_else(|| format!("{shell:?}: {told:?}"))?;
            assert!(load.parse::<f64>().is_ok() && memory == total.to_string(), "{shell:?}: {told}");
        }
    }
    let trace = scratch.0.join("trace");
    let status = Command::new("strace")
        .args(["-f", "-e", "trace=clone,clone3,fork,vfork,execve", "-o"])
        .arg(&trace)
        .args(["sh", "-c", LOOP])
        .env("NOW", &path)
        .status()?;
    assert!(status.success());
    let text = std::fs::read_to_string(trace)?;
    assert!(!text.contains("clone") && !text.contains("fork("), "{text}");
    drop(agent);
    Ok(())
}
