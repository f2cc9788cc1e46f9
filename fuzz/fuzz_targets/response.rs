#![no_main]

#[path = "../entries/response.rs"]
#[allow(dead_code, reason = "each target takes what it needs")]
mod response;

libfuzzer_sys::fuzz_target!(|data: &[u8]| response::run(data));
