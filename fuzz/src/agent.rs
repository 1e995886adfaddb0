//! Any bytes as frames of the agent's socket, as a client and as the agent receive them, and as rounds that fill a store.

use facts::task::rounds::{RoundDecoder, RoundEncoder, RoundTables, Scope};
use facts::task::store::TaskStore;
use sampling::agent_protocol::{Reply, Request};

/// Nothing panics, whatever the bytes are.
pub fn run(data: &[u8]) {
    let mut received = data.to_vec();
    while let Ok(Some(_)) = Request::take(&mut received) {}
    let mut received = data.to_vec();
    while let Ok(Some(_)) = Reply::take(&mut received) {}
    let (mut decoder, mut store) = (RoundDecoder::default(), TaskStore::default());
    let (whole, rest) = data.split_at(data.len() / 2);
    for (bytes, is_whole) in [(whole, true), (rest, false), (data, false)] {
        let Some(tables) = RoundTables::decode(bytes) else { continue };
        let rounds = tables.rounds.rows();
        if rounds == 0 || rounds > 64 {
            continue;
        }
        let merged = tables.merge(std::iter::once(0..rounds));
        decoder.fill(&merged, 0, is_whole, &mut store);
        RoundEncoder::default().encode(&store, 0, true, Scope::User(1000));
    }
}
