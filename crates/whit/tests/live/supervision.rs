//! `whit run` where ending, locking and reporting go wrong: threads that outlive the main thread, no /proc, another user's
//! process, a killed whit, a report that another run may need.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

use super::machine::{Scratch, WHIT, copy_program, peer, shell, wait_for};
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    let private_mounts = [Need::Root, Need::Program("unshare")];
    vec![
        exact("a_process_without_its_main_thread_is_ended", &[Need::Root, Need::Program("cc")], main_thread),
        exact(
            "a_tree_is_ended_without_its_cgroup",
            &[Need::Root, Need::Program("cc"), private_mounts[1]],
            no_cgroup,
        ),
        exact("a_command_is_ended_without_proc", &private_mounts, no_proc),
        exact("a_signal_is_passed_on_without_proc", &private_mounts, signal_without_proc),
        timed(
            "what_became_root_is_named_and_left",
            &[Need::Root, Need::Program("cc"), Need::Program("setpriv")],
            "a tenth of a CPU, in less than 20 s",
            became_root,
        ),
        exact("a_lock_outlives_a_killed_whit", &[Need::Program("flock")], killed_with_lock),
        exact("a_report_appears_when_the_command_has_ended", &[Need::Program("flock")], reports),
    ]
}

/// Runs a shell's words whose output goes to a file: what survives them keeps what it inherited open. Status, time, output.
fn to_file(words: &str) -> (Option<i32>, Duration, String) {
    let scratch = Scratch::new("output");
    let log = scratch.0.join("log");
    let file = fs::File::create(&log).unwrap();
    let began = Instant::now();
    let status = Command::new("bash")
        .args(["-c", words])
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .status()
        .unwrap();
    (status.code(), began.elapsed(), fs::read_to_string(&log).unwrap())
}

/// Runs whit with a time limit of a second, after some words that prepare the place.
fn limited(before: &str, command: &str) -> (Option<i32>, Duration, String) {
    to_file(&format!("{before} timeout -s KILL 40 {WHIT} run --timeout 1 --kill-after 1 -- {command}"))
}

/// The processes whose program this is.
fn running(program: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let comm = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let threads =
            stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(17)?.parse().ok()).unwrap_or(0);
        comm.trim() == program && (threads > 1 || !stat.contains(") Z "))
    })
    .collect()
}

fn ppid_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn end(pids: &[u32]) {
    for pid in pids {
        shell(&format!("kill -9 {pid}"));
    }
}

/// The peer under a name of the trial's own, by which its processes are found.
fn survivor(scratch: &Scratch, name: &str) -> PathBuf {
    let program = scratch.0.join(name);
    copy_program(peer("survivor"), &program);
    program
}

fn main_thread() -> Result<(), Failed> {
    let scratch = Scratch::new("main-thread");
    let program = survivor(&scratch, "headless");
    let own = scratch.0.join("cgroup");
    let words = format!(
        "sh -c '{0} & {0} & grep -o whit-run-.* /proc/self/cgroup > {1}; sleep 60'",
        program.display(),
        own.display()
    );
    let (code, _, told) = limited("", &words);
    let left = running("headless");
    end(&left);
    assert_eq!((code, left.len()), (Some(124), 0), "{told}");
    // Where version 2 is not writable it has none.
    if let Some(own) = fs::read_to_string(own)?.lines().next() {
        let left = shell(&format!("find /sys/fs/cgroup -name {own}"));
        assert!(left.stdout.is_empty(), "{left:?}");
    }
    Ok(())
}

/// As above, found by parents alone.
fn no_cgroup() -> Result<(), Failed> {
    let scratch = Scratch::new("no-cgroup");
    let program = survivor(&scratch, "ungrouped");
    let before = "unshare -m --propagation private sh -c 'umount -l /sys/fs/cgroup; exec \"$@\"' sh";
    let (code, _, told) = limited(before, &format!("sh -c '{0} & {0} & sleep 60'", program.display()));
    let left = running("ungrouped");
    end(&left);
    assert_eq!((code, left.len()), (Some(124), 0), "{told}");
    Ok(())
}

const NO_PROC: &str = "unshare -m --propagation private sh -c 'umount -l /proc; exec \"$@\"' sh";

fn no_proc() -> Result<(), Failed> {
    let (code, took, told) = limited(NO_PROC, "sleep 30");
    assert_eq!(code, Some(124), "{told}");
    assert!(took < Duration::from_secs(20), "the command ended by itself: {took:?}");
    Ok(())
}

fn signal_without_proc() -> Result<(), Failed> {
    let script = format!("{WHIT} run -- sleep 30 & p=$!; sleep 0.5; kill -TERM $p; wait $p; echo $?");
    let began = Instant::now();
    let (_, _, told) = to_file(&format!("{NO_PROC} sh -c '{script}'"));
    assert_eq!(told.lines().last(), Some("143"), "{told}");
    assert!(began.elapsed() < Duration::from_secs(20), "the command ended by itself");
    Ok(())
}

/// A command that whit may not signal. It is given up in bounded time, named, and looked for at little cost.
fn became_root() -> Result<(), Failed> {
    let scratch = Scratch::for_all("root");
    let place = &scratch.0;
    let (program, whit) = (place.join("becomesroot"), place.join("whit"));
    copy_program(peer("survivor"), &program);
    copy_program(WHIT, &whit);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755))?;
    let words = format!(
        "cd /; TIMEFORMAT='%U %S'; time setpriv --reuid 65534 --clear-groups timeout -s KILL 40 \
         {} run --timeout 1 --kill-after 1 -- {} root",
        whit.display(),
        program.display()
    );
    let (code, took, told) = to_file(&words);
    let left = running("becomesroot");
    end(&left);
    assert_eq!((code, left.len()), (Some(124), 1), "{told}");
    assert!(
        told.contains(&format!("still running and not in this account: {} (becomesroot)", left[0])),
        "{told}"
    );
    let cpu_s: f64 = told.lines().last().unwrap().split(' ').map(|word| word.parse::<f64>().unwrap()).sum();
    let share = cpu_s / took.as_secs_f64();
    println!("given up after {took:?}, at {:.1} % of a CPU", share * 100.0);
    assert!(took < Duration::from_secs(20) && share < 0.1, "{took:?}, {share}");
    Ok(())
}

fn killed_with_lock() -> Result<(), Failed> {
    let scratch = Scratch::new("killed-with-lock");
    let lock = scratch.0.join("lock");
    let mut whit =
        Command::new(WHIT).args(["run", "-q", "--lock"]).arg(&lock).args(["--", "sleep", "10"]).spawn()?;
    let is_held = || shell(&format!("flock -n {} true", lock.display())).status.code() == Some(1);
    let has_begun = || running("sleep").iter().any(|pid| ppid_of(*pid) == Some(whit.id()));
    wait_for("the command begins", has_begun);
    whit.kill()?;
    whit.wait()?;
    assert!(is_held(), "the command still runs, and its lock is free");
    wait_for("the lock is released", || !is_held());
    // The command has it for reading alone, and can be locked out of what it was told.
    let words = format!(
        "{WHIT} run -q --lock {} -- sh -c 'for fd in 3 4 5 6 7 8 9; do echo x >&$fd; done' 2>/dev/null",
        lock.display()
    );
    shell(&words);
    assert_eq!(fs::read(&lock)?, b"");
    Ok(())
}

fn reports() -> Result<(), Failed> {
    let scratch = Scratch::new("reports");
    let (lock, report) = (scratch.0.join("lock"), scratch.0.join("report"));
    let run = |words: &str| shell(&format!("{WHIT} run -o {} {words}", report.display())).status.code();
    let is_kept = || fs::read(&report).unwrap() == b"before";
    fs::write(&report, "before")?;
    let mut holder = Command::new("flock").arg(&lock).args(["sleep", "30"]).spawn()?;
    wait_for("the lock is held", || {
        shell(&format!("flock -n {} true", lock.display())).status.code() == Some(1)
    });
    let code = run(&format!("--lock {} --wait 0 --conflict-exit 75 -- true", lock.display()));
    holder.kill()?;
    holder.wait()?;
    assert!(code == Some(75) && is_kept(), "the loser of the lock erased the report");
    assert!(run("-- /nonexistent/program") == Some(127) && is_kept(), "no command, and no report any more");
    assert!(
        run(&format!("--json -- grep -q before {}", report.display())) == Some(0),
        "erased before the command ended"
    );
    assert!(fs::read_to_string(&report)?.starts_with('{'));
    assert!(run("-- true") == Some(0) && fs::read_to_string(&report)?.starts_with("wall"));
    // Nothing is left beside them, and a report can go to a pipe.
    let names = || fs::read_dir(&scratch.0).unwrap().count();
    assert_eq!(names(), 2);
    let piped = shell(&format!("{WHIT} run --json -o /dev/stdout -- true | grep -c wall_ns"));
    assert_eq!(String::from_utf8(piped.stdout)?.trim(), "1");
    Ok(())
}
