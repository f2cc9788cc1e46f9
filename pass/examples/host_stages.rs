//! Runs the host stages on a bitcode file and writes the module. It is a tool for developing the pass.
//!
//! `host_stages IN.bc OUT.bc [-O<n>] [DESCRIPTOR]`

use inkwell::context::Context;
use std::path::Path;
use warpline_pass::{host, object};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, input, output, rest @ ..] = arguments.as_slice() else {
        return Err("usage: host_stages IN.bc OUT.bc [-On] [DESCRIPTOR]".into());
    };
    let level = rest.first().and_then(|text| text.strip_prefix("-O")).map_or(Ok(2), str::parse)?;
    let context = Context::create();
    let module = object::read(&context, Path::new(input))?;
    let machine = host::machine(&module)?;
    host::note(&module);
    host::optimize(&module, &machine, level)?;
    host::hook(&module, host::HostHooks { descriptor: rest.get(1).map(String::as_str), allocations: true })?;
    module.write_bitcode_to_path(Path::new(output));
    Ok(())
}
