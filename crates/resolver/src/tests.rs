//! Against name servers on the loopback.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::thread;

use super::*;

/// Starts a server that knows names: it answers over UDP that the answer is longer, and over TCP with it. It ends with the test.
fn serve(known: &'static [(&'static str, [u8; 4])]) -> SocketAddr {
    let (udp, tcp) = loop {
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        // The same port, unless another program has it.
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
            break (udp, tcp);
        }
    };
    let address = udp.local_addr().unwrap();
    thread::spawn(move || {
        let mut memory = [0; 512];
        while let Ok((length, client)) = udp.recv_from(&mut memory) {
            let mut reply = memory[..length].to_vec();
            reply[2..4].copy_from_slice(&[0x83, 0x80]);
            let _ = udp.send_to(&reply, client);
        }
    });
    thread::spawn(move || {
        for mut stream in tcp.incoming().flatten() {
            let mut memory = [0; 512];
            let length = stream.read(&mut memory).unwrap_or(0);
            let Some(question) = memory.get(2..length) else { continue };
            let reply = answer(question, known);
            let _ = stream.write_all(&[&(reply.len() as u16).to_be_bytes()[..], &reply].concat());
        }
    });
    address
}

fn answer(question: &[u8], known: &[(&str, [u8; 4])]) -> Vec<u8> {
    let (mut labels, mut at) = (Vec::new(), 12);
    while question[at] != 0 {
        let end = at + 1 + usize::from(question[at]);
        labels.push(String::from_utf8_lossy(&question[at + 1..end]).into_owned());
        at = end;
    }
    let address = known.iter().find(|(name, _)| *name == labels.join(".")).map(|(_, address)| address);
    let is_v4 = question[question.len() - 3] == 1;
    let mut reply = question.to_vec();
    reply[2..4].copy_from_slice(&[0x81, if address.is_some() { 0x80 } else { 0x83 }]);
    if let Some(address) = address.filter(|_| is_v4) {
        reply[6..8].copy_from_slice(&[0, 1]);
        reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4]);
        reply.extend(address);
    }
    reply
}

fn resolver(servers: Vec<SocketAddr>, text: &str) -> Resolver {
    Resolver::new(servers, ResolvConf::parse(text, ""))
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[test]
fn long_answers_come_over_tcp_and_names_are_completed() {
    let server = serve(&[("db.b.example", [192, 0, 2, 7]), ("www.example", [192, 0, 2, 8])]);
    let resolver = resolver(vec![server], "search a.example b.example");
    assert_eq!(resolver.addresses_of("db", soon()).unwrap(), [IpAddr::from([192, 0, 2, 7])]);
    assert_eq!(resolver.addresses_of("www.example", soon()).unwrap(), [IpAddr::from([192, 0, 2, 8])]);
    let unknown = resolver.addresses_of("db.", soon()).unwrap_err();
    assert_eq!(unknown, "no name server knows it");
}

#[test]
fn a_server_that_is_gone_is_followed_by_the_next() {
    let gone = {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.local_addr().unwrap()
    };
    let server = serve(&[("www.example", [192, 0, 2, 8])]);
    let both = resolver(vec![gone, server], "");
    assert_eq!(both.addresses_of("www.example", soon()).unwrap(), [IpAddr::from([192, 0, 2, 8])]);
    let error = resolver(vec![gone], "").addresses_of("www.example", soon()).unwrap_err();
    assert!(error.starts_with("the name server 127.0.0.1: "), "{error}");
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let silent_address = silent.local_addr().unwrap();
    let error = resolver(vec![silent_address], "").addresses_of("www.example", Instant::now()).unwrap_err();
    assert_eq!(error, "the name server 127.0.0.1: no answer");
    // Others have time left, whatever there is in all.
    let server = serve(&[("www.b.example", [192, 0, 2, 8])]);
    let both = resolver(vec![silent_address, server], "search a.example b.example");
    let found = both.addresses_of("www", Instant::now() + Duration::from_secs(4)).unwrap();
    assert_eq!(found, [IpAddr::from([192, 0, 2, 8])]);
    // What no server has denied may be there: the next domain is not asked.
    let asked = UdpSocket::bind("127.0.0.1:0").unwrap();
    let silent = resolver(vec![asked.local_addr().unwrap()], "search a.example b.example");
    silent.addresses_of("www", Instant::now() + Duration::from_millis(50)).unwrap_err();
    let mut memory = [0; 512];
    asked.set_nonblocking(true).unwrap();
    let mut names = 0;
    while let Ok(length) = asked.recv(&mut memory) {
        assert!(memory[..length].windows(3).any(|part| part == b"\x01a\x07"), "only a.example");
        names += 1;
    }
    assert!(names > 0);
}

#[test]
fn this_host_is_asked_of_no_server() {
    for name in ["localhost", "LOCALHOST.", "a.localhost"] {
        let addresses = addresses_of(name, Duration::ZERO).unwrap();
        assert!(addresses[0].is_loopback(), "{name}: {addresses:?}");
    }
    assert!(!is_this_host("localhost.example"));
}
