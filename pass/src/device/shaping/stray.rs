//! Accesses that the optimiser must not remove: elements of local arrays that do not exist, and accesses through null.

use super::null;
use crate::llvm::types::Kind;
use crate::llvm::value::{Opcode, inline_asm};
use crate::llvm::{Builder, ModuleItems, Value};
use inkwell::module::Module;

/// Hides constant indices that are outside a local array from the optimiser, which may assume that such accesses do not
/// happen and removes them. So they still exist when the program runs, and the access check finds them. Accesses
/// through null are kept in another way. This must run on the front end's output.
pub fn keep_stray_accesses(module: &Module<'_>) {
    null::keep_accesses(module);
    let types = ModuleItems::types(module);
    for function in module.functions() {
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            let Some(index) = stray_index(instruction) else { continue };
            let builder = Builder::new(types);
            builder.before(instruction);
            let (text, constraints) = match index.ty().int_bits() {
                Some(64) => ("mov.b64 $0, $1;", "=l,l"),
                Some(32) => ("mov.b32 $0, $1;", "=r,r"),
                _ => continue,
            };
            let ty = index.ty().function(&[index.ty()]);
            let hidden = builder.call_pointer(ty, inline_asm(ty, text, constraints), &[index]);
            instruction.set_operand(2, hidden);
        }
    }
}

/// Returns the index in the address of an element that a local array does not have, if the element is loaded or stored.
/// An address alone may be that of the element after the last one.
fn stray_index(gep: Value<'_>) -> Option<Value<'_>> {
    let Kind::Array(count) = gep.gep_source_type()?.kind() else { return None };
    let operands = gep.operands();
    let &[pointer, first, index] = &operands[..] else { return None };
    pointer.allocated_type()?;
    let index_is_outside =
        index.as_i64().is_some_and(|index| u64::try_from(index).is_ok_and(|index| index >= count) || index < 0);
    let accessed = |user: Value<'_>| match user.opcode() {
        Some(Opcode::LLVMLoad) => true,
        Some(Opcode::LLVMStore) => user.operand(1) == gep,
        _ => false,
    };
    (first.as_u64() == Some(0) && index_is_outside && gep.users().into_iter().any(accessed)).then_some(index)
}
