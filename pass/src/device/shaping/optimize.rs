//! The user's `-O` level, run in process.

use super::{convergence, copies, locals, shuffles};
use crate::device::error::DeviceError;
use crate::ir::machine::architecture;
use crate::ir::space;
use crate::llvm::module::verify;
use crate::llvm::shim::{Tuning, run_pipeline};
use crate::llvm::{Layout, Machine, ModuleItems};
use inkwell::module::Module;

/// Runs LLVM's `default<On>` for `level` 0 to 3 as clang would have done, with the machine of
/// [`crate::device::machine`] so that target hooks (reflection of `__CUDA_FTZ` and the architecture, intrinsic ranges) take
/// part, and carries the notes of [`crate::device::note_locations`] through it. Copies of small objects are vector accesses from
/// the start (`copies.rs`).
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
        // Once it is known that a pointer leads to an array in shared memory, more is known of its alignment.
        run_pipeline(module, machine, "function(infer-address-spaces,infer-alignment)", tuning)?;
        copies::widen(module);
    }
    verify(module, "optimisation of device code")?;
    Ok(())
}

/// Where shared memory that can hold so much begins at least, in bytes: the widest access.
const SHARED_ALIGN: u32 = 16;

/// Gives dynamic shared memory the alignment that it has, and as much to arrays that wide accesses fit in. clang takes that of
/// the array's type, and would copy `((float4 *)floats)[i]` piece by piece where nvcc, which believes the cast, moves 16
/// bytes at once.
fn align_shared(module: &Module<'_>) {
    let layout = Layout::from_module(module);
    for variable in module.variables().into_iter().filter(|variable| variable.address_space() == space::SHARED) {
        let wide = variable.is_declaration() || layout.size(variable.value_type()) >= u64::from(SHARED_ALIGN);
        if wide && variable.alignment() < SHARED_ALIGN {
            variable.set_alignment(SHARED_ALIGN);
        }
    }
}
