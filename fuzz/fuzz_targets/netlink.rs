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
    let _ = bpf_task::extend(&mut table, data, &mut Before::new(&none), 4096);
    assert!(table.len() <= data.len() / bpf_task::RECORD_BYTES);
    for message in Messages::new(data).map_while(Result::ok) {
        let _ = message.error();
        for (_, value) in message.attributes() {
            Attributes(value).for_each(drop);
        }
    }
});
