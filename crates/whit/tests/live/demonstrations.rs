//! Three demonstrations: who waits, for what.

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Cgroup, Load, Scratch, WHIT, documents, enable_accounting, shell, whit};
use super::trials::{Need, Trial, timed};

pub(crate) fn trials() -> Vec<Trial> {
    let with = |more: &[Need]| [&[Need::Root, Need::Accounting], more].concat();
    vec![
        timed(
            "the_nice_wait_for_the_cpu",
            &with(&[Need::Program("stress"), Need::Program("nice")]),
            "20 times: weights of nice 0 and nice 19 differ by 68",
            nice,
        ),
        timed(
            "a_throttled_disk_is_waited_for",
            &with(&[Need::Controller("io"), Need::Program("dd"), Need::Program("chrt")]),
            "50 times: a limit of 1 MB/s against a disk that is not limited",
            throttled,
        ),
        timed(
            "limited_memory_is_reclaimed",
            &with(&[Need::Controller("memory"), Need::Program("dd")]),
            "10 times: 256 MiB are written in 32 MiB and without a limit",
            reclaim,
        ),
        timed(
            "no_wait_is_longer_than_the_clock",
            &with(&[Need::Controller("io"), Need::Program("dd"), Need::Program("stress")]),
            "10 ms: the clocks behind the figures differ by up to a tick",
            never_longer_than_the_clock,
        ),
    ]
}

/// Two loads on all CPUs in one session (autogroups are shared by session first), one of them nice.
fn nice() -> Result<(), Failed> {
    enable_accounting();
    let ratio = nice_ratio(&std::thread::available_parallelism()?.to_string());
    println!("the nice wait {ratio:.0} times longer a switch");
    assert!(ratio >= 20.0, "{ratio}");
    Ok(())
}

/// How much longer the nice wait for each switch.
fn nice_ratio(cpus: &str) -> f64 {
    let nice = Load::start(&["nice", "-n", "19", "stress", "-c", cpus, "-t", "30"]);
    let plain = Load::start(&["stress", "-c", cpus, "-t", "30"]);
    std::thread::sleep(std::time::Duration::from_secs(7));
    let rows = documents(&whit(&["delays", "--comm", "stress", "--json"]));
    drop((nice, plain));
    let average = |nice: i64| {
        let of_load = rows.iter().filter(|row| row["nice"] == nice && row["ppid"] != std::process::id());
        let (mut total, mut count) = (0, 0);
        for row in of_load {
            total += row["delays"]["run_queue"]["total_ns"].as_u64().unwrap();
            count += row["delays"]["run_queue"]["count"].as_u64().unwrap();
        }
        total as f64 / count as f64
    };
    average(19) / average(0)
}

/// Runs a command under whit, in a cgroup or not, and gives its account.
fn account_of(cgroup: Option<&Cgroup>, command: &str) -> Result<Value, Failed> {
    let words = format!("{WHIT} delays --json -- {command}");
    let output = match cgroup {
        Some(cgroup) => cgroup.run(&words),
        None => shell(&words),
    };
    assert!(output.status.success(), "{output:?}");
    Ok(documents(&String::from_utf8(output.stdout)?)[0].clone())
}

/// The same, with a block-I/O time. The kernel charges some waits with the uptime; whit leaves those out, and then this
/// asks again.
fn account_with_block_io(cgroup: Option<&Cgroup>, command: &str) -> Result<Value, Failed> {
    const TRIES: usize = 10;
    for left_out in 0..TRIES {
        let account = account_of(cgroup, command)?;
        if account["block_io_ns"].is_u64() {
            println!("{left_out} runs had a wait that cannot be");
            return Ok(account);
        }
    }
    Err(format!("{TRIES} times no block-I/O time that can be").into())
}

fn throttled() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("throttled");
    // Real-time, since Linux 6.12 dequeues a fair task that had more than its share later, while another one runs, and
    // then starts the other one's wait: beside a load most waits are wrong.
    let dd =
        format!("chrt -f 1 dd if=/dev/zero of={}/file bs=512K count=8 oflag=direct", scratch.0.display());
    let free = account_with_block_io(None, &dd)?;
    let cgroup = Cgroup::with_write_limit(&scratch.0, 1 << 20);
    let limited = account_with_block_io(Some(&cgroup), &dd)?;
    let average = |account: &Value| account["delays"]["block_io"]["average_ns"].as_f64().unwrap_or(0.0);
    let (free, limited) = (average(&free), average(&limited));
    println!("an operation waits {:.3} ms, and {:.0} ms at 1 MB/s", free / 1e6, limited / 1e6);
    // A disk so fast that nothing waits at all is no reason to fail.
    assert!(limited >= 50.0 * free.max(1000.0), "{free} and {limited}");
    Ok(())
}

fn reclaim() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("reclaim");
    let dd = format!("dd if=/dev/zero of={}/file bs=1M count=256", scratch.0.display());
    let waited = |account: &Value| {
        let total = |cause: &str| account["delays"][cause]["total_ns"].as_u64().unwrap_or(0);
        total("reclaim") + total("thrashing")
    };
    let free = account_of(None, &dd)?;
    let cgroup = Cgroup::new("memory");
    cgroup.set(if cgroup.version == 1 { "memory.limit_in_bytes" } else { "memory.max" }, "33554432");
    let limited = account_of(Some(&cgroup), &dd)?;
    println!("reclaim and thrashing: {} ns, and {} ns in 32 MiB", waited(&free), waited(&limited));
    // A machine that is full anyway may reclaim without the limit, too.
    assert!(waited(&limited) > 10 * waited(&free), "{limited}");
    if shell("awk '/MemFree/ { exit $2 < 4194304 }' /proc/meminfo").status.success() {
        assert_eq!(waited(&free), 0, "{free}");
    }
    Ok(())
}

fn never_longer_than_the_clock() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("clock");
    let cgroup = Cgroup::with_write_limit(&scratch.0, 1 << 20);
    let load = Load::start(&["stress", "-c", "2", "-t", "60"]);
    let dd = format!("dd if=/dev/zero of={}/file bs=64K count=4 oflag=direct", scratch.0.display());
    let mut left_out = 0;
    let rounds = 12;
    for _ in 0..rounds {
        let output = cgroup.run(&format!("{WHIT} delays --json -- {dd}"));
        let account = &documents(&String::from_utf8(output.stdout)?)[0];
        let wall = account["wall_ns"].as_u64().unwrap();
        // The clocks behind the figures may disagree by a tick.
        let at_most = wall + 10_000_000;
        for (cause, delay) in account["delays"].as_object().unwrap() {
            for figure in ["total_ns", "max_ns"] {
                assert!(delay[figure].as_u64().unwrap_or(0) <= at_most, "{cause}: {account}");
            }
        }
        // What can be is kept: only the wait for the disk is ever in doubt here.
        assert!(account["on_cpu_ns"].is_u64() && account["run_queue_ns"].is_u64(), "{account}");
        left_out += account["impossible_values"].as_u64().unwrap();
    }
    drop(load);
    println!("{left_out} waits longer than the clock were left out in {rounds} rounds");
    Ok(())
}
