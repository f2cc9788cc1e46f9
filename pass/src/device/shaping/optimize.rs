//! Applies the user's `-O` level in this process.

use super::{convergence, copies, locals, shuffles};
use crate::device::error::DeviceError;
use crate::ir::machine::architecture;
use crate::ir::space;
use crate::llvm::module::verify;
use crate::llvm::shim::{Tuning, run_pipeline};
use crate::llvm::{Layout, Machine, ModuleItems};
use inkwell::module::Module;

/// Runs LLVM's `default<On>` for `level` 0 to 3 as clang would. It uses the machine of [`crate::device::machine`], so
/// that target hooks (reflection of `__CUDA_FTZ` and the architecture, intrinsic ranges) are active, and it preserves
/// the notes of [`crate::device::note_locations`]. Copies of small objects are vector accesses from the start
/// (`copies.rs`).
pub fn optimize(module: &Module<'_>, machine: &Machine, level: u8) -> Result<(), DeviceError> {
    machine.adopt(module);
    align_shared(module);
    if architecture(machine) >= shuffles::WITH_MASKS {
        shuffles::add_masks(module);
    }
    let level = level.min(3);
    let tuning = Tuning { keep_notes: true, unroll_for_local_arrays: level >= 2, ..Tuning::of_level(level) };
    if level > 0 {
        locals::align_buffers(module);
        convergence::mark_loops(module);
        run_pipeline(module, machine, "function(sroa)", tuning)?;
        copies::by_element(module);
        copies::widen(module);
    }
    run_pipeline(module, machine, &format!("default<O{level}>"), tuning)?;
    if level > 0 {
        convergence::unmark_loops(module);
        // After it is known that a pointer refers to an array in shared memory, its alignment can be determined more
        // precisely.
        run_pipeline(module, machine, "function(infer-address-spaces,infer-alignment)", tuning)?;
        copies::widen(module);
    }
    verify(module, "optimisation of device code")?;
    Ok(())
}

/// The minimum alignment in bytes of shared memory that can contain this number of bytes: the size of the widest
/// access.
const SHARED_ALIGN: u32 = 16;

/// Sets the alignment of dynamic shared memory to its real value, and also that of arrays in which wide accesses fit.
/// clang uses the alignment of the array's type, and would copy `((float4 *)floats)[i]` in pieces, whereas nvcc relies
/// on the cast and moves 16 bytes at once.
fn align_shared(module: &Module<'_>) {
    let layout = Layout::from_module(module);
    for variable in module.variables().into_iter().filter(|variable| variable.address_space() == space::SHARED) {
        let wide = variable.is_declaration() || layout.size(variable.value_type()) >= u64::from(SHARED_ALIGN);
        if wide && variable.alignment() < SHARED_ALIGN {
            variable.set_alignment(SHARED_ALIGN);
        }
    }
}
