//! Datagrams, which come without a connection, by their sender.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use facts::unit::Nanos;
use rustix::fd::OwnedFd;

use super::accounts::{Account, Accounts};
use super::shared::Shared;

/// Calls of one turn, each of which takes up to 64.
const BATCHES_A_TURN: usize = 64;
/// Senders with an account of their own; the others share one.
const MOST_SENDERS: usize = 20_000;

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
                let place = match self.last {
                    Some((sender, place)) if sender == datagram.sender => place,
                    _ => place_of(&mut self.accounts, &mut self.places, datagram.sender),
                };
                self.last = Some((datagram.sender, place));
                let account = &mut self.accounts[place];
                account.bytes += datagram.length as u64;
                account.packets += 1;
                account.first.get_or_insert(now);
                account.last = Some(now);
                bytes += datagram.length as u64;
            }
            shared.packets.fetch_add(received.len() as u64, Ordering::Relaxed);
            shared.bytes.fetch_add(bytes, Ordering::Relaxed);
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
    let sender = sender.filter(|_| places.len() < MOST_SENDERS || places.contains_key(&sender));
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
        assert_eq!(accounts.len(), MOST_SENDERS + 1);
        assert_eq!(accounts[MOST_SENDERS].name, "others");
    }
}
