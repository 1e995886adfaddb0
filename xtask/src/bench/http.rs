//! A server that answers 204 to everything: sink beside nginx with one worker, under wrk.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::process::{Running, Spread};
use super::programs::{Programs, is_there};
use super::row::print_row;
use crate::outcome::Outcome;

const DIRECTORY: &str = "target/floor";
const CONFIGURATION: &str = "http.nginx";
const PIPELINE: &str = "benches/pipeline.lua";
const OUR_PORT: &str = "22502";
const THEIR_PORT: &str = "22501";
const PAIRS: usize = 5;
/// A row's CPU time is that of so many requests.
const REQUESTS: f64 = 1000.0;

/// 32 connections that are kept, with one request on each at a time and with sixteen.
pub(crate) fn run(programs: &Programs) -> Outcome {
    if !is_there("nginx") || !is_there("wrk") {
        println!("http: nginx or wrk is not installed");
        return Ok(());
    }
    let directory = Path::new(DIRECTORY).canonicalize().map_err(|error| format!("{DIRECTORY}: {error}"))?;
    let configuration = directory.join(CONFIGURATION);
    std::fs::write(&configuration, nginx(&directory))
        .map_err(|error| format!("{}: {error}", configuration.display()))?;
    let path = configuration.to_str().ok_or("the directory's name is not text")?;
    let theirs = Running::start(&["nginx", "-c", path])?;
    let ours = Running::start(&[&programs.whit, "sink", "--http", "204", "--port", OUR_PORT])?;
    std::thread::sleep(Duration::from_millis(500));
    compare("1000 requests: nginx", &[], &ours, &theirs)?;
    compare("1000 requests, pipelined: nginx", &["-s", PIPELINE], &ours, &theirs)
}

fn compare(what: &str, options: &[&str], ours: &Running, theirs: &Running) -> Outcome {
    let (mut all_ours, mut all_theirs) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        all_ours.push(cpu_ns_of_requests(ours, OUR_PORT, options)?);
        all_theirs.push(cpu_ns_of_requests(theirs, THEIR_PORT, options)?);
    }
    let ratios = all_ours.iter().zip(&all_theirs).map(|(ours, theirs)| ours / theirs).collect();
    let (ours, theirs) = (Spread::of(all_ours).median, Spread::of(all_theirs).median);
    print_row(what, ours, theirs, &Spread::of(ratios), "1.00");
    Ok(())
}

/// CPU time of a server, its workers included, for [`REQUESTS`] requests.
fn cpu_ns_of_requests(server: &Running, port: &str, options: &[&str]) -> Result<f64, String> {
    let before_ns = server.cpu_ns()?;
    let mut wrk = Command::new("wrk");
    wrk.args(["-t1", "-c32", "-d2"]).args(options).arg(format!("http://127.0.0.1:{port}/"));
    let output = wrk.output().map_err(|error| format!("wrk: {error}"))?;
    let cpu_ns = server.cpu_ns()? - before_ns;
    let report = String::from_utf8_lossy(&output.stdout);
    // "1234 requests in 2.00s, 56.78MB read"; replies that are not 2xx or 3xx, and broken connections, have lines of their own.
    if report.contains("Non-2xx") || report.contains("Socket errors") {
        return Err(format!("port {port}: not every request was answered\n{report}"));
    }
    let count =
        report.split(" requests in ").next().and_then(|text| text.split_whitespace().last()?.parse().ok());
    let count: f64 = count.ok_or_else(|| format!("port {port}: wrk counts no requests\n{report}"))?;
    Ok(cpu_ns / count * REQUESTS)
}

/// One worker, nothing written, connections that stay.
fn nginx(directory: &Path) -> String {
    format!(
        "daemon off;
worker_processes 1;
pid {directory}/nginx.pid;
error_log /dev/null;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 100000000;
    server {{ listen 127.0.0.1:{THEIR_PORT}; return 204; }}
}}
",
        directory = directory.display()
    )
}
