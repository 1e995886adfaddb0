//! Figures against what the kernel counts elsewhere: where time went, whose it was, how much memory there is.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{
    Load, Scratch, WHIT, copy_program, documents, enable_accounting, peer, shell, unified_mount, wait_for,
    whit,
};
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    let root = [Need::Root, Need::Accounting];
    let with_cc = [Need::Root, Need::Accounting, Need::Program("cc")];
    let with_python = [Need::Root, Need::Accounting, Need::Program("python3")];
    vec![
        timed(
            "the_parts_of_a_builds_time_add_up",
            &[with_cc[0], with_cc[1], with_cc[2], Need::Program("make")],
            "25 ms a row and 1 ms of the whole: clocks of one task differ by up to a tick",
            build,
        ),
        timed(
            "the_parts_of_short_tasks_add_up",
            &with_cc,
            "25 ms a row and 1 ms of the whole: clocks of one task differ by up to a tick",
            short_tasks,
        ),
        timed(
            "the_parts_of_threads_that_come_and_go_add_up",
            &with_python,
            "25 ms a row and 1 ms of the whole: clocks of one task differ by up to a tick",
            threads,
        ),
        timed(
            "threads_that_come_and_go_count_with_proc_alone",
            &with_python,
            "30 %: ticks of 10 ms, and windows that differ by what starting whit takes",
            threads_by_proc,
        ),
        timed(
            "a_process_without_its_main_thread_is_one_row",
            &[with_cc[0], with_cc[2], Need::Program("setpriv")],
            "0.2 of 1 s: what two threads that spin get of two CPUs in 0.5 s",
            no_main_thread,
        ),
        timed(
            "what_ended_is_in_its_cgroup",
            &with_cc,
            "0.7 to 1.4: windows that differ by what starting whit takes",
            cgroup_of_ended,
        ),
        exact("cgroups_are_shown_without_bpf", &root, cgroups_without_bpf),
        exact("a_cgroup_has_three_spellings", &root, spellings_of_cgroup),
        timed(
            "memory_that_grew_is_shown_by_every_source",
            &with_python,
            "2 %: counters that each CPU keeps for itself; the memory must have grown within 2 s",
            memory,
        ),
        exact(
            "tasks_of_a_pid_namespace_have_their_parents",
            &[Need::Root, Need::Program("unshare")],
            namespace,
        ),
        exact("one_word_for_used_memory", &[], used_memory),
        exact("an_age_wants_its_unit", &[], age_unit),
    ]
}

const EVERY_WAY: [&str; 3] = ["bpf", "taskstats", "procfs"];

/// A program whose threads come and go: one of 50 ms after the other, for some seconds.
const THREADS: &str = "import threading, time, sys\n\
    def spin():\n    end = time.time() + 0.05\n    while time.time() < end: pass\n\
    end = time.time() + float(sys.argv[1])\n\
    while time.time() < end:\n    thread = threading.Thread(target=spin)\n    thread.start()\n    thread.join()\n";

/// The parts of every task: they add up, and what slept was not on a CPU.
fn check_parts(tasks: &[Value]) -> usize {
    let number = |task: &Value, name: &str| task[name].as_u64().unwrap_or(0);
    let mut checked = 0;
    for task in tasks {
        let [wall, on_cpu, sleeping] =
            ["thread_time_ns", "on_cpu_ns", "sleeping_ns"].map(|name| number(task, name));
        let others =
            ["run_queue_ns", "block_io_ns", "unrecorded_ns", "undivided_ns"].map(|name| number(task, name));
        let parts = on_cpu + sleeping + others.iter().sum::<u64>();
        // Of a living task whose clocks disagree by less than a tick the whole is a little longer than its time.
        assert!(parts >= wall && parts - wall <= 25_000_000, "{parts} of {wall}: {task}");
        assert!(sleeping <= wall.saturating_sub(on_cpu), "{task}");
        checked += usize::from(on_cpu > 0);
    }
    checked
}

/// Runs a load under `run`, and `top` beside it by every way.
fn check_load(words: &[&str], least_busy: usize) -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("parts");
    let path = scratch.0.join("account.json");
    let mut run = Command::new(WHIT)
        .args(["run", "--json", "--output", path.to_str().unwrap(), "--"])
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    at_once(["bpf", "taskstats"], |way| {
        let text = whit(&["top", "-b", "-n", "5", "-d", "0.5", "--json", "--tasks", way]);
        let mut busy = 0;
        for tick in documents(&text).iter().skip(1) {
            busy += check_parts(tick["tasks"].as_array().ok_or("no tasks")?);
        }
        println!("{way}: {busy} busy rows");
        assert!(busy >= least_busy, "{way}: {busy} busy rows");
        Ok(())
    })?;
    run.wait()?;
    let account: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    check_parts(account["programs"].as_array().ok_or("no programs")?);
    check_parts(std::slice::from_ref(&account["whole"]));
    // What the kernel tells a parent of its children is exact to a tick: no part of it is asleep.
    let whole = &account["whole"];
    let [wall, sleeping] = ["thread_time_ns", "sleeping_ns"].map(|name| whole[name].as_u64().unwrap_or(0));
    let exact = account["on_cpu_ns"].as_u64().ok_or("no time on a CPU")?;
    println!("wall {wall} ns, on CPU by wait4 {exact} ns, sleeping {sleeping} ns");
    assert!(sleeping <= wall.saturating_sub(exact) + 1_000_000, "{account}");
    Ok(())
}

/// Reads tasks in several ways at the same time.
fn at_once<const N: usize>(
    ways: [&str; N],
    read: impl Fn(&str) -> Result<(), Failed> + Sync,
) -> Result<(), Failed> {
    let read = &read;
    std::thread::scope(|scope| {
        let readers = ways.map(|way| scope.spawn(move || read(way)));
        readers.into_iter().try_for_each(|reader| reader.join().map_err(|_| "a reader panicked")?)
    })
}

fn build() -> Result<(), Failed> {
    let scratch = Scratch::new("make");
    for part in 0..40 {
        let text =
            format!("#include <stdio.h>\nint part{part}(int n) {{ return printf(\"%d\", n * {part}); }}\n");
        fs::write(scratch.0.join(format!("part{part}.c")), text)?;
    }
    let rules = "OBJECTS = $(patsubst %.c,%.o,$(wildcard part*.c))\nall: $(OBJECTS)\n%.o: %.c\n\tcc -O2 -c $< -o $@\n";
    fs::write(scratch.0.join("Makefile"), rules)?;
    check_load(&["make", "-s", "-B", "-j2", "-C", scratch.0.to_str().unwrap()], 4)
}

fn short_tasks() -> Result<(), Failed> {
    // As many as the machine can: some thousand a second.
    let execs = peer("execs");
    check_load(&[execs.to_str().unwrap(), "exec", "3"], 4)
}

fn threads() -> Result<(), Failed> {
    check_load(&["python3", "-c", THREADS, "3"], 4)
}

/// The time on a CPU of the rows that are chosen, over all intervals, and the length of these; in nanoseconds.
fn on_cpu(text: &str, is_chosen: impl Fn(&Value) -> bool) -> (u64, u64) {
    let mut ticks = documents(text);
    ticks.remove(0);
    let of_tick = |tick: &Value| -> u64 {
        let tasks = tick["tasks"].as_array().unwrap();
        tasks.iter().filter(|task| is_chosen(task)).filter_map(|task| task["on_cpu_ns"].as_u64()).sum()
    };
    let intervals = ticks.iter().filter_map(|tick| tick["interval_ns"].as_u64());
    (ticks.iter().map(of_tick).sum(), intervals.sum())
}

/// The time on a CPU of a process in nanoseconds, that of its threads that ended included: /proc/PID/stat, in ticks of 10 ms.
fn cpu_ticks_ns(pid: u32) -> Result<u64, Failed> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = stat.rsplit_once(") ").ok_or("no name")?.1.split(' ').collect();
    Ok((fields[11].parse::<u64>()? + fields[12].parse::<u64>()?) * 10_000_000)
}

fn threads_by_proc() -> Result<(), Failed> {
    let load = Load::start(&["python3", "-c", THREADS, "60"]);
    wait_for("it computes", || cpu_ticks_ns(load.id()).is_ok_and(|used_ns| used_ns >= 200_000_000));
    at_once(EVERY_WAY, |way| {
        let (began, before) = (Instant::now(), cpu_ticks_ns(load.0.id())?);
        let text = whit(&["top", "-b", "-n", "3", "-d", "1", "--json", "--tasks", way]);
        let used = (cpu_ticks_ns(load.0.id())? - before) as f64 / began.elapsed().as_nanos() as f64;
        let (on_cpu, elapsed) = on_cpu(&text, |task| task["pid"] == load.0.id());
        let share = on_cpu as f64 / elapsed as f64;
        println!("{way}: {share:.2} of a CPU; the kernel counts {used:.2}");
        assert!((0.7..1.3).contains(&(share / used)), "{way}: {share} of {used}");
        Ok(())
    })
}

/// A process whose main thread ends while it is looked at: of its user and by itself, by every way.
fn no_main_thread() -> Result<(), Failed> {
    // Where another user can execute it.
    let scratch = Scratch::for_all("threads");
    let threads = scratch.0.join("threads");
    copy_program(peer("threads"), &threads);
    let words = ["setpriv", "--reuid", "4242", "--clear-groups"];
    let load = Load::start(&[&words[..], &[threads.to_str().unwrap(), "2", "30", "1"]].concat());
    // The last tick is after the end of the main thread.
    let ticks = std::thread::scope(|scope| {
        let ways = ["bpf", "taskstats", "procfs"].into_iter();
        let asked: Vec<_> = ways
            .flat_map(|way| [(way, "user"), (way, "process")])
            .map(|(way, by)| {
                let words = ["top", "-b", "-n", "4", "-d", "0.5", "--json", "--tasks", way, "--by", by];
                (way, by, scope.spawn(move || documents(&whit(&words)).pop()))
            })
            .collect();
        asked.into_iter().map(|(way, by, tick)| (way, by, tick.join().unwrap())).collect::<Vec<_>>()
    });
    for (way, by, tick) in ticks {
        let tick = tick.ok_or("no tick")?;
        let all = tick["tasks"].as_array().ok_or("no tasks")?;
        let rows: Vec<&Value> = all.iter().filter(|row| row["uid"] == 4242).collect();
        assert_eq!(rows.len(), 1, "{way}: {rows:?}");
        assert!(rows[0]["on_cpu_ns"].as_u64().unwrap_or(0) > 200_000_000, "{way}: {rows:?}");
        if by == "process" {
            assert_eq!(rows[0]["pid"], load.0.id(), "{way}: {rows:?}");
        }
    }
    load.kill();
    Ok(())
}

/// Short tasks in a cgroup of their own: of the time of the machine's tasks the most is that cgroup's.
fn cgroup_of_ended() -> Result<(), Failed> {
    enable_accounting();
    let execs = peer("execs");
    let name = format!("whit-storm-{}", std::process::id());
    let directory = format!("{}/{name}", unified_mount()?);
    fs::create_dir(&directory)?;
    // With a priority that gives it the same part of a CPU all the time, whatever else runs.
    let words = format!(
        "echo $$ > {directory}/cgroup.procs && exec nice -n -15 {} exec 5 > /dev/null",
        execs.display()
    );
    let mut storm = Command::new("sh").args(["-c", &words]).process_group(0).spawn()?;
    std::thread::sleep(Duration::from_millis(300));
    let used_us = || -> Result<f64, Failed> {
        let stat = fs::read_to_string(format!("{directory}/cpu.stat"))?;
        let line = stat.lines().find_map(|line| line.strip_prefix("usage_usec ")).ok_or("no usage")?;
        Ok(line.parse()?)
    };
    let read = at_once(["bpf", "taskstats"], |way| {
        let (began, used_before) = (Instant::now(), used_us()?);
        let text = whit(&["top", "-b", "-n", "3", "-d", "1", "--json", "--by", "cgroup", "--tasks", way]);
        let used = (used_us()? - used_before) * 1e3 / began.elapsed().as_secs_f64();
        let (on_cpu, elapsed) =
            on_cpu(&text, |row| row["cgroup"].as_str().is_some_and(|path| path.ends_with(&name)));
        let own = on_cpu as f64 * 1e9 / elapsed as f64;
        println!("{way}: {own:.0} of {used:.0} ns a second");
        let is_near = (0.7..1.4).contains(&(own / used));
        if is_near { Ok(()) } else { Err(format!("{way}: {own} of {used} ns a second").into()) }
    });
    storm.wait()?;
    fs::remove_dir(&directory)?;
    read
}

fn cgroups_without_bpf() -> Result<(), Failed> {
    for way in ["taskstats", "procfs"] {
        let by = |way: &str| -> usize {
            let text =
                whit(&["top", "-b", "-n", "2", "-d", "0.3", "--json", "--by", "cgroup", "--tasks", way]);
            documents(&text).pop().unwrap()["tasks"].as_array().unwrap().len()
        };
        let (expected, found) = (by("bpf"), by(way));
        assert!(found >= expected.min(2), "{way}: {found} rows, by BPF {expected}");
    }
    Ok(())
}

/// A directory, and a path within the hierarchy with and without the slash before it.
fn spellings_of_cgroup() -> Result<(), Failed> {
    let name = format!("whit-spelled-{}", std::process::id());
    let directory = format!("{}/{name}", unified_mount()?);
    fs::create_dir(&directory)?;
    let sleeper = Load::start(&["sleep", "1000"]);
    fs::write(format!("{directory}/cgroup.procs"), sleeper.0.id().to_string())?;
    for spelling in [directory.clone(), format!("/{name}"), name] {
        for source in ["bpf", "taskstats", "procfs"] {
            let text = whit(&[
                "top", "-b", "-n", "1", "-d", "0.2", "--json", "--tasks", source, "--cgroup", &spelling,
            ]);
            let tick = documents(&text).pop().ok_or("no tick")?;
            let pids: Vec<_> = tick["tasks"].as_array().unwrap().iter().map(|row| &row["pid"]).collect();
            assert_eq!(pids, [sleeper.0.id()], "{spelling} by {source}");
        }
    }
    drop(sleeper);
    fs::remove_dir(&directory)?;
    // Of a hierarchy of version 1, where there is one, which no task names.
    let directory = format!("/sys/fs/cgroup/cpu/whit-old-{}", std::process::id());
    if fs::create_dir(&directory).is_err() {
        return Ok(());
    }
    let sleeper = Load::start(&["sleep", "60"]);
    fs::write(format!("{directory}/cgroup.procs"), sleeper.0.id().to_string())?;
    let tick = documents(&whit(&["top", "-n", "1", "-i", "0.2", "--json", "--cgroup", &directory])).remove(0);
    let pids: Vec<_> = tick["tasks"].as_array().unwrap().iter().map(|row| &row["pid"]).collect();
    assert_eq!(pids, [sleeper.0.id()]);
    drop(sleeper);
    Ok(fs::remove_dir(&directory)?)
}

/// A process that grows after it was seen first.
fn memory() -> Result<(), Failed> {
    let script = "import time\ntime.sleep(0.7)\nx = bytearray(200 * 1024 * 1024)\n\
        for i in range(0, len(x), 4096): x[i] = 1\ntime.sleep(20)\n";
    at_once(EVERY_WAY, |way| {
        let load = Load::start(&["python3", "-c", script]);
        let text = whit(&["top", "-b", "-n", "3", "-d", "1", "--json", "--sort", "memory", "--tasks", way]);
        let tick = documents(&text).pop().ok_or("no tick")?;
        let rows = tick["tasks"].as_array().unwrap();
        let row = rows.iter().find(|row| row["pid"] == load.0.id()).ok_or("no row")?;
        let statm = fs::read_to_string(format!("/proc/{}/statm", load.0.id()))?;
        let pages: u64 = statm.split(' ').nth(1).unwrap().parse()?;
        let page_bytes = 4096_u64;
        let told = row["resident_bytes"].as_u64().ok_or("no memory")?;
        println!("{way}: {told} of {} bytes", pages * page_bytes);
        assert!(told.abs_diff(pages * page_bytes) < pages * page_bytes / 50, "{way}: {told}");
        assert!(rows[0]["resident_bytes"].as_u64() >= Some(told), "{way}: not sorted");
        Ok(())
    })
}

fn namespace() -> Result<(), Failed> {
    let script = format!("sleep 60 & {WHIT} top -b -n 2 -d 0.3 --json");
    let output = shell(&format!("unshare --fork --pid --mount-proc sh -c '{script}'"));
    assert!(output.status.success(), "{output:?}");
    let tick = documents(&String::from_utf8(output.stdout)?).pop().ok_or("no tick")?;
    let rows = tick["tasks"].as_array().unwrap();
    let sleep = rows.iter().find(|row| row["comm"] == "sleep").ok_or_else(|| format!("no sleep: {tick}"))?;
    let shell = rows.iter().find(|row| row["pid"] == 1).ok_or("no shell")?;
    assert_eq!((&sleep["ppid"], &shell["comm"]), (&1.into(), &"sh".into()), "{tick}");
    // Its own parent is nobody in there.
    assert_eq!(shell["ppid"], 0, "{tick}");
    Ok(())
}

/// Total less available, in `free`, `top` and the bar.
fn used_memory() -> Result<(), Failed> {
    let scratch = Scratch::new("used");
    fs::create_dir_all(scratch.0.join("proc"))?;
    fs::write(
        scratch.0.join("proc/meminfo"),
        "MemTotal: 8000000 kB\nMemFree: 1000000 kB\nMemAvailable: 5000000 kB\nBuffers: 1000 kB\nCached: 4000000 kB\n",
    )?;
    fs::write(scratch.0.join("proc/stat"), "cpu 1 0 1 1 0 0 0 0 0 0\nbtime 1\n")?;
    fs::write(scratch.0.join("proc/uptime"), "100.00 100.00\n")?;
    let root = scratch.0.to_str().unwrap();
    let expected = Value::from(3_000_000_u64 * 1024);
    let free: Value = serde_json::from_str(&whit(&["free", "--json", "--root", root]))?;
    assert_eq!(free["used_bytes"], expected);
    let top = documents(&whit(&["top", "-b", "-n", "1", "--json", "--root", root])).remove(0);
    assert_eq!(top["machine"]["memory"]["used_bytes"], expected);
    let config = scratch.0.join("whit.toml");
    fs::write(&config, "[[segment]]\ntype = \"memory\"\nformat = \"{used}\"\n")?;
    let bar =
        whit(&["bar", "--once", "--for", "plain", "--config", config.to_str().unwrap(), "--root", root]);
    assert_eq!(bar.trim(), "2.9 GiB");
    Ok(())
}

fn age_unit() -> Result<(), Failed> {
    let output = shell(&format!("{WHIT} age --older 7 ."));
    let errors = String::from_utf8(output.stderr)?;
    assert!(!output.status.success() && errors.contains("7d"), "{errors}");
    Ok(())
}
