//! Options of `whit sink` and `whit send`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use facts::unit::{Bytes, Nanos};

use super::address::Address;
use super::send::condition::Condition;
use super::send::connection::{Answer, NUMBER_BYTES};
use super::send::options::SendOptions;
use super::send::request::Request;
use super::send::server::Server;
use super::sink::answer::{self, Answers};
use super::sink::fault::{Fault, Faults};
use super::sink::http;
use super::sink::log::Log;
use super::sink::options::SinkOptions;
use super::sink::replies::Replies;
use command::failure::Failure;
use command::kind::Kind;
use command::options::{count, json, number, option, paragraphs, switch};
use command::quantity::duration;

/// The port of the server that this replaces.
const PORT: u16 = 22222;

fn common(command: Command) -> Command {
    command
        .arg(option("size", Kind::Size, "Bytes of a packet [default: 1K]"))
        .arg(option("duration", Kind::Duration, "End after that"))
        .arg(option("workers", Kind::Workers, "Threads that do it [default: 1]"))
        .arg(option("unix", Kind::Path, "By a Unix socket"))
        .arg(switch("udp", "By datagrams").conflicts_with("unix"))
        .arg(switch("live", "Tell each second how it goes, on standard error"))
        .arg(json())
}

/// Returns the options of `whit sink`.
pub fn sink_command() -> Command {
    Command::new("sink").about("Take what clients send over sockets, and count it").defer(|command| {
        common(command)
            .arg(
                Arg::new("at")
                    .value_name("HOST:PORT")
                    .conflicts_with_all(["listen", "port", "unix"])
                    .help("Where to listen, as send has it [default: 127.0.0.1:22222]"),
            )
            .arg(
                Arg::new("listen")
                    .long("listen")
                    .value_name("ADDRESS")
                    .conflicts_with("unix")
                    .help("Address to listen at [default: 127.0.0.1]"),
            )
            .arg(
                Arg::new("port")
                    .long("port")
                    .value_name("PORT")
                    .value_parser(value_parser!(u16))
                    .conflicts_with("unix")
                    .help("Port to listen at [default: 22222]"),
            )
            .arg(option("delay", Kind::Duration, "Time that each packet takes to be dealt with"))
            .arg(option("clients", Kind::Count, "End when so many clients have come and gone"))
            .arg(switch("echo", "Send everything back").conflicts_with_all(["http", "replies"]))
            .arg(
                Arg::new("http")
                    .long("http")
                    .value_name("STATUS")
                    .value_parser(value_parser!(u16).range(200..600))
                    .conflicts_with("replies")
                    .help("Answer every HTTP request with this status"),
            )
            .arg(option("replies", Kind::File, "Answer as the file says, by path or by first line"))
            .arg(option("log", Kind::File, "Append a line for each request to FILE; with --json a document"))
            .arg(
                Arg::new("fault")
                    .long("fault")
                    .value_name("reset|half|slow=SHARE")
                    .value_parser(fault)
                    .action(ArgAction::Append)
                    .help("How many of all answers are reset, cut in half, or slow (slow=0.1:500ms)"),
            )
            .after_help(paragraphs(SINK_EXPLANATION))
    })
}

const SINK_EXPLANATION: &str = "\
Packets of a stream are counted by --size, as they were sent, however it was split. The last one
is counted separately if it is incomplete. A file of replies is TOML. To requests of HTTP:
  [[reply]]
  path = \"/health\"
  method = \"GET\"
  status = 200
  content_type = \"text/plain\"
  headers = { Name = \"value\" }
  body = \"fine\"
or to lines, in a file of its own:
  [[reply]]
  line = \"PING\"
  text = \"PONG\\n\"
The first that is meant replies; a * at the end of path or line stands for whatever follows. After
times = 2 the next one replies; delay = \"200ms\" or fault = \"reset\", \"half\" is of this reply alone.
Ends on Ctrl-C, after --duration or --clients, and prints what came.";

/// Returns the options of `whit send`.
pub fn send_command() -> Command {
    Command::new("send").about("Send packets or requests, and measure throughput and latency").defer(|command| {
        common(command)
            .arg(
                Arg::new("to")
                    .value_name("HOST:PORT")
                    .required_unless_present("unix")
                    .conflicts_with("unix")
                    .help("Where to send, or what to ask by HTTP/1.1: https://shop.test/health"),
            )
            .arg(count("Packets in all [default, without --duration: 10k]"))
            .arg(option(
                "timeout",
                Kind::Duration,
                "Give up on a peer that takes and returns nothing for so long [default: 10s], and on a datagram that does not come back [default: 1s]",
            ))
            .arg(option("rate", Kind::Rate, "Packets a second in all [default: as fast as they are taken]"))
            .arg(option("connections", Kind::Count, "Connections at once [default: 1]"))
            .arg(
                Arg::new("http")
                    .long("http")
                    .value_name("URL-PATH")
                    .conflicts_with_all(["echo", "size", "udp"])
                    .help("Ask for a path such as /index.html by HTTP/1.1 instead, wait for each answer, and count their statuses"),
            )
            .arg(
                Arg::new("method")
                    .long("method")
                    .value_name("METHOD")
                    .help("Of a request: the method [default: GET, with --body POST]"),
            )
            .arg(
                Arg::new("header")
                    .long("header")
                    .value_name("NAME: VALUE")
                    .action(ArgAction::Append)
                    .help("Of a request: a header more"),
            )
            .arg(
                option(
                    "body",
                    Kind::File,
                    "Of a request: what the file holds goes with each; - is standard input",
                ),
            )
            .arg(option("ca", Kind::File, "With https: trust the certificates of this file in PEM, not the system's"))
            .arg(switch("echo", "Wait for each packet to come back, and tell how long that took"))
            .arg(
                Arg::new("fail-if")
                    .long("fail-if")
                    .value_name("CONDITION")
                    .value_parser(Condition::parse)
                    .action(ArgAction::Append)
                    .help("Exit with status 1 if it holds: 'p99>50ms', 'errors>0', 'rate<1000'"),
            )
            .after_help(paragraphs(SEND_EXPLANATION))
    })
}

const SEND_EXPLANATION: &str = "\
With --rate, latency is counted from when a packet should have gone out, not from when it did:
what a slow answer held up has waited as well. Sends to the address that is named and nowhere
else. Exit status 1 where a connection failed.";

fn fault(text: &str) -> Result<(f64, Fault), String> {
    let wrong = || "reset=SHARE, half=SHARE or slow=SHARE:DURATION, a share from 0 to 1".to_owned();
    let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
    let (rate, delay) = match rest.split_once(':') {
        Some((rate, delay)) => (rate, Some(duration(delay)?)),
        None => (rest, None),
    };
    let rate =
        text::quantity::number(rate).ok().filter(|rate| (0.0..=1.0).contains(rate)).ok_or_else(wrong)?;
    match (name, delay) {
        ("reset", None) => Ok((rate, Fault::Reset)),
        ("half", None) => Ok((rate, Fault::Half)),
        ("slow", Some(delay)) => Ok((rate, Fault::Slow(Nanos::from(delay)))),
        _ => Err(wrong()),
    }
}

/// The largest packet.
const LARGEST: Bytes = Bytes(1 << 30);
/// The most connections at once.
const MAX_CONNECTIONS: usize = 1_000_000;

/// Bytes of a packet.
fn size(matches: &ArgMatches) -> Result<u64, Failure> {
    let size = matches.get_one::<Bytes>("size").copied().unwrap_or(Bytes(1024));
    if !(Bytes(1)..=LARGEST).contains(&size) {
        return Err(Failure::usage("--size is from 1 byte to 1G"));
    }
    Ok(size.0)
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
    let named = matches.get_one::<String>("at").cloned();
    let to = if let Some(named) = named {
        named
    } else if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    };
    let faults: Vec<(f64, Fault)> = matches.get_many("fault").into_iter().flatten().copied().collect();
    let kind = if matches.get_flag("echo") {
        Some(answer::Kind::Echo)
    } else if let Some(status) = matches.get_one("http") {
        Some(answer::Kind::Http(http::Answer::new(*status)))
    } else {
        matches
            .get_one::<PathBuf>("replies")
            .map(|path| Replies::read(path))
            .transpose()?
            .map(answer::Kind::Canned)
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
    if address.is_udp() && matches.contains_id("size") {
        return Err(Failure::usage("each datagram is a packet: --size is about streams"));
    }
    if matches!(kind, Some(answer::Kind::Http(_) | answer::Kind::Canned(_))) && matches.contains_id("size") {
        return Err(Failure::usage("--size is of packets, and these are requests"));
    }
    if kind.is_some() && matches.contains_id("delay") {
        return Err(Failure::usage(
            "--delay is about packets; answers take longer with --fault slow=1:300ms",
        ));
    }
    if address.is_udp() && (!faults.is_empty() || !matches!(kind, None | Some(answer::Kind::Echo))) {
        return Err(Failure::usage(
            "of datagrams --echo alone is an answer: not with --http, --replies or --fault",
        ));
    }
    let has_requests = matches!(kind, Some(answer::Kind::Http(_) | answer::Kind::Canned(_)));
    if matches.contains_id("log") && !has_requests {
        return Err(Failure::usage("--log is of requests: with --http or --replies"));
    }
    let log = matches
        .get_one::<PathBuf>("log")
        .map(|path| Log::open(path, matches.get_flag("json")))
        .transpose()?;
    Ok(SinkOptions {
        address,
        size: size(matches)?,
        delay: matches.get_one::<Duration>("delay").copied(),
        clients: matches.get_one("clients").copied(),
        duration: matches.get_one("duration").copied(),
        threads: number(matches, "workers").unwrap_or(1),
        answers: kind.map(|kind| Arc::new(Answers { kind, log, faults: Faults(faults) })),
        is_live: matches.get_flag("live"),
        is_json: matches.get_flag("json"),
    })
}

/// Switches are there in any case.
fn is_given(matches: &ArgMatches, name: &str) -> bool {
    matches.value_source(name) == Some(ValueSource::CommandLine)
}

fn request(path: &str, host: &str, matches: &ArgMatches) -> Request {
    Request {
        method: matches.get_one("method").cloned(),
        path: path.to_owned(),
        host: host.to_owned(),
        headers: matches.get_many("header").into_iter().flatten().cloned().collect(),
        body: matches.get_one("body").cloned(),
    }
}

pub(crate) fn send_from_matches(matches: &ArgMatches) -> Result<SendOptions, Failure> {
    let to = matches.get_one::<String>("to").map_or("", String::as_str);
    let server = Server::parse(to, matches.get_one::<PathBuf>("ca").map(PathBuf::as_path))?;
    if server.is_some() && ["http", "echo", "udp", "size"].iter().any(|name| is_given(matches, name)) {
        return Err(Failure::usage(
            "an address is asked by itself: without --http, --echo, --udp and --size",
        ));
    }
    let address = address(matches, server.as_ref().map_or(to, |server| &server.address))?;
    let duration = matches.get_one::<Duration>("duration").copied();
    let count = matches.get_one("count").copied();
    let size = usize::try_from(size(matches)?).map_err(Failure::internal)?;
    let connections = number(matches, "connections").unwrap_or(1);
    if connections > MAX_CONNECTIONS {
        return Err(Failure::usage("--connections is at most 1M"));
    }
    if address.is_udp() && size > 65_507 {
        return Err(Failure::usage("a datagram holds at most 65507 bytes"));
    }
    let host = if to.is_empty() { "localhost" } else { to };
    let asked = match &server {
        Some(Server { host, path, .. }) => Some(request(path, host, matches)),
        None => matches.get_one::<String>("http").map(|path| request(path, host, matches)),
    };
    if asked.is_none() && ["method", "header", "body"].iter().any(|name| matches.contains_id(name)) {
        return Err(Failure::usage(
            "--method, --header and --body are of requests: with --http or an address",
        ));
    }
    let request = asked.as_ref().map(Request::bytes).transpose()?;
    let size = request.as_ref().map_or(size, Vec::len);
    let expects_echo = matches.get_flag("echo");
    if expects_echo && address.is_udp() && size < NUMBER_BYTES {
        return Err(Failure::usage(
            "a datagram that is to come back has its number in it: --size is at least 8",
        ));
    }
    // One that is lost is waited for in vain.
    let patience =
        if expects_echo && address.is_udp() { Duration::from_secs(1) } else { Duration::from_secs(10) };
    let failures: Vec<Condition> = matches.get_many("fail-if").into_iter().flatten().cloned().collect();
    if asked.is_none() && !expects_echo && failures.iter().any(Condition::is_of_latency) {
        return Err(Failure::usage("--fail-if: only answers have a latency: with --http or --echo"));
    }
    let is_udp = address.is_udp();
    Ok(SendOptions {
        address,
        count: if count.is_none() && duration.is_none() { Some(10_000) } else { count },
        size,
        rate: matches.get_one("rate").copied(),
        connections,
        duration,
        patience: matches.get_one("timeout").copied().unwrap_or(patience),
        answer: match (&asked, expects_echo) {
            (Some(asked), _) => Answer::Http { has_body: !asked.is_head() },
            (None, true) if is_udp => Answer::Datagram,
            (None, true) => Answer::Echo,
            (None, false) => Answer::None,
        },
        tls: server.and_then(|server| server.tls),
        request,
        threads: number(matches, "workers").unwrap_or(1),
        failures,
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
    }
}
