//! Checks: what becomes of plugins that misbehave, and of everything when the agent is killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{PATIENCE, Running, Scratch, WHIT, copy_program, document, documents, wait_for, whit};
use super::trials::{Need, Trial, exact, times};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("plugins_that_misbehave_get_their_states", &[], misbehaving),
        exact("nothing_is_lost_or_left_when_the_agent_is_killed", &[], killed),
        exact("a_problem_is_told_once_over_many_kills", &[], told_once),
        exact("results_are_submitted_acknowledged_and_silenced", &[], asked),
        exact("a_reload_keeps_what_is_known", &[], reload),
        exact("whit_says_what_nagios_says", &[Need::Root, Need::Program("nagios4")], nagios),
        exact("plugins_figures_are_read", &[Need::Program("/usr/lib/nagios/plugins/check_load")], figures),
    ]
}

fn start(directory: &Path) -> Result<Running, Failed> {
    // Plugins inherit which signals are ignored, as SIGHUP is if nohup started the trials.
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP", WHIT, "agent"]);
    command.args(["--interval", "1s", "--http", "127.0.0.1:0", "--config"]);
    command.arg(directory.join("agent.toml")).arg("--data").arg(directory.join("data"));
    command.arg("--now").arg(directory.join("now")).arg("--socket").arg(directory.join("socket"));
    Ok(Running(command.stderr(Stdio::null()).spawn()?))
}

/// All checks by their names.
fn list(directory: &Path) -> BTreeMap<String, Value> {
    let data = directory.join("data");
    let document = document(&["check", "list", "--all", "--json", "--data", data.to_str().unwrap()]);
    let checks = document["checks"].as_array().cloned().unwrap_or_default();
    checks.into_iter().map(|check| (check["name"].as_str().unwrap_or_default().to_owned(), check)).collect()
}

fn check(directory: &Path, words: &[&str]) -> String {
    let data = directory.join("data");
    let mut all = vec!["check"];
    all.extend(words);
    all.extend(["--data", data.to_str().unwrap()]);
    whit(&all)
}

/// The processes whose environment names this directory, without whit's own.
fn leftovers(directory: &Path) -> Vec<String> {
    let marker = format!("MARKER={}", directory.display());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes()) {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&line).replace('\0', " "));
        }
    }
    found
}

/// The process that runs plugins for an agent: a child of its server.
fn runner(agent: u32) -> Option<u32> {
    let mut below = children(agent);
    while let Some(pid) = below.pop() {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if line.split(|byte| *byte == 0).any(|word| word == b"runner") {
            return Some(pid);
        }
        below.extend(children(pid));
    }
    None
}

/// The children of all threads of a process.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

/// What each does, and the state and the text that are expected.
const MISBEHAVING: [(&str, &str, &str, &str); 25] = [
    ("fine", "echo fine", "OK", "fine"),
    ("warns", "echo hm; exit 1", "WARNING", "hm"),
    ("unknown", "exit 3", "UNKNOWN", "(no output)"),
    ("minus", "exit 255", "UNKNOWN", "(exit status 255, which is none of 0 to 3)"),
    ("status126", "exit 126", "UNKNOWN", "(exit status 126: what it runs cannot be executed)"),
    ("status127", "exit 127", "UNKNOWN", "(exit status 127: what it runs is not there)"),
    ("hangs", "echo begun; sleep 1000", "UNKNOWN", "begun (it did not end within 2 s)"),
    (
        "ignores",
        "trap '' TERM; echo begun; while :; do sleep 1; done",
        "UNKNOWN",
        "begun (it did not end within 2 s)",
    ),
    ("grandchild", "(sleep 1000 &) ; sleep 1000", "UNKNOWN", "(it did not end within 2 s)"),
    ("daemon", "setsid sleep 1000 & echo fine", "OK", "fine"),
    // Nothing in its environment says whose it is.
    ("stranger", "env -i MARKER=$MARKER setsid -f sleep 1000; echo fine", "OK", "fine"),
    ("holder", "sleep 1000 & echo fine", "OK", "fine"),
    ("closes", "echo fine; exec >&- 2>&-; sleep 1", "OK", "fine"),
    ("flood", "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo", "OK", "first"),
    ("binary", "printf '\\377\\376 \\001 odd'", "OK", "\u{fffd}\u{fffd}  odd"),
    ("silent", "exit 0", "OK", "(no output)"),
    ("complains", "echo broken >&2; exit 2", "CRITICAL", "(no output; standard error: broken)"),
    ("segv", "kill -SEGV $$", "UNKNOWN", "(ended by signal 11 (SEGV))"),
    ("kill", "kill -KILL $$", "UNKNOWN", "(ended by signal 9 (KILL))"),
    ("term", "kill -TERM $$", "UNKNOWN", "(ended by signal 15 (TERM))"),
    ("abrt", "kill -ABRT $$", "UNKNOWN", "(ended by signal 6 (ABRT))"),
    ("pipe", "kill -PIPE $$", "UNKNOWN", "(ended by signal 13 (PIPE))"),
    ("bus", "kill -BUS $$", "UNKNOWN", "(ended by signal 7 (BUS))"),
    ("usr1", "kill -USR1 $$", "UNKNOWN", "(ended by signal 10)"),
    ("hup", "kill -HUP $$", "UNKNOWN", "(ended by signal 1 (HUP))"),
];

/// Each gets its state, nothing is left behind, and a check that is due each second is done each second.
fn misbehaving() -> Result<(), Failed> {
    let scratch = Scratch::new("check-faults");
    let marker = scratch.0.display().to_string();
    let mut config = String::new();
    for (name, script, _, text) in MISBEHAVING {
        // Those that are to end by themselves have all the time that a loaded machine needs.
        let timeout = if text.ends_with("within 2 s)") { "2s" } else { "50s" };
        config.push_str(&format!(
            "[[check]]\nname = \"{name}\"\ncommand = [\"sh\", \"-c\", '''{script}''']\n\
             environment = {{ MARKER = \"{marker}\" }}\ninterval = \"5s\"\ntimeout = \"{timeout}\"\nattempts = 1\n"
        ));
    }
    let replaced = scratch.0.join("replaced.sh");
    let replace = |word: &str| {
        let script = scratch.0.join("script");
        fs::write(&script, format!("#!/bin/sh\necho {word}\n")).map(|()| copy_program(&script, &replaced))
    };
    replace("old")?;
    let plain = scratch.0.join("plain");
    fs::write(&plain, "no program\n")?;
    for (name, command, interval) in [
        ("absent", "/nonexistent/plugin".to_owned(), "5s"),
        ("plain", plain.display().to_string(), "5s"),
        ("replaced", replaced.display().to_string(), "1s"),
        ("punctual", "true".to_owned(), "1s"),
    ] {
        config.push_str(&format!(
            "[[check]]\nname = \"{name}\"\ncommand = [\"{command}\"]\ninterval = \"{interval}\"\nattempts = 1\n"
        ));
    }
    fs::write(scratch.0.join("agent.toml"), config)?;
    let agent = start(&scratch.0)?;
    let has_run = |check: &Value| check["runs"].as_u64() >= Some(2);
    wait_for("all have run twice", || {
        let all = list(&scratch.0);
        all.len() == MISBEHAVING.len() + 4 && all.values().all(has_run)
    });
    let all = list(&scratch.0);
    for (name, _, state, text) in MISBEHAVING {
        assert_eq!(
            (all[name]["state"].as_str(), all[name]["text"].as_str()),
            (Some(state), Some(text)),
            "{name}"
        );
    }
    assert!(all["absent"]["text"].as_str().unwrap_or_default().starts_with("(the plugin is not there"));
    assert!(all["plain"]["text"].as_str().unwrap_or_default().starts_with("(the plugin cannot be executed"));
    assert_eq!(all["replaced"]["text"], "old");
    fs::remove_file(&replaced)?;
    wait_for("it vanished", || list(&scratch.0)["replaced"]["state"] == "UNKNOWN");
    replace("new")?;
    wait_for("it came back", || list(&scratch.0)["replaced"]["text"] == "new");
    let shown = check(&scratch.0, &["show", "flood", "--json"]);
    let long = documents(&shown)[0]["checks"][0]["long_text"].as_str().unwrap_or_default().len();
    assert!((60_000..70_000).contains(&long), "{long} bytes");
    let runs = |name: &str| list(&scratch.0)[name]["runs"].as_u64().unwrap_or(0);
    let before = runs("punctual");
    wait_for("it goes on beside those that hang", || runs("punctual") >= before + 5);
    // Of those that hang there is one of each at most, and no zombie.
    let runner = runner(agent.0.id()).ok_or("no runner")?;
    let descriptors = || fs::read_dir(format!("/proc/{runner}/fd")).map_or(usize::MAX, Iterator::count);
    wait_for("it has few descriptors", || descriptors() < 30);
    wait_for("daemons are ended", || {
        let left = leftovers(&scratch.0);
        left.iter().filter(|line| line.contains("sleep 1000")).count() <= 4
    });
    drop(agent);
    wait_for("everything ends with the agent", || leftovers(&scratch.0).is_empty());
    Ok(())
}

/// A thousand plugins run when the agent is killed: none of them lives on, and what was known is known.
fn killed() -> Result<(), Failed> {
    let scratch = Scratch::new("check-kill");
    let marker = scratch.0.display().to_string();
    let hosts: String = (0..1000).map(|number| format!("h{number}\n")).collect();
    fs::write(scratch.0.join("hosts.csv"), format!("name\n{hosts}"))?;
    let config = format!(
        "[checks]\nhosts = \"{marker}/hosts.csv\"\nrunning = 3000\nstarts = 3000\n\
         [[check]]\nname = \"slow\"\nhosts = \"h*\"\ncommand = [\"sleep\", \"1000\"]\ntimeout = \"10m\"\n\
         environment = {{ MARKER = \"{marker}\" }}\ninterval = \"5s\"\n\
         [[check]]\nname = \"quick\"\nhosts = \"h*\"\ncommand = [\"sh\", \"-c\", \"echo $1; exit 1\", \"sh\", \"{{host}}\"]\n\
         interval = \"4s\"\nattempts = 1\n"
    );
    fs::write(scratch.0.join("agent.toml"), config)?;
    let agent = start(&scratch.0)?;
    wait_for("a thousand run", || leftovers(&scratch.0).len() >= 1000);
    wait_for("the others are known", || {
        let all = list(&scratch.0);
        all.values().filter(|check| check["state"] == "WARNING").count() == 1000
    });
    let known = list(&scratch.0);
    drop(agent);
    wait_for("none lives on", || leftovers(&scratch.0).is_empty());
    let after = list(&scratch.0);
    for (name, check) in &known {
        assert_eq!(after[name]["state"], check["state"], "{name}");
        assert_eq!(after[name]["since_realtime_ns"], check["since_realtime_ns"], "{name}");
    }
    let _agent = start(&scratch.0)?;
    wait_for("they run again", || leftovers(&scratch.0).len() >= 1000);
    let again = list(&scratch.0);
    for (name, check) in known.iter().filter(|(_, check)| check["state"] == "WARNING") {
        assert_eq!(again[name]["since_realtime_ns"], check["since_realtime_ns"], "{name}");
    }
    Ok(())
}

/// States change while the agent is killed again and again: each change that is certain is told once.
fn told_once() -> Result<(), Failed> {
    let scratch = Scratch::new("check-told");
    let directory = scratch.0.display().to_string();
    let config = format!(
        "[[receiver]]\nname = \"file\"\n\
         command = [\"sh\", \"-c\", 'echo \"$WHIT_CHECK_ID $NAGIOS_NOTIFICATIONTYPE $NAGIOS_SERVICEOUTPUT\" >> {directory}/told']\n\
         [[check]]\nname = \"flag\"\ncommand = [\"sh\", \"{directory}/flag\"]\ninterval = \"1s\"\nattempts = 1\n"
    );
    fs::write(scratch.0.join("agent.toml"), config)?;
    let told = || fs::read_to_string(scratch.0.join("told")).unwrap_or_default();
    let mut expected = Vec::new();
    // The state changes twice, slowly enough not to flap.
    let kills = times("WHIT_KILLS", 20) / 2;
    for (round, [state, output]) in [["2", "broken"], ["0", "well"]].into_iter().enumerate() {
        fs::write(scratch.0.join("flag"), format!("echo {output}{round}; exit {state}\n"))?;
        for kill in 0..kills {
            let agent = start(&scratch.0)?;
            std::thread::sleep(Duration::from_millis(100 + kill * 2250 / kills));
            drop(agent);
        }
        let _agent = start(&scratch.0)?;
        let kind = if state == "0" { "RECOVERY" } else { "PROBLEM" };
        expected.push(format!("{kind} {output}{round}"));
        wait_for("it is told", || told().lines().count() >= expected.len());
        std::thread::sleep(Duration::from_secs(3));
    }
    let told = told();
    let lines: Vec<&str> =
        told.lines().filter_map(|line| line.split_once(' ').map(|(_, rest)| rest)).collect();
    assert_eq!(lines, expected, "{told}");
    Ok(())
}

/// What others say.
fn asked() -> Result<(), Failed> {
    let scratch = Scratch::new("check-asked");
    let directory = scratch.0.display().to_string();
    let config = format!(
        "[[receiver]]\nname = \"file\"\n\
         command = [\"sh\", \"-c\", 'echo \"$1 $2 $3\" >> {directory}/told', \"sh\", \"{{kind}}\", \"{{name}}\", \"{{text}}\"]\n\
         [[check]]\nname = \"backup\"\npassive = true\nattempts = 1\n\
         [[check]]\nname = \"stale\"\npassive = true\nfresh = \"2s\"\n\
         [[check]]\nname = \"quiet\"\npassive = true\nattempts = 1\n"
    )
    .replace("{{", "{")
    .replace("}}", "}");
    fs::write(scratch.0.join("agent.toml"), config)?;
    let _agent = start(&scratch.0)?;
    wait_for("they are there", || list(&scratch.0).len() == 3);
    check(&scratch.0, &["downtime", "quiet", "--comment", "moved"]);
    check(&scratch.0, &["submit", "quiet", "critical", "nobody is told"]);
    check(&scratch.0, &["submit", "backup", "critical", "none | age=3d;1;2"]);
    check(&scratch.0, &["submit", "stale", "ok", "for now"]);
    wait_for("they have come", || list(&scratch.0)["backup"]["state"] == "CRITICAL");
    assert_eq!(list(&scratch.0)["backup"]["figures"], "age=3d;1;2");
    check(&scratch.0, &["ack", "backup", "--comment", "the disk is on its way"]);
    wait_for("somebody knows", || !list(&scratch.0)["backup"]["acknowledgement"].is_null());
    wait_for("it is stale", || list(&scratch.0)["stale"]["is_stale"] == true);
    check(&scratch.0, &["submit", "backup", "ok", "there"]);
    wait_for("it is over", || list(&scratch.0)["backup"]["acknowledgement"].is_null());
    let told = || fs::read_to_string(scratch.0.join("told")).unwrap_or_default();
    let of_backup = ["PROBLEM backup none", "ACKNOWLEDGEMENT backup none", "RECOVERY backup there"];
    wait_for("all is told", || {
        let told = told();
        told.lines().filter(|line| line.contains(" backup ")).collect::<Vec<_>>() == of_backup
    });
    assert!(!told().contains("quiet"), "{}", told());
    check(&scratch.0, &["undowntime", "1"]);
    wait_for("it is told after all", || told().contains("PROBLEM quiet nobody is told"));
    Ok(())
}

/// Those that stay keep their states and their places, and those that go are gone.
fn reload() -> Result<(), Failed> {
    let scratch = Scratch::new("check-reload");
    let one = |name: &str| {
        format!(
            "[[check]]\nname = \"{name}\"\ncommand = [\"sh\", \"-c\", \"exit 1\"]\ninterval = \"2s\"\nattempts = 1\n"
        )
    };
    let config = scratch.0.join("agent.toml");
    fs::write(&config, one("a") + &one("b"))?;
    let agent = start(&scratch.0)?;
    let states = || -> Vec<(String, Value)> {
        list(&scratch.0).into_iter().map(|(name, check)| (name, check["state"].clone())).collect()
    };
    wait_for("both are known", || {
        states().len() == 2 && states().iter().all(|(_, state)| state == "WARNING")
    });
    let since = list(&scratch.0)["a"]["since_realtime_ns"].clone();
    fs::write(&config, one("a") + &one("c"))?;
    Command::new("kill").args(["-HUP", &agent.0.id().to_string()]).status()?;
    wait_for("one came and one went", || {
        let names: Vec<String> = states().into_iter().map(|(name, _)| name).collect();
        names == ["a", "c"] && states().iter().all(|(_, state)| state == "WARNING")
    });
    assert_eq!(list(&scratch.0)["a"]["since_realtime_ns"], since);
    Ok(())
}

/// Debian's own example configuration, five seconds for five minutes: the same hosts, services and states.
fn nagios() -> Result<(), Failed> {
    let scratch = Scratch::new("check-nagios");
    let place = scratch.0.display();
    let settings = fs::read_to_string("/etc/nagios4/nagios.cfg")?;
    let own = [
        "log_file",
        "object_cache_file",
        "precached_object_file",
        "status_file",
        "command_file",
        "lock_file",
        "temp_file",
        "log_archive_path",
        "check_result_path",
        "state_retention_file",
        "interval_length",
        "status_update_interval",
        "query_socket",
        "debug_file",
        "enable_notifications",
    ];
    let is_own = |line: &&str| line.split_once('=').is_some_and(|(name, _)| own.contains(&name));
    let kept: Vec<&str> = settings.lines().filter(|line| !is_own(line)).collect();
    for directory in ["archives", "results"] {
        fs::create_dir_all(scratch.0.join(directory))?;
    }
    let moved = format!(
        "\nlog_file={place}/log\nobject_cache_file={place}/objects\nprecached_object_file={place}/precache\n\
         status_file={place}/status\ncommand_file={place}/command\nlock_file={place}/lock\ntemp_file={place}/temporary\n\
         log_archive_path={place}/archives\ncheck_result_path={place}/results\nstate_retention_file={place}/retention\n\
         interval_length=1\nstatus_update_interval=2\nquery_socket={place}/query\nenable_notifications=0\n"
    );
    let main = scratch.0.join("nagios.cfg");
    fs::write(&main, kept.join("\n") + &moved)?;
    Command::new("chown").args(["-R", "nagios"]).arg(&scratch.0).status()?;
    let imported = whit(&["check", "import", main.to_str().unwrap_or_default()]);
    assert!(!imported.contains("left out"), "{imported}");
    // Nobody is to get mail.
    fs::write(scratch.0.join("agent.toml"), imported.replace("mail = ", "command = [\"true\"]\n# "))?;
    let mut command = Command::new("nagios4");
    let _nagios = Running(command.arg(&main).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    let _agent = start(&scratch.0)?;
    let mut seen = (BTreeMap::new(), BTreeMap::new());
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        seen = (states_of_nagios(&scratch.0.join("status")), states_of_whit(&scratch.0));
        let is_certain =
            |states: &BTreeMap<String, (String, bool)>| states.values().all(|(_, is_hard)| *is_hard);
        if seen.0.len() > 5 && seen.0 == seen.1 && is_certain(&seen.0) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    Err(format!("nagios: {:?}\nwhit: {:?}", seen.0, seen.1).into())
}

/// By their names: the state, and whether it is certain.
fn states_of_nagios(status: &Path) -> BTreeMap<String, (String, bool)> {
    let text = fs::read_to_string(status).unwrap_or_default();
    let mut states = BTreeMap::new();
    for part in text.split("\n\n").map(str::trim) {
        let is_of_host = part.starts_with("hoststatus");
        if !is_of_host && !part.starts_with("servicestatus") {
            continue;
        }
        let value = |name: &str| {
            let line = part.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='));
            line.unwrap_or_default().to_owned()
        };
        if value("has_been_checked") != "1" {
            continue;
        }
        let number: usize = value("current_state").parse().unwrap_or(0);
        let names = if is_of_host {
            ["OK", "CRITICAL", "CRITICAL", ""]
        } else {
            ["OK", "WARNING", "CRITICAL", "UNKNOWN"]
        };
        let name = match value("service_description").as_str() {
            "" => value("host_name"),
            service => format!("{}/{service}", value("host_name")),
        };
        states.insert(name, (names[number.min(3)].to_owned(), value("state_type") == "1"));
    }
    states
}

fn states_of_whit(directory: &Path) -> BTreeMap<String, (String, bool)> {
    let known = list(directory).into_iter().filter(|(_, check)| !check["state"].is_null());
    let state = |check: &Value| check["state"].as_str().unwrap_or_default().to_owned();
    known.map(|(name, check)| (name, (state(&check), check["is_hard"] == true))).collect()
}

/// What every plugin that runs here prints is understood wholly: its figures come back from the history.
fn figures() -> Result<(), Failed> {
    let scratch = Scratch::new("check-figures");
    let port = std::net::TcpListener::bind("127.0.0.1:0")?;
    let port_number = port.local_addr()?.port();
    let calls = [
        ("load", "check_load -w 50,50,50 -c 90,90,90".to_owned(), 3),
        ("disk", "check_disk -w 1% -c 1% -p /".to_owned(), 1),
        ("procs", "check_procs -w 10000 -c 20000".to_owned(), 1),
        ("swap", "check_swap -w 1% -c 1%".to_owned(), 1),
        ("users", "check_users -w 100 -c 200".to_owned(), 1),
        ("tcp", format!("check_tcp -H 127.0.0.1 -p {port_number}"), 1),
        ("ping", "check_ping -H 127.0.0.1 -w 100,20% -c 500,60% -p 1".to_owned(), 2),
        ("age", "check_file_age -f /etc/passwd -w 999999999 -c 999999999".to_owned(), 2),
        ("dummy", "check_dummy 1".to_owned(), 0),
    ];
    let mut config = String::new();
    for (name, call, _) in &calls {
        config.push_str(&format!(
            "[[check]]\nname = \"{name}\"\ncommand = '/usr/lib/nagios/plugins/{call}'\ninterval = \"2s\"\n"
        ));
    }
    fs::write(scratch.0.join("agent.toml"), config)?;
    let _agent = start(&scratch.0)?;
    let data = scratch.0.join("data");
    let count = |name: &str| {
        let expression = format!("count(whit_check_figure{{check=\"{name}\"}})");
        let answer = whit(&["query", &expression, "--json", "--data", data.to_str().unwrap()]);
        documents(&answer).first().map(|document| document.to_string()).unwrap_or_default()
    };
    wait_for("all figures are recorded", || {
        data.join("checks-history.sqlite").exists()
            && calls.iter().filter(|(.., wanted)| *wanted > 0).all(|(name, _, wanted)| {
                count(name).contains(&format!("\"{wanted}\"")) || count(name).contains(&format!(":{wanted}"))
            })
    });
    // One that has no figures may come later.
    wait_for("all checks have run", || {
        list(&scratch.0).values().all(|check| check["runs"].as_u64() > Some(0))
    });
    Ok(())
}
