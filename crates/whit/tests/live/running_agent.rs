//! Commands that are about the agent that runs: without options they find its configuration and its data, and say what it did.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use libtest_mimic::Failed;

use super::machine::{Load, Scratch, WHIT, wait_for};
use super::trials::{Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("commands_find_the_agent_that_runs", &[], found),
        exact("commands_find_an_agent_that_reads_its_configuration_again", &[], reloaded),
    ]
}

/// Exit status, standard output and standard error.
type Said = (Option<i32>, String, String);

/// A scratch directory whose agent is that of a user, and commands of this user.
struct Place(Scratch);

impl Place {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(WHIT);
        command
            .args(words)
            .env("XDG_RUNTIME_DIR", &self.0.0)
            .env("XDG_STATE_HOME", self.0.0.join("none"))
            .env("XDG_CONFIG_HOME", self.0.0.join("none"))
            .env_remove("WHIT_DATA")
            .env_remove("WHIT_CONFIG")
            .stdin(Stdio::null());
        command
    }

    fn said(&self, words: &[&str]) -> Said {
        said(&mut self.command(words))
    }
}

fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const CONFIGURATION: &str = "\
[[host]]
name = \"web1\"
[[check]]
name = \"http\"
host = \"web1\"
passive = true
attempts = 1
depends = [\"backup\"]
[[check]]
name = \"backup\"
passive = true
attempts = 1
fresh = \"26h\"
";

impl Place {
    /// Starts an agent, and waits for its checks.
    fn start(&self) -> Result<Load, Failed> {
        let [config, data, log, now, socket] =
            ["my.toml", "my data", "log", "whit/now", "whit/agent.sock"].map(|name| self.0.0.join(name));
        fs::write(&config, CONFIGURATION)?;
        let mut agent = self.command(&["agent", "--http", "127.0.0.1:0"]);
        for (option, path) in [("--config", config), ("--data", data), ("--now", now), ("--socket", socket)] {
            agent.arg(option).arg(path);
        }
        let agent = Load(agent.stderr(fs::File::create(log)?).spawn()?);
        wait_for("the checks are there", || self.said(&["check", "list", "--all"]).1.contains("2 pending"));
        Ok(agent)
    }
}

/// A reload closes no connection unless clients have to know of it, and no result is lost.
fn reloaded() -> Result<(), Failed> {
    let place = Place(Scratch::new("agent-reloaded"));
    let agent = place.start()?;
    let id = agent.id().to_string();
    let mut kept = UnixStream::connect(place.0.0.join("whit/agent.sock"))?;
    let mut hello = [0; 64];
    assert!(kept.read(&mut hello)? > 0);
    for _ in 0..15 {
        Command::new("kill").args(["-HUP", &id]).status()?;
        for _ in 0..4 {
            let said = place.said(&["check", "submit", "backup", "ok", "done"]);
            assert_eq!(said, (Some(0), String::new(), String::new()));
        }
    }
    // Nothing has changed that a client would have to know.
    kept.set_nonblocking(true)?;
    let read = kept.read(&mut hello);
    assert!(read.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "{read:?}");
    // With another interval it closes them: who asks then asks again.
    for round in 0..8 {
        fs::write(place.0.0.join("my.toml"), format!("interval = \"{}s\"\n{CONFIGURATION}", 1 + round % 2))?;
        Command::new("kill").args(["-HUP", &id]).status()?;
        for _ in 0..8 {
            let said = place.said(&["check", "submit", "backup", "ok", "done"]);
            assert_eq!(said, (Some(0), String::new(), String::new()));
        }
    }
    Ok(())
}

fn found() -> Result<(), Failed> {
    let place = Place(Scratch::new("agent-found"));
    let agent = place.start()?;
    let data = place.0.0.join("my data");

    let (status, _, error) = place.said(&["check", "submit", "web1/htp", "ok", "x"]);
    assert_eq!(status, Some(1), "{error}");
    assert!(error.contains("did you mean \"web1/http\"?"), "{error}");
    for (words, expected) in [
        (&["check", "submit", "backup", "critical", "none"][..], ""),
        (&["check", "submit", "web1/http", "critical", "refused"], ""),
    ] {
        assert_eq!(place.said(words), (Some(0), expected.to_owned(), String::new()));
    }
    wait_for("both have come", || place.said(&["check", "list", "--all"]).1.contains("2 critical"));
    let explained = place.said(&["check", "explain", "web1/http"]).1;
    for expected in
        ["no notifications while backup has a problem\n", "no notifications now: backup is CRITICAL since "]
    {
        assert!(explained.contains(expected), "{explained}");
    }
    assert!(
        place.said(&["check", "show", "web1/http"]).1.contains("no notifications now: backup is CRITICAL")
    );
    assert!(place.said(&["check", "web1"]).1.ends_with("1 check, 1 critical\n"));

    // What the agent did, and how that ends.
    for (words, expected) in [
        (
            &["check", "ack", "backup"][..],
            "backup is acknowledged: no more notifications of it until its state changes; whit check unack backup",
        ),
        (&["check", "unack", "backup"], "backup is not acknowledged any more\n"),
        (&["check", "ack", "web1/http", "backup"], "web1/http is acknowledged: "),
        (&["check", "unack", "*"], "backup is not acknowledged any more\n"),
        (&["check", "ack", "w*"], "web1/http is acknowledged: "),
        (&["check", "downtime", "web*"], "downtime 1 of 1 check until "),
        (&["check", "downtime", "backup"], "downtime 2 of 1 check until "),
        (&["check", "undowntime", "2"], "downtime 2 has ended\n"),
        (&["alert", "list"], "no notifications are sent: "),
    ] {
        let (status, text, error) = place.said(words);
        assert!(status == Some(0) && text.contains(expected) && error.is_empty(), "{words:?} {text} {error}");
    }
    for (words, expected) in [
        (&["check", "undowntime", "7"][..], "there is no downtime 7: there are 1"),
        (&["check", "unack", "backup"], "backup is not acknowledged"),
        (&["check", "now", "nothing"], "no check is called \"nothing\""),
        (&["check", "ack", "w*"], "none of the checks of w* can be changed so"),
        (&["check", "ack", "backup", "nothing"], "no check is called \"nothing\""),
        (&["check", "now", "backup"], "backup is passive"),
    ] {
        let (status, _, error) = place.said(words);
        assert!(status == Some(1) && error.contains(expected), "{words:?} {error}");
    }

    // One number for scripts, rounded ones with units for people; and a file in which a script sees how old it is.
    let (status, text, error) = place.said(&["get", "node_memory_MemTotal_bytes"]);
    assert!(
        status == Some(0) && text.trim_end().parse::<u64>().is_ok_and(|bytes| bytes > 1 << 20),
        "{text} {error}"
    );
    assert!(
        place.said(&["query", "node_memory_MemTotal_bytes"]).1.contains(" GiB  node_memory_MemTotal_bytes")
    );
    let (status, _, error) = place.said(&["get", "node_cpu_seconds_total"]);
    assert!(status == Some(1) && error.contains("where one is wanted"), "{error}");
    let (status, text, error) = place.said(&["get", "vector(0) / 0"]);
    assert!(status == Some(1) && text.is_empty() && error.contains("NaN"), "{text}{error}");
    let (status, _, error) = place.said(&["get", "node_lod1"]);
    assert!(status == Some(1) && error.contains("named most alike: node_load1"), "{error}");
    let last = fs::read_to_string(place.0.0.join("whit/now"))?;
    let mut head = last.lines().filter_map(|line| line.split_once(' '));
    let (time, pid) = (head.next().ok_or("no time")?, head.next().ok_or("no pid")?);
    let now_s = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs_f64();
    assert!(
        time.0 == "whit_now_timestamp_seconds" && (0.0..60.0).contains(&(now_s - time.1.parse::<f64>()?)),
        "{last}"
    );
    assert_eq!(pid, ("whit_now_pid", agent.id().to_string().as_str()));

    // What the environment names goes before it, and an error names the file.
    let (_, _, error) = said(place.command(&["check"]).env("WHIT_DATA", "/nowhere"));
    assert!(error.contains("/nowhere: "), "{error}");
    let (_, _, error) = said(place.command(&["check"]).env("WHIT_CONFIG", "/nowhere.toml"));
    assert!(error.contains("/nowhere.toml: No such file"), "{error}");
    let other = place.0.0.join("other.toml");
    fs::write(&other, format!("data = \"{}\"\n", data.display()))?;
    let (status, text, _) = said(place.command(&["check", "list"]).env("WHIT_CONFIG", &other));
    assert!(status == Some(0) && text.contains("2 critical"), "{text}");
    let (_, _, error) = said(place.command(&["check", "explain", "backup"]).env("WHIT_CONFIG", &other));
    assert!(error.contains(&format!("nothing is checked: {} has no [[check]]", other.display())), "{error}");

    // The log says where the page is, and that it ended.
    drop(agent);
    let log = fs::read_to_string(place.0.0.join("log"))?;
    let lines: Vec<&str> = log.lines().collect();
    assert!(
        lines[0].starts_with("whit: records into ") && lines[0].ends_with("history.sqlite, every 1s"),
        "{log}"
    );
    assert!(lines.iter().any(|line| line.starts_with("whit: the page is http://127.0.0.1:")), "{log}");
    assert!(lines.last().is_some_and(|line| line.starts_with("whit: ended after ")), "{log}");
    // Without an agent nothing takes a request, and what is shown is what was.
    let data = data.display().to_string();
    let (status, _, error) = place.said(&["check", "ack", "backup", "--data", &data]);
    assert!(status == Some(1) && error.contains("no agent runs there"), "{error}");
    let (_, text, _) = place.said(&["check", "list", "--data", &data]);
    assert!(text.starts_with("no agent runs there now"), "{text}");
    // A command that observes for a moment has no log.
    let (status, _, error) = place.said(&["why", "--observe", "300ms", "--data", "/nowhere"]);
    assert!(status == Some(0) && !error.contains("records into"), "{error}");
    Ok(())
}
