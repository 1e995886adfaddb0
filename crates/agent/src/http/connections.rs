//! Limits the connections of each client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::clients::ClientKey;
use super::listener::Peer;

/// The most connections, and how many of them are reserved for root and the agent's user. Others are closed.
const MAX_CONNECTIONS: usize = 256;
const RESERVED: usize = 32;
/// The most connections of one user or address. A proxy is one client, too.
const MAX_OF_ONE: usize = 128;

/// The open connections of all clients.
#[derive(Debug)]
pub(super) struct Connections {
    own_uid: u32,
    open: Mutex<HashMap<ClientKey, usize>>,
}

/// An open connection. Dropping it makes room for another one.
#[derive(Debug)]
pub(super) struct ConnectionPermit {
    connections: Arc<Connections>,
    key: ClientKey,
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.key);
            }
        }
    }
}

impl Connections {
    pub(super) fn new(own_uid: u32) -> Arc<Self> {
        Arc::new(Self { own_uid, open: Mutex::default() })
    }

    /// Counts a connection. Returns `None` if there are too many.
    pub(super) fn permit(self: &Arc<Self>, peer: Peer) -> Option<ConnectionPermit> {
        let key = peer.key();
        let is_owner = key == ClientKey::User(0) || key == ClientKey::User(self.own_uid);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let most = if is_owner { MAX_CONNECTIONS } else { MAX_CONNECTIONS - RESERVED };
        let of_client = open.get(&key).copied().unwrap_or(0);
        if open.values().sum::<usize>() >= most || !is_owner && of_client >= MAX_OF_ONE {
            return None;
        }
        *open.entry(key).or_default() += 1;
        Some(ConnectionPermit { connections: Arc::clone(self), key })
    }
}

#[cfg(test)]
mod tests {
    use probe::sockets;

    use super::*;

    #[test]
    fn no_client_takes_all_connections() {
        let connections = Connections::new(999);
        let open = |uid, count: usize| -> Vec<_> {
            (0..count)
                .filter_map(|_| connections.permit(Peer::Unix(sockets::Peer { uid, gid: uid })))
                .collect()
        };
        let first = open(1000, 400);
        assert_eq!(first.len(), MAX_OF_ONE);
        let second = open(1001, 400);
        assert_eq!(second.len(), MAX_CONNECTIONS - RESERVED - MAX_OF_ONE);
        assert_eq!((open(0, 20).len(), open(999, 400).len()), (20, RESERVED - 20));
        drop(first);
        assert_eq!(open(1002, 400).len(), MAX_OF_ONE);
    }
}
