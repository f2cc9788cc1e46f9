#![no_main]

#[path = "../entries/site_table.rs"]
#[allow(dead_code, reason = "each target takes what it needs")]
mod site_table;

libfuzzer_sys::fuzz_target!(|data: &[u8]| site_table::run(data));
