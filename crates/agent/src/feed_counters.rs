//! The counters of feeds, for the recorder and for the status.

use std::fmt::Write as _;

use facts::task::rounds::Scope;
use feeds::FeedCounts;
use recorder::FEED_SERIES;
use sampling::users::Users;

/// Writes the numbers of unread entries as lines of the agent's status: those of all accounts, or that of the account with a user's name.
pub(crate) fn write_unread(counts: &FeedCounts, scope: Scope, out: &mut String) {
    let Some(unread) = counts.unread() else { return };
    let users = match scope {
        Scope::All => None,
        Scope::User(_) => Some(Users::read()),
    };
    for count in unread {
        let is_shown = match scope {
            Scope::All => true,
            Scope::User(uid) => users.as_ref().and_then(|users| users.name(uid)) == Some(&count.account),
        };
        if is_shown {
            let _ = writeln!(out, "whit_feed_unread{{account=\"{}\"}} {}", count.account, count.unread);
        }
    }
}

/// The counters, in their order; `None` before feeds were polled.
pub(crate) fn counted(counts: &FeedCounts) -> Option<[f64; FEED_SERIES.len()]> {
    let unread = counts.unread_total()?;
    let totals = counts.totals();
    let counted = [
        totals.changed,
        totals.unchanged,
        totals.failed,
        totals.requests,
        totals.bytes,
        totals.entries,
        unread,
    ];
    Some(counted.map(|count| count as f64))
}
