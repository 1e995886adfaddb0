//! Datagrams, which come without a connection, by their sender.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use facts::unit::Nanos;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recvfrom, sendto};

use super::accounts::{Account, Accounts};
use super::shared::Shared;

/// Calls of one turn, each of which takes up to 64.
const BATCHES_A_TURN: usize = 64;
/// Datagrams that are sent back in one turn. Each takes two system calls.
const ECHOES_A_TURN: usize = 256;
/// Senders with an account of their own; the others share one.
const MAX_SENDERS: usize = 20_000;

/// A thread's.
#[derive(Debug, Default)]
pub(super) struct Datagrams {
    accounts: Vec<Account>,
    places: HashMap<Option<SocketAddr>, usize>,
    /// The sender of the last datagram, and its place: the next is mostly of the same sender.
    last: Option<(Option<SocketAddr>, usize)>,
    received: probe::sockets::Datagrams,
}

impl Datagrams {
    /// Takes datagrams; whether more may wait.
    pub(super) fn take(&mut self, socket: &OwnedFd, now: Nanos, shared: &Shared) -> bool {
        for _ in 0..BATCHES_A_TURN {
            let Ok(received) = self.received.discard(socket) else { return false };
            let mut bytes = 0;
            for datagram in received {
                let known = self.last.filter(|(sender, _)| *sender == datagram.sender);
                let place = known.map_or_else(
                    || place_of(&mut self.accounts, &mut self.places, datagram.sender),
                    |(_, place)| place,
                );
                self.last = Some((datagram.sender, place));
                self.accounts[place].count(datagram.length as u64, now);
                bytes += datagram.length as u64;
            }
            shared.packets.fetch_add(received.len() as u64, Ordering::Relaxed);
            shared.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        true
    }

    /// Takes datagrams and sends each back to its sender; whether more may wait. What the socket does not take is lost, as anywhere on the way.
    pub(super) fn send_back(
        &mut self,
        socket: &OwnedFd,
        memory: &mut [u8],
        now: Nanos,
        shared: &Shared,
    ) -> bool {
        for _ in 0..ECHOES_A_TURN {
            let (length, sender) = match recvfrom(socket, &mut *memory, RecvFlags::DONTWAIT) {
                Ok((length, _, sender)) => {
                    (length, sender.and_then(|sender| SocketAddr::try_from(sender).ok()))
                }
                Err(Errno::INTR) => continue,
                Err(_) => return false,
            };
            let place = place_of(&mut self.accounts, &mut self.places, sender);
            self.accounts[place].count(length as u64, now);
            shared.packets.fetch_add(1, Ordering::Relaxed);
            shared.bytes.fetch_add(length as u64, Ordering::Relaxed);
            if let Some(sender) = sender {
                let _ = sendto(socket, &memory[..length], SendFlags::NOSIGNAL | SendFlags::DONTWAIT, &sender);
            }
        }
        true
    }

    /// Adds all senders.
    pub(super) fn finish(self, accounts: &mut Accounts) {
        self.accounts.into_iter().for_each(|account| accounts.push(account));
    }
}

/// The place of a sender's account.
fn place_of(
    accounts: &mut Vec<Account>,
    places: &mut HashMap<Option<SocketAddr>, usize>,
    sender: Option<SocketAddr>,
) -> usize {
    let sender = sender.filter(|_| places.len() < MAX_SENDERS || places.contains_key(&sender));
    *places.entry(sender).or_insert_with(|| {
        let name = sender.map_or_else(|| "others".to_owned(), |sender| sender.to_string());
        accounts.push(Account { name, ..Account::default() });
        accounts.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_have_accounts_and_very_many_share_one() {
        let (mut accounts, mut places) = (Vec::new(), HashMap::new());
        let mut place = |port: u32| {
            let address = [10, 0, (port >> 16) as u8, 1];
            place_of(&mut accounts, &mut places, Some(SocketAddr::from((address, port as u16))))
        };
        assert_eq!((place(5), place(6), place(5)), (0, 1, 0));
        let others: Vec<usize> = (10..40_000).map(&mut place).collect();
        assert_eq!((others[39_000], place(5)), (others[39_001], 0));
        assert_eq!(accounts.len(), MAX_SENDERS + 1);
        assert_eq!(accounts[MAX_SENDERS].name, "others");
    }
}
