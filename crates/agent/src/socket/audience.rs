//! The rounds for each scope that clients follow.

use std::collections::HashMap;

use facts::task::rounds::{RoundEncoder, RoundTables, Scope};
use facts::task::store::TaskStore;
use sampling::agent_protocol::Reply;

use super::exchange::{Exchange, What};

/// Encodes rounds for the clients.
#[derive(Debug, Default)]
pub(crate) struct Audience {
    encoders: HashMap<Scope, RoundEncoder>,
}

impl Audience {
    /// Publishes a round to the clients that follow. `round` is the recorder's encoding, which also has the counts of lost exit records.
    pub(crate) fn publish_round(&mut self, exchange: &Exchange, store: &TaskStore, round: RoundTables) {
        let wishes = exchange.wishes();
        self.encoders.retain(|scope, _| wishes.iter().any(|(wished, _)| wished == scope));
        for (scope, encoder) in &mut self.encoders {
            let own = encoder.encode(store, 0, false, *scope);
            let tables = if *scope == Scope::All { round.clone() } else { own };
            exchange.publish(What::Round(*scope), Reply::Round { is_whole: false, tables }.encode());
        }
        self.publish_whole(exchange, store);
    }

    /// Gives clients that wait all tasks, as of the last round.
    pub(crate) fn publish_whole(&mut self, exchange: &Exchange, store: &TaskStore) {
        for (scope, wish) in exchange.wishes() {
            if !wish.is_whole_wanted() {
                continue;
            }
            let encoder = self.encoders.entry(scope).or_insert_with(|| {
                let mut encoder = RoundEncoder::default();
                encoder.encode(store, 0, true, scope);
                encoder
            });
            let tables = encoder.all();
            exchange.publish(What::Whole(scope), Reply::Round { is_whole: true, tables }.encode());
        }
    }
}
