#![no_main]

#[path = "../entries/model.rs"]
#[allow(dead_code, reason = "each target takes what it needs")]
mod model;

libfuzzer_sys::fuzz_target!(|data: &[u8]| model::run(data));
