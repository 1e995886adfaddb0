//! What whit asks the kernel, as strace sees it.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use libtest_mimic::Failed;

use super::machine::{Scratch, WHIT, shell};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let strace = [Need::Program("strace")];
    vec![
        exact("nothing_is_executed_or_forked", &strace, no_processes),
        exact("only_what_a_view_wants_is_opened", &strace, only_wanted),
        exact("after_the_first_tick_nothing_is_opened", &strace, no_opens),
        exact("the_bar_counts_its_own_calls_rightly", &strace, own_count),
        exact("what_is_read_hangs_together", &[], selftest),
        exact(
            "a_first_reading_asks_for_no_thread_the_sums_of_its_process",
            &[Need::Root, Need::Program("strace")],
            first_reading,
        ),
        exact("long_kernel_files_are_read_to_their_end", &[Need::Root, Need::Program("ip")], long_files),
    ]
}

/// The calls of all threads of whit, a line each.
fn trace(words: &[&str]) -> Result<Vec<String>, Failed> {
    let scratch = Scratch::new("strace");
    let file = scratch.0.join("trace");
    let output =
        Command::new("strace").args(["-f", "-s", "300", "-o"]).arg(&file).arg(WHIT).args(words).output()?;
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(file)?;
    // The bar opens a pipe once more, to write without waiting.
    let reopened = text.lines().find(|line| line.contains("\"/proc/self/fd/1\""));
    let descriptor =
        reopened.and_then(|line| line.rsplit_once("= ")).map_or("1", |(_, descriptor)| descriptor);
    let written = format!(" write({descriptor},");
    Ok(text.lines().map(|line| line.replace(&written, " write(1,")).collect())
}

fn no_processes() -> Result<(), Failed> {
    for words in
        [&["bar", "--count", "3", "--interval", "0.05"][..], &["free"], &["free", "--emulate"], &["doctor"]]
    {
        let calls = trace(words)?;
        let executed = calls.iter().filter(|call| call.contains(" execve(")).count();
        assert_eq!(executed, 1, "{words:?}");
        for call in &calls {
            let makes = ["clone(", "clone3(", "fork(", "vfork("].iter().any(|name| call.contains(name));
            assert!(!makes || call.contains("CLONE_THREAD"), "{words:?} makes a process: {call}");
        }
    }
    Ok(())
}

/// /proc/ID/stat sums over all threads of the process, also where ID is one of them: with ten thousand threads that took
/// 10 s of CPU.
fn first_reading() -> Result<(), Failed> {
    let is_over = AtomicBool::new(false);
    let (threads, calls) = std::thread::scope(|scope| {
        for _ in 0..60 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
        }
        let threads = std::fs::read_dir("/proc/self/task").map(|tasks| {
            let names = tasks.filter_map(|task| task.ok()?.file_name().into_string().ok());
            names.filter(|thread| *thread != std::process::id().to_string()).collect::<Vec<_>>()
        });
        let calls = trace(&["top", "--batch", "-n", "1", "--tasks", "taskstats"]);
        is_over.store(true, Ordering::Relaxed);
        (threads, calls)
    });
    let (threads, calls) = (threads?, calls?);
    assert!(threads.len() >= 60, "{} threads", threads.len());
    for thread in threads {
        let sums = format!("\"proc/{thread}/stat\"");
        assert_eq!(calls.iter().find(|call| call.contains(&sums)), None);
    }
    Ok(())
}

/// The calls between one line of the bar and the next, the write and the sleep among them.
fn ticks(calls: &[String]) -> Vec<&[String]> {
    let is_line = |call: &String| call.contains(" write(1,");
    let lines: Vec<_> =
        calls.iter().enumerate().filter(|(_, call)| is_line(call)).map(|(at, _)| at).collect();
    lines.windows(2).map(|pair| &calls[pair[0] + 1..=pair[1]]).collect()
}

fn only_wanted() -> Result<(), Failed> {
    for (words, allowed) in [
        (&["free", "-L"][..], &["proc/meminfo"][..]),
        (
            &["free"],
            &[
                "proc/meminfo",
                "proc/pressure/memory",
                "proc/self/",
                "proc/spl/",
                "sys/block",
                "zram",
                "cgroup",
            ],
        ),
        (&["delays", "-p", "1"], &["proc", "task_delayacct", "1/task"]),
    ] {
        let calls = trace(words)?;
        // What the C library and Rust's runtime open before main is not whit's choice.
        for call in calls.iter().filter(|call| call.contains("openat(") && !call.contains("/proc/self/maps"))
        {
            let path = call.split('"').nth(1).unwrap_or_default();
            assert!(allowed.iter().any(|wanted| path.contains(wanted)), "{words:?} opens {path}");
        }
    }
    Ok(())
}

fn no_opens() -> Result<(), Failed> {
    // What each cycle costs is another line each time.
    let calls = trace(&["bar", "--count", "6", "--interval", "0.05", "--debug"])?;
    let ticks = ticks(&calls);
    assert_eq!(ticks.len(), 5);
    for tick in ticks {
        for call in tick {
            let grows = ["open", "brk(", "mmap(", "close("].iter().any(|name| call.contains(name));
            assert!(!grows, "{call}");
        }
    }
    Ok(())
}

fn own_count() -> Result<(), Failed> {
    let calls = trace(&["bar", "--count", "6", "--interval", "0.05", "--debug"])?;
    let said: Vec<usize> = calls
        .iter()
        .filter(|call| call.contains(" write(1,"))
        .filter_map(|call| {
            let (before, _) = call.split_once(" calls")?;
            before.rsplit_once(' ')?.1.parse().ok()
        })
        .collect();
    // A line tells the cycle before it, which began behind the line before and ended with the sleep behind its own;
    // the trace's ticks are cut at the writes, so a cycle's calls are a tick's, its sleep the next tick's first.
    let ticks = ticks(&calls);
    let counted: Vec<usize> = ticks.iter().map(|tick| tick.len()).collect();
    println!("calls a tick: {counted:?}, as whit counts {said:?}");
    assert!(said.len() >= 4);
    for (said, counted) in said[1..].iter().zip(&counted) {
        assert_eq!(said, counted);
    }
    // Seven, the CPU time that --debug asks for, and one for each device.
    let devices = ["net", "hwmon", "thermal", "power_supply"]
        .map(|class| std::fs::read_dir(format!("/sys/class/{class}")).map_or(0, std::iter::Iterator::count));
    let at_most = 8 + devices.iter().sum::<usize>() * 3;
    assert!(counted.iter().all(|calls| *calls <= at_most), "{counted:?}");
    Ok(())
}

/// The kernel hands out a page of lines at a time, so a long file is put together from many reads.
fn long_files() -> Result<(), Failed> {
    let name = format!("whit-test-{}", std::process::id());
    let links = 150;
    let make = format!(
        "ip netns add {name} && i=0 && while [ $i -lt {links} ]; do ip -n {name} link add a$i type veth peer name b$i; \
         i=$((i+1)); done; ip netns exec {name} {WHIT} doctor --json; ip netns del {name}"
    );
    let text = String::from_utf8(shell(&make).stdout)?;
    let told: serde_json::Value = serde_json::from_str(&text)?;
    let network = told["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|finding| finding["area"] == "network")
        .ok_or("no word of the network")?;
    let expected = format!("{} interfaces", 2 * links + 1);
    assert!(network["detail"].as_str().unwrap_or_default().starts_with(&expected), "{network}");
    Ok(())
}

/// What somebody runs who has a machine that whit was not tried on.
fn selftest() -> Result<(), Failed> {
    let output = Command::new(WHIT).args(["doctor", "--selftest", "--json"]).output()?;
    assert!(output.status.success(), "{output:?}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let checks = told["checks"].as_array().ok_or("no checks")?;
    let passed = checks.iter().filter(|check| check["verdict"] == "pass").count();
    assert!(passed >= 8, "{checks:?}");
    Ok(())
}
