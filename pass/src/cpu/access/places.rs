//! Local variables, constants, and the addresses of module variables.

use crate::cpu::compute::arithmetic::scalar_bits;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter, context};
use crate::cpu::error::Refusal;
use crate::cpu::target::types::{LANES, leaf_types};
use crate::cpu::target::unit::GlobalAddress;
use crate::llvm::Value;
use crate::llvm::types::Kind;
use crate::llvm::value::Opcode;

impl<'c> Emitter<'_, 'c> {
    /// Returns the stack of each lane, as `<32 x i64>`.
    pub fn lane_stacks(&mut self) -> Value<'c> {
        let (local, stride) = (self.field(context::LOCAL), self.field(context::LOCAL_STRIDE));
        self.once("lane stacks", |this| {
            let lanes: Vec<_> = (0..u64::from(LANES)).map(|lane| this.i64(lane)).collect();
            let offsets = this.entry.mul(this.entry.splat(stride, LANES), Value::vector(&lanes));
            this.entry.add(this.entry.splat(local, LANES), offsets)
        })
    }

    /// Allocates the function's frame on the lanes' stacks.
    pub fn enter_frame(&mut self) {
        let used = self.field(context::LOCAL_USED);
        let limit = self.field(context::LOCAL_LIMIT);
        let after = self.entry.add(used, self.i64(self.frame().bytes()));
        let place = self.entry.offset(self.context(), context::LOCAL_USED.offset);
        self.entry.store(after, place, 8);
        // The check is at the end of the entry block, which cannot branch, so it is a call that returns immediately if
        // the frame fits.
        let full = self.entry.ugt(after, limit);
        let check = self.unit().stack_check();
        self.entry.call(check, &[self.context(), full]);
    }

    /// Frees the frame.
    pub fn leave_frame(&mut self) {
        if self.frame().bytes() > 0 {
            let used = self.field(context::LOCAL_USED);
            self.set_field(context::LOCAL_USED, used);
        }
    }

    /// Returns the offset of a local variable in each lane's stack.
    pub fn frame_offset(&mut self, variable: Value<'c>) -> Emitted<Value<'c>> {
        let Some(offset) = self.frame().offset(variable) else {
            return Err(Refusal::new(variable, "this local variable"));
        };
        let used = self.field(context::LOCAL_USED);
        Ok(self.b.add(used, self.i64(offset)))
    }

    /// Returns the address of a local variable for each lane.
    pub fn local_variable(&mut self, variable: Value<'c>) -> Emitted<Leaf<'c>> {
        let offset = self.frame_offset(variable)?;
        let stacks = self.lane_stacks();
        Ok(Leaf::Lanes(self.b.add(stacks, self.b.splat(offset, LANES))))
    }

    /// Returns the leaves of a constant.
    pub fn constant(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let ty = value.ty();
        if value.is_zero() {
            return Ok(leaf_types(ty).into_iter().map(|ty| Leaf::Uniform(Value::zero(ty))).collect());
        }
        // Poison is not used, because an unset value may share one register with other values, and the poison would
        // propagate to all of them.
        if value.is_undef() {
            return Ok(leaf_types(ty).into_iter().map(|ty| Leaf::Uniform(Value::undef(ty))).collect());
        }
        if value.is_global() {
            let address = self.global_address(value)?;
            return Ok(vec![Leaf::Uniform(address)]);
        }
        if value.is_constant_expression() {
            return Ok(vec![Leaf::Uniform(self.constant_expression(value)?)]);
        }
        match ty.kind() {
            Kind::Vector(count) => self.constant_elements(value, u64::from(count)),
            Kind::Array(count) => self.constant_elements(value, count),
            Kind::Struct => self.constant_elements(value, ty.fields().len() as u64),
            Kind::Int(_) | Kind::Half | Kind::BFloat | Kind::Float | Kind::Double => Ok(vec![Leaf::Uniform(value)]),
            _ => Err(Refusal::new(value, "this constant")),
        }
    }

    fn constant_elements(&mut self, value: Value<'c>, count: u64) -> Emitted<Vec<Leaf<'c>>> {
        let mut leaves = Vec::new();
        for index in 0..count {
            let Some(element) = value.constant_element(index as u32) else {
                return Err(Refusal::new(value, "this constant"));
            };
            leaves.extend(self.constant(element)?);
        }
        Ok(leaves)
    }

    fn constant_expression(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        let opcode = value.constant_opcode();
        let mut operands = Vec::new();
        for operand in value.operands() {
            let leaves = self.constant(operand)?;
            match leaves.first().and_then(Leaf::scalar) {
                Some(scalar) => operands.push(scalar),
                None => return Err(Refusal::new(value, "this constant expression")),
            }
        }
        let to = leaf_types(value.ty())[0];
        Ok(match opcode {
            Some(Opcode::LLVMGetElementPtr) => {
                let Some(steps) = crate::ir::address::steps(value, self.unit().layout()) else {
                    return Err(Refusal::new(value, "this constant expression"));
                };
                if !steps.variable.is_empty() {
                    return Err(Refusal::new(value, "a constant address with an index that is not a number"));
                }
                self.b.add(operands[0], self.i64(steps.constant as u64))
            }
            // The address of a shared variable that was converted to 32 bits. A plain number is not an address.
            Some(Opcode::LLVMIntToPtr)
                if matches!(value.ty().kind(), Kind::Pointer(3))
                    && scalar_bits(operands[0].ty()) == 32
                    && operands[0].as_u64().is_none() =>
            {
                self.widen_shared(operands[0])
            }
            Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr) => {
                if scalar_bits(to) < scalar_bits(operands[0].ty()) {
                    self.b.trunc(operands[0], to)
                } else {
                    self.b.zext(operands[0], to)
                }
            }
            Some(Opcode::LLVMBitCast) => self.b.bitcast(operands[0], to),
            Some(Opcode::LLVMTrunc) => self.b.trunc(operands[0], to),
            Some(opcode @ (Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMXor)) => {
                self.b.binary(opcode, operands[0], operands[1])
            }
            _ => return Err(Refusal::new(value, "this constant expression")),
        })
    }

    fn global_address(&mut self, global: Value<'c>) -> Emitted<Value<'c>> {
        match self.unit().place(self.kernel(), global) {
            Some(GlobalAddress::Slot(slot)) => Ok(self.slot_address(slot)),
            Some(GlobalAddress::Shared(offset)) => {
                let shared = self.field(context::SHARED);
                Ok(if offset == 0 { shared } else { self.b.add(shared, self.i64(u64::from(offset))) })
            }
            Some(GlobalAddress::Function(entry)) => Ok(self.unit().address_of(&self.b, entry)),
            Some(GlobalAddress::Kernel(number)) => Ok(self.i64(number)),
            None => Err(Refusal::undefined(global, &global.name())),
        }
    }
}
