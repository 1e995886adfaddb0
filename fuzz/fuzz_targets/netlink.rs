//! Any bytes as a netlink datagram, down to the attributes within attributes.

#![no_main]

use facts::linux::genetlink::{Attributes, Messages};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for message in Messages::new(data).map_while(Result::ok) {
        let _ = message.error();
        for (_, value) in message.attributes() {
            Attributes(value).for_each(drop);
        }
    }
});
