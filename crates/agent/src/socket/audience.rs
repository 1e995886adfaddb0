//! The rounds for each scope that clients follow.

use std::collections::HashMap;

use facts::task::rounds::{RoundEncoder, Scope};
use facts::task::store::TaskStore;
use sampling::agent_protocol::Reply;

use super::exchange::{Exchange, What};

/// Encodes rounds for the clients.
#[derive(Debug, Default)]
pub(crate) struct Audience {
    encoders: HashMap<Scope, RoundEncoder>,
}

impl Audience {
    /// A round of the store is finished.
    pub(crate) fn publish_round(&mut self, exchange: &Exchange, store: &TaskStore, lost_exits: u64) {
        let wishes = exchange.wishes();
        self.encoders.retain(|scope, _| wishes.iter().any(|(wished, _)| wished == scope));
        for (scope, encoder) in &mut self.encoders {
            let tables = encoder.encode(store, lost_exits, false, *scope);
            exchange.publish(What::Round(*scope), Reply::Round { is_whole: false, tables }.encode());
        }
        self.publish_whole(exchange, store, lost_exits);
    }

    /// Gives clients that wait all tasks, as of the last round.
    pub(crate) fn publish_whole(&mut self, exchange: &Exchange, store: &TaskStore, lost_exits: u64) {
        for (scope, wish) in exchange.wishes() {
            if !wish.is_whole_wanted() {
                continue;
            }
            let encoder = self.encoders.entry(scope).or_insert_with(|| {
                let mut encoder = RoundEncoder::default();
                encoder.encode(store, lost_exits, true, scope);
                encoder
            });
            let tables = encoder.all();
            exchange.publish(What::Whole(scope), Reply::Round { is_whole: true, tables }.encode());
        }
    }
}
