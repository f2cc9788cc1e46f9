#![no_main]

#[path = "../entries/mcp.rs"]
mod mcp;

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcp::run(data));
