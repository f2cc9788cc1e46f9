//! Estimates the distance between the addresses of neighbouring lanes. The result is a hint, not a proof: sums may
//! wrap, blocks may be narrower than a warp, and lanes may have diverged. A hook that receives a hint checks with one
//! warp operation whether it is correct for the lanes. If it is, the hook need not search for the form of the record.

use crate::ir::address::steps;
use crate::ir::class::{Call, Register, classify};
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};
use std::collections::HashMap;

/// For larger distances, no hint is given, because the lanes of such a request need separate entries anyway.
const FARTHEST: u64 = 1 << 20;

/// For each value of a function, the increase from lane to lane; values without an entry are unknown.
pub(super) struct Strides<'c, 'm> {
    known: HashMap<Value<'c>, Option<i64>>,
    layout: Layout<'m>,
}

impl<'c, 'm> Strides<'c, 'm> {
    /// Analyses a function; the arguments of a `kernel` are the same for all lanes.
    pub(super) fn analyse(function: Value<'c>, kernel: bool, layout: Layout<'m>) -> Self {
        let mut strides = Strides { known: HashMap::new(), layout };
        for argument in function.parameters() {
            strides.known.insert(argument, kernel.then_some(0));
        }
        let instructions: Vec<Value<'c>> = function.blocks().iter().flat_map(|block| block.instructions()).collect();
        // In the first iteration, a loop variable has its start value; in the second, the value from the loop's end is
        // also considered.
        for _ in 0..2 {
            for &value in instructions.iter().filter(|value| !value.ty().is_void()) {
                let stride = strides.transfer(value);
                strides.known.insert(value, stride);
            }
        }
        strides
    }

    /// Returns the number of bytes from a lane's address to the address of its neighbour, as 32 bits.
    pub(super) fn hint(&self, pointer: Value<'c>) -> Option<u32> {
        self.get(pointer).filter(|stride| stride.unsigned_abs() <= FARTHEST).map(|stride| stride as u32)
    }

    fn get(&self, value: Value<'c>) -> Option<i64> {
        if value.is_instruction() || value.is_argument() {
            return self.known.get(&value).copied().flatten();
        }
        Some(0)
    }

    fn transfer(&self, value: Value<'c>) -> Option<i64> {
        if value.is_phi() {
            return self.phi(value);
        }
        let operands = if value.is_call() { value.arguments() } else { value.operands() };
        let same = || operands.iter().all(|&operand| self.get(operand) == Some(0)).then_some(0);
        match value.opcode()? {
            Opcode::LLVMAdd => self.get(operands[0])?.checked_add(self.get(operands[1])?),
            Opcode::LLVMOr if value.is_disjoint() => self.get(operands[0])?.checked_add(self.get(operands[1])?),
            Opcode::LLVMSub => self.get(operands[0])?.checked_sub(self.get(operands[1])?),
            Opcode::LLVMMul => match (operands[0].as_i64(), operands[1].as_i64()) {
                (_, Some(factor)) => self.get(operands[0])?.checked_mul(factor),
                (Some(factor), _) => self.get(operands[1])?.checked_mul(factor),
                _ => same(),
            },
            Opcode::LLVMShl => match operands[1].as_u64() {
                Some(by) if by < 32 => self.get(operands[0])?.checked_mul(1 << by),
                _ => same(),
            },
            // The expression is the lane of a thread index, or its warp.
            Opcode::LLVMAnd if self.get(operands[0]) == Some(1) => {
                operands[1].as_u64().filter(|mask| mask & 31 == 31).map(|_| 1)
            }
            Opcode::LLVMLShr | Opcode::LLVMAShr if self.get(operands[0]) == Some(1) => {
                operands[1].as_u64().filter(|&by| by >= 5).map(|_| 0)
            }
            Opcode::LLVMTrunc
            | Opcode::LLVMSExt
            | Opcode::LLVMZExt
            | Opcode::LLVMBitCast
            | Opcode::LLVMPtrToInt
            | Opcode::LLVMIntToPtr
            | Opcode::LLVMAddrSpaceCast
            | Opcode::LLVMFreeze => self.get(operands[0]),
            Opcode::LLVMGetElementPtr => {
                let mut sum = self.get(operands[0])?;
                for step in steps(value, self.layout)?.variable {
                    let more = self.get(step.index)?.checked_mul(i64::try_from(step.scale).ok()?)?;
                    sum = sum.checked_add(more)?;
                }
                Some(sum)
            }
            Opcode::LLVMSelect => {
                let (yes, no) = (self.get(operands[1])?, self.get(operands[2])?);
                (self.get(operands[0]) == Some(0) && yes == no).then_some(yes)
            }
            // A variable on the stack has the same offset in all lanes.
            Opcode::LLVMAlloca => Some(0),
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => None,
            Opcode::LLVMCall => match classify(&value.callee_name()) {
                Call::Register(Register::Thread(0) | Register::Lane) => Some(1),
                Call::Register(Register::LaneMask(_) | Register::Clock | Register::Clock64 | Register::GlobalTimer) => {
                    None
                }
                Call::Register(_) => Some(0),
                Call::PassThrough => self.get(*operands.first()?),
                Call::Pure => same(),
                _ => None,
            },
            _ => same(),
        }
    }

    /// Returns the increase that all incoming values have; values that are not known yet come from a loop's end.
    fn phi(&self, phi: Value<'c>) -> Option<i64> {
        let mut result = None;
        for (value, _) in phi.incoming() {
            if value.is_instruction() && !self.known.contains_key(&value) {
                continue;
            }
            let stride = self.get(value)?;
            if result.is_some_and(|known| known != stride) {
                return None;
            }
            result = Some(stride);
        }
        result
    }
}
