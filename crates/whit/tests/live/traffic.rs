//! `whit sink` and `whit send`: counts exact to the packet, whoever sends and however it ends.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Scratch, WHIT, documents, port, shell};
use super::trials::{Need, Trial, exact, timed};

pub(crate) fn trials() -> Vec<Trial> {
    let python = [Need::Program("python3")];
    vec![
        exact("every_packet_is_counted_however_it_comes", &python, counted),
        exact("aborted_connections_are_counted", &python, aborted),
        exact("ten_thousand_clients_at_once", &[Need::Root], many),
        timed(
            "datagrams_are_counted_or_reported_as_dropped",
            &[],
            "more than half: what a sink of a debug build takes of 50,000 datagrams a second",
            datagrams,
        ),
        exact("a_control_server_answers_and_fails_as_asked", &python, answers),
        exact(
            "names_are_asked_of_a_name_server",
            &[Need::Root, Need::Program("python3"), Need::Program("unshare")],
            names,
        ),
        exact("what_waited_behind_a_slow_answer_was_slow", &[], omission),
        timed(
            "a_signal_ends_both_with_figures",
            &[],
            "500 to 2,000 packets: one second at 1,000 a second",
            signalled,
        ),
        exact("a_delay_holds_up_the_sender", &[], delayed),
        exact("a_load_test_fails_by_its_conditions", &[], conditions),
    ]
}

/// A sink that listens, and where its figures go.
pub(crate) struct Sink {
    /// None once it has told.
    child: Option<Child>,
    /// Where it listens: a port of loopback, or 0.
    pub(crate) port: u16,
    path: String,
    _messages: BufReader<ChildStderr>,
    _scratch: Scratch,
}

impl Sink {
    /// On a port of its own, or on the socket PATH.
    pub(crate) fn start(name: &str, words: &str) -> Self {
        let port = if words.contains("PATH") { 0 } else { super::machine::port() };
        Self::start_at(port, name, words)
    }

    pub(crate) fn start_at(port: u16, name: &str, words: &str) -> Self {
        let scratch = Scratch::new(name);
        let path = scratch.0.join("socket").to_str().unwrap().to_owned();
        let words = words.replace("PATH", &path);
        let mut command = Command::new(WHIT);
        command.args(["sink", "--json"]).args(words.split_whitespace());
        if port > 0 {
            command.args(["--port", &port.to_string()]);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Its first message says where it listens.
        let (mut messages, mut line) = (BufReader::new(child.stderr.take().unwrap()), String::new());
        messages.read_line(&mut line).unwrap();
        Self { child: Some(child), port, path, _messages: messages, _scratch: scratch }
    }

    pub(crate) fn told(mut self) -> Value {
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        documents(&String::from_utf8(output.stdout).unwrap()).remove(0)
    }

    pub(crate) fn interrupt(self) -> Value {
        let pid = rustix::process::Pid::from_raw(self.child.as_ref().unwrap().id().cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.told()
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(crate) fn send(words: &str) -> Value {
    let output = Command::new(WHIT).args(["send", "--json"]).args(words.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    documents(&String::from_utf8(output.stdout).unwrap()).remove(0)
}

pub(crate) fn python(program: &str) -> String {
    let output = Command::new("python3").args(["-c", program]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn counted() -> Result<(), Failed> {
    // A kilobyte at a time; and one that cuts its stream where nobody would.
    let sink = Sink::start("counted", "--clients 5");
    let program = "\
import socket, threading
def regular():
    s = socket.create_connection(('127.0.0.1', PORT))
    for _ in range(10000): s.sendall(b'1' * 1024)
    s.close()
def ragged():
    s = socket.create_connection(('127.0.0.1', PORT))
    for length in range(1, 1500): s.sendall(b'1' * length)
    s.close()
threads = [threading.Thread(target=regular) for _ in range(4)] + [threading.Thread(target=ragged)]
[t.start() for t in threads]; [t.join() for t in threads]";
    python(&program.replace("PORT", &sink.port.to_string()));
    let told = sink.told();
    let ragged = 1499 * 1500 / 2;
    assert_eq!(told["packets"], 4 * 10_000 + ragged / 1024);
    assert_eq!(
        (&told["incomplete_packets"], &told["incomplete_bytes"]),
        (&1.into(), &(ragged % 1024).into())
    );
    assert_eq!(told["bytes"], 4 * 10_000 * 1024 + ragged);
    assert!(told["whit"]["on_cpu_ns"].is_u64());
    // Both ends of whit's own, by TCP in several threads, and by a Unix socket.
    let sink = Sink::start("own", "--workers 2 --clients 7 --size 100");
    let sent =
        send(&format!("localhost:{} --connections 7 --count 1000003 --size 100 --workers 2", sink.port));
    let told = sink.told();
    assert_eq!((&sent["packets"], &told["packets"]), (&1_000_003.into(), &1_000_003.into()));
    assert_eq!(told["incomplete_packets"], 0);
    let sink = Sink::start("unix", "--unix PATH --clients 3");
    let sent = send(&format!("--unix {} --connections 3 --count 5000", sink.path));
    assert_eq!((&sent["packets"], &sink.told()["packets"]), (&5_000.into(), &5_000.into()));
    Ok(())
}

fn aborted() -> Result<(), Failed> {
    // A reset takes what the sender's kernel holds; what it had given away counts, to the byte.
    let sink = Sink::start("aborted", "--clients 20");
    let program = "\
import socket, struct, fcntl, array, termios, time
for client in range(20):
    s = socket.create_connection(('127.0.0.1', PORT))
    s.sendall(b'1' * (1024 * 7 + client))
    left = array.array('i', [1])
    while left[0]:
        fcntl.ioctl(s, termios.TIOCOUTQ, left)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    s.close()";
    python(&program.replace("PORT", &sink.port.to_string()));
    let told = sink.told();
    assert_eq!(told["bytes"], 20 * 1024 * 7 + 190);
    assert_eq!((&told["packets"], &told["incomplete_packets"]), (&140.into(), &19.into()));
    let is_aborted = |client: &&Value| client["is_aborted"] == true;
    assert_eq!(told["clients"].as_array().unwrap().iter().filter(is_aborted).count(), 20, "{told}");
    Ok(())
}

fn many() -> Result<(), Failed> {
    let sink = Sink::start("many", "--clients 10000");
    let sent = send(&format!("localhost:{} --connections 10000 --count 200000", sink.port));
    assert_eq!((&sent["packets"], &sent["failed_connections"]), (&200_000.into(), &0.into()));
    let told = sink.told();
    assert_eq!(told["packets"], 200_000);
    assert_eq!(told["clients"].as_array().map(Vec::len), Some(10_000));
    Ok(())
}

fn datagrams() -> Result<(), Failed> {
    let sink = Sink::start("udp", "--udp");
    let to = format!("localhost:{}", sink.port);
    let sent = send(&format!("{to} --udp --size 500 --count 20000 --rate 50000"));
    let flooded = send(&format!("{to} --udp --size 500 --count 20000"));
    let short = send(&format!("{to} --udp --size 499 --count 10"));
    assert!(
        [sent, flooded, short].iter().map(|sent| sent["packets"].as_u64().unwrap()).sum::<u64>() == 40_010
    );
    std::thread::sleep(Duration::from_millis(200));
    let told = sink.interrupt();
    let get = |name: &str| told[name].as_u64().unwrap();
    assert_eq!(get("packets") + get("dropped_packets"), 40_010, "{told}");
    assert!(get("packets") > 20_000, "{told}");
    // By the address of each sender; the third sent few, none of which was dropped.
    let clients = told["clients"].as_array().ok_or("clients")?;
    assert_eq!((clients.len(), &clients[2]["packets"], &clients[2]["bytes"]), (3, &10.into(), &4_990.into()));
    assert!(clients.iter().all(|client| client["address"].to_string().starts_with("\"127.0.0.1:")), "{told}");
    // Nobody is there, and that comes back.
    let output = shell(&format!("{WHIT} send localhost:{} --udp -n 10", port()));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    // Another program has the port, however many threads share it among themselves.
    let other = Sink::start("udp-threads", "--udp --workers 2");
    let second = shell(&format!("{WHIT} sink --udp --port {} --workers 2 --duration 1", other.port));
    drop(other);
    assert_eq!(second.status.code(), Some(1), "{second:?}");
    Ok(())
}

fn answers() -> Result<(), Failed> {
    let scratch = Scratch::new("replies");
    let file = scratch.0.join("replies.toml");
    fs::write(
        &file,
        "[[reply]]\npath = \"/health\"\nbody = \"fine\"\n[[reply]]\npath = \"/no*\"\nstatus = 503\n",
    )?;
    let sink = Sink::start("http", &format!("--replies {}", file.display()));
    let program = "\
import http.client
c = http.client.HTTPConnection('127.0.0.1', PORT)
for method, path, body in (('GET', '/health?x', None), ('POST', '/no/body', b'x' * 100000), ('GET', '/other', None)):
    c.request(method, path, body)
    r = c.getresponse()
    print(r.status, r.read().decode())";
    assert_eq!(python(&program.replace("PORT", &sink.port.to_string())), "200 fine\n503 \n404 \n");
    assert_eq!(sink.interrupt()["answers"], 3);
    // Resets and halves, as often as asked for.
    fs::write(&file, format!("[[reply]]\npath = \"/\"\nbody = \"{}\"\n", "x".repeat(1000)))?;
    let words = format!("--replies {} --fault reset=0.3 --fault half=0.2", file.display());
    let sink = Sink::start("faults", &words);
    let program = "\
import http.client
fine = reset = half = 0
for _ in range(1000):
    c = http.client.HTTPConnection('127.0.0.1', PORT)
    try:
        c.request('GET', '/')
        c.getresponse().read(); fine += 1
    except ConnectionResetError: reset += 1
    except http.client.HTTPException: half += 1
    c.close()
print(fine, reset, half)";
    let text = python(&program.replace("PORT", &sink.port.to_string()));
    let counts: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    for (count, expected) in counts.iter().zip([500.0, 300.0, 200.0]) {
        assert!((count - expected).abs() < 80.0, "{text}");
    }
    assert_eq!(sink.interrupt()["answers"], 1000);
    let output = shell(&format!("{WHIT} sink --fault reset=1"));
    assert_eq!(output.status.code(), Some(2));
    Ok(())
}

/// In namespaces of their own: a name server that knows one name, and a resolv.conf that names it.
fn names() -> Result<(), Failed> {
    let scratch = Scratch::new("names");
    let (server, resolv) = (scratch.0.join("server.py"), scratch.0.join("resolv.conf"));
    fs::write(&resolv, "nameserver 127.0.0.1\nsearch example\n")?;
    fs::write(
        &server,
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.bind(('127.0.0.1', 53))\nopen('ready', 'w')\nwhile True:\n  \
           q, peer = s.recvfrom(512)\n  \
           m = bytearray(q)\n  \
           known = q[12:].lower().startswith(b'\\4test\\7example\\0')\n  \
           m[2:4] = b'\\x81\\x80' if known else b'\\x81\\x83'\n  \
           if known and q[-4:-2] == b'\\0\\1':\n    \
             m[6:8] = b'\\0\\1'\n    \
             m += b'\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\x09\\0\\4\\x7f\\0\\0\\1'\n  \
           s.sendto(bytes(m), peer)\n",
    )?;
    let script = format!(
        "cd {}; ip link set lo up; mount --bind resolv.conf /etc/resolv.conf; timeout 60 python3 server.py & \
         timeout 60 {WHIT} sink --port 22330 --clients 2 > /dev/null 2> listening & \
         until [ -e ready ] && [ -s listening ]; do sleep 0.1; done; \
         {WHIT} send --json test.example:22330 -n 10; {WHIT} send --json test:22330 -n 10; \
         {WHIT} send other.example:22330 -n 1; echo status $?; kill %1; wait",
        scratch.0.display()
    );
    let file = scratch.0.join("script");
    fs::write(&file, script)?;
    let output = shell(&format!("unshare -mn sh {}", file.display()));
    let text = String::from_utf8(output.stdout)?;
    let said = String::from_utf8(output.stderr)?;
    // By its whole name, and by what is left of it in one's own domain.
    assert_eq!(documents(&text).iter().filter(|told| told["packets"] == 10).count(), 2, "{text}{said}");
    assert!(text.contains("status 2") && said.contains("no name server knows it"), "{text}{said}");
    Ok(())
}

fn omission() -> Result<(), Failed> {
    // A tenth of the answers takes 200 ms, at a packet each 10 ms over one connection: nearly all wait.
    let sink = Sink::start("omission", "--echo --fault slow=0.1:200ms --size 10");
    let sent = send(&format!("localhost:{} --echo --rate 100 --count 200 --size 10", sink.port));
    let latency = &sent["latency"];
    assert_eq!(latency["count"], 200);
    assert!(latency["p50_ns"].as_u64().unwrap() > 100_000_000, "{latency}");
    assert!(sink.interrupt()["faults"].as_u64().unwrap() > 5);
    Ok(())
}

fn signalled() -> Result<(), Failed> {
    let sink = Sink::start("signalled", "");
    let sender = Command::new(WHIT)
        .args(["send", &format!("localhost:{}", sink.port), "--duration", "1h", "--rate", "1000", "--json"])
        .stdout(Stdio::piped())
        .spawn()?;
    std::thread::sleep(Duration::from_millis(1_000));
    let pid = rustix::process::Pid::from_raw(sender.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
    let output = sender.wait_with_output()?;
    assert!(output.status.success());
    let sent: Value = serde_json::from_slice(&output.stdout)?;
    let packets = sent["packets"].as_u64().unwrap();
    assert!((500..2_000).contains(&packets), "{sent}");
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(sink.interrupt()["packets"], packets);
    // Nobody listens there.
    let output = shell(&format!("{WHIT} send localhost:{} --count 1", port()));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr)?.contains("refused"));
    Ok(())
}

fn delayed() -> Result<(), Failed> {
    let sink = Sink::start("delayed", "--clients 2 --delay 20ms");
    send(&format!("localhost:{} --connections 2 --count 40", sink.port));
    let told = sink.told();
    // Twenty packets a client, side by side.
    assert_eq!(told["packets"], 40);
    assert!(told["wall_ns"].as_u64().unwrap() >= 19 * 20_000_000, "{told}");
    Ok(())
}

/// What was sent is held against conditions; where nothing was reached there is a failure, and no table of zeros.
fn conditions() -> Result<(), Failed> {
    let address = format!("127.0.0.1:{}", super::machine::port());
    let send = |words: &str, body: &str| -> Result<(Option<i32>, String, String), Failed> {
        let mut command = Command::new(WHIT);
        command.args(["send", &address]).args(words.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        std::io::Write::write_all(&mut child.stdin.take().ok_or("no input")?, body.as_bytes())?;
        let output = child.wait_with_output()?;
        Ok((output.status.code(), String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
    };
    let (status, text, error) = send("--http / --count 3", "")?;
    assert!(status == Some(1) && text.is_empty() && error.contains("Connection refused"), "{text} {error}");
    let scratch = Scratch::new("conditions");
    let replies = scratch.0.join("replies.toml");
    std::fs::write(
        &replies,
        "[[reply]]\npath = \"/broken\"\nstatus = 503\n[[reply]]\npath = \"/taken\"\nmethod = \"POST\"\nstatus = 200\n",
    )?;
    let mut sink = Command::new(WHIT);
    // A place is named as send names it.
    sink.args(["sink", &address, "--replies"]).arg(&replies).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut sink = super::machine::Running(sink.spawn()?);
    let mut line = String::new();
    BufReader::new(sink.0.stderr.take().ok_or("no message")?).read_line(&mut line)?;
    let (status, text, error) =
        send("--http /taken --body - --count 5 --fail-if errors>0 --fail-if longest>60s", "what is sent")?;
    assert!(status == Some(0) && text.contains("statuses     200 ×5") && error.is_empty(), "{text} {error}");
    let (status, text, error) = send("--http /broken --count 5 --fail-if errors>4 --fail-if p50>60s", "")?;
    assert!(status == Some(1) && text.contains("503 ×5"), "{text} {error}");
    assert_eq!(error, "whit: --fail-if errors>4: it is 5\n");
    let (_, _, error) = send("--http /broken --count 500 --rate 10M", "")?;
    assert!(error.starts_with("whit: 10,000,000 a second were wanted, and "), "{error}");
    Ok(())
}
