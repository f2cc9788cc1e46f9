//! The user's `-O` level, run in process.

use super::{DeviceError, copies, space};
use crate::llvm::module::verify;
use crate::llvm::shim::{Tuning, run_pipeline};
use crate::llvm::{Machine, ModuleItems};
use inkwell::module::Module;

/// Runs LLVM's `default<On>` for `level` 0 to 3 as clang would have done, with the machine of
/// [`super::machine`] so that target hooks (reflection of `__CUDA_FTZ` and the architecture, intrinsic ranges) take
/// part, and carries the notes of [`super::note_locations`] through it. Copies of small objects are vector accesses from
/// the start (`copies.rs`).
pub fn optimize(module: &Module<'_>, machine: &Machine, level: u8) -> Result<(), DeviceError> {
    machine.adopt(module);
    align_dynamic_shared(module);
    let level = level.min(3);
    let tuning = Tuning { keep_notes: true, ..Tuning::of_level(level) };
    if level > 0 {
        run_pipeline(module, machine, "function(sroa)", tuning)?;
        copies::widen(module);
    }
    run_pipeline(module, machine, &format!("default<O{level}>"), tuning)?;
    verify(module, "optimisation of device code")?;
    Ok(())
}

/// Where dynamic shared memory begins at least, in bytes.
const DYNAMIC_SHARED_ALIGN: u32 = 16;

/// Gives dynamic shared memory the alignment that it has. clang takes that of the array's type, and would copy
/// `((float4 *)bytes)[i]` byte by byte where nvcc, which believes the cast, moves 16 bytes at once.
fn align_dynamic_shared(module: &Module<'_>) {
    for variable in module.variables() {
        let dynamic = variable.is_declaration() && variable.address_space() == space::SHARED;
        if dynamic && variable.alignment() < DYNAMIC_SHARED_ALIGN {
            variable.set_alignment(DYNAMIC_SHARED_ALIGN);
        }
    }
}
