//! `whit delays` against an independent reader, and against what the kernel lists.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{
    Load, Scratch, WHIT, children_of, copy_program, documents, enable_accounting, peer, shell, wait_for,
    wait_for_state, whit,
};
use super::trials::{Need, Trial, alone, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    let reader = [Need::Root, Need::Accounting, Need::Program("cc"), Need::Program("stress")];
    vec![
        exact("delays_agree_with_an_independent_reader", &reader, independent_reader),
        alone("all_processes_count_all_their_threads", &[Need::Root], threads_are_found),
        timed(
            "an_interval_is_a_difference",
            &[Need::Root, Need::Accounting, Need::Program("stress")],
            "100 ms: the interval and the thread's time are read one after the other",
            interval,
        ),
        exact("every_exit_is_reported", &[Need::Root, Need::Accounting], exits),
        exact("exit_records_that_did_not_fit_are_counted", &[Need::Root, Need::Program("cc")], storm),
        timed(
            "what_ended_threads_left_is_reported",
            &[Need::Root, Need::Accounting, Need::Program("python3")],
            "a quarter of the interval: threads that come and go spin for most of it",
            ended,
        ),
        exact(
            "a_cgroup_is_the_sum_of_its_tasks",
            &[Need::Root, Need::Accounting, Need::Controller("memory")],
            cgroup,
        ),
        exact("one_of_several_that_is_gone_stops_nothing", &[], one_gone),
        exact("each_thread_of_a_process_is_a_row", &[Need::Program("python3")], threads_of_process),
        alone("exits_are_chosen_by_name_parent_and_length", &[Need::Root, Need::Accounting], chosen_exits),
        alone("accounting_that_is_off_is_no_zero", &[Need::Root, Need::Accounting], switched_off),
        exact("netlink_and_proc_agree", &[Need::Root, Need::Accounting], netlink_and_proc),
        timed(
            "every_thread_of_a_command_counts",
            &[Need::Root, Need::Accounting, Need::Program("cc")],
            "0.25 of 3 s: what three threads that spin for a second get of two CPUs",
            threads_of_command,
        ),
        timed(
            "threads_that_pile_up_are_no_impossible_value",
            &[Need::Root, Need::Program("cc")],
            "0.5 s of 7 s: nine threads that spin wait for two CPUs",
            piled_up,
        ),
        exact("threads_outlive_their_leader", &[Need::Root, Need::Program("cc")], leader_ended),
        exact("wait_of_a_command_adds_up", &[Need::Root, Need::Accounting], command),
    ]
}

fn read_peer(reader: &Path, option: &str, id: u32) -> HashMap<String, u64> {
    let output = Command::new(reader).arg(option).arg(id.to_string()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let pair = |line: &str| {
        let (name, value) = line.split_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    text.lines().map(pair).collect()
}

/// A figure by the peer's name: "reclaim.total".
fn figure(document: &Value, name: &str) -> Option<u64> {
    match name.split_once('.') {
        None => document["on_cpu_ns"].as_u64(),
        Some((cause, "count")) => document["delays"][cause]["count"].as_u64(),
        Some((cause, _)) => document["delays"][cause]["total_ns"].as_u64(),
    }
}

/// Returns true if whit shows all of a thread's time that was not on a CPU or in the run queue as block I/O: the most that it believes.
/// The kernel charges more where the wait overlaps with the run queue, as it does beside other load.
fn has_no_room_for_more_block_io(document: &Value) -> bool {
    let known = ["on_cpu", "run_queue.total", "block_io.total"].map(|name| figure(document, name).unwrap());
    document["wall_ns"].as_u64() == Some(known.iter().sum())
}

/// The counters only grow, so the peer's figure must lie between two of whit's around it: no tolerance is needed.
fn independent_reader() -> Result<(), Failed> {
    enable_accounting();
    let reader = peer("taskstats_one");
    let load = Load::start(&["stress", "-c", "2", "-i", "1", "-t", "600"]);
    let name = format!("/proc/{}/comm", load.0.id());
    wait_for("the program", || fs::read_to_string(&name).is_ok_and(|name| name == "stress\n"));
    // Others may run the same program.
    let mut workers = Vec::new();
    wait_for("three workers", || {
        let rows = documents(&whit(&["delays", "--comm", "stress", "--json"]));
        workers = rows.into_iter().filter(|row| row["ppid"] == load.0.id()).collect();
        workers.len() == 3
    });
    let mut compared = 0;
    for worker in workers {
        let pid = worker["pid"].as_u64().unwrap() as u32;
        for (ours, theirs) in [("-t", "-t"), ("-p", "-g")] {
            let read = || documents(&whit(&["delays", ours, &pid.to_string(), "--json"]))[0].clone();
            let (before, peer, after) = (read(), read_peer(&reader, theirs, pid), read());
            assert_eq!(before["accounting"], "on");
            for (name, value) in
                peer.iter().filter(|(name, _)| !name.starts_with("ticks.") && *name != "version")
            {
                let (Some(low), Some(high)) = (figure(&before, name), figure(&after, name)) else {
                    assert!(
                        name.starts_with("block_io."),
                        "only a wait that cannot be is left out: {before}"
                    );
                    continue;
                };
                let is_bounded =
                    name == "block_io.total" && *value > high && has_no_room_for_more_block_io(&after);
                assert!(
                    is_bounded || (low..=high).contains(value),
                    "{pid} {name}: {value} is not within {low}..={high}: {after}"
                );
                compared += 1;
            }
        }
    }
    drop(load);
    assert!(compared > 50, "{compared}");
    Ok(())
}

fn threads_are_found() -> Result<(), Failed> {
    let stop = std::sync::Arc::new(std::sync::Barrier::new(8));
    let threads: Vec<_> = (0..7)
        .map(|_| {
            let stop = stop.clone();
            std::thread::spawn(move || stop.wait())
        })
        .collect();
    let rows = documents(&whit(&["delays", "-a", "--json"]));
    let own =
        rows.iter().find(|row| row["pid"] == std::process::id()).ok_or("whit does not see its tester")?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("Threads:")).ok_or("no Threads in status")?;
    let expected: u64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    stop.wait();
    threads.into_iter().for_each(|thread| drop(thread.join()));
    assert!(expected >= 8);
    assert_eq!(own["threads"].as_u64(), Some(expected));
    // Every process that /proc lists as having several threads has as many here, give or take what comes and goes.
    let listed = std::fs::read_dir("/proc")?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u64>().ok());
    for pid in listed {
        let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        let count = tasks.count() as u64;
        let row = rows.iter().find(|row| row["pid"].as_u64() == Some(pid));
        if let Some(row) = row.filter(|_| count > 1 && pid != u64::from(std::process::id())) {
            let threads = row["threads"].as_u64().unwrap();
            assert!(threads.abs_diff(count) <= 2 && threads > 1, "{pid}: {threads} of {count} threads");
        }
    }
    Ok(())
}

fn interval() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("interval");
    let load = Load::stress_as(&scratch, "interval", &["-c", "1", "-t", "20"]);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let rows = documents(&whit(&["delays", "--comm", "interval", "-i", "0.5", "-n", "2", "--json"]));
    drop(load);
    assert_eq!(rows.len(), 4, "{rows:?}");
    for row in rows {
        let (wall, interval) = (row["wall_ns"].as_u64().unwrap(), row["interval_ns"].as_u64().unwrap());
        // A difference, not the total of a task that is older than this.
        assert!(wall.abs_diff(interval) < 100_000_000, "{row}");
    }
    Ok(())
}

fn exits() -> Result<(), Failed> {
    enable_accounting();
    // Under a name of its own: other trials run true as well.
    let scratch = super::machine::Scratch::new("exits");
    let program = scratch.0.join("ends-at-once");
    copy_program("/bin/true", &program);
    let script = format!("i=0; while [ $i -lt 300 ]; do {}; i=$((i+1)); done; exit 7", program.display());
    // Its shell has the name as well.
    let shell = scratch.0.join("shell");
    fs::create_dir(&shell)?;
    let shell = shell.join("ends-at-once");
    copy_program("/bin/sh", &shell);
    let output = Command::new(super::machine::WHIT)
        .args(["delays", "--exits", "--json", "--comm", "ends-at-once", "--"])
        .arg(&shell)
        .args(["-c", &script])
        .output()?;
    assert_eq!(output.status.code(), Some(7));
    let rows = documents(&String::from_utf8(output.stdout)?);
    let (of_shell, rows): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row["ended"]["exit_status"] == 7);
    let ended = rows.len();
    let lost = lost_records(&String::from_utf8(output.stderr)?);
    assert!(ended <= 300 && ended + lost >= 300, "{ended} of 300 were told, {lost} lost");
    assert_eq!(of_shell.len(), 1, "the command's own end is not reported");
    // Whoever began after the switch is known to be counted.
    assert!(rows.iter().all(|row| row["accounting"] == "on"));
    Ok(())
}

/// More processes end than the queue holds while whit stands still: each is told or counted as lost.
fn storm() -> Result<(), Failed> {
    let storm = peer("storm");
    // The queue holds 26,000 records.
    let forks = 40_000;
    let mut whit = Command::new(super::machine::WHIT)
        .args(["delays", "--exits", "--json", "--", storm.to_str().unwrap(), &forks.to_string()])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()?;
    let mut parent = 0;
    wait_for("the storm begins", || {
        parent = children_of(whit.id()).first().copied().unwrap_or(0);
        std::fs::read_to_string(format!("/proc/{parent}/comm")).is_ok_and(|name| name == "storm\n")
    });
    let pid = rustix::process::Pid::from_raw(whit.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP)?;
    // A zombie, since its parent is stopped.
    wait_for_state(parent, 'Z');
    rustix::process::kill_process(pid, rustix::process::Signal::CONT)?;
    let mut text = String::new();
    std::io::Read::read_to_string(whit.stdout.as_mut().unwrap(), &mut text)?;
    let output = whit.wait_with_output()?;
    let told = text.lines().filter(|line| line.contains("\"comm\":\"storm\"")).count();
    let lost = lost_records(&String::from_utf8(output.stderr)?);
    println!("{told} told, {lost} lost of {forks}");
    assert!(lost > 0, "the queue never overflowed");
    assert!(told <= forks + 1 && told + lost > forks, "{told} told, {lost} lost of {forks}");
    Ok(())
}

/// The number in the note about lost records; 0 where there is none.
pub(crate) fn lost_records(said: &str) -> usize {
    let note = said.lines().find(|line| line.ends_with("lost: tasks ended faster than they could be read."));
    note.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0)
}

fn ended() -> Result<(), Failed> {
    enable_accounting();
    // Threads that wait for the CPU and end, in a process that goes on.
    let script = "import threading, time\n\
        def spin():\n    end = time.monotonic() + 0.5\n    while time.monotonic() < end: pass\n\
        threads = [threading.Thread(target=spin) for _ in range(6)]\n\
        [thread.start() for thread in threads]; [thread.join() for thread in threads]\n\
        print('done', flush=True); time.sleep(1000)";
    let mut python = Load(
        Command::new("python3").args(["-c", script]).stdout(std::process::Stdio::piped()).spawn().unwrap(),
    );
    let mut line = [0u8; 5];
    std::io::Read::read_exact(python.0.stdout.as_mut().unwrap(), &mut line)?;
    // A thread that was joined is a task of its process until the kernel has released it.
    let threads = format!("/proc/{}/task", python.0.id());
    wait_for("one thread is left", || std::fs::read_dir(&threads).is_ok_and(|threads| threads.count() == 1));
    let row = documents(&whit(&["delays", "-p", &python.0.id().to_string(), "--json"]))[0].clone();
    drop(python);
    assert_eq!(row["threads"], 1);
    let waited = row["ended_threads"]["run_queue"]["total_ns"].as_u64().unwrap_or(0);
    assert!(waited > 0, "{row}");
    let on_cpu = row["ended_threads"]["on_cpu_ns"].as_u64().unwrap_or(0);
    assert!(on_cpu > 100_000_000, "{row}");
    // Of an interval, too: a thread that lives for a few milliseconds, again and again.
    let script = "import threading, time\n\
        def spin():\n    end = time.monotonic() + 0.003\n    while time.monotonic() < end: pass\n\
        while True:\n    thread = threading.Thread(target=spin); thread.start(); thread.join()";
    let python = Load::start(&["python3", "-c", script]);
    let pid = python.0.id().to_string();
    let rows = documents(&whit(&["delays", "-p", &pid, "-i", "1", "-n", "2", "--json"]));
    drop(python);
    for row in &rows {
        let told =
            row["on_cpu_ns"].as_u64().unwrap() + row["ended_threads"]["on_cpu_ns"].as_u64().unwrap_or(0);
        let interval = row["interval_ns"].as_u64().unwrap();
        println!("{:.2} of the interval on a CPU", told as f64 / interval as f64);
        assert!(told > interval / 4, "{row}");
    }
    Ok(())
}

/// One that does not exist, and one that ends while it is watched.
fn one_gone() -> Result<(), Failed> {
    let own = std::process::id();
    let output =
        Command::new(WHIT).args(["delays", "--json", "-p", &format!("{own},99999999,{own}")]).output()?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8(output.stderr)?.contains("process 99999999: there is none"));
    assert_eq!(documents(&String::from_utf8(output.stdout)?).len(), 1);
    let brief = Load::start(&["sleep", "60"]);
    let ids = format!("{own},{}", brief.0.id());
    let words = ["delays", "--json", "-i", "0.4", "-n", "6", "-p", &ids];
    let mut watching =
        Command::new(WHIT).args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (mut lines, mut text) = (BufReader::new(watching.stdout.take().ok_or("no output")?), String::new());
    // The first two are of the first interval. A process that has ended is a zombie, and so in the table, until it is reaped.
    for _ in 0..2 {
        lines.read_line(&mut text)?;
    }
    drop(brief);
    lines.read_to_string(&mut text)?;
    let output = watching.wait_with_output()?;
    assert!(output.status.success(), "{output:?}");
    let of_own = documents(&text);
    assert_eq!(of_own.iter().filter(|row| row["pid"] == own).count(), 6);
    assert_eq!(String::from_utf8(output.stderr)?.matches("there is none").count(), 1);
    Ok(())
}

fn threads_of_process() -> Result<(), Failed> {
    const FOUR_THREADS: &str = "import threading, time; [threading.Thread(target=time.sleep, args=(1000,), daemon=True).start() for _ in '123']; time.sleep(1000)";
    let process = Load::start(&["python3", "-c", FOUR_THREADS]);
    let pid = process.0.id();
    let task_directory = format!("/proc/{pid}/task");
    wait_for("four threads", || fs::read_dir(&task_directory).is_ok_and(|threads| threads.count() == 4));
    let mut listed: Vec<String> = fs::read_dir(&task_directory)?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_, _>>()?;
    listed.sort();
    for interval in [&[][..], &["-i", "0.1", "-n", "1"]] {
        let mut words = vec!["delays", "--json", "--procfs", "-H", "-p"];
        let pid = pid.to_string();
        words.push(&pid);
        words.extend(interval);
        let output = Command::new(WHIT).args(&words).output()?;
        assert!(output.status.success(), "{output:?}");
        let rows = documents(&String::from_utf8(output.stdout)?);
        let mut shown: Vec<String> = rows.iter().map(|row| row["pid"].to_string()).collect();
        shown.sort();
        assert_eq!(shown, listed, "{words:?}");
    }
    Ok(())
}

fn cgroup() -> Result<(), Failed> {
    enable_accounting();
    let cgroup = super::machine::Cgroup::new("memory");
    let start = |_| {
        let sleeper = Load::start(&["sleep", "1000"]);
        cgroup.set("cgroup.procs", &sleeper.0.id().to_string());
        sleeper
    };
    let sleepers: Vec<_> = (0..3).map(start).collect();
    // Until they sleep for good: not while the program is loaded.
    for sleeper in &sleepers {
        let wchan = format!("/proc/{}/wchan", sleeper.id());
        wait_for("it sleeps", || fs::read_to_string(&wchan).is_ok_and(|place| place.contains("nanosleep")));
    }
    let row = documents(&whit(&["delays", "-C", cgroup.directory.to_str().unwrap(), "--json"]))[0].clone();
    let mut sum = 0;
    for sleeper in &sleepers {
        let one = documents(&whit(&["delays", "-p", &sleeper.0.id().to_string(), "--json"]))[0].clone();
        sum += one["delays"]["run_queue"]["count"].as_u64().unwrap();
    }
    drop(sleepers);
    assert_eq!(
        (&row["kind"], &row["threads"], &row["states"]["sleeping"]),
        (&"cgroup".into(), &3.into(), &3.into())
    );
    assert_eq!(row["delays"]["run_queue"]["count"].as_u64(), Some(sum));
    Ok(())
}

fn netlink_and_proc() -> Result<(), Failed> {
    let pid = std::process::id().to_string();
    let read = |words: &[&str]| documents(&whit(words))[0].clone();
    let before = read(&["delays", "-t", &pid, "--json"]);
    let proc = read(&["delays", "-t", &pid, "--json", "--procfs"]);
    let after = read(&["delays", "-t", &pid, "--json"]);
    for field in ["on_cpu_ns", "run_queue_ns"] {
        let value = |document: &Value| document[field].as_u64().unwrap();
        assert!((value(&before)..=value(&after)).contains(&value(&proc)), "{field}: {before} {proc} {after}");
    }
    for field in ["comm", "uid", "ppid", "tgid", "nice"] {
        assert_eq!(before[field], proc[field], "{field}");
    }
    Ok(())
}

fn command() -> Result<(), Failed> {
    enable_accounting();
    // Real-time: since Linux 6.12 a fair task that sleeps can stay on the run queue for a while, and if it is moved to another CPU
    // meanwhile, the rest of its sleep counts as a wait.
    // A wait for the disk that cannot be true has no figure; the next run need not wait for it.
    let mut rows = (0..10)
        .map(|_| documents(&whit(&["delays", "--json", "--", "chrt", "-f", "1", "sleep", "0.3"])).remove(0));
    let row = &rows.find(|row| row["block_io_ns"].is_u64()).ok_or("no wait for a disk is known")?;
    let nanos = |field: &str| row[field].as_u64().unwrap();
    let sum = nanos("on_cpu_ns") + nanos("run_queue_ns") + nanos("block_io_ns") + nanos("sleeping_ns");
    assert_eq!(sum, nanos("thread_time_ns"));
    assert!(nanos("sleeping_ns") >= 290_000_000, "{row}");
    assert_eq!((&row["ended"]["exit_status"], &row["accounting"]), (&0.into(), &"on".into()));
    Ok(())
}

/// The last record of a process carries its aggregate as well, and is the longest there is.
fn threads_of_command() -> Result<(), Failed> {
    enable_accounting();
    let threads = peer("threads");
    let row = &documents(&whit(&["delays", "--json", "--", threads.to_str().unwrap(), "2", "1"]))[0];
    assert_eq!((&row["comm"], &row["threads"], &row["pid"]), (&"threads".into(), &3.into(), &row["tgid"]));
    assert!(row["on_cpu_ns"].as_u64().unwrap() > 250_000_000, "{row}");
    // Without netlink the others' time is known from the process's own.
    let row =
        &documents(&whit(&["delays", "--procfs", "--json", "--", threads.to_str().unwrap(), "2", "1"]))[0];
    assert!(row["on_cpu_ns"].as_u64().unwrap() > 250_000_000, "{row}");
    assert!(row["run_queue_ns"].is_null(), "the others' wait is not known: {row}");
    let words = ["delays", "--procfs", "--json", "--", "sh", "-c", "exit 9"];
    let output = Command::new(super::machine::WHIT).args(words).output()?;
    let row = &documents(&String::from_utf8(output.stdout)?)[0];
    assert_eq!(row["ended"]["exit_status"], 9);
    Ok(())
}

/// Eight threads on few CPUs wait for more seconds than pass.
fn piled_up() -> Result<(), Failed> {
    let threads = peer("threads");
    let load = Load::start(&[threads.to_str().unwrap(), "8", "6"]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    let pid = load.0.id().to_string();
    let row = documents(&whit(&["delays", "-p", &pid, "-i", "1", "-n", "1", "--json"]))[0].clone();
    drop(load);
    assert_eq!((&row["impossible_values"], &row["threads"]), (&0.into(), &9.into()));
    let cpus = std::thread::available_parallelism()?.get() as u64;
    if cpus < 8 {
        assert!(row["run_queue_ns"].as_u64().unwrap() > 500_000_000, "{row}");
    }
    Ok(())
}

/// Exits by name, parent and length of life.
fn chosen_exits() -> Result<(), Failed> {
    enable_accounting();
    let exits = |words: &str| {
        let script = "true; sleep 0.5; cat /dev/null";
        let output =
            shell(&format!("{} delays --exits --json {words} -- sh -c '{script}'", super::machine::WHIT));
        documents(&String::from_utf8(output.stdout).unwrap())
    };
    let all = exits("");
    // Other shells and sleeps may end meanwhile.
    let shells: Vec<_> = all.iter().filter(|row| row["comm"] == "sh").map(|row| &row["pid"]).collect();
    assert!(all.iter().any(|row| row["comm"] == "sleep" && shells.contains(&&row["ppid"])), "{all:?}");
    assert!(exits("--comm sleep").iter().all(|row| row["comm"] == "sleep"));
    let long = exits("--min-wall 490ms");
    let is_there = |name: &str| long.iter().any(|row| row["comm"] == name);
    assert!(is_there("sleep") && is_there("sh") && !is_there("cat"), "{long:?}");
    assert!(exits("--min-delay 1h").is_empty());
    assert!(exits("--parent 1").iter().all(|row| row["ppid"] == 1));
    let table = shell(&format!("{} delays --exits -- true", super::machine::WHIT));
    let table = String::from_utf8(table.stdout)?;
    assert!(table.starts_with("TIME          PID     PPID  USER"), "{table}");
    Ok(())
}

fn leader_ended() -> Result<(), Failed> {
    let threads = peer("threads");
    let load = Load::start(&[threads.to_str().unwrap(), "3", "20", "leader-ends"]);
    wait_for_state(load.id(), 'Z');
    let rows = documents(&whit(&["delays", "-a", "--json"]));
    let row = rows.iter().find(|row| row["pid"] == load.0.id()).unwrap().clone();
    drop(load);
    assert_eq!(row["threads"], 4);
    Ok(())
}

fn switched_off() -> Result<(), Failed> {
    let switch = "/proc/sys/kernel/task_delayacct";
    std::fs::write(switch, "0\n")?;
    let sleeper = Load::start(&["sleep", "1000"]);
    wait_for_state(sleeper.id(), 'S');
    let pid = sleeper.0.id().to_string();
    let table = whit(&["delays", "-p", &pid]);
    assert!(table.contains("─ off CPU") && table.contains("whit delays --enable"), "{table}");
    assert!(!table.contains("??"), "{table}");
    // Who may not enable it is not told to.
    let words = format!("setpriv --reuid 65534 --clear-groups {} delays -p {pid}", super::machine::WHIT);
    let table = String::from_utf8(shell(&words).stdout)?;
    assert!(table.contains("Only root") && !table.contains("--enable"), "{table}");
    let row = documents(&whit(&["delays", "-p", &pid, "--json"]))[0].clone();
    assert_eq!((&row["accounting"], &row["block_io_ns"]), (&"off".into(), &Value::Null));
    // The run queue's wait is counted regardless.
    assert!(row["run_queue_ns"].is_u64());

    let output = Command::new(super::machine::WHIT).args(["delays", "--enable"]).output()?;
    let said = String::from_utf8(output.stderr)?;
    assert!(output.status.success() && said.contains("kernel.task_delayacct set to 1"), "{said}");
    assert_eq!(std::fs::read_to_string(switch)?.trim(), "1");
    // The task is older than the switch, and the kernel's zeros do not tell.
    let row = documents(&whit(&["delays", "-p", &pid, "--json"]))[0].clone();
    assert_eq!((&row["accounting"], &row["block_io_ns"]), (&"unsure".into(), &Value::Null));
    Ok(())
}
