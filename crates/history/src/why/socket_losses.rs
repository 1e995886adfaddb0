//! Names the sockets behind what TCP and UDP lost, as far as they are there now: no history has them.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::rc::Rc;

use facts::linux::socket_tables::{InetProtocol, InetSocket};
use facts::task::chain::ProcessNow;

use super::sentence::{Culprit, Findings, Program, Trouble};
use text::plot::Measure;

/// The part of all losses at which a socket is named: of those between two looks, and of those since the sockets were made.
const MAX_NOW: f64 = 0.5;
const MAX_EVER: f64 = 0.8;

/// The sockets of TCP and UDP at one look.
pub type Sockets = [(InetProtocol, InetSocket)];

impl Findings {
    /// Returns whether a sentence is about something that sockets lost.
    pub fn has_socket_losses(&self) -> bool {
        let of_sockets = [Trouble::Connections, Trouble::Datagrams, Trouble::Retransmissions];
        self.sentences.iter().any(|sentence| of_sockets.contains(&sentence.trouble))
    }

    /// Adds the sockets that lost most between two looks, or else probably did so before. `owner` finds the process of a socket by its
    /// number.
    pub fn name_sockets(
        &mut self,
        before: &Sockets,
        now: &Sockets,
        mut owner: impl FnMut(u32) -> Option<Rc<ProcessNow>>,
    ) {
        for sentence in &mut self.sentences {
            let ever = losses(sentence.trouble, now);
            let ever_before: HashMap<u32, u32> =
                losses(sentence.trouble, before).iter().map(|loss| (loss.socket.inode, loss.count)).collect();
            // What was not full before is compared with nothing.
            let lately = ever.iter().copied().filter_map(|loss| {
                let earlier = ever_before.get(&loss.socket.inode)?;
                Some(Loss { count: loss.count.wrapping_sub(*earlier), ..loss })
            });
            let lately: Vec<Loss<'_>> = lately.collect();
            let certain = most(&lately, MAX_NOW).map(|socket| (socket, ""));
            let found = certain.or_else(|| Some((most(&ever, MAX_EVER)?, "probably ")));
            let Some((socket, probably)) = found else { continue };
            let process = owner(socket.inode);
            let who = process.as_ref().map_or_else(
                || "a process that is not seen".to_owned(),
                |process| format!("{} ({})", process.comm(), process.pid),
            );
            let words = words(sentence.trouble, socket, &who);
            sentence.text = format!("{}; {probably}most {words}.", sentence.text.trim_end_matches('.'));
            sentence.culprit = process.map(|process| Culprit::Program(Program::of(&process)));
        }
    }
}

/// What a socket lost.
#[derive(Clone, Copy)]
struct Loss<'s> {
    socket: &'s InetSocket,
    /// The address that is named: sockets of one address count together.
    address: SocketAddr,
    count: u32,
}

/// What each socket lost since it was made. Filters and other causes count as well: sockets that could take more are left out.
fn losses(trouble: Trouble, sockets: &Sockets) -> Vec<Loss<'_>> {
    let lost = |protocol: InetProtocol, socket: &InetSocket| match (trouble, protocol) {
        (Trouble::Connections, InetProtocol::Tcp) if socket.is_listening && socket.unread >= socket.room => {
            Some((socket.local, socket.memory?.drops))
        }
        (Trouble::Datagrams, InetProtocol::Udp) => {
            let memory = socket.memory.filter(|memory| memory.used_bytes >= memory.buffer_bytes / 2)?;
            Some((socket.local, memory.drops))
        }
        (Trouble::Retransmissions, InetProtocol::Tcp) => {
            Some((socket.remote, socket.tcp?.total_retransmitted))
        }
        _ => None,
    };
    // Without a number it is of no process any more.
    let open = sockets.iter().filter(|(_, socket)| socket.inode != 0);
    let losses = open.filter_map(|(protocol, socket)| {
        let (address, count) = lost(*protocol, socket)?;
        Some(Loss { socket, address, count })
    });
    losses.collect()
}

/// Of the address with at least a part of all losses the socket that lost most.
fn most<'s>(losses: &[Loss<'s>], least: f64) -> Option<&'s InetSocket> {
    let mut by_address: BTreeMap<SocketAddr, f64> = BTreeMap::new();
    for loss in losses {
        *by_address.entry(loss.address).or_default() += f64::from(loss.count);
    }
    let all: f64 = by_address.values().sum();
    let (address, lost) = by_address.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let at_address = losses.iter().filter(|loss| loss.address == address);
    let socket = at_address.max_by_key(|loss| loss.count)?.socket;
    (lost > 0.0 && lost >= all * least).then_some(socket)
}

fn words(trouble: Trouble, socket: &InetSocket, who: &str) -> String {
    let InetSocket { local, remote, unread, room, .. } = socket;
    match trouble {
        Trouble::Connections => {
            format!(
                "at {local} of {who}, where {unread} connections wait to be accepted and there is room for {room}"
            )
        }
        Trouble::Datagrams => {
            format!("at {local} of {who}, which has {} to read", Measure::Bytes.write(f64::from(*unread)))
        }
        _ => format!("to {remote} by {who}"),
    }
}

#[cfg(test)]
mod tests {
    use facts::linux::socket_tables::ReceiveMemory;
    use facts::task::chain::{Activity, ThreadNow};

    use super::super::finding::{Cost, sentence};
    use super::*;

    fn listening(inode: u32, drops: u32) -> (InetProtocol, InetSocket) {
        let local = format!("0.0.0.0:{}", 80 + inode / 3).parse().unwrap();
        let remote = "0.0.0.0:0".parse().unwrap();
        let memory = Some(ReceiveMemory { used_bytes: 0, buffer_bytes: 1, drops });
        (
            InetProtocol::Tcp,
            InetSocket { inode, local, remote, is_listening: true, unread: 5, room: 4, memory, tcp: None },
        )
    }

    fn said(trouble: Trouble, before: &Sockets, now: &Sockets) -> (String, Option<Culprit>) {
        let sentence = sentence(trouble, Cost::None, "So it is.".to_owned(), None, []);
        let mut findings = Findings { sentences: vec![sentence], ..Findings::default() };
        assert!(findings.has_socket_losses());
        findings.name_sockets(before, now, |pid| {
            let thread = ThreadNow { tid: pid, pid, comm: format!("p{pid}"), activity: Activity::Runs };
            (pid < 9).then(|| Rc::new(ProcessNow { pid, threads: vec![thread] }))
        });
        let sentence = findings.sentences.remove(0);
        (sentence.text, sentence.culprit)
    }

    #[test]
    fn who_loses_now_is_named_before_who_once_did() {
        let of = |before: [u32; 2], now: [u32; 2]| {
            let sockets = |[one, two]: [u32; 2]| [listening(1, one), listening(4, two)];
            said(Trouble::Connections, &sockets(before), &sockets(now)).0
        };
        let words = "where 5 connections wait to be accepted and there is room for 4.";
        assert_eq!(of([900, 2], [900, 7]), format!("So it is; most at 0.0.0.0:81 of p4 (4), {words}"));
        assert_eq!(
            of([900, 7], [900, 7]),
            format!("So it is; probably most at 0.0.0.0:80 of p1 (1), {words}")
        );
        assert_eq!(of([7, 7], [7, 7]), "So it is.");
        assert_eq!(of([0, 0], [0, 0]), "So it is.");
    }

    #[test]
    fn sockets_of_one_address_count_together() {
        let before = [listening(1, 0), listening(2, 0), listening(3, 0)];
        let now = [listening(1, 3), listening(2, 4), listening(3, 5)];
        let (text, _) = said(Trouble::Connections, &before, &now);
        assert!(text.starts_with("So it is; most at 0.0.0.0:80 of p2 (2)"), "{text}");
    }

    #[test]
    fn a_socket_that_is_not_full_is_not_named() {
        let [mut one] = [listening(1, 9)];
        one.1.unread = 3;
        assert_eq!(said(Trouble::Connections, &[], &[one]).0, "So it is.");
    }

    #[test]
    fn a_socket_counts_for_its_own_trouble() {
        let sockets = [listening(9, 3)];
        assert_eq!(said(Trouble::Datagrams, &[], &sockets), ("So it is.".to_owned(), None));
        let (text, culprit) = said(Trouble::Connections, &[], &sockets);
        assert!(text.contains("most at 0.0.0.0:83 of a process that is not seen"), "{text}");
        assert_eq!(culprit, None);
    }
}
