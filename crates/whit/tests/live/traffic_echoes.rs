//! What `whit send` gets in return: over TLS, and of datagrams.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::json;

use super::certificates::issue;
use super::machine::{Running, Scratch, WHIT, documents, port, shell};
use super::traffic::{Sink, send};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let python = Need::Program("python3");
    vec![
        exact("requests_go_over_tls", &[Need::Program("openssl"), python], over_tls),
        exact("a_body_comes_as_it_is", &[Need::Program("openssl"), python], bodies),
        exact("a_server_that_was_away_is_asked_again", &[Need::Program("openssl"), python], restarted),
        exact("datagrams_come_back_or_are_lost", &[python], datagrams),
    ]
}

/// Starts a server in Python, and returns the port that it prints. `words` are for its program.
fn server(scratch: &Scratch, program: &str, words: &[&str]) -> Result<(Running, String), Failed> {
    let mut server = Command::new("python3");
    server.args(["-c", program]).args(words).current_dir(&scratch.0);
    let mut server = Running(server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?);
    let mut port = String::new();
    BufReader::new(server.0.stdout.take().ok_or("no output")?).read_line(&mut port)?;
    Ok((server, port.trim().to_owned()))
}

/// A server whose connections last, of a name and with a certificate that the system does not know. The path is the hash of the body.
const SERVER: &str = "import hashlib, http.server, ssl, sys
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True
    def do_GET(self):
        is_large = self.path == '/large?x=1'
        self.answer(200 if is_large else 404, b'x' * 100_000 if is_large else b'')
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        self.answer(200 if self.path == '/' + hashlib.sha256(body).hexdigest() else 409, b'')
    def answer(self, status, body):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[2])), Answer)
if sys.argv[1] == 'https':
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain('localhost.pem', 'localhost.key')
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
";

/// Runs a `whit send` that fails. Returns what it says.
fn fails(words: &str) -> Result<String, Failed> {
    let output = Command::new(WHIT).arg("send").args(words.split_whitespace()).output()?;
    assert_eq!(output.status.code(), Some(1), "{words}: {output:?}");
    Ok(String::from_utf8(output.stderr)?)
}

fn over_tls() -> Result<(), Failed> {
    let scratch = Scratch::new("send-tls");
    issue(&scratch, "localhost");
    let (_server, port) = server(&scratch, SERVER, &["https", "0"])?;
    let authority = scratch.0.join("ca.pem").display().to_string();
    let sent = send(&format!("https://localhost:{port}/large?x=1 --ca {authority} -n 300 --connections 5"));
    assert_eq!(sent["requests"], 300, "{sent}");
    assert_eq!(sent["statuses"], json!([{ "status": 200, "count": 300 }]), "{sent}");
    let unknown = fails(&format!("https://localhost:{port}/ -n 1"))?;
    assert!(unknown.contains("UnknownIssuer"), "{unknown}");
    let other = fails(&format!("https://127.0.0.1:{port}/ --ca {authority} -n 1"))?;
    assert!(other.contains("certificate"), "{other}");
    let sink = Sink::start("plain", "--http 200");
    let plain = fails(&format!("https://localhost:{}/ --ca {authority} -n 1", sink.port))?;
    assert!(plain.contains("speaks no TLS"), "{plain}");
    // One that says nothing at all.
    let sink = Sink::start("silent", "");
    let silent = format!("https://localhost:{}/ --ca {authority}", sink.port);
    let given_up = fails(&format!("{silent} -n 1 --timeout 300ms"))?;
    assert!(given_up.contains("made no connection for 300 ms"), "{given_up}");
    let ended = fails(&format!("{silent} --duration 300ms"))?;
    assert!(ended.contains("there was no connection until the end"), "{ended}");
    Ok(())
}

/// A body that is sent in many pieces comes as it is.
fn bodies() -> Result<(), Failed> {
    let scratch = Scratch::new("send-bodies");
    issue(&scratch, "localhost");
    let (body, authority) = (scratch.0.join("body"), scratch.0.join("ca.pem"));
    let made = shell(&format!("head -c 3000000 /dev/urandom > {0} && sha256sum {0}", body.display()));
    let hash = String::from_utf8(made.stdout)?.split(' ').next().unwrap_or_default().to_owned();
    for scheme in ["http", "https"] {
        let (_server, port) = server(&scratch, SERVER, &[scheme, "0"])?;
        let trusted = if scheme == "https" { format!("--ca {}", authority.display()) } else { String::new() };
        let address = format!("{scheme}://localhost:{port}/{hash}");
        let sent = send(&format!("{address} {trusted} --body {} -n 5 --connections 2", body.display()));
        assert_eq!(sent["statuses"], json!([{ "status": 200, "count": 5 }]), "{scheme}: {sent}");
    }
    Ok(())
}

/// A server that is away for a second is looked for again.
fn restarted() -> Result<(), Failed> {
    let scratch = Scratch::new("send-restart");
    issue(&scratch, "localhost");
    for scheme in ["http", "https"] {
        // One that no other process gets meanwhile.
        let (first, port) = server(&scratch, SERVER, &[scheme, &port().to_string()])?;
        let words = format!("https://localhost:{port}/small --duration 5s --rate 40 --connections 2 --json");
        let words = words.replace("https", scheme);
        let mut sender = Command::new(WHIT);
        sender.arg("send").args(words.split_whitespace());
        if scheme == "https" {
            sender.arg("--ca").arg(scratch.0.join("ca.pem"));
        }
        let sender = sender.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        std::thread::sleep(Duration::from_secs(1));
        drop(first);
        std::thread::sleep(Duration::from_secs(1));
        let (_second, _) = server(&scratch, SERVER, &[scheme, &port])?;
        let output = sender.wait_with_output()?;
        let sent = documents(&String::from_utf8(output.stdout)?).remove(0);
        assert_eq!(sent["failed_connections"], 0, "{scheme}: {sent}");
        // While it is away nothing is asked: at most what is under way on each connection fails when it goes, and when it comes.
        assert!(sent["failed_requests"].as_u64() <= Some(4), "{scheme}: {sent}");
        // What was due meanwhile is asked later.
        assert!(sent["requests"].as_u64() > Some(100), "{scheme}: {sent}");
    }
    Ok(())
}

/// Every tenth datagram is lost, and every seventh comes back late.
const LOSSY_SERVER: &str = "import socket, threading
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.0.0.1', 0))
print(server.getsockname()[1], flush=True)
while True:
    packet, sender = server.recvfrom(65536)
    number = int.from_bytes(packet[:8], 'little')
    if number % 10 == 9: continue
    if number % 7 == 6: threading.Timer(4.5, server.sendto, (packet, sender)).start()
    else: server.sendto(packet, sender)
";

fn datagrams() -> Result<(), Failed> {
    let sink = Sink::start("udp-echo", "--udp --echo");
    let sent = send(&format!(
        "127.0.0.1:{} --udp --echo --size 900 -n 3000 --connections 3 --timeout 20s",
        sink.port
    ));
    assert_eq!((&sent["packets"], &sent["unanswered_packets"]), (&json!(3000), &json!(0)), "{sent}");
    assert_eq!(sent["latency"]["count"], 3000, "{sent}");
    let told = sink.interrupt();
    assert_eq!((&told["packets"], &told["bytes"]), (&json!(3000), &json!(2_700_000)), "{told}");
    let scratch = Scratch::new("udp-lossy");
    let (_server, port) = server(&scratch, LOSSY_SERVER, &[])?;
    // Of the numbers 0 to 14 one is lost, and two are late; one that comes late is none of a later number.
    let sent = send(&format!("127.0.0.1:{port} --udp --echo --size 100 -n 15 --timeout 3s"));
    assert_eq!((&sent["packets"], &sent["unanswered_packets"]), (&json!(15), &json!(3)), "{sent}");
    assert_eq!(sent["latency"]["count"], 12, "{sent}");
    let refused =
        Command::new(WHIT).args(["send", "127.0.0.1:9", "--udp", "--echo", "--size", "7"]).output()?;
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    Ok(())
}
