#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whit_fuzz::mailbox::run(data));
