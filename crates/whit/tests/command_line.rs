//! What ends a command: exit statuses and messages.

#![allow(clippy::unwrap_used, clippy::disallowed_types)]

use assert_cmd::Command;

fn whit(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whit"));
    command.args(words);
    command
}

fn fails(words: &[&str], code: i32, says: &str) {
    let output = whit(words).assert().code(code).get_output().clone();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains(says), "{words:?} says {message:?}, not {says:?}");
    assert!(output.stdout.is_empty(), "{words:?} prints beside failing");
}

#[test]
fn a_task_that_is_gone_is_1() {
    // No pid reaches this: pid_max is at most 2^22.
    fails(&["delays", "-p", "99999999"], 1, "process 99999999: there is none");
    fails(&["delays", "-t", "99999999"], 1, "thread 99999999: there is none");
    fails(&["delays", "--comm", "no such name"], 1, "no process is named \"no such name\"");
    fails(&["delays", "-C", "/no/such/cgroup"], 1, "cgroup /no/such/cgroup: no cgroup of that name");
    let top = ["top", "--tasks", "procfs", "-n", "1"];
    fails(&[&top[..], &["-p", "4194305"]].concat(), 1, "process 4194305: there is none");
    fails(&[&top[..], &["--comm", "no such name"]].concat(), 1, "no process is named \"no such name\"");
    fails(&[&top[..], &["--cgroup", "no/such"]].concat(), 1, "cgroup no/such: no cgroup of that name");
}

#[test]
fn help_has_the_terms() {
    let output = whit(&["help", "terms"]).assert().code(0).get_output().clone();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("on CPU\n  the time") && text.contains("\nunrecorded (~)\n"), "{text}");
}

#[test]
fn a_dash_is_standard_output() {
    let directory = std::env::temp_dir().join(format!("whit-dash-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let output = whit(&["run", "--json", "true"]).current_dir(&directory).assert().code(0);
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.starts_with('{') && text.contains("\"wall_ns\""), "{text}");
    assert!(std::fs::read_dir(&directory).unwrap().next().is_none(), "a file was made");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_locked_directory_is_counted_and_left_alone() {
    let directory = std::env::temp_dir().join(format!("whit-locked-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("old"), "").unwrap();
    let opened = std::fs::File::open(&directory).unwrap();
    rustix::fs::flock(&opened, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let output = whit(&["age", "--delete", "--older", "0s", directory.to_str().unwrap()]).assert().code(0);
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.contains("1 locked directory was not entered") && directory.join("old").exists(), "{text}");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn files_are_listed_by_age_and_size() {
    let directory = std::env::temp_dir().join(format!("whit-listed-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for (name, bytes, age_s) in [("young", 10, 10), ("old", 2_000, 900_000), ("middle", 300, 5_000)] {
        let file = std::fs::File::create(directory.join(name)).unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(age_s)).unwrap();
    }
    let told = |words: &[&str]| {
        let output = whit(&[&["age"], words, &[directory.to_str().unwrap()]].concat()).assert().code(0);
        String::from_utf8_lossy(&output.get_output().stdout).into_owned()
    };
    let names =
        |text: &str| text.lines().map(|line| line.rsplit('/').next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&told(&["--list", "--sort", "age"])), ["old", "middle", "young"]);
    assert_eq!(names(&told(&["--long", "--sort", "size", "-n", "2"])), ["old", "middle"]);
    assert_eq!(names(&told(&["--list", "--sort", "path"])), ["middle", "old", "young"]);
    assert_eq!(names(&told(&["--list", "--newer", "1h"])), ["young"]);
    assert_eq!(names(&told(&["--list", "--larger", "300", "--older", "1d"])), ["old"]);
    let long = told(&["--long", "--older", "1w"]);
    assert!(long.trim_start().starts_with("10d10h    2.0 KiB  "), "{long}");
    let report = told(&[]);
    assert!(report.contains("oldest") && report.contains("10d10h") && report.contains("/old"), "{report}");
    // More than the filesystem has, so that all go; and nothing where that much is free.
    let dry = ["--delete", "--dry-run", "--older", "100y", "--keep-free"];
    assert!(told(&[&dry[..], &["1"]].concat()).contains("would delete 0 files"));
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn usage_errors_are_2() {
    fails(&["delays", "-p", "x"], 2, "'x'");
    fails(&["delays", "-p", "0"], 2, "0");
    fails(&["delays", "-p", "-1"], 2, "-1");
    fails(&["delays", "-p", "1", "--", "true"], 2, "without a command");
    fails(&["delays"], 2, "whose delays?");
    fails(&["delays", "-a", "-n", "2"], 2, "--interval");
    fails(&["delays", "--exits", "-n", "2", "--", "true"], 2, "without a command");
    fails(&["age", "--null", "--json", "."], 2, "--null prints paths and --json documents");
    fails(&["age", "--delete", "--keep-free", "101%", "."], 2, "from 0% to 100%");
    fails(&["delays", "-a", "--sort", "nothing"], 2, "nothing");
    fails(&["free", "-s", "nan"], 2, "a duration: 5, 5s, 200ms, 1m30s, 1d12h");
    fails(&["free", "-i", "1ms"], 2, "from 10ms to 1y");
    fails(&["free", "-c", "0"], 2, "0");
    fails(&["free", "-b", "-k"], 2, "cannot be used with");
    fails(&["free", "--root", ".", "-s", "1"], 2, "stands still");
    fails(&["bar", "--once", "--count", "3"], 2, "cannot be used with");
    fails(&["bar", "--for", "telex"], 2, "telex");
    fails(&["nothing"], 2, "nothing");
    fails(&["run"], 2, "CMD");
    fails(&["run", "--tiemout", "1s", "true"], 2, "--timeout");
    fails(&["age", "--delete", "--older", "1d"], 2, "--delete needs a DIR");
    fails(&["check", "--json", "show", "web"], 2, "--json stands behind the action: show --json");
    fails(&["check", "ack", "web", "--duration", "2h"], 2, "--duration");
    fails(&["check", "submit", "web", "ok"], 2, "<TEXT>");
    fails(&["check", "undowntime", "first"], 2, "<NUMBER>");
    fails(&["alert", "silense", "full"], 2, "'silence'");
    fails(&["history", "drop"], 2, "--until");
    fails(&["feeds", "user", "add"], 2, "<NAME>");
    fails(&["feeds", "read", "--folder", "News"], 2, "--folder");
    fails(&["send", "127.0.0.1"], 2, "the port is missing: write HOST:PORT, for instance 127.0.0.1:7000");
    fails(&["send", "::1"], 2, "for instance [::1]:7000");
    fails(&["run", "--timeout", "5q", "--", "true"], 2, "units y w d h m s ms us ns");
    fails(&["run", "--limit", "x=1", "--", "true"], 2, "nofile");
    fails(&["run", "--shared", "--", "true"], 2, "--lock");
    fails(&["top", "--sort", "memry"], 2, "memory");
    fails(&["top", "--tasks", "magic"], 2, "taskstats");
}

#[test]
fn a_root_that_is_none_is_named() {
    fails(&["free", "--root", "/no/such/dir"], 1, "/no/such/dir: No such file or directory");
    fails(&["doctor", "--root", "/dev/null"], 1, "/dev/null: Not a directory");
}

#[test]
fn a_command_gives_its_own_status() {
    fails(&["delays", "--", "/no/such/command"], 127, "/no/such/command");
    fails(&["delays", "--", "/etc/passwd"], 126, "/etc/passwd");
    whit(&["delays", "--", "true"]).assert().code(0);
    whit(&["delays", "--", "sh", "-c", "exit 3"]).assert().code(3);
    whit(&["delays", "--", "sh", "-c", "kill -9 $$"]).assert().code(137);
    // Signals reach the command as they would without whit.
    whit(&["delays", "--", "sh", "-c", "kill -TERM $$"]).assert().code(143);
    // Not an interrupt, which whoever runs this in the background has ignored.
    whit(&["delays", "--procfs", "--", "sh", "-c", "kill -USR1 $$"]).assert().code(138);
    whit(&["delays", "--", "sh", "-c", "grep -q '^SigBlk:.0*$' /proc/self/status"]).assert().code(0);
}

#[test]
fn a_command_needs_no_dashes_before_it() {
    whit(&["run", "-q", "sh", "-c", "exit 3"]).assert().code(3);
    whit(&["run", "-q", "--", "sh", "-c", "exit 4"]).assert().code(4);
    whit(&["run", "-q", "--timeout", "5s", "sh", "-c", "exit 5", "--json"]).assert().code(5);
}

#[test]
fn a_scan_without_a_directory_is_of_this_one() {
    let output = whit(&["age"]).assert().code(0).get_output().stdout.clone();
    assert!(output.starts_with(b".\n"), "{}", String::from_utf8_lossy(&output));
}

#[test]
fn without_privileges_proc_is_read() {
    let output = whit(&["delays", "--procfs", "-p", &std::process::id().to_string()]).assert().code(0);
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.contains("Only run queue and block I/O (in clock ticks) are known from /proc."), "{text}");
}

#[test]
fn a_reader_that_goes_away_ends_the_bar_quietly() {
    let mut bar = std::process::Command::new(env!("CARGO_BIN_EXE_whit"))
        .args(["bar", "--interval", "0.01"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(bar.stdout.take());
    let output = bar.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn standard_error_may_be_full() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut gone = std::process::Command::new(env!("CARGO_BIN_EXE_whit"));
    assert_eq!(
        gone.args(["free", "--root", "/no/such/dir"]).stderr(full()).status().unwrap().code(),
        Some(1)
    );
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_whit"));
    command.args(["delays", "--procfs", "--json", "--", "sh", "-c", "exit 3"]).stderr(full());
    assert_eq!(command.stdout(std::process::Stdio::null()).status().unwrap().code(), Some(3));
}

#[test]
fn a_command_keeps_its_status_without_a_reader() {
    for words in [&["delays", "--"][..], &["delays", "--procfs", "--"]] {
        let mut whit = std::process::Command::new(env!("CARGO_BIN_EXE_whit"))
            .args(words)
            .args(["sh", "-c", "sleep 0.2; exit 3"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(whit.stdout.take());
        assert_eq!(whit.wait().unwrap().code(), Some(3), "{words:?}");
    }
}

/// Some starters ignore SIGCHLD, which a program inherits; children then vanish before they can be waited for.
#[test]
fn children_are_waited_for_even_where_the_starter_ignored_them() {
    let script = "trap '' CHLD; exec \"$0\" delays -- sh -c 'exit 5'";
    let status =
        std::process::Command::new("bash").args(["-c", script, env!("CARGO_BIN_EXE_whit")]).output().unwrap();
    assert_eq!(status.status.code(), Some(5));
}

#[test]
fn man_pages_and_completions_come_from_the_same_table() {
    let pages = std::env::temp_dir().join(format!("whit-man-{}", std::process::id()));
    whit(&["man", pages.to_str().unwrap()]).assert().code(0);
    let page = std::fs::read_to_string(pages.join("whit-delays.1")).unwrap();
    assert!(page.contains("classic"), "{page}");
    std::fs::remove_dir_all(pages).unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let output = whit(&["completions", shell]).assert().code(0);
        let script = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
        assert!(script.contains("emulate"), "{shell}");
    }
}

#[test]
fn a_configuration_that_is_named_says_where_the_data_is() {
    let directory = std::env::temp_dir().join(format!("whit-configured-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (config, data) = (directory.join("agent.toml"), directory.join("elsewhere"));
    std::fs::write(&config, format!("data = \"{}\"\n", data.display())).unwrap();
    let (config, data) = (config.to_str().unwrap(), data.to_str().unwrap());
    for words in [&["check", "list"][..], &["alert", "list"], &["feeds", "list"]] {
        fails(&[words, &["-c", config]].concat(), 1, data);
        fails(&[words, &["-c", config, "--data", "/nowhere/at/all"]].concat(), 1, "/nowhere/at/all");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// A service has no home: systemd names the directory of its configuration.
#[test]
fn a_service_reads_the_configuration_of_its_directory() {
    let directory = std::env::temp_dir().join(format!("whit-service-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let check = || {
        let output = whit(&["agent", "--check"]).env("CONFIGURATION_DIRECTORY", &directory).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    assert!(!check().contains("whit-service-"), "{}", check());
    let path = directory.join("agent.toml");
    std::fs::write(&path, "interval = \"2s\"\n").unwrap();
    assert!(check().contains(&format!("{}: good", path.display())), "{}", check());
    std::fs::write(&path, "intervall = \"2s\"\n").unwrap();
    assert!(check().contains("agent.toml:1:1"), "{}", check());
    std::fs::remove_dir_all(&directory).unwrap();
}
