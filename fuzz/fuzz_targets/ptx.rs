#![no_main]

#[path = "../entries/ptx.rs"]
#[allow(dead_code, reason = "each target takes what it needs")]
mod ptx;

libfuzzer_sys::fuzz_target!(|data: &[u8]| ptx::run(data));
