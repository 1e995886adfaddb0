//! The agent's socket: a user sees the delays of their own tasks, and nothing of others; hostile clients delay no tick.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use facts::task::rounds::{RoundDecoder, Scope};
use facts::task::store::TaskStore;
use libtest_mimic::Failed;
use sampling::agent_protocol::{Reply, Request};
use serde_json::Value;

use super::machine::{Load, Running, Scratch, WHIT, documents, wait_for, wait_for_state, whit};
use super::trials::{Need, Trial, exact, timed};

/// A user without privileges.
const USER: &str = "4242";

pub(crate) fn trials() -> Vec<Trial> {
    let with_user = [Need::Root, Need::Accounting, Need::Program("setpriv")];
    vec![
        exact("a_user_sees_the_delays_of_their_own_tasks", &with_user, own_delays),
        exact("the_socket_shows_nothing_of_others", &with_user, nothing_of_others),
        exact("a_user_asks_the_agent_of_the_machine", &with_user, past_of_the_machine),
        exact("an_agent_of_a_user_runs_plugins_beside_that_of_the_machine", &with_user, second_agent),
        timed(
            "hostile_clients_delay_no_tick",
            &[],
            "no tick of 100 ms is missed or late by a whole one",
            hostile_clients,
        ),
        timed(
            "top_asks_the_agent",
            &[Need::Root],
            "0.3 of 1 s in two of four rounds: a loop that has a CPU nearly to itself",
            top,
        ),
    ]
}

/// An agent whose socket is where a client with XDG_RUNTIME_DIR looks for it.
struct Agent {
    child: Child,
    scratch: Scratch,
}

impl Agent {
    fn start(name: &str, interval: &str) -> Self {
        let scratch = Scratch::new(name);
        let child = Command::new(WHIT)
            .args(["agent", "-i", interval, "--http", "127.0.0.1:0", "--data"])
            .arg(scratch.0.join("data"))
            .arg("--now")
            .arg(scratch.0.join("whit/now"))
            .arg("--socket")
            .arg(scratch.0.join("whit/agent.sock"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let agent = Self { child, scratch };
        wait_for("the agent starts", || agent.socket().exists() && agent.now().exists());
        agent
    }

    fn socket(&self) -> PathBuf {
        self.scratch.0.join("whit/agent.sock")
    }

    fn now(&self) -> PathBuf {
        self.scratch.0.join("whit/now")
    }

    /// A value of the last tick.
    fn value(&self, name: &str) -> f64 {
        let text = std::fs::read_to_string(self.now()).unwrap();
        let line = text.lines().find(|line| line.split(' ').next() == Some(name));
        line.and_then(|line| line.split(' ').nth(1)).and_then(|value| value.parse().ok()).unwrap()
    }

    /// Waits for two ticks, so that what was done before is in one.
    fn wait_for_two_ticks(&self) {
        let written = || std::fs::metadata(self.now()).and_then(|file| file.modified()).ok();
        for _ in 0..2 {
            let before = written();
            wait_for("a tick", || written() != before);
        }
    }

    /// `whit`, run by the user.
    fn user_command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", USER, "--regid", USER, "--clear-groups", WHIT])
            .args(words)
            .env("XDG_RUNTIME_DIR", &self.scratch.0)
            .env("HOME", self.scratch.0.join("home"))
            .env_remove("XDG_STATE_HOME")
            .env_remove("WHIT_DATA");
        command
    }

    fn run_as_user(&self, words: &[&str]) -> Output {
        self.user_command(words).output().unwrap()
    }

    /// What `whit` prints for the user.
    fn as_user(&self, words: &[&str]) -> Vec<Value> {
        let output = self.run_as_user(words);
        assert!(output.status.success(), "{output:?}");
        documents(&String::from_utf8(output.stdout).unwrap())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that has worked, and stands still now. Its end is that of the trial.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        // Any other signal would wait until it goes on.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn stopped(user: &str) -> Stopped {
    let words = "dd if=/dev/zero of=/dev/null bs=64k count=20000 2>/dev/null; kill -STOP $$; :";
    let child = Command::new("setpriv")
        .args(["--reuid", user, "--regid", user, "--clear-groups", "sh", "-c", words])
        .stdin(Stdio::null())
        .spawn();
    let load = Stopped(child.unwrap());
    wait_for_state(load.0.id(), 'T');
    load
}

fn own_delays() -> Result<(), Failed> {
    let agent = Agent::start("agent-own", "100ms");
    let load = stopped(USER);
    agent.wait_for_two_ticks();
    let pid = load.0.id().to_string();
    let by_agent = agent.as_user(&["delays", "--json", "-p", &pid]).remove(0);
    let by_root = documents(&whit(&["delays", "--direct", "--json", "-p", &pid])).remove(0);
    let field = |document: &Value, name: &str| document[name].clone();
    for name in ["on_cpu_ns", "delays"] {
        let (mine, roots) = (field(&by_agent, name), field(&by_root, name));
        assert!(!mine.is_null() && !roots.is_null(), "{name}: {by_agent} {by_root}");
        assert_near(&mine, &roots, name);
    }
    // Of another user's process /proc is what there is.
    let other = stopped("4243");
    agent.wait_for_two_ticks();
    let others = agent.as_user(&["delays", "--json", "-p", &other.0.id().to_string()]).remove(0);
    let swapin = &others["delays"]["swap_in"]["total_ns"];
    assert!(swapin.is_null(), "{others}");
    Ok(())
}

/// Times are sent in microseconds.
fn assert_near(mine: &Value, roots: &Value, name: &str) {
    match (mine, roots) {
        (Value::Object(mine), Value::Object(roots)) => {
            for (key, value) in mine {
                assert_near(value, &roots[key], key);
            }
        }
        (Value::Number(mine), Value::Number(roots)) if name.ends_with("_ns") => {
            let (mine, roots) = (mine.as_f64().unwrap(), roots.as_f64().unwrap());
            assert!((mine - roots).abs() <= 1000.0, "{name}: {mine} {roots}");
        }
        (mine, roots) => assert_eq!(mine, roots, "{name}"),
    }
}

fn replies(stream: &mut UnixStream, received: &mut Vec<u8>) -> Reply {
    let mut bytes = [0; 65_536];
    loop {
        if let Some(reply) = Reply::take(received).unwrap() {
            return reply;
        }
        let length = stream.read(&mut bytes).unwrap();
        assert!(length > 0, "closed");
        received.extend(&bytes[..length]);
    }
}

/// A user without a history of their own gets answers of the agent, whose history they may not read, and what it says of itself where a
/// command needs the files. What is named goes before it.
fn past_of_the_machine() -> Result<(), Failed> {
    let agent = Agent::start("user-past", "100ms");
    agent.wait_for_two_ticks();
    agent.wait_for_two_ticks();
    let load = &agent.as_user(&["query", "node_load1", "--json"])[0]["data"]["result"][0]["value"][1];
    load.as_str().and_then(|load| load.parse::<f64>().ok()).ok_or("no load")?;
    let why = &agent.as_user(&["why", "--json"])[0];
    assert!(why["sentences"].is_array() && why["from_realtime_ns"].as_i64() < why["to_realtime_ns"].as_i64());
    assert!(why["missing"].to_string().contains("what tasks of other users did"), "{why}");
    for words in [&["history"][..], &["free", "--at", "-1s"], &["check"]] {
        let refused = agent.run_as_user(words);
        let said = String::from_utf8(refused.stderr)?;
        assert!(
            !refused.status.success() && said.contains("answers whit query, plot and why"),
            "{words:?} {said}"
        );
    }
    let elsewhere = agent.run_as_user(&["query", "node_load1", "--data", "/nowhere"]);
    assert!(String::from_utf8(elsewhere.stderr)?.contains("/nowhere/history.sqlite: there is none yet"));
    // Root may read it.
    let output = Command::new(WHIT)
        .args(["history", "--json"])
        .env("XDG_RUNTIME_DIR", &agent.scratch.0)
        .env("XDG_STATE_HOME", agent.scratch.0.join("none"))
        .output()?;
    let described = &documents(&String::from_utf8(output.stdout)?)[0];
    assert!(described["ticks"].as_u64().is_some_and(|ticks| ticks > 1), "{described}");
    Ok(())
}

/// What an agent starts is about its own data, whichever agent commands would find.
fn second_agent() -> Result<(), Failed> {
    let machine = Agent::start("user-second", "1s");
    let own = machine.scratch.0.join("own");
    std::fs::create_dir(&own)?;
    std::fs::write(
        own.join("agent.toml"),
        "[[check]]\nname = \"own\"\ncommand = [\"echo\", \"done\"]\ninterval = \"1s\"\n",
    )?;
    std::os::unix::fs::chown(&own, Some(USER.parse()?), Some(USER.parse()?))?;
    let mut agent = machine.user_command(&["agent", "--interval", "1s", "--http", "127.0.0.1:0"]);
    for (option, file) in
        [("--config", "agent.toml"), ("--data", "data"), ("--now", "now"), ("--socket", "socket")]
    {
        agent.arg(option).arg(own.join(file));
    }
    let _agent = Running(agent.stderr(Stdio::null()).spawn()?);
    let data = own.join("data").display().to_string();
    wait_for("the plugin has run", || {
        let listed = machine.run_as_user(&["check", "list", "--all", "--data", &data]);
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        text.contains("OK") && text.contains("done")
    });
    Ok(())
}

/// As the user, by the protocol itself: a thread of this process would have its uid, so a child asks.
fn nothing_of_others() -> Result<(), Failed> {
    let agent = Agent::start("agent-others", "100ms");
    let _mine = stopped(USER);
    let busy = Load::start(&["sh", "-c", "while :; do /bin/true; done"]);
    let script = format!(
        "import os,socket,sys,time\nos.setgroups([]);os.setgid({USER});os.setuid({USER})\n\
         s=socket.socket(socket.AF_UNIX);s.connect({:?});s.sendall(bytes([2,0,0,0,1,1]))\n\
         end=time.time()+5;s.settimeout(0.3)\n\
         while time.time()<end:\n\
         \x20 try: sys.stdout.buffer.write(s.recv(65536))\n\
         \x20 except OSError: pass\n",
        agent.socket()
    );
    let output = Command::new("python3").args(["-c", &script]).output()?;
    assert!(output.status.success(), "{output:?}");
    drop(busy);
    let mut received = output.stdout;
    let Some(Reply::Hello(hello)) = Reply::take(&mut received)? else { return Err("no hello".into()) };
    assert_eq!(hello.scope, Scope::User(4242));
    let (mut decoder, mut store) = (RoundDecoder::default(), TaskStore::default());
    let mut rounds = 0;
    while let Some(reply) = Reply::take(&mut received)? {
        let Reply::Round { is_whole, tables } = reply else { return Err("no round".into()) };
        decoder.fill(&tables, 0, is_whole, &mut store);
        assert!(store.rows().all(|row| row.uid == Some(4242)), "a row of another user");
        assert!(store.ended().all(|one| one.row().uid == Some(4242)), "an exit of another user");
        assert_eq!(decoder.summary().unrecorded_cpu, None);
        assert_eq!(store.ended_on_cpu, None);
        rounds += 1;
    }
    assert!(rounds > 5 && !store.is_empty(), "{rounds} {}", store.len());
    Ok(())
}

fn hostile_clients() -> Result<(), Failed> {
    let agent = Agent::start("agent-hostile", "100ms");
    let path = agent.socket();
    // Some that read nothing, for which rounds pile up.
    let mut deaf = Vec::new();
    for _ in 0..1000 {
        let Ok(mut stream) = UnixStream::connect(&path) else { continue };
        let _ = stream.write_all(&Request::Tasks.encode());
        deaf.push(stream);
    }
    let before = agent.value("whit_agent_missed_ticks_total");
    let end = Instant::now() + Duration::from_secs(4);
    let mut number = 1_u64;
    let mut latest: f64 = 0.0;
    while Instant::now() < end {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let Ok(mut stream) = UnixStream::connect(&path) else { continue };
        let bytes = match number >> 62 {
            0 => vec![255; 5000],
            1 => number.to_le_bytes().repeat(64),
            2 => Request::Status.encode().repeat(500),
            _ => vec![2, 0, 0, 0, 9],
        };
        let _ = stream.write_all(&bytes);
        latest = latest.max(agent.value("whit_agent_tick_lateness_seconds"));
    }
    assert_eq!(agent.value("whit_agent_missed_ticks_total"), before);
    assert!(latest < 0.1, "{latest}");
    drop(deaf);
    // And it answers those who ask properly.
    let mut stream = UnixStream::connect(&path)?;
    let mut received = Vec::new();
    stream.write_all(&Request::Status.encode())?;
    assert!(matches!(replies(&mut stream, &mut received), Reply::Hello(_)));
    let Reply::Status(status) = replies(&mut stream, &mut received) else { return Err("no status".into()) };
    assert!(status.contains("whit_agent_cpu_seconds_total "), "{status}");
    Ok(())
}

/// The same tasks as from the kernel, and the kernel itself when the agent has ended.
fn top() -> Result<(), Failed> {
    let mut agent = Agent::start("agent-top", "200ms");
    let load = Load::start(&["sh", "-c", "while :; do :; done"]);
    std::thread::sleep(Duration::from_millis(500));
    let pid = load.id().to_string();
    let words = ["top", "--json", "-p", &pid, "-i", "1s", "-n", "4"];
    let mut top = Command::new(WHIT)
        .args(words)
        .env("XDG_RUNTIME_DIR", &agent.scratch.0)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut reader = BufReader::new(top.stdout.take().ok_or("no output")?);
    let mut text = String::new();
    for _ in 0..2 {
        reader.read_line(&mut text)?;
    }
    assert!(has_connection(&agent.socket()), "top does not ask the agent");
    agent.child.kill()?;
    reader.read_to_string(&mut text)?;
    assert!(top.wait()?.success());
    let rounds = documents(&text);
    let busy = rounds.iter().filter(|round| {
        let cpu = round["tasks"][0]["on_cpu_ns"].as_u64();
        cpu.is_some_and(|cpu| cpu > 300_000_000)
    });
    assert!(busy.count() >= 2, "{text}");
    Ok(())
}

/// Whether a client is connected to a socket: /proc/net/unix has a second line with its path.
fn has_connection(path: &Path) -> bool {
    let text = std::fs::read_to_string("/proc/net/unix").unwrap();
    text.lines().filter(|line| line.ends_with(path.to_str().unwrap())).count() > 1
}
