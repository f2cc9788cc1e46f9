//! Stores source locations before optimisation.

use super::member_note;
use super::rows::table::is_library_name;
use crate::llvm::debug::{Location, Scope, Variable};
use crate::llvm::metadata::{LIBRARY, LOCATION, mark, set_location};
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, ModuleItems, Value, annotations};
use crate::ptx::branches::expand_control_flow;
use inkwell::module::Module;

/// Adds a note with its source location to every memory access (`!warpline.loc`), and with the member of a structure
/// that it indexes (`!warpline.member`). Marks the accesses of libdevice (`!warpline.libdevice`). This must run on the front end's output, before any pass. [`super::optimize`] keeps the
/// notes up to date, including inlined-at chains. Assembly with branches is split first, because its pieces have the
/// notes.
pub fn note_locations(module: &Module<'_>) {
    let layout = Layout::from_module(module);
    annotations::note_clusters(module);
    expand_control_flow(module);
    for function in module.functions() {
        // libdevice has no debug information: when it is inlined, its instructions get the location of the call, and
        // only this mark distinguishes them from the user's own instructions.
        let library = Scope::of_function(function).is_none() && is_library_name(&function.name());
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            note_name(instruction);
            if !touches_memory(instruction) {
                continue;
            }
            // clang's headers declare surface reads as if their data never changed, so the optimiser could move a read
            // before a write of the surface.
            let callee = instruction.is_call().then(|| instruction.called_value()).flatten();
            if callee.is_some_and(|callee| callee.is_inline_asm() && callee.asm_text().trim_start().starts_with("suld"))
            {
                instruction.depends_on_hidden_memory();
            }
            // The pipeline keeps LLVM's own atomic operations separate.
            if instruction.callee_name().starts_with("llvm.nvvm.atomic.") {
                instruction.keep_apart();
            }
            if library {
                mark(instruction, LIBRARY);
            }
            member_note::note(instruction, layout);
            if let Some(location) = Location::from_instruction(instruction).filter(|location| location.line() != 0) {
                set_location(instruction, LOCATION, location);
            }
        }
    }
}

/// The suffix of a variable's name in the name of its local memory.
const NAMED: &str = ".wl";

/// Names local memory by its variable. If optimisation splits an array, the pieces lose their debug information but
/// keep this name.
fn note_name(instruction: Value<'_>) {
    if instruction.opcode() == Some(Opcode::LLVMAlloca)
        && let Some(variable) = Variable::of_value(instruction)
    {
        instruction.set_name(&format!("{}{NAMED}", variable.name()));
    }
}

/// Returns the variable whose local memory, or a piece of it, has this name.
pub(super) fn noted_name(name: &str) -> Option<String> {
    name.split_once(NAMED).map(|(variable, _)| variable.to_owned()).filter(|variable| !variable.is_empty())
}

/// Returns whether an instruction is an access, or a call that is or may become one: memory intrinsics, NVIDIA's
/// intrinsics, inline assembly.
fn touches_memory(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Some(Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => true,
        Some(Opcode::LLVMCall) => match instruction.called_value() {
            Some(callee) if callee.is_inline_asm() => true,
            Some(callee) if callee.is_function() => {
                let name = callee.name();
                name.starts_with("llvm.mem")
                    || name.starts_with("llvm.masked.")
                    || (name.starts_with("llvm.nvvm.")
                        && callee.value_type().parameters().iter().any(|ty| ty.is_pointer()))
            }
            _ => false,
        },
        _ => false,
    }
}
