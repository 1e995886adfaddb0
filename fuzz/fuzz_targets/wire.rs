//! Any bytes as clicks, as lists of users and hosts, and as configurations of i3status and tmpfiles.d.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::i3bar::Clicks;
use wire::i3status::Configuration;

fuzz_target!(|data: &[u8]| {
    Clicks::default().push(data, drop);
    wire::passwd::users(data).for_each(drop);
    let _ = wire::hosts::address_of(data, b"host");
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = wire::tmpfiles::parse(text);
        if let Ok(configuration) = Configuration::parse(text) {
            configuration.order.iter().for_each(|entry| drop(configuration.section(entry)));
        }
    }
});
