//! Finds the position from which the result of a call is available.

use crate::llvm::Value;
use crate::llvm::value::Opcode;

/// Returns the instruction before which the call's result is available: the next instruction, or the start of the block
/// in which an `invoke` continues. If other blocks also lead to that block, a new block is inserted on the edge.
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
