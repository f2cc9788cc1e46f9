#![no_main]

#[path = "../entries/profile.rs"]
#[allow(dead_code, reason = "each target takes what it needs")]
mod profile;

libfuzzer_sys::fuzz_target!(|data: &[u8]| profile::run(data));
