//! Performs the changes that the NVPTX back end makes to memory accesses before instruction selection, so that hooks
//! are inserted when the accesses are final.

use super::locals;
use super::memory::{self, Length};
use super::split;
use super::undefined;
use crate::device::error::DeviceError;
use crate::ir::machine::architecture;
use crate::llvm::Machine;
use crate::llvm::module::verify;
use crate::llvm::shim::{Tuning, run_pipeline};
use inkwell::module::Module;

/// Parameters, address spaces and the combination of adjacent accesses, in the back end's own order. By-value
/// structures move to parameter space, pointers in kernel parameters become global, and stack slots become local.
const OPTIMISED: &str = "pre-isel-intrinsic-lowering,generic-to-nvvm,\
                         function(nvptx-lower-args,sroa,infer-address-spaces,early-cse,expand-reductions,\
                         early-cse,load-store-vectorizer,sroa,nvptx-tag-invariant-loads)";

/// At `-O3`, the back end uses global value numbering instead of common subexpression elimination, which removes more
/// loads.
const AGGRESSIVE: &str = "pre-isel-intrinsic-lowering,generic-to-nvvm,\
                          function(nvptx-lower-args,sroa,infer-address-spaces,gvn,expand-reductions,\
                          gvn,load-store-vectorizer,sroa,nvptx-tag-invariant-loads)";

/// At `-O0`, the back end lowers parameters and combines nothing. It would also leave address spaces generic, which
/// changes the opcode but not the access; distinguishing them makes records smaller.
const PLAIN: &str = "pre-isel-intrinsic-lowering,generic-to-nvvm,\
                     function(nvptx-lower-args,infer-address-spaces,expand-reductions)";

/// Converts accesses to the form in which the GPU executes them: see `docs/design/instrumentation.md`. `level` is that
/// of [`super::optimize::optimize`]. No pass that moves memory accesses may run afterwards.
pub fn prepare(module: &Module<'_>, machine: &Machine, level: u8) -> Result<(), DeviceError> {
    let tuning = Tuning { keep_notes: true, ..Tuning::of_level(level) };
    memory::expand_intrinsics(module, machine, Length::Unknown);
    run_pipeline(module, machine, pipeline(level), tuning)?;
    memory::expand_intrinsics(module, machine, Length::Known);
    split::split_accesses(module, architecture(machine));
    locals::align_variables(module);
    undefined::settle_assembly(module);
    verify(module, "preparation of device code")?;
    Ok(())
}

fn pipeline(level: u8) -> &'static str {
    match level {
        0 => PLAIN,
        1 | 2 => OPTIMISED,
        _ => AGGRESSIVE,
    }
}
