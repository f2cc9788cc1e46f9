//! Runs the device stages and the CPU lowering on a bitcode file, so that their output can be inspected.
//!
//! `cargo run -p warpline-pass --example lower -- IN.bc OUT.o [--ir OUT.ll] [--march NAME] [--cautious] [--plain]`

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use warpline_pass::{cpu, device, object};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| arguments.iter().position(|one| one == name).and_then(|at| arguments.get(at + 1)).cloned();
    let flag = |name: &str| arguments.iter().any(|one| one == name);
    let [input, output, ..] = &arguments[..] else { return Err("usage: lower IN.bc OUT.o".into()) };
    let context = inkwell::context::Context::create();
    let module = object::read(&context, Path::new(input))?;
    let machine = device::machine(&module)?;
    let start = Instant::now();
    device::note_locations(&module);
    device::optimize(&module, &machine, 2)?;
    device::prepare(&module, &machine, 2)?;
    let table = device::hook(&module, &machine, &device::HookOptions::default())?;
    let hooked = start.elapsed();
    if let Some(path) = value("--device") {
        module.print_to_file(&path).map_err(|error| error.to_string())?;
    }
    let march = value("--march").unwrap_or("native".into());
    let options = cpu::Options {
        processor: &march,
        descriptor: "warpline_module",
        visible: true,
        fat_binary: &[],
        emulated: None,
        registers: &BTreeMap::new(),
        cautious: flag("--cautious"),
        any_shape: false,
        large: cpu::LARGE,
        serial: cpu::SERIAL,
        generated: cpu::Generated::All,
        carried: &[],
        values: flag("--values"),
        optimize: !flag("--plain"),
    };
    let lowered = cpu::lower(&module, Some(&table), &options)?;
    let done = start.elapsed();
    if let Some(path) = value("--ir") {
        lowered.print_to_file(&path).map_err(|error| error.to_string())?;
    }
    let host = warpline_pass::llvm::Machine::host(&march)?;
    std::fs::write(output, host.emit_object(&lowered)?)?;
    eprintln!("device stages {hooked:?}, lowering {:?}, object {:?}", done - hooked, start.elapsed() - done);
    Ok(())
}
