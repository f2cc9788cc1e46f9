//! Runs the device stages on a bitcode file and writes the hooked module. It is a tool for developing the pass.
//!
//! `device_stages IN.bc OUT.bc [-O<n> [SYSTEM FOLDER…]]` prints the site table; `WARPLINE_PREPARED=FILE` also writes
//! the module as it is before the hooks.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::path::Path;
use warpline_pass::device;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, input, output, ..] = arguments.as_slice() else {
        return Err("usage: device_stages IN.bc OUT.bc [-On]".into());
    };
    let level = arguments.get(3).and_then(|text| text.strip_prefix("-O")).map_or(Ok(2), str::parse)?;
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_file(Path::new(input)).map_err(|error| error.to_string())?;
    let module = Module::parse_bitcode_from_buffer(&buffer, &context).map_err(|error| error.to_string())?;
    let machine = device::machine(&module)?;
    device::note_locations(&module);
    device::optimize(&module, &machine, level)?;
    device::prepare(&module, &machine, level)?;
    if let Some(path) = std::env::var_os("WARPLINE_PREPARED") {
        module.write_bitcode_to_path(Path::new(&path));
    }
    let named = arguments.iter().skip(4).cloned();
    let system_folders = ["/usr/include", "/usr/lib"].map(String::from).into_iter().chain(named).collect();
    let options = device::HookOptions { system_folders, bundles: true, ..device::HookOptions::default() };
    let table = device::hook(&module, &machine, &options)?;
    module.write_bitcode_to_path(Path::new(output));
    print!("{}", device::describe(&table));
    Ok(())
}
