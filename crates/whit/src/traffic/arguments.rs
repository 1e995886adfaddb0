//! Options of `whit sink` and `whit send`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use facts::unit::Nanos;

use super::address::Address;
use super::send::options::SendOptions;
use super::sink::answer::{Answers, Kind};
use super::sink::fault::{Fault, Faults};
use super::sink::options::SinkOptions;
use super::sink::replies::Replies;
use crate::command_line::options::{json, switch};
use crate::command_line::quantity::{duration, rate};
use crate::failure::Failure;

/// Of the server that this replaces.
const PORT: u16 = 22222;

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn common(command: Command) -> Command {
    command
        .arg(
            option("size", "BYTES", "Bytes of a packet [default: 1024]")
                .value_parser(value_parser!(u64).range(1..=1 << 30)),
        )
        .arg(option("duration", "DURATION", "End after that").value_parser(duration))
        .arg(option("threads", "N", "Threads [default: 1]").value_parser(value_parser!(u64).range(1..=256)))
        .arg(option("unix", "PATH", "By a Unix socket").value_parser(value_parser!(PathBuf)))
        .arg(switch("udp", "By datagrams").conflicts_with("unix"))
        .arg(switch("live", "Tell each second how it goes, on standard error"))
        .arg(json())
}

pub(crate) fn sink_command() -> Command {
    Command::new("sink").about("Take what clients send over sockets, and count it").defer(|command| {
        common(command)
            .arg(
                option("listen", "ADDRESS", "Address to listen at [default: 127.0.0.1]")
                    .conflicts_with("unix"),
            )
            .arg(
                option("port", "PORT", "Port to listen at [default: 22222]")
                    .value_parser(value_parser!(u16))
                    .conflicts_with("unix"),
            )
            .arg(
                option("delay", "DURATION", "Time that each packet takes to be dealt with")
                    .value_parser(duration),
            )
            .arg(
                option("clients", "N", "End when so many clients have come and gone")
                    .value_parser(value_parser!(u64).range(1..)),
            )
            .arg(switch("echo", "Send everything back").conflicts_with_all(["http", "replies"]))
            .arg(
                option("http", "STATUS", "Answer every HTTP request with this status")
                    .value_parser(value_parser!(u16).range(100..600))
                    .conflicts_with("replies"),
            )
            .arg(
                option("replies", "FILE", "Answer as the file says, by path or by first line")
                    .value_parser(value_parser!(PathBuf)),
            )
            .arg(
                option(
                    "fault",
                    "reset|half|slow=RATE",
                    "How many of all answers are reset, cut in half, or slow (slow=0.1:500ms)",
                )
                .value_parser(fault)
                .action(ArgAction::Append),
            )
            .after_help(SINK_EXPLANATION)
    })
}

const SINK_EXPLANATION: &str = "\
Packets are counted by --size, as they were sent, however the stream was split. The last one is
counted separately if it is incomplete. A file of replies is TOML:
  [[reply]]              [[reply]]
  path = \"/health\"       line = \"PING\"
  status = 200           text = \"PONG\\n\"
  body = \"fine\"
Ends on Ctrl-C, after --duration or --clients, and tells what came.";

pub(crate) fn send_command() -> Command {
    Command::new("send").about("Send packets over sockets, and tell how they were taken").defer(|command| {
        common(command)
            .arg(
                Arg::new("to")
                    .value_name("HOST:PORT")
                    .required_unless_present("unix")
                    .conflicts_with("unix")
                    .help("Where to send"),
            )
            .arg(
                option("count", "N", "Packets in all [default, without --duration: 10000]")
                    .value_parser(value_parser!(u64).range(1..)),
            )
            .arg(
                option(
                    "patience",
                    "DURATION",
                    "Give up on a peer that takes and returns nothing for so long [default: 10s]",
                )
                .value_parser(duration),
            )
            .arg(
                option("rate", "N", "Packets a second in all [default: as fast as they are taken]")
                    .value_parser(rate),
            )
            .arg(
                option("connections", "N", "Connections at once [default: 1]")
                    .value_parser(value_parser!(u64).range(1..=1_000_000)),
            )
            .arg(switch("echo", "Wait for each packet to come back, and tell how long that took"))
            .after_help(SEND_EXPLANATION)
    })
}

const SEND_EXPLANATION: &str = "\
With --rate, latency is counted from when a packet should have gone out, not from when it did:
what a slow answer held up has waited as well. Sends to the address that is named and nowhere
else. Exit status 1 where a connection failed.";

fn fault(text: &str) -> Result<(f64, Fault), String> {
    let wrong = || "reset=RATE, half=RATE or slow=RATE:DURATION, a rate from 0 to 1".to_owned();
    let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
    let (rate, delay) = match rest.split_once(':') {
        Some((rate, delay)) => (rate, Some(duration(delay)?)),
        None => (rest, None),
    };
    let rate: f64 = rate.parse().ok().filter(|rate| (0.0..=1.0).contains(rate)).ok_or_else(wrong)?;
    match (name, delay) {
        ("reset", None) => Ok((rate, Fault::Reset)),
        ("half", None) => Ok((rate, Fault::Half)),
        ("slow", Some(delay)) => Ok((rate, Fault::Slow(Nanos::from(delay)))),
        _ => Err(wrong()),
    }
}

fn number(matches: &ArgMatches, name: &str, default: usize) -> usize {
    matches.get_one::<u64>(name).and_then(|number| usize::try_from(*number).ok()).unwrap_or(default)
}

fn address(matches: &ArgMatches, to: &str) -> Result<Address, Failure> {
    if let Some(path) = matches.get_one::<PathBuf>("unix") {
        return Ok(Address::Unix(path.clone()));
    }
    let address = Address::parse_host(to).map_err(Failure::usage)?;
    Ok(if matches.get_flag("udp") { Address::Udp(address) } else { Address::Tcp(address) })
}

pub(crate) fn sink_from_matches(matches: &ArgMatches) -> Result<SinkOptions, Failure> {
    let host = matches.get_one::<String>("listen").map_or("127.0.0.1", String::as_str);
    let port = matches.get_one::<u16>("port").copied().unwrap_or(PORT);
    let to = if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    };
    let faults: Vec<(f64, Fault)> = matches.get_many("fault").into_iter().flatten().copied().collect();
    let kind = if matches.get_flag("echo") {
        Some(Kind::Echo)
    } else if let Some(status) = matches.get_one("http") {
        Some(Kind::Http(*status))
    } else {
        matches.get_one::<PathBuf>("replies").map(|path| Replies::read(path)).transpose()?.map(Kind::Canned)
    };
    let address = address(matches, &to)?;
    if kind.is_none() && !faults.is_empty() {
        return Err(Failure::usage("--fault is about answers: --echo, --http or --replies"));
    }
    if faults.iter().map(|(rate, _)| rate).sum::<f64>() > 1.0 {
        return Err(Failure::usage("--fault: the rates add up to more than 1"));
    }
    if address.is_udp() && (matches.contains_id("delay") || matches.contains_id("clients")) {
        return Err(Failure::usage("--delay and --clients are about streams: not with --udp"));
    }
    if kind.is_some() && address.is_udp() {
        return Err(Failure::usage("answers go over streams: not with --udp"));
    }
    Ok(SinkOptions {
        address,
        size: matches.get_one("size").copied().unwrap_or(1024),
        delay: matches.get_one::<Duration>("delay").copied(),
        clients: matches.get_one("clients").copied(),
        duration: matches.get_one("duration").copied(),
        threads: number(matches, "threads", 1),
        answers: kind.map(|kind| Arc::new(Answers { kind, faults: Faults(faults) })),
        is_live: matches.get_flag("live"),
        is_json: matches.get_flag("json"),
    })
}

pub(crate) fn send_from_matches(matches: &ArgMatches) -> Result<SendOptions, Failure> {
    let address = address(matches, matches.get_one::<String>("to").map_or("", String::as_str))?;
    let duration = matches.get_one::<Duration>("duration").copied();
    let count = matches.get_one("count").copied();
    let size = number(matches, "size", 1024);
    if address.is_udp() && size > 65_507 {
        return Err(Failure::usage("a datagram holds at most 65507 bytes"));
    }
    let expects_echo = matches.get_flag("echo");
    if expects_echo && address.is_udp() {
        return Err(Failure::usage("--echo goes over streams: not with --udp"));
    }
    Ok(SendOptions {
        address,
        count: if count.is_none() && duration.is_none() { Some(10_000) } else { count },
        size,
        rate: matches.get_one("rate").copied(),
        connections: number(matches, "connections", 1),
        duration,
        patience: matches.get_one("patience").copied().unwrap_or(std::time::Duration::from_secs(10)),
        expects_echo,
        threads: number(matches, "threads", 1),
        is_live: matches.get_flag("live"),
        is_json: matches.get_flag("json"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_rates() {
        assert_eq!(fault("reset=0.5"), Ok((0.5, Fault::Reset)));
        assert_eq!(fault("slow=0.1:20ms"), Ok((0.1, Fault::Slow(Nanos(20_000_000)))));
        for wrong in ["reset", "reset=2", "slow=0.1", "half=0.1:1s", "x=0.1", "slow=0.1:x"] {
            assert!(fault(wrong).is_err(), "{wrong}");
        }
        assert!(rate("0").is_err() && rate("nan").is_err() && rate("10.5").is_ok());
    }
}
