//! Packets of a kilobyte over the loopback: a plain server and sender in Python, iperf3, whit.

use std::net::TcpListener;

use serde_json::Value;

use super::measurement::{Measurement, Unit};
use super::programs::{Ran, Running, own_program, run};

const PACKETS: u32 = 100_000;

/// Receives one client's packets into a list, and measures CPU time and time.
const SERVER: &str = include_str!("peers/server.py");

const SENDER: &str = include_str!("peers/sender.py");

fn sender(port: &str) -> String {
    SENDER.replace("PORT", port).replace("PACKETS", &PACKETS.to_string())
}

/// Starts a server at a free port, runs a client that gets this port, and reads what the server printed last.
fn pair(server: &[&str], client: impl Fn(&str) -> Result<Ran, String>) -> Result<Value, String> {
    let (server, line) = Running::start_server(server)?;
    let (_, port) = line.rsplit_once(':').ok_or_else(|| format!("no port in {line:?}"))?;
    if let Err(error) = client(port) {
        server.interrupt();
        return Err(error);
    }
    json(server.wait()?.output.lines().last().unwrap_or_default())
}

/// Starts whit's sink for one client.
fn sink(client: impl Fn(&str) -> Result<Ran, String>) -> Result<Value, String> {
    pair(&[&own_program(), "sink", "--port", "0", "--clients", "1", "--json"], client)
}

/// Sends from a plain sender to a plain server.
fn python() -> Result<Value, String> {
    pair(&["python3", "-c", SERVER], |port| run(&["python3", "-c", &sender(port)]))
}

/// Moves packets for a second, and reads the receiver's rate.
fn iperf3() -> Result<f64, String> {
    // It takes no port 0; the one that was free a moment ago is free but for bad luck.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = free.map_err(|error| error.to_string())?.port().to_string();
    let (server, _) =
        Running::start_server(&["iperf3", "-s", "-1", "-B", "127.0.0.1", "-p", &port, "--forceflush"])?;
    let client = run(&["iperf3", "-c", "127.0.0.1", "-p", &port, "-l", "1024", "-t", "1", "-J"])?;
    server.wait()?;
    number(&json(&client.output)?, "/end/sum_received/bits_per_second")
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("the server's output is not JSON: {error}"))
}

fn number(report: &Value, path: &str) -> Result<f64, String> {
    report.pointer(path).and_then(Value::as_f64).ok_or_else(|| format!("the output has no {path}"))
}

pub(super) fn measurements() -> Vec<Measurement> {
    let per_packet = |report: &Value, path: &str| -> Result<f64, String> {
        Ok(number(report, path)? / (number(report, "/bytes")? / 1024.0))
    };
    vec![
        Measurement::new(
            "sink",
            "Receiving packets of a kilobyte from a plain sender",
            Unit::Cpu("a packet"),
            "CPU time of the server, a packet, while a Python program sends 100,000 packets, one call each: whit counts them \
             where they lie, the plain server copies each into a list.",
        )
        .side("whit sink", &["python3"], move || {
            per_packet(&sink(|port| run(&["python3", "-c", &sender(port)]))?, "/whit/on_cpu_ns")
        })
        .side("a plain server in Python", &["python3"], move || per_packet(&python()?, "/whit/on_cpu_ns")),
        Measurement::new(
            "send",
            "Moving packets of a kilobyte through a socket",
            Unit::Wall("a packet"),
            "Time a packet, from the first to the last: whit send to whit sink, iperf3 with messages of 1 KiB for a second, a \
             plain sender to a plain server in Python.",
        )
        .side("whit send to whit sink", &[], move || {
            let count = (10 * PACKETS).to_string();
            let client = |port: &str| {
                run(&[&own_program(), "send", &format!("127.0.0.1:{port}"), "--count", &count])
            };
            per_packet(&sink(client)?, "/wall_ns")
        })
        .side("iperf3", &["iperf3"], || Ok(1e9 * 1024.0 * 8.0 / iperf3()?))
        .side("both in plain Python", &["python3"], move || per_packet(&python()?, "/total_ns")),
    ]
}
