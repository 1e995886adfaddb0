//! Any bytes as a netlink datagram, down to the attributes within attributes, as a process event, and as the iterator's records.

#![no_main]

use facts::linux::genetlink::{Attributes, Messages};
use facts::linux::bpf_task::{self, Before};
use facts::linux::proc_connector;
use facts::task::table::TaskTable;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = (proc_connector::parse(data), proc_connector::answer(data));
    let mut table = TaskTable::default();
    let none = TaskTable::default();
    // What comes first fills a table, from which what comes then may take over.
    let (first, then) = data.split_at(data.len() / 2);
    let _ = bpf_task::extend(&mut table, first, &mut Before::new(&none), 4096);
    assert!(table.len() <= first.len() / bpf_task::RECORD_BYTES);
    let mut next = TaskTable::default();
    let _ = bpf_task::extend(&mut next, then, &mut Before::new(&table), 4096);
    assert!(next.len() <= then.len() / bpf_task::RECORD_BYTES + table.len());
    for message in Messages::new(data).map_while(Result::ok) {
        let _ = message.error();
        for (_, value) in message.attributes() {
            Attributes(value).for_each(drop);
        }
    }
});
