//! Where the result of a call is known.

use crate::llvm::Value;
use crate::llvm::value::Opcode;

/// Returns the instruction before which the call's result is known: the next one, or the start of the block that an `invoke`
/// continues in. Where others reach that block too, the edge gets a block of its own.
pub(super) fn place_after(call: Value<'_>) -> Option<Value<'_>> {
    if call.opcode() == Some(Opcode::LLVMCall) {
        return call.next();
    }
    let block = call.normal_destination()?;
    let comes_in = block
        .as_value()
        .users()
        .into_iter()
        .filter(|user| user.is_terminator() && user.successors().contains(&block))
        .count();
    let block = if comes_in == 1 { block } else { call.split_normal_edge()? };
    block.instructions().into_iter().find(|instruction| !instruction.is_phi())
}
