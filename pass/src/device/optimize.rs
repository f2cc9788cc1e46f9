//! The user's `-O` level, run in process.

use super::DeviceError;
use crate::llvm::Machine;
use crate::llvm::module::verify;
use crate::llvm::shim::{Tuning, run_pipeline};
use inkwell::module::Module;

/// Runs LLVM's `default<On>` for `level` 0 to 3 as clang would have done, with the machine of
/// [`super::machine`] so that target hooks (reflection of `__CUDA_FTZ` and the architecture, intrinsic ranges) take
/// part, and carries the notes of [`super::note_locations`] through it.
pub fn optimize(module: &Module<'_>, machine: &Machine, level: u8) -> Result<(), DeviceError> {
    machine.adopt(module);
    let level = level.min(3);
    let tuning = Tuning { keep_notes: true, ..Tuning::of_level(level) };
    run_pipeline(module, machine, &format!("default<O{level}>"), tuning)?;
    verify(module, "optimisation of device code")?;
    Ok(())
}
