#![no_main]

#[path = "../entries/comparison.rs"]
#[allow(dead_code, reason = "each target takes what it needs")]
mod comparison;

libfuzzer_sys::fuzz_target!(|data: &[u8]| comparison::run(data));
