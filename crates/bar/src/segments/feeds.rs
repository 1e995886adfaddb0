//! Entries of feeds that the user has not read.

use std::time::Duration;

use super::field;
use crate::appearance::ItemRenderer;
use crate::kind::Kind;
use crate::query::{Job, Query};
use crate::{Segment, SegmentContext, SegmentInput, Tone};
use command::agent_rows;
use text::template::Value;

pub(crate) const KIND: Kind = Kind {
    name: "feeds",
    about: "Entries of feeds that were not read; nothing if no agent runs, or the user has no account there.",
    fields: &[field("unread", "how many entries were not read"), field("account", "the account")],
    format: "feeds {unread}",
    thresholds: &[(Tone::Good, "unread > 0")],
    interval: Some(Duration::from_secs(10)),
    options: &[("account", "the account; without it the one with the user's name")],
    make: |options| {
        let user = || std::env::var("USER").unwrap_or_default();
        let account = options.text("account")?.map_or_else(user, str::to_owned);
        let (mut client, wanted) = (None, account.clone());
        let ask: Job<Option<u64>> = Box::new(move || unread(&agent_rows::status(&mut client)?, &wanted));
        Ok(Box::new(Feeds { account, query: Query::new(ask) }))
    },
    ..Kind::DEFAULT
};

struct Feeds {
    account: String,
    query: Query<Option<u64>, Job<Option<u64>>>,
}

/// Finds the count of an account in the lines of the agent's status, which shows users only their own.
fn unread(status: &str, account: &str) -> Option<u64> {
    status.lines().find_map(|line| {
        let (name, count) = line.strip_prefix("whit_feed_unread{account=\"")?.split_once("\"} ")?;
        (name == account).then(|| count.parse().ok())?
    })
}

impl Segment for Feeds {
    fn tick(&mut self, context: &SegmentContext) {
        self.query.request("feeds", context);
    }

    fn is_waiting(&self) -> bool {
        self.query.is_waiting()
    }

    fn render(&mut self, _scene: &SegmentInput<'_>, items: &mut ItemRenderer<'_>) {
        let account = &self.account;
        self.query.render(items, |unread, items| {
            let Some(Some(unread)) = unread else { return };
            items.only(&[Value::count(*unread), Value::text(account)]);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_name() {
        let status = "whit_checks{state=\"ok\"} 7\nwhit_feed_unread{account=\"ann\"} 3\nwhit_feed_unread{account=\"bob\"} 0\n";
        assert_eq!(
            [unread(status, "ann"), unread(status, "bob"), unread(status, "b")],
            [Some(3), Some(0), None]
        );
    }
}
