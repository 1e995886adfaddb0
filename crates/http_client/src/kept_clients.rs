//! Clients that are kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::{Client, MAX_REDIRECTS, Tls, limited, with_resolver};

/// Clients that are kept at most: with other times each request makes one.
const MOST: usize = 16;

/// Clients by the time that their requests may take. Each reads once what the system trusts, which takes longer than a request; each request
/// connects anew.
#[derive(Debug, Default)]
pub struct KeptClients(Mutex<BTreeMap<Duration, Client>>);

impl KeptClients {
    /// Returns the one whose requests take no longer than `timeout`. They follow redirects.
    pub fn within(&self, timeout: Duration) -> Client {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = known.get(&timeout) {
            return client.clone();
        }
        let config = limited(timeout, MAX_REDIRECTS, &Tls::default()).max_idle_connections(0);
        let client = with_resolver(config.build(), None);
        if known.len() < MOST {
            known.insert(timeout, client.clone());
        }
        client
    }
}
