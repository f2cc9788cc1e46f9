//! Device code that arrives while a program runs, from Triton or another producer of LLVM IR. The IR of one module is
//! compiled to a shared object, which the runtime loads with `cuModuleLoadData`. Neither clang nor a CUDA toolkit is
//! needed.
//!
//! A process that was not linked with the runtime first loads it as the shared library of [`runtime_library`].

use crate::device_code::loaded::{self, Lowering};
use crate::device_code::registers::Assembled;
use crate::error::DriverError;
use crate::invocation::Invocation;
use crate::message;
use crate::programs::{embedded, linker};
use warpline_format::device_code::KernelResources;
use warpline_format::occupancy::Resources;
use warpline_pass::llvm::shim::quiet_context;
use warpline_pass::{device, loadable};

/// The architecture if none is named: the newest whose matrix products need no instructions of Hopper or later.
const ARCHITECTURE: u32 = 80;

/// The optimisation level that front ends use for their code.
const LEVEL: u8 = 3;

/// Generates the shared object that the command line requests.
pub fn shared_object(invocation: &Invocation) -> Result<(), DriverError> {
    let (Some(input), Some(output)) = (invocation.inputs.first(), &invocation.output) else { return Ok(()) };
    let text = std::fs::read(&input.path).map_err(DriverError::reading(&input.path))?;
    let lowering = Lowering::new(invocation, &input.path, invocation.system.clone());
    let architecture = invocation.architectures.first().copied().unwrap_or(ARCHITECTURE);
    let context = quiet_context();
    let module = lowering.read(&context, &text)?;
    if !loadable::has_kernel(&module) {
        return Err(lowering.failed("there is no kernel in it (a function of the calling convention ptx_kernel)"));
    }
    loadable::name_parameters(&module, &invocation.parameters);
    let machine = loadable::adopt(&module, &processor(architecture)).map_err(|cause| lowering.failed(cause))?;
    device::keep_stray_accesses(&module);
    device::note_locations(&module);
    // The front end reports registers and spills, but no stacks.
    let assembled = || Assembled { kernels: registers(invocation, architecture, &module), ..Assembled::default() };
    loaded::link(&lowering.objects(&module, &machine, LEVEL, assembled)?, output)
}

/// Generates the runtime as a shared library.
pub fn runtime_library(invocation: &Invocation) -> Result<(), DriverError> {
    let archive = embedded::runtime_library()?;
    let Some(output) = &invocation.output else {
        return message::answer(format_args!("{}\n", archive.display()));
    };
    match linker::runtime(&archive, output)?.run()? {
        0 => Ok(()),
        code => Err(DriverError::Compiler(code)),
    }
}

/// Returns clang's name of the processor; from Hopper on, the variant with architecture-specific instructions.
fn processor(architecture: u32) -> String {
    format!("sm_{architecture}{}", if architecture >= 90 { "a" } else { "" })
}

/// Returns ptxas's figures for the module's kernels, if the command line contains them.
fn registers(invocation: &Invocation, architecture: u32, module: &inkwell::module::Module<'_>) -> KernelResources {
    let Some((registers, spill_bytes)) = invocation.registers else { return KernelResources::new() };
    let known = Resources { architecture, registers, spill_bytes };
    let defined = module.get_functions().filter(|function| function.count_basic_blocks() > 0);
    let name = |function: inkwell::values::FunctionValue<'_>| function.get_name().to_string_lossy().into_owned();
    defined.map(|function| (name(function), vec![known])).collect()
}
