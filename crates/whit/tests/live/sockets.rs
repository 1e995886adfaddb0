//! What `sink` binds and removes, and peers of `send` that are silent.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::FileTypeExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use libtest_mimic::Failed;

use super::machine::{Scratch, WHIT, documents, shell, wait_for_end};
use super::trials::{Trial, exact};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        exact("a_sink_prints_its_port", &[], port),
        exact("a_sink_removes_its_own_socket_alone", &[], own_socket),
        exact("send_gives_a_silent_peer_up", &[], silent_peer),
        exact("a_rate_is_over_the_time_that_was_asked_for", &[], rate_of_nothing),
    ]
}

fn sink(words: &[&str]) -> Child {
    Command::new(WHIT)
        .arg("sink")
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The first line that it says, and where the others come from.
fn says(child: &mut Child) -> (String, BufReader<ChildStderr>) {
    let (mut line, mut messages) = (String::new(), BufReader::new(child.stderr.take().unwrap()));
    messages.read_line(&mut line).unwrap();
    (line, messages)
}

fn port() -> Result<(), Failed> {
    for words in [&["--port", "0"][..], &["--udp", "--port", "0"], &["--port", "0", "--workers", "3"]] {
        let mut child = sink(&[words, &["--duration", "2s"]].concat());
        let (line, _messages) = says(&mut child);
        let port: u16 = line.trim().rsplit(':').next().unwrap().trim_end_matches(" (UDP)").parse()?;
        assert!(port > 0, "{line}");
        if !words.contains(&"--udp") {
            std::net::TcpStream::connect(("127.0.0.1", port))?;
        }
        child.wait()?;
    }
    Ok(())
}

fn own_socket() -> Result<(), Failed> {
    let scratch = Scratch::new("own-socket");
    let path = scratch.0.join("socket");
    let words = ["--unix", path.to_str().unwrap()];
    let end = |child: &mut Child| {
        rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::INT)
            .unwrap();
        assert!(wait_for_end(child).success());
    };
    let mut child = sink(&words);
    let _messages = says(&mut child);
    assert!(std::fs::symlink_metadata(&path)?.file_type().is_socket());
    end(&mut child);
    assert!(!path.exists(), "its own socket is left");
    // Somebody puts a file there meanwhile.
    let mut child = sink(&words);
    let _messages = says(&mut child);
    std::fs::remove_file(&path)?;
    std::fs::write(&path, "somebody's")?;
    end(&mut child);
    assert_eq!(std::fs::read_to_string(&path)?, "somebody's");
    Ok(())
}

/// A peer that accepts, and neither reads nor writes.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

fn silent_peer() -> Result<(), Failed> {
    let (_listener, address) = silent();
    // Old ones know no patience, and would wait for ever.
    let output = shell(&format!("timeout 60 {WHIT} send --echo --count 3 {address}"));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8(output.stderr)?.contains("--timeout"), "the timeout is not named");
    Ok(())
}

fn rate_of_nothing() -> Result<(), Failed> {
    let (_listener, address) = silent();
    let begin = std::time::Instant::now();
    let output = shell(&format!("timeout 20 {WHIT} send --duration 1s --json {address}"));
    let told = documents(&String::from_utf8(output.stdout)?).remove(0);
    let total = told["wall_ns"].as_u64().ok_or("no total time")?;
    let longest = begin.elapsed() + Duration::from_millis(1);
    assert!(total >= 900_000_000 && u128::from(total) <= longest.as_nanos(), "{told}");
    Ok(())
}
