//! Converts a copy of the device code to the form that the lowering requires.

use crate::cpu::error::LowerError;
use crate::ir::barrier::barrier;
use crate::ir::threads::reads_from_others;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::{Builder, ModuleItems, Value};
use crate::ptx::registers::name_registers;
use inkwell::module::Module;

/// Returns a copy with plain branches only, reducible loops with one latch and preheader, and loop-closed form.
pub fn prepared<'c>(device: &Module<'c>) -> Result<Module<'c>, LowerError> {
    let copy = device.clone();
    optimise_all(&copy);
    isolate_barriers(&copy);
    name_registers(&copy);
    crate::ir::machine::machine(device)?.run(&copy, "function(lower-switch,fix-irreducible,loop-simplify,lcssa)")?;
    Ok(copy)
}

/// Removes the attributes with which LLVM skips functions that must not be optimised (with `-G` and `-O0`, all
/// functions), because the form is needed nevertheless.
fn optimise_all(module: &Module<'_>) {
    for function in module.functions() {
        function.remove_attribute(OF_FUNCTION, "optnone");
    }
}

/// Moves barriers to separate blocks if lanes may have to wait for others of their warp. Lanes that continue first must
/// be able to execute everything before a barrier, and must not pass it without the others.
fn isolate_barriers(module: &Module<'_>) {
    for function in module.functions() {
        let instructions: Vec<_> = function.blocks().into_iter().flat_map(|block| block.instructions()).collect();
        if instructions.iter().any(|value| reads_from_others(*value)) {
            for value in instructions.into_iter().filter(|value| barrier(*value).is_some()) {
                split_before(value);
            }
        }
    }
}

/// Moves the instructions before an instruction to a new block. The old block keeps its end, so that the phis after it
/// need no change.
fn split_before(instruction: Value<'_>) {
    let Some(block) = instruction.block() else { return };
    let function = block.function();
    let head = function.insert_block_before(block, "before_barrier");
    for other in function.blocks() {
        if let Some(terminator) = other.terminator() {
            terminator.retarget(block, head);
        }
    }
    let b = Builder::new(function.types());
    b.at_end(head);
    for value in block.instructions() {
        if value == instruction {
            break;
        }
        value.detach();
        b.insert(value);
    }
    b.branch(block);
}
