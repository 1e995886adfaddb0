#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whit_fuzz::agent::run(data));
