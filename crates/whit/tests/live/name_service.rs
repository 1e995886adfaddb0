//! Names are resolved by whit itself, wherever one is: getaddrinfo(3) of a static binary would load modules of another C library.

use std::fs;
use std::process::{Child, Command};

use libtest_mimic::Failed;

use super::machine::{Scratch, WHIT, port, shell, wait_for};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![exact("no_name_loads_modules_of_the_c_library", &[Need::Program("strace")], modules)]
}

/// strace(1) and its program, which outlives it unless it is ended first.
struct Traced(Child);

impl Drop for Traced {
    fn drop(&mut self) {
        shell(&format!("pkill -TERM -P {}", self.0.id()));
        let _ = self.0.wait();
    }
}

/// Runs each part with a port of its own, at which nothing listens: that it tried to connect says that it has resolved the name.
fn modules() -> Result<(), Failed> {
    let scratch = Scratch::new("name-service");
    let [http, tcp, certificate, push, webhook, mail, query, send, feed] = std::array::from_fn(|_| port());
    let check = |name: &str, way: String| {
        format!("[[check]]\nname = \"{name}\"\n{way}\ninterval = \"1s\"\ntimeout = \"5s\"\n")
    };
    let receiver = |name: &str, way: String| format!("[[receiver]]\nname = \"{name}\"\n{way}\n");
    let config = [
        format!("[checks]\npush = {{ url = \"http://localhost:{push}\", token = \"t\", host = \"h\" }}\n"),
        check("http", format!("http = \"http://localhost:{http}/\"")),
        check("tcp", format!("tcp = \"localhost:{tcp}\"")),
        check("certificate", format!("certificate = \"localhost:{certificate}\"")),
        "[alerts]\nstarter = false\ninterval = \"1s\"\n".to_owned(),
        receiver("webhook", format!("webhook = \"http://localhost:{webhook}/\"")),
        receiver("mail", format!("mail = \"a@example.org\"\nserver = \"localhost\"\nport = {mail}")),
        "[[alert]]\nname = \"always\"\nexpression = \"1\"\n".to_owned(),
        format!("[feeds]\nallow = [\"127.0.0.1:{feed}\", \"[::1]:{feed}\"]\n"),
    ];
    let (file, data, socket) =
        (scratch.0.join("agent.toml"), scratch.0.join("data"), scratch.0.join("agent.sock"));
    fs::write(&file, config.concat())?;
    let traced = |log: &str| {
        let mut command = Command::new("strace");
        command.args(["-f", "--seccomp-bpf", "-e", "trace=open,openat,connect", "-o"]);
        command.arg(scratch.0.join(log)).arg(WHIT);
        command
    };
    let mut agent = traced("agent.strace");
    agent.args([
        "agent",
        "-i",
        "500ms",
        "--http",
        &format!("unix:{}", scratch.0.join("http.sock").display()),
    ]);
    agent.arg("--data").arg(&data).arg("-c").arg(&file).arg("--socket").arg(&socket);
    let agent = Traced(agent.spawn()?);
    // A refused connection ends each of these with a failure.
    traced("query.strace").args(["query", "--from", &format!("http://localhost:{query}"), "1"]).status()?;
    traced("send.strace").args(["send", &format!("localhost:{send}"), "-n", "1"]).status()?;
    let data_words = format!("--data {} -c {}", data.display(), file.display());
    shell(&format!("echo correct horse | {WHIT} feeds user add ann {data_words}"));
    let words = ["feeds", "add", &format!("http://localhost:{feed}/")];
    traced("feeds.strace").args(words).args(data_words.split(' ')).status()?;
    let parts = [
        ("http check", http),
        ("tcp check", tcp),
        ("certificate check", certificate),
        ("pushed results", push),
        ("webhook", webhook),
        ("mail", mail),
        ("query", query),
        ("send", send),
        ("feeds", feed),
    ];
    for (part, port) in parts {
        wait_for(part, || connected(&trace(&scratch), port));
    }
    drop(agent);
    let text = trace(&scratch);
    let is_module =
        |line: &&str| ["libnss", "nsswitch", "/libc.so", "gai.conf"].iter().any(|word| line.contains(word));
    let modules: Vec<&str> = text.lines().filter(is_module).collect();
    assert!(modules.is_empty(), "{modules:?}");
    Ok(())
}

/// What all of them were seen to do so far.
fn trace(scratch: &Scratch) -> String {
    let read = |log: &str| fs::read_to_string(scratch.0.join(log)).unwrap_or_default();
    ["agent.strace", "query.strace", "send.strace", "feeds.strace"].map(read).concat()
}

fn connected(trace: &str, port: u16) -> bool {
    trace.contains(&format!("htons({port})"))
}
