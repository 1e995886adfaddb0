//! Debian's Prometheus beside a trial.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::Value;

use super::machine::{Scratch, port, wait_for};

/// Ended with the trial.
pub(crate) struct Prometheus {
    child: Child,
    port: u16,
}

impl Prometheus {
    /// On a free port of loopback; returns when it answers.
    pub(crate) fn start(scratch: &Scratch, configuration: &str, words: &[&str]) -> Result<Self, Failed> {
        let file = scratch.0.join("prometheus.yml");
        fs::write(&file, configuration)?;
        let port = port();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", scratch.0.join("prometheus").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let prometheus = Self { child, port };
        wait_for("prometheus answers", || prometheus.get("/api/v1/status/buildinfo").is_some());
        Ok(prometheus)
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it answers; `None` if it does not, or with no JSON.
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
