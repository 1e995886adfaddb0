//! `whit sink` and `whit send` with HTTP: against each other, and against foreign servers and clients.

use std::fs;
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Load, Scratch, WHIT, documents, port, shell, wait_for};
use super::traffic::{Sink, python, send};
use super::trials::{Need, Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    let python = [Need::Program("python3")];
    vec![
        exact("requests_are_counted_logged_and_answered", &python, requests),
        exact("uploads_are_waited_for_and_logged", &python, uploads),
        exact("a_slow_answer_is_a_part_of_the_time", &[], slow),
        exact("a_server_that_comes_again_is_asked_again", &[], restarted),
        exact("a_log_that_cannot_be_written_is_reported", &[], full_log),
    ]
}

/// whit asks whit and a foreign server; a foreign client asks whit.
fn requests() -> Result<(), Failed> {
    let scratch = Scratch::new("requests-files");
    let (replies, log) = (scratch.0.join("replies.toml"), scratch.0.join("log"));
    fs::write(
        &replies,
        "[[reply]]\npath = \"/busy\"\nstatus = 503\n[[reply]]\npath = \"/page\"\nmethod = \"GET\"\nbody = \"hello\"\n\
         content_type = \"text/plain\"\nheaders = { X-Whit = \"1\" }\n",
    )?;
    let words = format!("--replies {} --log {}", replies.display(), log.display());
    let sink = Sink::start("requests", &words);
    let sent = send(&format!("localhost:{} --http /busy -n 100 --connections 3", sink.port));
    assert_eq!((&sent["requests"], &sent["latency"]["count"]), (&100.into(), &100.into()), "{sent}");
    assert_eq!(sent["statuses"], serde_json::json!([{ "status": 503, "count": 100 }]));
    let program = "import http.client\n\
         for method in ('GET', 'HEAD', 'POST'):\n    \
             client = http.client.HTTPConnection('localhost', PORT)\n    \
             client.request(method, '/page?x=1')\n    \
             answer = client.getresponse()\n    \
             print(answer.status, answer.getheader('Content-Length'), answer.getheader('Content-Type'), answer.getheader('X-Whit'), len(answer.read()))\n";
    let told = python(&program.replace("PORT", &sink.port.to_string()));
    assert_eq!(told, "200 5 text/plain 1 5\n200 5 text/plain 1 0\n404 0 None None 0\n");
    let report = sink.interrupt();
    assert_eq!(report["answers"], 103, "{report}");
    let logged = documents(&fs::read_to_string(&log)?);
    assert_eq!(logged.len(), 103);
    let last = logged.last().unwrap();
    assert_eq!(
        (&last["method"], &last["path"], &last["status"]),
        (&"POST".into(), &"/page?x=1".into(), &404.into())
    );

    // Half of the answers are none: each such request has failed, and the others go on.
    let words = format!("--http 200 --fault reset=0.25 --fault half=0.25 --log {}", log.display());
    fs::remove_file(&log)?;
    let sink = Sink::start("requests-faults", &words);
    let to = format!("localhost:{}", sink.port);
    let output = shell(&format!("{WHIT} send --json {to} --http / -n 200 --connections 2"));
    let sent = documents(&String::from_utf8(output.stdout)?).remove(0);
    let (failed, whole) =
        (sent["failed_requests"].as_u64().unwrap(), sent["statuses"][0]["count"].as_u64().unwrap());
    let report = sink.interrupt();
    assert_eq!(
        (failed + whole, report["requests"].as_u64(), report["faults"].as_u64()),
        (200, Some(200), Some(failed)),
        "{sent} {report}"
    );
    assert_eq!(
        (output.status.code(), &report["packets"], &sent["failed_connections"]),
        (Some(1), &Value::Null, &0.into())
    );
    let logged = documents(&fs::read_to_string(&log)?);
    let faulty = logged.iter().filter(|request| !request["fault"].is_null()).count() as u64;
    assert_eq!((logged.len(), faulty), (200, failed));
    // Lines and report share standard output, also where that is a file.
    let file = scratch.0.join("out");
    let port = port();
    let script = format!(
        "cd {}; timeout 60 {WHIT} sink --http 204 --log - --port {port} --clients 1 > out 2> listening & \
         until [ -s listening ]; do sleep 0.1; done; {WHIT} send localhost:{port} --http /x -n 3 > /dev/null; wait",
        scratch.0.display()
    );
    assert!(shell(&script).status.success());
    let text = fs::read_to_string(&file)?;
    assert!(text.matches("\"GET /x\" 0 204").count() == 3 && text.contains("requests     3"), "{text}");

    other_server(&scratch)
}

/// One that closes after each answer, whose length only its end tells; and that looks at what it is asked.
fn other_server(scratch: &Scratch) -> Result<(), Failed> {
    const SERVER: &str = "
import http.server as s
class H(s.BaseHTTPRequestHandler):
  protocol_version = 'HTTP/1.1'
  def do_GET(self):
    self.close_connection = True
    self.send_response(200); self.end_headers(); self.wfile.write(b'x' * 5000)
  def do_HEAD(self):
    self.send_response(200); self.send_header('Content-Length', '5000'); self.end_headers()
  def do_POST(self):
    body = self.rfile.read(int(self.headers['Content-Length']))
    is_right = body == b'y' * 70000 and self.headers['X-Whit'] == 'a:b' and self.headers['Host'] == 'other'
    self.send_response(201 if is_right else 400); self.send_header('Content-Length', '0'); self.end_headers()
  def log_message(self, *a): pass
s.ThreadingHTTPServer(('127.0.0.1', PORT), H).serve_forever()";
    let body = scratch.0.join("body");
    fs::write(&body, "y".repeat(70_000))?;
    let port = port();
    let server = Load::start(&["python3", "-c", &SERVER.replace("PORT", &port.to_string())]);
    wait_for("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let plain = send(&format!("localhost:{port} --http / -n 50 --connections 2"));
    let head = send(&format!("localhost:{port} --http / --method HEAD -n 50"));
    let words = format!("--http /in --body {} --header X-Whit:a:b --header host:other", body.display());
    let posted = send(&format!("localhost:{port} {words} -n 20 --connections 2"));
    drop(server);
    for (sent, status, count) in [(plain, 200, 50), (head, 200, 50), (posted, 201, 20)] {
        assert_eq!(sent["statuses"], serde_json::json!([{ "status": status, "count": count }]), "{sent}");
    }
    Ok(())
}

/// A client that waits to be told to go on, and one that sends in chunks.
fn uploads() -> Result<(), Failed> {
    let scratch = Scratch::new("uploads-files");
    let log = scratch.0.join("log");
    let sink = Sink::start("uploads", &format!("--http 201 --log {}", log.display()));
    let program = "import http.client, socket\n\
         client = http.client.HTTPConnection('localhost', PORT)\n\
         client.request('PUT', '/chunks', iter([b'a' * 70000, b'b' * 30000]), encode_chunked=True)\n\
         answer = client.getresponse(); print(answer.status, len(answer.read()))\n\
         client.request('POST', '/text', b'{\\\"name\\\": 1}', {'Content-Type': 'application/json'})\n\
         answer = client.getresponse(); print(answer.status, len(answer.read()))\n\
         s = socket.create_connection(('localhost', PORT))\n\
         s.sendall(b'PUT /late HTTP/1.1\\r\\nContent-Length: 5\\r\\nExpect: 100-continue\\r\\n\\r\\n')\n\
         print(s.recv(100).split(b'\\r\\n')[0].decode())\n\
         s.sendall(b'hello')\n\
         print(s.recv(100).split(b'\\r\\n')[0].decode())\n\
         s = socket.create_connection(('localhost', PORT))\n\
         s.sendall(b'PUT /cut HTTP/1.1\\r\\nContent-Length: 1000\\r\\n\\r\\nabc')\n\
         s.shutdown(socket.SHUT_WR)\n\
         print(s.recv(100))\n";
    let told = python(&program.replace("PORT", &sink.port.to_string()));
    assert_eq!(told, "201 0\n201 0\nHTTP/1.1 100 Continue\nHTTP/1.1 201 Created\nb''\n");
    assert_eq!(sink.interrupt()["requests"], 3);
    let logged = documents(&fs::read_to_string(&log)?);
    let of = |field: &str| -> Vec<Value> { logged.iter().map(|request| request[field].clone()).collect() };
    assert_eq!(of("path"), ["/chunks", "/text", "/late"]);
    assert_eq!(of("body_bytes"), [100_000, 11, 5]);
    assert_eq!(of("is_body_cut"), [true, false, false]);
    assert_eq!((&logged[1]["body"], &logged[2]["body"]), (&r#"{"name": 1}"#.into(), &"hello".into()));
    let has_type = |header: &Value| header["name"] == "Content-Type" && header["value"] == "application/json";
    assert!(logged[1]["headers"].as_array().ok_or("headers")?.iter().any(has_type), "{}", logged[1]);
    Ok(())
}

fn slow() -> Result<(), Failed> {
    let begun = Instant::now();
    let sink = Sink::start("slow", "--http 200 --fault slow=1:200ms");
    let sent = send(&format!("localhost:{} --http / -n 3", sink.port));
    let told = sink.interrupt();
    let longest_ns = begun.elapsed().as_nanos() as u64;
    for (who, document) in [("send", &sent), ("sink", &told)] {
        let wall_ns = document["wall_ns"].as_u64().ok_or("no time")?;
        assert!((600_000_000..=longest_ns).contains(&wall_ns), "{who}: {document}");
        let rate = document["requests_per_second"].as_f64().ok_or("no rate")?;
        assert!((rate - 3e9 / wall_ns as f64).abs() < 0.01, "{who}: {document}");
    }
    // What was not answered is not counted as if it had been.
    let sink = Sink::start("slower", "--http 200 --fault slow=1:60s");
    let to = format!("localhost:{}", sink.port);
    let output = shell(&format!("{WHIT} send --json {to} --http / --connections 4 --duration 2"));
    drop(sink);
    let sent = documents(&String::from_utf8(output.stdout)?).remove(0);
    assert_eq!(
        (output.status.code(), &sent["requests"], &sent["unanswered_requests"]),
        (Some(1), &0.into(), &4.into())
    );
    Ok(())
}

fn restarted() -> Result<(), Failed> {
    let first = Sink::start("first", "--http 200");
    let port = first.port;
    let words = format!("send --json localhost:{port} --http / --rate 200 --duration 6 --connections 2");
    let sending = Command::new(WHIT)
        .args(words.split_whitespace())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()?;
    std::thread::sleep(Duration::from_millis(1500));
    let before = first.interrupt()["requests"].as_u64().ok_or("requests")?;
    std::thread::sleep(Duration::from_millis(300));
    let second = Sink::start_at(port, "second", "--http 200");
    let output = sending.wait_with_output()?;
    let after = second.interrupt()["requests"].as_u64().ok_or("requests")?;
    let sent = documents(&String::from_utf8(output.stdout)?).remove(0);
    assert!(before > 0 && after > 0, "{before} and {after} of {sent}");
    // The first sink may end between reading a request and answering it: on each connection one is sent again.
    let again = (before + after).checked_sub(sent["requests"].as_u64().ok_or("requests")?);
    assert!(again.is_some_and(|again| again <= 2), "{before} and {after} of {sent}");
    assert_eq!(sent["failed_connections"], 0, "{sent}");
    Ok(())
}

fn full_log() -> Result<(), Failed> {
    let (scratch, port) = (Scratch::new("full-log"), port());
    let script = format!(
        "cd {}; timeout 60 {WHIT} sink --http 204 --log /dev/full --port {port} --clients 1 2> said & \
         until [ -s said ]; do sleep 0.1; done; {WHIT} send localhost:{port} --http /x -n 3 > /dev/null; \
         wait $!; status=$?; cat said >&2; exit $status",
        scratch.0.display()
    );
    let output = shell(&script);
    let said = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("/dev/full: No space left on device").count(), 1, "{said}");
    Ok(())
}
