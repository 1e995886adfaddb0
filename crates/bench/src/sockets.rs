//! Packets of a kilobyte over the loopback: a plain server and sender in Python, iperf3, whit.

use std::time::Duration;

use serde_json::Value;

use super::measurement::{Measurement, Unit};
use super::programs::{Ran, Running, own_program, run};

/// Between a server's start and its client's.
const HEAD_START: Duration = Duration::from_millis(400);
const PACKETS: u32 = 100_000;
const PORT: u16 = 22_290;

/// Receives one client's packets into a list, and measures CPU time and time.
const SERVER: &str = include_str!("peers/server.py");

const SENDER: &str = include_str!("peers/sender.py");

fn program(text: &str) -> String {
    text.replace("PORT", &PORT.to_string()).replace("PACKETS", &PACKETS.to_string())
}

/// Starts a server, runs a client, and reads what the server said.
fn pair(server: &[&str], client: &[&str]) -> Result<Value, String> {
    let server = Running::start(server)?;
    std::thread::sleep(HEAD_START);
    if let Err(error) = run(client) {
        server.interrupt();
        return Err(error);
    }
    json(&server.wait()?)
}

fn json(ran: &Ran) -> Result<Value, String> {
    serde_json::from_str(&ran.output).map_err(|error| format!("the server's output is not JSON: {error}"))
}

fn number(report: &Value, path: &str) -> Result<f64, String> {
    report.pointer(path).and_then(Value::as_f64).ok_or_else(|| format!("the output has no {path}"))
}

pub(super) fn measurements() -> Vec<Measurement> {
    let port = PORT.to_string();
    let to = format!("127.0.0.1:{PORT}");
    let per_packet = |report: &Value, path: &str| -> Result<f64, String> {
        Ok(number(report, path)? / (number(report, "/bytes")? / 1024.0))
    };
    let sink = move |port: &str, client: &[&str]| {
        pair(&[&own_program(), "sink", "--port", port, "--clients", "1", "--json"], client)
    };
    let (first_port, second_port) = (port.clone(), port);
    let count = PACKETS.to_string();
    vec![
        Measurement::new(
            "sink",
            "Receiving packets of a kilobyte from a plain sender",
            Unit::Cpu("a packet"),
            "CPU time of the server, a packet, while a Python program sends 100,000 packets, one call each: whit counts them \
             where they lie, the plain server copies each into a list.",
        )
        .side("whit sink", &["python3"], move || {
            per_packet(&sink(&first_port, &["python3", "-c", &program(SENDER)])?, "/whit/on_cpu_ns")
        })
        .side("a plain server in Python", &["python3"], move || {
            let report = pair(&["python3", "-c", &program(SERVER)], &["python3", "-c", &program(SENDER)])?;
            per_packet(&report, "/whit/on_cpu_ns")
        }),
        Measurement::new(
            "send",
            "Moving packets of a kilobyte through a socket",
            Unit::Wall("a packet"),
            "Time a packet, from the first to the last: whit send to whit sink, iperf3 with messages of 1 KiB for a second, a \
             plain sender to a plain server in Python.",
        )
        .side("whit send to whit sink", &[], move || {
            let client = [&own_program(), "send", &to, "--count", &format!("{count}0")];
            per_packet(&sink(&second_port, &client)?, "/wall_ns")
        })
        .side("iperf3", &["iperf3"], || {
            let server = Running::start(&["iperf3", "-s", "-1", "-B", "127.0.0.1", "-p", "22291"])?;
            std::thread::sleep(HEAD_START);
            let client = run(&["iperf3", "-c", "127.0.0.1", "-p", "22291", "-l", "1024", "-t", "1", "-J"])?;
            server.wait()?;
            Ok(1e9 * 1024.0 * 8.0 / number(&json(&client)?, "/end/sum_received/bits_per_second")?)
        })
        .side("both in plain Python", &["python3"], move || {
            let report = pair(&["python3", "-c", &program(SERVER)], &["python3", "-c", &program(SENDER)])?;
            per_packet(&report, "/total_ns")
        }),
    ]
}
