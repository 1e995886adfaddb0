//! The server process of the agent: restarts, limits, and the checks of the data directory.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;
use rustix::process::{Pid, Signal, kill_process};

use super::api::Api;
use super::machine::{Running, Scratch, WHIT, children_of, port, shell, wait_for};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("a_killed_server_comes_back_and_no_tick_is_lost", &[], killed),
        exact("a_part_that_could_not_start_is_started_again", &[Need::Program("curl")], taken_address),
        exact("the_server_has_no_capabilities", &[Need::Root], confined),
        exact("memory_bombs_are_refused", &[], growing),
        exact("files_of_another_type_are_refused", &[], no_files),
        exact("a_reload_without_alerts_ends_them", &[], without_alerts),
        exact("a_user_that_has_used_its_share_is_refused", &[Need::Root], share),
    ]
}

/// The server of an agent.
fn server(agent: u32) -> Option<u32> {
    children_of(agent).first().copied()
}

fn killed() -> Result<(), Failed> {
    let scratch = Scratch::new("server-killed");
    let api = Api::start(&scratch, &[])?;
    for _ in 0..2 {
        let old = server(api.pid()).ok_or("no server")?;
        kill_process(Pid::from_raw(old.cast_signed()).ok_or("a pid")?, Signal::KILL)?;
        wait_for("another server", || server(api.pid()).is_some_and(|new| new != old));
        wait_for("its answer", || api.get("/api/v1/query?query=1").is_some());
    }
    wait_for("the third", || api.get("/api/v1/query?query=node_load1").is_some());
    // Not "exe", by which the kernel names what was started as /proc/self/exe.
    let third = server(api.pid()).ok_or("no server")?;
    assert_eq!(fs::read_to_string(format!("/proc/{third}/comm"))?, "whit\n");
    wait_for("a tick that counts it", || api.now("whit_agent_server_starts_total") == 3.0);
    // Not those that were missed: beside other trials the recorder may wait for a CPU. The attack on the agent counts them.
    assert_eq!(api.now("whit_agent_lost_ticks_total"), 0.0);
    assert_eq!(api.now("whit_agent_ticks_between_task_readings"), 1.0);
    Ok(())
}

/// The address of HTTP is another program's when the agent starts, and free later.
fn taken_address() -> Result<(), Failed> {
    let scratch = Scratch::new("server-taken");
    let port = port();
    let other = TcpListener::bind(("127.0.0.1", port))?;
    let mut agent = Command::new(WHIT);
    agent.args(["agent", "-i", "200ms", "--http", &format!("127.0.0.1:{port}")]);
    agent.arg("--data").arg(scratch.0.join("data")).arg("--socket").arg(scratch.0.join("agent.sock"));
    let log = scratch.0.join("log");
    let _agent = Running(agent.stderr(fs::File::create(&log)?).spawn()?);
    let has_line = |line: &str| fs::read_to_string(&log).unwrap_or_default().contains(line);
    wait_for("the fault", || has_line("the agent serves no HTTP; it is tried again"));
    drop(other);
    let url = format!("http://127.0.0.1:{port}/-/ready");
    wait_for("HTTP", || {
        Command::new("curl").args(["-sf", &url]).output().is_ok_and(|output| output.status.success())
    });
    wait_for("its end in the log", || has_line("HTTP: works again"));
    Ok(())
}

fn without_alerts() -> Result<(), Failed> {
    let scratch = Scratch::new("server-alerts");
    let config = scratch.0.join("agent.toml");
    let file = |receiver: &str| scratch.0.join(format!("notices-{receiver}"));
    let receiver = |name: &str| {
        let command = format!("echo $0 >> {}", file(name).display());
        format!("[[receiver]]\nname = \"{name}\"\ncommand = [\"sh\", \"-c\", \"{command}\", \"{{state}}\"]\n")
    };
    let begin =
        "[alerts]\ninterval = \"1s\"\nstarter = false\n".to_owned() + &receiver("one") + &receiver("other");
    let rule = "[[alert]]\nname = \"always\"\nexpression = \"vector(1) > 0\"\nto = [\"one\"]\n";
    fs::write(&config, format!("{begin}{rule}"))?;
    let api = Api::start(&scratch, &["--config", config.to_str().ok_or("the path")?])?;
    let count = |target: &str, list: &str| Some(api.get(target)?.pointer(list)?.as_array()?.len());
    let (alerts, rules) = (["/api/v1/alerts", "/data/alerts"], ["/api/v1/rules", "/data/groups/0/rules"]);
    wait_for("the alert", || count(alerts[0], alerts[1]) == Some(1));
    assert_eq!(count(rules[0], rules[1]), Some(1));
    let notices = |receiver: &str| fs::read_to_string(file(receiver)).unwrap_or_default();
    wait_for("the first notice", || notices("one").lines().count() == 1);
    fs::write(&config, begin)?;
    kill_process(Pid::from_raw(api.pid().cast_signed()).ok_or("a pid")?, Signal::HUP)?;
    wait_for("no alert", || count(alerts[0], alerts[1]) == Some(0));
    wait_for("no rule", || count(rules[0], rules[1]) == Some(0));
    wait_for("the notice of the end", || notices("one").lines().count() == 2);
    assert_eq!(notices("other"), "", "this receiver is not named by the rule");
    Ok(())
}

/// A user who asks for much is refused, others are not.
fn share() -> Result<(), Failed> {
    const EXPENSIVE: &str = "/api/v1/query?query=count_over_time(vector(1)%5B300s:1ms%5D)";
    let scratch = Scratch::new("server-share");
    let config = scratch.0.join("agent.toml");
    // After a second of CPU time nothing for a quarter of an hour.
    fs::write(&config, "[budget]\nrequests = \"0.1%\"\n")?;
    let api = Api::start(&scratch, &["--config", config.to_str().ok_or("the path")?])?;
    for _ in 0..200 {
        let reply = api.as_nobody(EXPENSIVE)?;
        if reply["errorType"] == "unavailable" {
            let reply = api.get(EXPENSIVE).ok_or("no reply")?;
            assert_eq!(reply["status"], "success", "{reply}");
            return Ok(());
        }
        assert_eq!(reply["status"], "success", "{reply}");
    }
    Err("200 expensive requests took less than a second".into())
}

fn confined() -> Result<(), Failed> {
    let scratch = Scratch::new("server-confined");
    let api = Api::start(&scratch, &[])?;
    let pid = server(api.pid()).ok_or("no server")?;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let status = fs::read_to_string(thread?.path().join("status"))?;
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            let held = status.lines().find_map(|line| line.strip_prefix(set)).ok_or(set)?.trim();
            assert!(held.bytes().all(|digit| digit == b'0'), "{set} {held}");
        }
    }
    let own = fs::read_to_string(format!("/proc/{}/status", api.pid()))?;
    assert!(!own.contains("CapEff:\t0000000000000000"), "the recorder keeps its own");
    assert_eq!(fs::read_to_string(format!("/proc/{pid}/oom_score_adj"))?.trim(), "500");
    let (recorder, server) = (scheduling(api.pid())?, scheduling(pid)?);
    // 3 is SCHED_BATCH.
    assert_eq!(server, (recorder.0 + 5, 3));
    // Since Linux 6.12 the recorder is due early, and the server is not.
    if let Some(slice) = slice_ns(api.pid())? {
        assert_eq!(slice, 100_000);
        assert!(slice_ns(pid)? > Some(slice));
    }
    Ok(())
}

/// The nice value and the policy of a process: fields 19 and 41 of proc_pid_stat(5).
fn scheduling(pid: u32) -> Result<(i32, i32), Failed> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = stat.rsplit_once(") ").ok_or("stat")?.1.split(' ').collect();
    Ok((fields[16].parse()?, fields[38].parse()?))
}

/// The slice of a process in nanoseconds: proc_pid_sched(5) has it since it can be set.
fn slice_ns(pid: u32) -> Result<Option<u64>, Failed> {
    let sched = fs::read_to_string(format!("/proc/{pid}/sched")).unwrap_or_default();
    let slice = sched
        .lines()
        .find_map(|line| line.strip_prefix("se.slice"))
        .map(|rest| rest.trim_start_matches([' ', ':']));
    Ok(slice.map(str::parse).transpose()?)
}

/// Each of these asked for many gigabytes.
fn growing() -> Result<(), Failed> {
    let scratch = Scratch::new("server-growing");
    let api = Api::start(&scratch, &[])?;
    let before = server(api.pid());
    let seed = format!("label_replace(vector(1),\"a\",\"{}\",\"\",\"\")", "x".repeat(1000));
    let join = |of: &str| format!("label_join({of},\"a\",\",\"{})", ",\"a\"".repeat(400));
    let replace = |of: &str| format!("label_replace({of},\"a\",\"{}\",\"a\",\"(.*)\")", "$1".repeat(400));
    for expression in [join(&join(&join(&seed))), replace(&replace(&replace(&seed)))] {
        let encoded: String = expression.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let reply = api.get(&format!("/api/v1/query?query={encoded}")).ok_or("no reply")?;
        assert_eq!(reply["errorType"], "execution", "{reply}");
    }
    assert_eq!(server(api.pid()), before, "it is still the same");
    Ok(())
}

fn agent(data: &Path) -> Result<(bool, String), Failed> {
    let mut command = Command::new(WHIT);
    command.args(["agent", "-i", "50ms", "-n", "2", "--http", "127.0.0.1:0", "--data"]).arg(data);
    command.arg("--now").arg(data.join("now")).arg("--socket").arg(data.join("socket"));
    let output = command.output()?;
    Ok((output.status.success(), String::from_utf8(output.stderr)?))
}

fn no_files() -> Result<(), Failed> {
    let scratch = Scratch::new("server-no-files");
    let elsewhere = scratch.0.join("elsewhere");
    fs::write(&elsewhere, "")?;
    for name in ["history.sqlite", "lock", "alerts.sqlite", "marks.sqlite-wal"] {
        for kind in ["fifo", "directory", "link"] {
            let data = scratch.0.join(format!("{kind}-{name}"));
            fs::create_dir(&data)?;
            fs::set_permissions(&data, Permissions::from_mode(0o700))?;
            let path = data.join(name);
            match kind {
                "fifo" => assert!(shell(&format!("mkfifo {}", path.display())).status.success()),
                "directory" => fs::create_dir(&path)?,
                _ => symlink(&elsewhere, &path)?,
            }
            let (is_good, words) = agent(&data)?;
            assert!(
                !is_good && words.contains(&format!("{}: not a regular file", path.display())),
                "{words}"
            );
        }
    }
    assert_eq!(fs::read(&elsewhere)?, b"");
    let data = scratch.0.join("open");
    fs::create_dir(&data)?;
    for (mode, is_refused) in [(0o777, true), (0o770, true), (0o755, false), (0o700, false)] {
        fs::set_permissions(&data, Permissions::from_mode(mode))?;
        let (is_good, words) = agent(&data)?;
        assert_eq!(!is_good, is_refused, "{mode:o}: {words}");
        assert!(!is_refused || words.contains("chmod go-w"), "{words}");
    }
    Ok(())
}
