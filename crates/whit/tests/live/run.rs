//! `whit run`: accounts held against other tools, locks against other lockers, trees that do not want to end.

use std::fs;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Load, Scratch, WHIT, documents, enable_accounting, peer, shell, wait_for};
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        timed(
            "a_build_is_reported_by_program",
            &[Need::Root, Need::Accounting, Need::Program("make"), Need::Program("cc")],
            "a tick of 4 ms a thread; 0.7 to 1.15 of wait4; 5 % of the shell's own clock, which does not count the shell",
            build,
        ),
        timed(
            "waits_agree_with_a_per_pid_reader",
            &[Need::Root, Need::Accounting, Need::Program("python3"), Need::Program("stress")],
            "2 %, and 150 ms or 30 waits later: the program goes on after its last reading",
            per_pid,
        ),
        exact("each_program_of_a_process_has_its_own_time", &[Need::Root, Need::Accounting], execs),
        exact("a_commands_status_is_its_own", &[], statuses),
        exact("a_tree_ends_when_its_time_is_over", &[Need::Program("setsid")], time_is_over),
        exact("faults_and_switches_are_those_of_getrusage", &[Need::Program("python3")], faults),
        exact("signals_reach_the_command", &[], signals),
        exact("a_signal_between_two_runs_is_not_lost", &[], between_runs),
        exact("locks_exclude_other_lockers", &[Need::Program("flock"), Need::Program("python3")], locks),
        exact("the_holder_of_a_lock_is_named", &[Need::Program("flock")], holder),
        exact("what_outlives_a_command_does_not_hold_its_lock", &[Need::Program("flock")], outlived),
        exact("limits_and_places_are_set", &[], limits),
        timed(
            "a_report_says_what_took_the_time_and_compares",
            &[Need::Root, Need::Accounting],
            "nearly all of 0.3 s: a command that sleeps",
            sentences,
        ),
        exact("earlier_children_are_left_alone", &[], earlier_children),
        exact("what_was_ignored_stays_ignored", &[], ignored_signals),
        exact("a_report_that_cannot_be_written_is_reported_before_the_command", &[], unwritable),
        exact("an_account_without_privileges_is_of_the_command", &[], unprivileged),
    ]
}

/// Runs a command under whit with its account as JSON, in a shell.
fn account(words: &str) -> Result<Value, Failed> {
    let scratch = Scratch::new("account");
    let path = scratch.0.join("account.json");
    let output = shell(&format!("{WHIT} run --json -o {} {words}", path.display()));
    assert!(output.status.success(), "{output:?}");
    Ok(documents(&fs::read_to_string(path)?)[0].clone())
}

fn build() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("build");
    let directory = scratch.0.display();
    for part in 0..24 {
        let text = format!(
            "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint part{part}(int n) {{ return printf(\"%d\", n * {part}); }}\n"
        );
        fs::write(scratch.0.join(format!("part{part}.c")), text)?;
    }
    let rules = "OBJECTS = $(patsubst %.c,%.o,$(wildcard part*.c))\nall: $(OBJECTS)\n%.o: %.c\n\tcc -O2 -c $< -o $@\n";
    fs::write(scratch.0.join("Makefile"), rules)?;
    // The shell's own clock counts the same build.
    let timed = format!("TIMEFORMAT=\"%U %S\"; time make -s -B -j2 -C {directory}");
    let told = account(&format!("-- bash -c '{timed}' 2> {directory}/time"))?;
    let whole = &told["whole"];
    let get = |value: &Value, name: &str| value[name].as_u64().unwrap();
    // What a task's time consists of. A wait that cannot be is left out, and the time that it could have is unknown.
    for program in told["programs"].as_array().unwrap() {
        let parts =
            ["on_cpu_ns", "run_queue_ns", "block_io_ns", "sleeping_ns", "unrecorded_ns", "undivided_ns"];
        let sum: u64 = parts.iter().filter_map(|name| program[name].as_u64()).sum();
        assert!(program["block_io_ns"].is_u64() || get(program, "impossible_values") > 0, "{program}");
        // A tick more or less for each thread.
        let slack = 4_000_000 * get(program, "threads");
        assert!(sum.abs_diff(get(program, "thread_time_ns")) <= slack, "{program}");
    }
    let compilers = told["programs"].as_array().unwrap().iter().find(|program| program["comm"] == "cc1");
    assert_eq!(compilers.map(|program| get(program, "processes")), Some(24), "{told}");
    // The exact time is wait4's; what the records say is near it.
    let exact = get(&told, "user_ns") + get(&told, "system_ns");
    let ratio = get(whole, "on_cpu_ns") as f64 / exact as f64;
    println!("the records' CPU time is {ratio:.3} of wait4's");
    assert!((0.7..=1.15).contains(&ratio), "{told}");
    let text = fs::read_to_string(scratch.0.join("time"))?;
    let seconds: f64 = text.split_whitespace().map(|word| word.parse::<f64>().unwrap()).sum();
    println!("whit {:.3} s, time {seconds:.3} s", exact as f64 / 1e9);
    assert!((exact as f64 / 1e9 / seconds - 1.0).abs() < 0.05, "{text}");
    Ok(())
}

/// A program that waits for the CPU and for its disk and, before it ends, has another tool read its account: that is what
/// whit tells of it, but for its last milliseconds.
/// What computes and then becomes another program has computed under its first name.
fn execs() -> Result<(), Failed> {
    enable_accounting();
    let account = account("-- sh -c 'while [ $((i=i+1)) -lt 300000 ]; do :; done; exec sleep 1'")?;
    let cpu_ns = |comm: &str| {
        let programs = account["programs"].as_array().into_iter().flatten();
        programs
            .filter(|program| program["comm"] == comm)
            .filter_map(|program| program["on_cpu_ns"].as_u64())
            .sum::<u64>()
    };
    let (before, after) = (cpu_ns("sh"), cpu_ns("sleep"));
    assert!(before > 50_000_000 && after < before / 5, "{before} ns as sh, {after} ns as sleep: {account:#}");
    Ok(())
}

fn per_pid() -> Result<(), Failed> {
    enable_accounting();
    let _load = Load::start(&["stress", "-c", "4", "-t", "60"]);
    let scratch = Scratch::new("per-pid");
    let (reader, file, told) = (peer("taskstats_one"), scratch.0.join("file"), scratch.0.join("told"));
    let program = format!(
        "import os, subprocess, time\n\
         end = time.process_time() + 1\n\
         with open({file:?}, 'wb') as file:\n    \
             while time.process_time() < end:\n        \
                 sum(range(20000)); file.write(b'x' * 4096); file.flush(); os.fsync(file.fileno())\n\
         subprocess.run([{reader:?}, '-t', str(os.getpid())], stdout=open({told:?}, 'w'))\n"
    );
    let script = scratch.0.join("program.py");
    fs::write(&script, program)?;
    // What is found first may be a script that executes it, and whose part of the time is another program's.
    let python = String::from_utf8(shell("python3 -c 'import sys; print(sys.executable)'").stdout)?;
    let command = format!("-- {} {}", python.trim(), script.display());
    // On some kernels a wait for a disk beside a load is charged with the uptime; whit leaves such a wait out.
    let mut account = account(&command)?;
    let is_counted = |account: &Value| {
        let block_io = &account["whole"]["delays"]["block_io"];
        account["whole"]["block_io_ns"].is_u64() && block_io["uncounted_threads"] == 0
    };
    for _ in 0..4 {
        if is_counted(&account) {
            break;
        }
        assert!(account["whole"]["impossible_values"].as_u64() > Some(0), "{account}");
        account = self::account(&command)?;
    }
    let python = account["programs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|program| program["comm"].as_str().is_some_and(|comm| comm.starts_with("python")));
    let told = fs::read_to_string(told)?;
    let peer = |name: &str| {
        let line = told.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_once(' ').unwrap().1.parse::<f64>().unwrap()
    };
    let ours = |path: &str| python.and_then(|python| python.pointer(path)).and_then(Value::as_f64);
    // Since Linux 6.12 a wait for a disk may be charged twice. whit reports at most what the thread's time leaves for it.
    let left = ours("/thread_time_ns")
        .zip(ours("/on_cpu_ns"))
        .zip(ours("/delays/run_queue/total_ns"))
        .map(|((thread_time_ns, on_cpu_ns), run_queue_ns)| thread_time_ns - on_cpu_ns - run_queue_ns)
        .ok_or("the record of python3")?;
    for (path, name) in [
        ("/on_cpu_ns", "on_cpu"),
        ("/delays/run_queue/total_ns", "run_queue.total"),
        ("/delays/block_io/total_ns", "block_io.total"),
        ("/delays/block_io/count", "block_io.count"),
    ] {
        let is_known = is_counted(&account) || !name.starts_with("block_io");
        let Some(figure) = ours(path).filter(|_| is_known) else {
            assert!(
                name.starts_with("block_io") && account["whole"]["impossible_values"].as_u64() > Some(0),
                "{account}"
            );
            println!("{name}: impossible in five runs");
            continue;
        };
        let read = if name == "block_io.total" { peer(name).min(left) } else { peer(name) };
        let ratio = figure / read;
        println!("{name}: {ratio:.4} of a per-pid reader's {} (possible: {read})", peer(name));
        // After that reading it started and awaited the reader, and ended, beside four others on few CPUs.
        let later = if name.ends_with("count") { 30.0 } else { 150e6 };
        assert!(figure >= read * 0.98 && figure <= read * 1.02 + later, "{name}: {account} {told}");
    }
    Ok(())
}

fn faults() -> Result<(), Failed> {
    // It counts a little less than wait4 will, since it goes on after it counted.
    const PAGES_AND_SLEEPS: &str = "import mmap, resource, time
memory = mmap.mmap(-1, 5000 * 4096)
for page in range(5000): memory[page * 4096] = 1
for _ in range(300): time.sleep(0.0001)
usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(each.ru_minflt for each in usage), sum(each.ru_nvcsw for each in usage))";
    let scratch = Scratch::new("faults");
    let report = scratch.0.join("report");
    let report = report.to_str().ok_or("the path")?;
    let output = Command::new(WHIT)
        .args(["run", "--json", "--output", report, "python3", "-c", PAGES_AND_SLEEPS])
        .output()?;
    let printed = String::from_utf8(output.stdout)?;
    let counted: Vec<u64> = printed.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let document = &documents(&fs::read_to_string(report)?)[0];
    for (field, counted, most_after) in
        [("minor_faults", counted[0], 2_000), ("voluntary_switches", counted[1], 100)]
    {
        let reported = document[field].as_u64().ok_or(field)?;
        assert!((counted..counted + most_after).contains(&reported), "{field}: {reported}, not {counted}");
    }
    assert!(counted[1] >= 250, "{printed}");
    Ok(())
}

fn statuses() -> Result<(), Failed> {
    for (words, code) in [
        ("-- true", 0),
        ("-- sh -c 'exit 7'", 7),
        ("-- sh -c 'kill -9 $$'", 137),
        ("-- /nonexistent", 127),
        ("-- nonexistent-program", 127),
        ("-- /etc/passwd", 126),
        ("--timeout 50ms -- sleep 60", 124),
        ("-n 3 -- false", 1),
        ("--lock /nonexistent/lock -- true", 66),
    ] {
        let output = shell(&format!("{WHIT} run -q {words}"));
        assert_eq!(output.status.code(), Some(code), "{words}: {output:?}");
        assert!(output.stdout.is_empty(), "{words}: {output:?}");
    }
    // Its streams are the command's own.
    let output = shell(&format!("echo in | {WHIT} run -q -- sh -c 'cat; echo error >&2'"));
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"in\n"[..], &b"error\n"[..]));
    // A program that is there once: what it did then is reported.
    let scratch = Scratch::new("statuses");
    let (once, report) = (scratch.0.join("once"), scratch.0.join("report.json"));
    let output = shell(&format!(
        "cp /bin/rm {once} && {WHIT} run -n 3 --json -o {report} -- {once} {once}",
        once = once.display(),
        report = report.display()
    ));
    let runs = documents(&fs::read_to_string(&report)?).len();
    assert_eq!((output.status.code(), runs), (Some(127), 1), "{output:?}");
    Ok(())
}

fn time_is_over() -> Result<(), Failed> {
    // Deaf to TERM, in other sessions, and grandchildren of who ended.
    let script = "trap \"\" TERM; setsid sh -c 'trap \"\" TERM; sleep 4711.5 & sleep 4711.6; sleep 4711.7' & (sleep 4711.8 &); sleep 4711.9";
    fs::write(Scratch::new("tree").0.with_extension("sh"), script)?;
    let path = Scratch::new("tree").0.with_extension("sh");
    let output = shell(&format!("{WHIT} run --timeout 300ms --kill-after 300ms -- sh {}", path.display()));
    fs::remove_file(path)?;
    assert_eq!(output.status.code(), Some(124));
    assert!(String::from_utf8(output.stderr)?.contains("its time was over"));
    let left = String::from_utf8(shell("pgrep -f '^sleep 4711'").stdout)?;
    assert_eq!(left, "", "still running");
    Ok(())
}

fn signals() -> Result<(), Failed> {
    for (signal, code) in [("USR1", 41), ("TERM", 42), ("USR2", 43)] {
        let script = "trap 'exit 41' USR1; trap 'exit 42' TERM; trap 'exit 43' USR2; echo ready; while :; do sleep 0.05; done";
        let mut whit = Command::new(WHIT)
            .args(["run", "-q", "--", "sh", "-c", script])
            .stdout(std::process::Stdio::piped())
            .spawn()?;
        let mut ready = [0; 6];
        std::io::Read::read_exact(whit.stdout.as_mut().unwrap(), &mut ready)?;
        shell(&format!("kill -{signal} {}", whit.id()));
        assert_eq!(whit.wait()?.code(), Some(code), "{signal}");
    }
    Ok(())
}

/// Fifty contenders of four kinds count a number up, each under the lock; a step that was not alone loses one.
fn locks() -> Result<(), Failed> {
    let scratch = Scratch::new("locks");
    let (lock, count) = (scratch.0.join("lock"), scratch.0.join("count"));
    fs::write(&count, "0")?;
    let (lock, count) = (lock.display(), count.display());
    let step = format!("n=$(cat {count}); sleep 0.002; echo $((n + 1)) > {count}");
    let python = format!(
        "import fcntl, time\nf = open('{lock}', 'a')\nfcntl.flock(f, fcntl.LOCK_EX)\n\
         n = int(open('{count}').read())\ntime.sleep(0.002)\nopen('{count}', 'w').write(str(n + 1))\n"
    );
    fs::write(scratch.0.join("step.py"), python)?;
    fs::write(scratch.0.join("step.sh"), &step)?;
    let (script, python) = (scratch.0.join("step.sh"), scratch.0.join("step.py"));
    let mut contenders = Vec::new();
    for at in 0..50 {
        let words = match at % 5 {
            0 | 1 => format!("{WHIT} run -q --lock {lock} -- sh {}", script.display()),
            2 => format!("flock {lock} sh {}", script.display()),
            3 => format!("(flock 9; sh {}) 9>>{lock}", script.display()),
            _ => format!("python3 {}", python.display()),
        };
        let child = Command::new("sh").args(["-c", &words]).stderr(std::process::Stdio::null()).spawn()?;
        contenders.push(child);
    }
    for mut contender in contenders {
        assert!(contender.wait()?.success());
    }
    assert_eq!(fs::read_to_string(scratch.0.join("count"))?.trim(), "50");
    Ok(())
}

fn holder() -> Result<(), Failed> {
    let scratch = Scratch::new("holder");
    let lock = scratch.0.join("lock");
    let lock = lock.display();
    let held = format!("while flock -n {lock} true; do sleep 0.05; done");
    let words = format!(
        "flock {lock} sleep 4.5 & {held}; {WHIT} run -q --lock {lock} --wait 0 --conflict-exit 9 -- true; echo $?; \
         {WHIT} run -q --lock {lock} --wait 100ms -- true; echo $?; {WHIT} run --lock {lock} -- true; echo $?; \
         flock -s {lock} sleep 2 & {held}; {WHIT} run -q --lock {lock} --shared --wait 0 -- true; echo $?"
    );
    let output = shell(&words);
    assert_eq!(String::from_utf8(output.stdout)?, "9\n1\n0\n0\n");
    let said = String::from_utf8(output.stderr)?;
    assert!(said.contains("is held by") && said.contains("sleep 4.5"), "{said}");
    assert!(said.contains("for the lock"), "{said}");
    // Scripts take it by a program that has ended when somebody asks: the shell has it.
    let script = format!("exec 9> {lock}; flock 9; echo $$; {WHIT} run --lock {lock} --wait 0 -- true; true");
    let output = Command::new("bash").args(["-c", &script]).output()?;
    let (shell, said) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    assert!(said.contains(&format!("is held by {} (bash", shell.trim())), "{shell}{said}");
    Ok(())
}

fn outlived() -> Result<(), Failed> {
    let scratch = Scratch::new("outlived");
    let lock = scratch.0.join("lock");
    let lock = lock.display();
    let taken = |option: &str| {
        let words = format!(
            "{WHIT} run -q --lock {lock} {option} -- sh -c 'sleep 20 >&- 2>&- &'; flock -n {lock} true; echo $?"
        );
        String::from_utf8(shell(&words).stdout).unwrap()
    };
    assert_eq!(taken(""), "0\n");
    assert_eq!(taken("--inherit-lock"), "1\n");
    Ok(())
}

fn limits() -> Result<(), Failed> {
    let script = "ulimit -n; pwd; echo $GREETING; ls /proc/self/fd | wc -l";
    let output = shell(&format!(
        "{WHIT} run -q --limit nofile=77 --limit core=0 -C / --env GREETING='a b' -- sh -c '{script}'"
    ));
    // As many descriptors as without whit, which closes its own: whoever runs this may leave some open.
    let open = String::from_utf8(shell(&format!("sh -c '{script}'")).stdout)?;
    let open = open.lines().last().unwrap_or_default().to_owned();
    assert_eq!(String::from_utf8(output.stdout)?, format!("77\n/\na b\n{open}\n"));
    Ok(())
}

fn unprivileged() -> Result<(), Failed> {
    let output = shell(&format!(
        "{WHIT} delays --procfs --json -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'"
    ));
    let row = documents(&String::from_utf8(output.stdout)?)[0].clone();
    assert!(row["on_cpu_ns"].as_u64().unwrap() > 1_000_000, "{row}");
    Ok(())
}

/// A signal to whit alone, at any moment of many runs.
fn between_runs() -> Result<(), Failed> {
    use rustix::process::{Pid, Signal, kill_process};
    for place in 0..15_u64 {
        let mut many = Command::new(WHIT).args(["run", "-q", "-n", "1M", "true"]).spawn()?;
        let status = format!("/proc/{}/status", many.id());
        wait_for("it takes signals itself", || {
            let status = fs::read_to_string(&status).unwrap_or_default();
            let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
            let blocked = blocked.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
            blocked.is_some_and(|set| set >> (Signal::TERM.as_raw() - 1) & 1 == 1)
        });
        std::thread::sleep(std::time::Duration::from_micros(1_370 * place));
        let pid = Pid::from_raw(many.id().cast_signed()).ok_or("no pid")?;
        kill_process(pid, Signal::TERM)?;
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let status = loop {
            match many.try_wait()? {
                Some(status) => break status,
                None if std::time::Instant::now() > deadline => {
                    many.kill()?;
                    return Err("the signal was lost".into());
                }
                None => std::thread::sleep(std::time::Duration::from_millis(5)),
            }
        };
        assert_eq!(status.code(), Some(143), "{status:?}");
    }
    Ok(())
}

/// The summary in a sentence, the signal at the end of the time, and an earlier report beside this one.
fn sentences() -> Result<(), Failed> {
    enable_accounting();
    let scratch = Scratch::new("sentences");
    let before = scratch.0.join("before.json");
    let told = |words: &str| String::from_utf8(shell(&format!("{WHIT} run {words}")).stderr).unwrap();
    let text = told("sleep 0.3");
    // On some kernels a wait for a disk is charged with the uptime: then it is not known how long it slept, and the report says so.
    let is_unknown = text.contains("sleep cannot be told apart from it");
    assert!(text.contains("It slept nearly all of the time") != is_unknown, "{text}");
    let text = told("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'");
    assert!(text.contains(" in sh."), "{text}");
    // Not SIGINT, which is ignored here if a shell started the tests in the background.
    let words =
        "--timeout 0.3 --signal USR1 sh -c 'trap \"echo interrupted; exit\" USR1; while :; do :; done'";
    let output = shell(&format!("{WHIT} run -q {words}"));
    assert_eq!((output.status.code(), String::from_utf8(output.stdout)?.trim()), (Some(124), "interrupted"));
    assert!(shell(&format!("{WHIT} run --json -n 3 -o {} true", before.display())).status.success());
    let text = told(&format!("--compare {} sleep 0.2", before.display()));
    let row =
        text.lines().find(|line| line.starts_with("wall") && line.ends_with('%')).ok_or("no comparison")?;
    assert!(row.contains('+'), "{text}");
    assert!(
        text.contains("The earlier report is of another command: true\n") && text.contains("before, 3 runs"),
        "{text}"
    );
    fs::write(&before, "{\"document\":\"free\"}\n")?;
    let text = told(&format!("--compare {} true", before.display()));
    assert!(text.contains("before.json:1:") && text.contains("no report that whit run"), "{text}");
    Ok(())
}

/// A shell that executes whit leaves its children to it, as a container's first process does.
fn earlier_children() -> Result<(), Failed> {
    let scratch = Scratch::new("earlier");
    let path = scratch.0.join("account.json");
    let sleeper = "sleep 20 > /dev/null 2>&1 & echo $!";
    let busy = "(i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done) &";
    let whit = format!("{WHIT} run --json -o {}", path.display());
    let output = shell(&format!("sh -c '{sleeper}; {busy} exec {whit} --timeout 0.9 -- sleep 20'"));
    assert_eq!(output.status.code(), Some(124));
    let sleeper = String::from_utf8(output.stdout)?.trim().to_owned();
    let is_alive = shell(&format!("kill {sleeper}")).status.success();
    let told = &documents(&fs::read_to_string(&path)?)[0];
    let cpu_ns = told["user_ns"].as_u64().unwrap() + told["system_ns"].as_u64().unwrap();
    println!("CPU of a command that sleeps beside another's loop: {cpu_ns} ns");
    assert!(is_alive, "whit ended a process that its command did not start");
    assert_eq!((&told["left_running"], &told["adopted"]), (&0.into(), &0.into()), "{told}");
    assert!(cpu_ns < 50_000_000, "{told}");
    Ok(())
}

fn ignored_signals() -> Result<(), Failed> {
    let ignored = |command: &str| {
        let output = shell(&format!("trap '' INT HUP USR1; {command} cat /proc/self/status"));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().find(|line| line.starts_with("SigIgn")).unwrap().to_owned()
    };
    assert_eq!(ignored(&format!("{WHIT} run -q --")), ignored("env"));
    Ok(())
}

fn unwritable() -> Result<(), Failed> {
    let scratch = Scratch::new("unwritable");
    let made = scratch.0.join("made");
    for option in ["-o", "--json --output"] {
        let output = shell(&format!("{WHIT} run {option} /nonexistent/x -- touch {}", made.display()));
        let message = String::from_utf8(output.stderr)?;
        assert!(message.contains("/nonexistent/x") && output.status.code() == Some(1), "{message}");
        assert!(!made.exists(), "the command was started all the same");
    }
    Ok(())
}
