//! What the NVPTX back end does to memory accesses before it selects instructions, done early, so that hooks
//! stand where the accesses are final.

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

/// Parameters, address spaces and the joining of neighbouring accesses, in the back end's own order. By-value
/// structures become parameter space and the pointers in kernel parameters global; stack slots become local.
const OPTIMISED: &str = "pre-isel-intrinsic-lowering,generic-to-nvvm,\
                         function(nvptx-lower-args,sroa,infer-address-spaces,early-cse,expand-reductions,\
                         early-cse,load-store-vectorizer,sroa,nvptx-tag-invariant-loads)";

/// At `-O3` the back end numbers values where it otherwise only finds common ones; that removes more loads.
const AGGRESSIVE: &str = "pre-isel-intrinsic-lowering,generic-to-nvvm,\
                          function(nvptx-lower-args,sroa,infer-address-spaces,gvn,expand-reductions,\
                          gvn,load-store-vectorizer,sroa,nvptx-tag-invariant-loads)";

/// At `-O0` the back end lowers parameters and joins nothing. It would leave address spaces generic too, which
/// changes the opcode but not the access; distinguishing them makes smaller records.
const PLAIN: &str = "pre-isel-intrinsic-lowering,generic-to-nvvm,\
                     function(nvptx-lower-args,infer-address-spaces,expand-reductions)";

/// Brings accesses into the form in which the GPU executes them: see `docs/design/instrumentation.md`. `level` is
/// that of [`super::optimize::optimize`]. Nothing that moves memory may run afterwards.
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
