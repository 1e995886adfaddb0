//! One question to one name server: over UDP, and over TCP if the answer is longer than a datagram.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use formats::dns::{self, Family, Reply};
use probe::random;

/// Asks a server for the addresses of a name.
///
/// # Errors
/// If it did not answer by `until`, or the name is none of the DNS.
pub(super) fn ask(
    server: SocketAddr,
    uses_tcp: bool,
    name: &str,
    family: Family,
    until: Instant,
) -> Result<Reply, String> {
    let id = u16::try_from(random::number() & 0xffff).unwrap_or_default();
    let question = dns::question(id, name, family).ok_or_else(|| "it is no name".to_owned())?;
    let mut known = Vec::new();
    if !uses_tcp {
        match over_udp(server, &question, until).map_err(|error| reason(&error))? {
            Reply::Truncated(addresses) => known = addresses,
            reply => return Ok(reply),
        }
    }
    match over_tcp(server, &question, until) {
        // Some firewalls let no TCP through: some of the addresses are better than none.
        Err(_) if !known.is_empty() => Ok(Reply::Truncated(known)),
        asked => asked.map_err(|error| reason(&error)),
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    }
}

/// Returns the time that is left.
///
/// # Errors
/// If none is.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn over_udp(server: SocketAddr, question: &[u8], until: Instant) -> io::Result<Reply> {
    let own: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // Connected: the kernel drops answers from other addresses.
    let socket = UdpSocket::bind((own, 0))?;
    socket.connect(server)?;
    socket.send(question)?;
    let mut memory = [0; dns::MAX_UDP_BYTES];
    loop {
        socket.set_read_timeout(Some(left(until)?))?;
        let length = socket.recv(&mut memory)?;
        if let Some(reply) = dns::reply(question, &memory[..length]) {
            return Ok(reply);
        }
    }
}

/// The length of each message precedes it: RFC 1035, 4.2.2.
fn over_tcp(server: SocketAddr, question: &[u8], until: Instant) -> io::Result<Reply> {
    let mut stream = TcpStream::connect_timeout(&server, left(until)?)?;
    let length = u16::try_from(question.len()).unwrap_or_default().to_be_bytes();
    stream.set_write_timeout(Some(left(until)?))?;
    stream.write_all(&[&length, question].concat())?;
    let mut length = [0; 2];
    fill(&mut stream, &mut length, until)?;
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    fill(&mut stream, &mut message, until)?;
    dns::reply(question, &message)
        .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "its answer is not understood"))
}

/// Fills memory. A server that sends a byte now and then gets no more time for that.
fn fill(stream: &mut TcpStream, mut memory: &mut [u8], until: Instant) -> io::Result<()> {
    while !memory.is_empty() {
        stream.set_read_timeout(Some(left(until)?))?;
        match stream.read(memory)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            length => memory = &mut memory[length..],
        }
    }
    Ok(())
}
