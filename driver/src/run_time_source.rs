//! CUDA source that a program compiles while it runs, as with NVRTC. Only device code is compiled, to a shared object
//! that the runtime loads. The other results that the program may request are next to it: PTX, the mangled names of
//! name expressions, and the files that the source includes.

use crate::compile;
use crate::device_code::loaded::{self, Lowering};
use crate::device_code::object_parts;
use crate::device_code::registers::Assembler;
use crate::error::DriverError;
use crate::invocation::Invocation;
use crate::programs::embedded::RUN_TIME_FOLDER;
use crate::programs::tools::Tools;
use crate::stages;
use inkwell::module::Module;
use std::path::Path;
use warpline_format::run_time::{DEPENDENCIES, NAME_VARIABLE, NAMES, PTX};
use warpline_pass::gpu::names;
use warpline_pass::llvm::shim::{self, quiet_context};
use warpline_pass::{device, loadable, object};

/// The header that is included before the source; it contains NVRTC's predefined declarations.
const PREDEFINED: &str = "warpline/run_time_compilation.h";

/// The header that is included before a source in which functions without an execution space are device functions.
const DEVICE_BY_DEFAULT: &str = "warpline/device_by_default.h";

/// Compiles the source of the command line.
pub fn compile(tools: &Tools, invocation: &Invocation) -> Result<(), DriverError> {
    let (Some(input), Some(output)) = (invocation.inputs.first(), &invocation.output) else { return Ok(()) };
    let wanted = &invocation.run_time;
    let beside = |suffix: &str| output.with_extension(suffix);
    let mut requested = invocation.clone();
    let headers = [PREDEFINED].into_iter().chain(wanted.device_by_default.then_some(DEVICE_BY_DEFAULT));
    requested.device.extend(headers.flat_map(|header| ["-include".into(), header.into()]));
    // The folder precedes the user's folders, one of which may be a toolkit's.
    requested.common.insert(0, format!("-I{}", tools.include.join(RUN_TIME_FOLDER).display()));
    let dependencies = beside(DEPENDENCIES).display().to_string();
    requested.device.extend(["-MD".into(), "-MT".into(), "it".into(), "-MF".into(), dependencies]);
    let bitcode = tools.temporary().join("device.bc");
    compile::device_bitcode(tools, &requested, input, &bitcode)?;

    let mut system_folders = tools.system_folders();
    system_folders.extend(invocation.system.iter().cloned());
    let lowering = Lowering::new(invocation, &input.path, system_folders.clone());
    let context = quiet_context();
    let module = object::read(&context, &bitcode).map_err(|cause| lowering.failed(cause))?;
    shim::unlist_declarations(&module, &system_folders);
    lowering.dump.write(&module, "device-0-clang")?;
    let names = loadable::take_names(&module, NAME_VARIABLE, wanted.names);
    let text: String = names.iter().map(|name| format!("{name}\n")).collect();
    std::fs::write(beside(NAMES), text).map_err(DriverError::writing(beside(NAMES)))?;
    shared_object(tools, invocation, &lowering, &module, Some(&beside(PTX)), output)
}

/// Lowers clang's IR of a source's device code to the shared object `output`, and to PTX in another file if one is
/// named.
pub fn shared_object(
    tools: &Tools,
    invocation: &Invocation,
    lowering: &Lowering<'_>,
    module: &Module<'_>,
    ptx_file: Option<&Path>,
    output: &Path,
) -> Result<(), DriverError> {
    let machine = device::machine(module).map_err(|cause| lowering.failed(cause))?;
    let level = stages::level(invocation.device_level());
    device::limit_registers(module);
    device::keep_stray_accesses(module);
    if level == 0 {
        device::inline_headers(module, &tools.system_folders());
    }
    device::note_locations(module);
    device::optimize(module, &machine, level).map_err(|cause| lowering.failed(cause))?;
    lowering.dump.write(module, "device-1-optimised")?;
    let ptx = if device::reference_cycle(module).is_some() { Vec::new() } else { emit_ptx(module, &machine) };
    if let Some(file) = ptx_file {
        std::fs::write(file, &ptx).map_err(DriverError::writing(file))?;
    }
    let architectures = vec![tools.architecture, tools.requested_architecture];
    let threads = object_parts::threads();
    let assembler = Assembler::new(&tools.cuda, &invocation.ptxas, architectures, tools.temporary(), threads);
    let mut assembly = assembler.start(ptx, device::architecture(&machine));
    let objects = lowering.objects(module, &machine, level, || assembly.finish().clone())?;
    loaded::link(&objects, output)
}

/// Returns PTX without debug information.
fn emit_ptx(module: &Module<'_>, machine: &warpline_pass::llvm::Machine) -> Vec<u8> {
    let copy = module.clone();
    copy.strip_debug_info();
    machine.adopt(&copy);
    names::spell(&copy);
    machine.emit_assembly(&copy).unwrap_or_default()
}
