//! Where a token is needed: who has shown it, and who is to wait before they try again.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};

use super::listener::Peer;

/// The name of the cookie.
pub(super) const COOKIE: &str = "whit-session";
/// Sign-ins that are known; the oldest are forgotten, as all are when the agent ends.
const MAX_SESSIONS: usize = 256;
pub(super) const MAX_SESSION: Duration = Duration::from_secs(30 * 86_400);
/// Addresses from which wrong tokens came; from more of them the others are one.
const MAX_ADDRESSES: usize = 1024;
/// After the first wrong token; twice as long after each other one.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const MAX_WAIT: Duration = Duration::from_secs(60);
/// Wrong passwords from an address within that time, of whatever accounts: each takes time to look at.
#[cfg(feature = "feeds")]
const MAX_WRONG: u32 = 30;
/// The most bytes of an account's name that are remembered.
const MAX_NAME_BYTES: usize = 64;

/// The sessions and the failed attempts of clients that need a token.
#[derive(Debug, Default)]
pub(super) struct SignIn(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The value of each session's cookie, and when the session was made.
    sessions: VecDeque<(String, Instant)>,
    /// Until when nothing is looked at that comes from an address for an account (none: the token), and how many were wrong.
    waits: HashMap<(Option<IpAddr>, Option<String>), (Instant, u32)>,
    /// When each address had its first wrong password within a minute, and how many since.
    #[cfg(feature = "feeds")]
    wrong: HashMap<Option<IpAddr>, (Instant, u32)>,
}

impl SignIn {
    fn known<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether a request is from a browser that has signed in.
    pub(super) fn is_signed_in(&self, headers: &HeaderMap) -> bool {
        let Some(session) = session(headers) else { return false };
        self.known(|known| {
            known.sessions.retain(|(_, since)| since.elapsed() < MAX_SESSION);
            known.sessions.iter().any(|(one, _)| is_token(session.as_bytes(), one))
        })
    }

    /// Returns whether the bytes given are the token. From an address from which wrong ones came nothing is looked at for a while.
    ///
    /// # Errors
    /// How long that is.
    pub(super) fn accepts(&self, given: &[u8], token: &str, peer: Option<Peer>) -> Result<bool, Duration> {
        let now = Instant::now();
        self.known(|known| {
            let address = known.address(peer, now);
            if let Some(wait) = known.wait(address, None, now) {
                return Err(wait);
            }
            let is_right = is_token(given, token);
            known.note(address, None, is_right, now);
            Ok(is_right)
        })
    }

    /// How long no password of an account is looked at that comes from an address: one's own right password says nothing about guesses at
    /// another's, and one person's wrong one does not keep others behind the same proxy out.
    #[cfg(feature = "feeds")]
    pub(super) fn wait_for_account(&self, peer: Option<Peer>, account: &str) -> Option<Duration> {
        let now = Instant::now();
        self.known(|known| {
            let address = known.address(peer, now);
            known.wait(address, Some(account), now).or_else(|| {
                let (since, _) = known.wrong.get(&address).filter(|(_, count)| *count >= MAX_WRONG)?;
                (*since + MAX_WAIT).checked_duration_since(now)
            })
        })
    }

    /// A password of an account from an address was right, or wrong.
    #[cfg(feature = "feeds")]
    pub(super) fn note_for_account(&self, peer: Option<Peer>, account: &str, is_right: bool) {
        let now = Instant::now();
        self.known(|known| {
            let address = known.address(peer, now);
            known.note(address, Some(account), is_right, now);
            if !is_right {
                known.wrong.retain(|_, (since, _)| *since + MAX_WAIT > now);
                known.wrong.entry(address).or_insert((now, 0)).1 += 1;
            }
        });
    }

    pub(super) fn begin_session(&self) -> String {
        let session = format!("{}{}", probe::random::hex(), probe::random::hex());
        self.known(|known| {
            known.sessions.push_back((session.clone(), Instant::now()));
            if known.sessions.len() > MAX_SESSIONS {
                known.sessions.pop_front();
            }
        });
        session
    }

    pub(super) fn end_session(&self, headers: &HeaderMap) {
        let Some(ended) = session(headers) else { return };
        self.known(|known| known.sessions.retain(|(one, _)| !is_token(ended.as_bytes(), one)));
    }
}

impl Known {
    fn wait(&self, address: Option<IpAddr>, account: Option<&str>, now: Instant) -> Option<Duration> {
        let (until, _) = self.waits.get(&(address, account.map(cut))).filter(|(until, _)| *until > now)?;
        Some(*until - now)
    }

    fn note(&mut self, address: Option<IpAddr>, account: Option<&str>, is_right: bool, now: Instant) {
        let place = (address, account.map(cut));
        if is_right {
            self.waits.remove(&place);
            return;
        }
        let (until, count) = self.waits.entry(place).or_insert((now, 0));
        *until = now + FIRST_WAIT.saturating_mul(1 << (*count).min(6)).min(MAX_WAIT);
        *count += 1;
    }

    /// Returns the address of a peer, of IPv6 the network; `None` for all peers that have none, or came after too many others.
    fn address(&mut self, peer: Option<Peer>, now: Instant) -> Option<IpAddr> {
        if self.waits.len() >= MAX_ADDRESSES {
            self.waits.retain(|_, (until, _)| *until + MAX_WAIT > now);
        }
        let Some(Peer::Tcp(from, _)) = peer else { return None };
        let address = match from.ip() {
            IpAddr::V6(address) if address.to_ipv4_mapped().is_none() => {
                IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into())
            }
            address => address,
        };
        let is_known = || self.waits.keys().any(|(known, _)| *known == Some(address));
        (self.waits.len() < MAX_ADDRESSES || is_known()).then_some(address)
    }
}

/// Returns the part of an account's name that is remembered.
fn cut(account: &str) -> String {
    account[..account.floor_char_boundary(MAX_NAME_BYTES)].to_owned()
}

fn session(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let mut pairs =
        cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// Returns whether two texts are the same, in a time that does not depend on how much of them is.
fn is_token(given: &[u8], token: &str) -> bool {
    let differing = given.iter().zip(token.as_bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    differing == 0 && given.len() == token.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(address: &str) -> Option<Peer> {
        Some(Peer::Tcp(address.parse().unwrap(), None))
    }

    #[test]
    fn wrong_tokens_are_slowed_where_they_come_from() {
        let sign_in = SignIn::default();
        let accepts = |given: &str, address: &str| sign_in.accepts(given.as_bytes(), "right", from(address));
        assert_eq!(accepts("wrong", "[2001:db8::1]:1"), Ok(false));
        assert!(accepts("right", "[2001:db8::2]:2").is_err(), "the same network");
        assert_eq!(accepts("right", "192.0.2.1:1"), Ok(true));
        for number in 0..2 * MAX_ADDRESSES {
            let address = format!("10.{}.{}.1:1", number / 256, number % 256);
            let _ = accepts("wrong", &address);
        }
        assert!(sign_in.known(|known| known.waits.len()) <= MAX_ADDRESSES + 1);
        assert!(accepts("right", "192.0.2.2:1").is_err(), "one of too many");
    }

    #[cfg(feature = "feeds")]
    #[test]
    fn passwords_of_one_account_are_not_those_of_another() {
        let sign_in = SignIn::default();
        let wait = |account: &str| sign_in.wait_for_account(from("192.0.2.1:1"), account);
        let note = |account: &str, is_right| sign_in.note_for_account(from("192.0.2.1:1"), account, is_right);
        note("ann", false);
        assert!(wait("ann").is_some() && wait("bob").is_none());
        note("bob", true);
        assert!(wait("ann").is_some(), "bob's password says nothing about ann's");
        assert!(sign_in.accepts(b"right", "right", from("192.0.2.1:1")).is_ok(), "nor about the token");
        for number in 1..MAX_WRONG {
            assert!(wait("carl").is_none(), "{number}");
            note(&number.to_string(), false);
        }
        assert!(wait("carl").is_some(), "too many names");
        assert!(sign_in.wait_for_account(from("192.0.2.2:1"), "carl").is_none());
    }

    #[test]
    fn a_session_is_known_by_its_cookie() {
        let sign_in = SignIn::default();
        let session = sign_in.begin_session();
        let headers = |cookie: String| HeaderMap::from_iter([(header::COOKIE, cookie.parse().unwrap())]);
        let right = headers(format!("a=b; {COOKIE}={session}"));
        assert!(sign_in.is_signed_in(&right));
        assert!(!sign_in.is_signed_in(&headers(format!("{COOKIE}="))));
        assert!(!sign_in.is_signed_in(&headers(format!("{COOKIE}={}", &session[1..]))));
        sign_in.end_session(&right);
        assert!(!sign_in.is_signed_in(&right));
    }
}
