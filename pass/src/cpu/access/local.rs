//! Local variables in access checks, which use offsets in the lane's stack.

use crate::cpu::emitter::lanes::Lay;
use crate::cpu::emitter::{Emitted, Emitter, context};
use crate::llvm::Value;
use crate::llvm::types::Kind;
use crate::llvm::value::Opcode;

impl<'c> Emitter<'_, 'c> {
    /// Returns the offsets of a local access in the lanes' stacks. A pointer to local memory is already an offset.
    pub fn local_offsets(&mut self, pointer: Value<'c>) -> Emitted<Lay<'c>> {
        let leaf = self.leaf(pointer)?;
        let lay = self.lay_of(pointer, leaf);
        if matches!(pointer.ty().kind(), Kind::Pointer(5)) {
            return Ok(lay);
        }
        let stacks = self.lane_stacks();
        Ok(Lay::Scattered(self.b.sub(self.addresses(&lay), stacks)))
    }

    /// Returns the first and last offset that an access through `pointer` may touch: those of its variable, or
    /// otherwise those of the part of the stack in use.
    pub fn local_range(&mut self, pointer: Value<'c>) -> Emitted<[Value<'c>; 2]> {
        if let Some(variable) = variable_of(pointer).filter(|variable| self.frame().offset(*variable).is_some())
            && let (Some(ty), Some(count)) = (variable.allocated_type(), variable.operand(0).as_u64())
        {
            let bytes = self.unit().layout().size(ty) * count;
            let first = self.frame_offset(variable)?;
            return Ok([first, self.b.add(first, self.i64(bytes.max(1) - 1))]);
        }
        let used = self.field(context::LOCAL_USED);
        let last = self.b.add(used, self.i64(self.frame().bytes().wrapping_sub(1)));
        Ok([self.i64(0), last])
    }
}

/// Returns the local variable from which a pointer is computed, if it is the only possible one.
fn variable_of(mut pointer: Value<'_>) -> Option<Value<'_>> {
    loop {
        if pointer.allocated_type().is_some() {
            return Some(pointer);
        }
        pointer = match pointer.opcode()? {
            Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => pointer.operand(0),
            _ => return None,
        };
    }
}
