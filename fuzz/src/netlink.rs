//! Any bytes as a netlink datagram, down to the attributes within attributes, as a process event, and as the iterator's records.

use facts::linux::bpf_task::{Item, Items, RECORD_BYTES};
use facts::linux::genetlink::{Attributes, Messages};
use facts::linux::proc_connector;
use facts::linux::system_calls::Machine;
use facts::sample::Clock;
use facts::task::store::TaskStore;
use facts::unit::Nanos;

/// Nothing panics, whatever the bytes are.
pub fn run(data: &[u8]) {
    let _ = (proc_connector::parse(data), proc_connector::answer(data));
    // What comes first fills a store, with which what comes then is compared.
    let mut store = TaskStore::default();
    for bytes in [&data[..data.len() / 2], &data[data.len() / 2..]] {
        store.begin(Clock::default());
        for item in Items::new(bytes, Machine::X86_64, 4096, Nanos(0)) {
            match item {
                Item::Thread { row, .. } => store.put(&row),
                Item::End(end) => {
                    let given_up: std::collections::BTreeSet<u32> = end.given_up().collect();
                    let _ = store.stale(&given_up);
                    given_up.into_iter().for_each(|pid| store.remove(pid));
                }
            }
        }
        assert!(store.len() <= data.len() / RECORD_BYTES);
        store.finish(&mut Vec::new());
    }
    for message in Messages::new(data).map_while(Result::ok) {
        let _ = message.error();
        for (_, value) in message.attributes() {
            Attributes(value).for_each(drop);
        }
    }
}
