//! Hooked device code for a real GPU. [`instrument`] adds the hooked kernels to the original ones, [`emit_ptx`] writes
//! the module for one architecture, and [`Assembler`] generates machine code from it and packs the fat binary.
//! `docs/design/gpu.md` explains it.

mod assemble;
mod build;
mod by_value;
mod emulate;
mod hint;
mod instrument;
pub mod names;
mod operations;

pub use assemble::{Assembled, Assembler, Image, Resources};
pub use build::{Built, Plan, build};
pub use emulate::{EMULATED_DESCRIPTOR, EmulateError, Emulated, emulate, join_emulated};
pub use instrument::{Instrumented, instrument};
pub use operations::mark_unrecorded;

use crate::llvm::{Machine, MachineError};
use inkwell::module::Module;
use std::path::PathBuf;

/// The bitcode of `runtime/device/hooks.cu`.
pub static DEVICE_RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hooks.bc"));

/// The reason why no GPU code could be generated.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// LLVM reported an error.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The hooks cannot be linked with the module.
    #[error("cannot link the device hooks into {module}: {cause}")]
    Link {
        /// The name of the module.
        module: String,
        /// LLVM's error message.
        cause: String,
    },
    /// The hooks do not support this architecture.
    #[error("{processor} cannot run instrumented code: it needs sm_70 or newer")]
    TooOld {
        /// The requested architecture.
        processor: String,
    },
    /// A kernel launches kernels.
    #[error(
        "{function} launches kernels or calls CUDA's device runtime ({call}), which only the CPU device has: build without \
         --device=gpu"
    )]
    DeviceRuntime {
        /// The mangled name of a function that launches kernels or calls the device runtime.
        function: String,
        /// The function that it calls.
        call: String,
    },
    /// A tool of the toolkit cannot be started.
    #[error("cannot run {tool}: {source}; `warpline doctor` shows where the toolkit's parts are searched")]
    Tool {
        /// The path of the tool.
        tool: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A tool of the toolkit refused its input.
    #[error("{tool} failed for {processor}:\n{output}")]
    Refused {
        /// The path of the tool.
        tool: PathBuf,
        /// The architecture.
        processor: String,
        /// The output of the tool.
        output: String,
    },
    /// A file that the tools use cannot be written or read.
    #[error("cannot use the temporary file {path}: {source}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// Returns the oldest PTX version that supports a processor ("PTX ISA", release notes), as in LLVM's feature names.
fn ptx_version(processor: &str) -> Option<u32> {
    let number: u32 =
        processor.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
    Some(match number {
        70..=75 => 63,
        76..=80 => 70,
        81..=86 => 71,
        87 => 74,
        88..=89 => 78,
        90 => 80,
        91..=101 => 86,
        102..=121 => 88,
        _ => return None,
    })
}

/// Returns the code generator for a processor such as `sm_90` or `sm_90a`. `at_least` is the PTX version for which the
/// code was written (0: any).
fn machine(processor: &str, at_least: u32) -> Result<Machine, GpuError> {
    let version = ptx_version(processor).ok_or_else(|| GpuError::TooOld { processor: processor.into() })?;
    Ok(Machine::nvptx_like(processor, &format!("+ptx{}", version.max(at_least)))?)
}

/// Returns the PTX of an instrumented module for one processor.
///
/// # Errors
/// Returns [`GpuError::TooOld`] before `sm_70`, and [`GpuError::Machine`] if LLVM cannot generate code.
pub fn emit_ptx(module: &Instrumented<'_>, processor: &str) -> Result<Vec<u8>, GpuError> {
    let machine = machine(processor, module.ptx)?;
    // Code generation changes the module, and each architecture must start from the same module.
    let copy: Module<'_> = module.module.clone();
    machine.adopt(&copy);
    names::spell(&copy);
    by_value::cast(&copy);
    Ok(machine.emit_assembly(&copy)?)
}
