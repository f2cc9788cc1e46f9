//! LLVM's optimiser on lowered code.

use crate::llvm::{Machine, MachineError};
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;

/// Optimises a lowered module, or a part of one, for a host processor as in [`super::Options::processor`].
pub fn optimize(module: &Module<'_>, processor: &str) -> Result<(), MachineError> {
    run(module, &Machine::host(processor)?)
}

/// Has LLVM find out what functions do to memory and to their arguments, which callers in other parts of the module
/// cannot see.
pub fn infer_attributes(module: &Module<'_>, processor: &str) -> Result<(), MachineError> {
    Machine::host(processor)?.run(module, "cgscc(function-attrs)")
}

pub(super) fn run(module: &Module<'_>, machine: &Machine) -> Result<(), MachineError> {
    let passes = PassBuilderOptions::create();
    // The code is vectors already.
    passes.set_loop_vectorization(false);
    passes.set_loop_slp_vectorization(false);
    passes.set_loop_unrolling(false);
    passes.set_loop_interleaving(false);
    machine.run_with(module, "default<O2>", passes)
}
