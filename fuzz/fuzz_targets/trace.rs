#![no_main]

#[path = "../entries/trace.rs"]
#[allow(dead_code, reason = "each target takes what it needs")]
mod trace;

#[path = "../entries/profile.rs"]
#[allow(dead_code, reason = "each target takes what it needs")]
mod profile;

#[path = "../entries/site_table.rs"]
#[allow(dead_code, reason = "each target takes what it needs")]
mod site_table;

libfuzzer_sys::fuzz_target!(|data: &[u8]| trace::run(data));
