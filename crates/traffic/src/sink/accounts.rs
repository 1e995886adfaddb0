//! Accounts of what clients sent: each, and all of them together.

use facts::unit::Nanos;

/// Clients of a thread that are reported one by one; later ones are summed.
const MAX_LISTED: usize = 20_000;

/// The account of one client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
    /// Bytes of a last packet that did not come whole.
    pub(crate) incomplete_bytes: u64,
    pub(crate) incomplete_packets: u64,
    pub(crate) first: Option<Nanos>,
    pub(crate) last: Option<Nanos>,
    /// It went without a word.
    pub(crate) is_aborted: bool,
    /// The answers of a control server, and how many of them something was done to.
    pub(crate) answers: Option<Answered>,
}

/// The counts of a control server's answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answered {
    pub(crate) answers: u64,
    pub(crate) faults: u64,
}

/// The accounts of many clients. A sink that runs for months has had any number of clients.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    /// In the order in which they went.
    pub(crate) listed: Vec<Account>,
    /// The sum of all clients, including those that are not reported one by one.
    pub(crate) all: Account,
    pub(crate) clients: u64,
}

impl Account {
    /// Counts a datagram.
    pub(super) fn count(&mut self, bytes: u64, now: Nanos) {
        self.bytes += bytes;
        self.packets += 1;
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.packets += other.packets;
        self.incomplete_bytes += other.incomplete_bytes;
        self.incomplete_packets += other.incomplete_packets;
        self.first = Nanos::earlier(self.first, other.first);
        self.last = self.last.max(other.last);
        if let Some(answered) = other.answers {
            let sum = self.answers.get_or_insert_default();
            sum.answers += answered.answers;
            sum.faults += answered.faults;
        }
    }
}

impl Accounts {
    /// Adds one that went.
    pub(super) fn push(&mut self, account: Account) {
        self.all.add(&account);
        self.clients += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(account);
        }
    }

    /// Adds those of another thread.
    pub(super) fn merge(&mut self, other: Self) {
        self.all.add(&other.all);
        self.clients += other.clients;
        self.listed.extend(other.listed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_clients_are_counted_and_some_are_listed() {
        let (mut one, mut other) = (Accounts::default(), Accounts::default());
        for place in 0..30_000 {
            let account = Account { packets: 2, first: Some(Nanos(place)), ..Account::default() };
            one.push(account.clone());
            other.push(account);
        }
        one.merge(other);
        assert_eq!((one.clients, one.listed.len(), one.all.packets), (60_000, 2 * MAX_LISTED, 120_000));
        assert_eq!(one.all.first, Some(Nanos(0)));
    }
}
