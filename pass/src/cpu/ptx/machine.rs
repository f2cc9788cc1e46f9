//! The registers of inline assembly: reading, writing and comparing operands.

use crate::cpu::compute::arithmetic::scalar_bits;
use crate::cpu::emitter::{Emitter, context};
use crate::cpu::target::types::LANES;
use crate::ir::class::{Register, named_register};
use crate::llvm::value::{IntPredicate, RealPredicate};
use crate::llvm::{Type, Value};
use crate::ptx::parse::Operand;
use std::collections::HashMap;
use warpline_format::abi::reserved_shared;

/// The registers of one piece of assembly, as vectors of lanes. Floats are stored as their bits.
pub struct Machine<'c> {
    /// The registers, keyed by name.
    pub registers: HashMap<String, Value<'c>>,
    /// The outputs `$0` and following.
    pub outputs: Vec<Option<Value<'c>>>,
    /// The operands after the outputs.
    pub inputs: Vec<Value<'c>>,
    /// The lanes that may access memory.
    pub lanes: Value<'c>,
    /// The carry of the `.cc` instructions, which is 0 or 1 with the width of the last one.
    pub carry: Option<Value<'c>>,
    /// The value that the last atomic instruction replaced.
    pub previous: Option<Value<'c>>,
}

impl<'c> Emitter<'_, 'c> {
    /// Returns `<32 x iN>`.
    pub fn int_lanes(&self, bits: u32) -> Type<'c> {
        self.t.int(bits).vector(LANES)
    }

    /// Returns an operand as bits of this width.
    pub fn read(&mut self, machine: &Machine<'c>, operand: &Operand, bits: u32) -> Option<Value<'c>> {
        let ty = self.int_lanes(bits);
        let value = match operand {
            Operand::Argument(number) => match number.checked_sub(machine.outputs.len()) {
                Some(input) => *machine.inputs.get(input)?,
                None => machine.outputs[*number]?,
            },
            Operand::Number(number) => self.same(Value::zero(ty), *number),
            Operand::Register(name) => match machine.registers.get(name) {
                Some(value) => *value,
                None => self.special(name, bits)?,
            },
            Operand::Group(parts) => {
                let part_bits = bits / parts.len().max(1) as u32;
                let mut whole = Value::zero(ty);
                for (index, part) in parts.iter().enumerate() {
                    let part = self.read(machine, part, part_bits)?;
                    let wide = self.b.zext(part, ty);
                    let placed = self.b.shl(wide, self.same(wide, u64::from(part_bits) * index as u64));
                    whole = self.b.or(whole, placed);
                }
                whole
            }
            _ => return None,
        };
        Some(self.b.fit_lanes(value, ty))
    }

    /// Returns the number of bits of the register or argument that an operand names.
    pub fn operand_bits(&self, machine: &Machine<'c>, operand: &Operand) -> Option<u32> {
        let value = match operand {
            Operand::Register(name) => machine.registers.get(name).copied(),
            Operand::Argument(number) => match number.checked_sub(machine.outputs.len()) {
                Some(input) => machine.inputs.get(input).copied(),
                None => machine.outputs.get(*number).copied().flatten(),
            },
            _ => None,
        };
        Some(scalar_bits(value?.ty()))
    }

    /// Returns a special register.
    fn special(&mut self, name: &str, bits: u32) -> Option<Value<'c>> {
        if let Some(register) = name.strip_prefix("reserved_smem_offset_") {
            return self.reserved_shared(register);
        }
        let size = match name {
            "total_smem_size" => {
                let bytes = self.field(context::SHARED_BYTES);
                Some(self.b.trunc(bytes, self.t.int(32)))
            }
            "dynamic_smem_size" => Some(self.field(context::DYNAMIC_SHARED)),
            "aggr_smem_size" => {
                let reserved = self.i32(reserved_shared::BYTES as u32);
                let offset = self.field(context::RESERVED_OFFSET);
                Some(self.b.add(offset, reserved))
            }
            "is_explicit_cluster" => {
                let blocks = self.register_lanes(Register::ClusterBlocks, self.t.int(32))?;
                return Some(self.b.ugt(blocks, self.same(blocks, 1)));
            }
            _ => None,
        };
        if let Some(size) = size {
            return Some(self.b.splat(size, LANES));
        }
        let register = match name.split_once('.') {
            Some(_) => crate::ir::class::register(&format!("llvm.nvvm.read.ptx.sreg.{name}"))?,
            None => named_register(name)?,
        };
        self.register_lanes(register, self.t.int(bits))
    }

    /// Returns `%reserved_smem_offset_*`. Offsets are the lower half of host addresses, like other shared pointers in
    /// 32 bits.
    fn reserved_shared(&mut self, register: &str) -> Option<Value<'c>> {
        let from = match register {
            "begin" | "0" => 0,
            "1" => reserved_shared::SECOND,
            "end" => reserved_shared::BYTES,
            "cap" => return Some(self.b.splat(self.i32(reserved_shared::BYTES as u32), LANES)),
            _ => return None,
        };
        let (shared, offset) = (self.field(context::SHARED), self.field(context::RESERVED_OFFSET));
        let start = self.b.add(self.b.trunc(shared, self.t.int(32)), offset);
        let place = self.b.add(start, self.i32(from as u32));
        Some(self.b.splat(place, LANES))
    }

    /// Sets an operand; with `keep`, only in the lanes for which the guard is true.
    pub fn write(
        &mut self,
        machine: &mut Machine<'c>,
        operand: &Operand,
        value: Value<'c>,
        keep: Option<Value<'c>>,
    ) -> Option<()> {
        let blended = |this: &Self, old: Option<Value<'c>>| match (keep, old) {
            (Some(guard), Some(old)) => {
                let old = this.b.fit_lanes(old, value.ty());
                this.b.select(guard, value, old)
            }
            _ => value,
        };
        match operand {
            Operand::Argument(number) => {
                let old = *machine.outputs.get(*number)?;
                machine.outputs[*number] = Some(blended(self, old));
            }
            Operand::Register(name) if name == "_" => {}
            Operand::Register(name) => {
                let new = blended(self, machine.registers.get(name).copied());
                machine.registers.insert(name.clone(), new);
            }
            Operand::Group(parts) => {
                let bits = scalar_bits(value.ty()) / parts.len().max(1) as u32;
                for (index, part) in parts.iter().enumerate() {
                    let moved = self.b.lshr(value, self.same(value, u64::from(bits) * index as u64));
                    let piece = self.b.trunc(moved, self.int_lanes(bits));
                    self.write(machine, part, piece, keep)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns a predicate as `<32 x i1>`.
    pub fn predicate(&mut self, machine: &Machine<'c>, operand: &Operand) -> Option<Value<'c>> {
        let value = match operand {
            Operand::Register(name) => *machine.registers.get(name)?,
            Operand::Argument(number) => match number.checked_sub(machine.outputs.len()) {
                Some(input) => *machine.inputs.get(input)?,
                None => machine.outputs[*number]?,
            },
            _ => return None,
        };
        Some(if scalar_bits(value.ty()) == 1 { value } else { self.b.ne(value, self.same(value, 0)) })
    }

    /// Returns whether an operand is a predicate, as opposed to a number that could be used as a predicate.
    pub fn is_predicate(&self, machine: &Machine<'c>, operand: &Operand) -> bool {
        let value = match operand {
            Operand::Register(name) => machine.registers.get(name).copied(),
            Operand::Argument(number) => {
                number.checked_sub(machine.outputs.len()).and_then(|input| machine.inputs.get(input).copied())
            }
            _ => None,
        };
        value.is_some_and(|value| scalar_bits(value.ty()) == 1)
    }

    /// Compares numbers or integers.
    pub fn compared(&self, comparison: &str, kind: TypeKind, left: Value<'c>, right: Value<'c>) -> Option<Value<'c>> {
        if kind == TypeKind::Float {
            let predicate = match comparison {
                "eq" => RealPredicate::LLVMRealOEQ,
                "ne" => RealPredicate::LLVMRealONE,
                "lt" => RealPredicate::LLVMRealOLT,
                "le" => RealPredicate::LLVMRealOLE,
                "gt" => RealPredicate::LLVMRealOGT,
                "ge" => RealPredicate::LLVMRealOGE,
                "equ" => RealPredicate::LLVMRealUEQ,
                "neu" => RealPredicate::LLVMRealUNE,
                "ltu" => RealPredicate::LLVMRealULT,
                "leu" => RealPredicate::LLVMRealULE,
                "gtu" => RealPredicate::LLVMRealUGT,
                "geu" => RealPredicate::LLVMRealUGE,
                "num" => RealPredicate::LLVMRealORD,
                "nan" => RealPredicate::LLVMRealUNO,
                _ => return None,
            };
            return Some(self.b.fcmp(predicate, left, right));
        }
        let signed = kind == TypeKind::Signed;
        let predicate = match (comparison, signed) {
            ("eq", _) => IntPredicate::LLVMIntEQ,
            ("ne", _) => IntPredicate::LLVMIntNE,
            ("lt", true) => IntPredicate::LLVMIntSLT,
            ("le", true) => IntPredicate::LLVMIntSLE,
            ("gt", true) => IntPredicate::LLVMIntSGT,
            ("ge", true) => IntPredicate::LLVMIntSGE,
            ("lt" | "lo", false) => IntPredicate::LLVMIntULT,
            ("le" | "ls", false) => IntPredicate::LLVMIntULE,
            ("gt" | "hi", false) => IntPredicate::LLVMIntUGT,
            ("ge" | "hs", false) => IntPredicate::LLVMIntUGE,
            _ => return None,
        };
        Some(self.b.icmp(predicate, left, right))
    }

    /// Interprets bits as a float of that width.
    pub fn as_float(&self, bits_value: Value<'c>, bits: u32) -> Option<Value<'c>> {
        let ty = match bits {
            16 => self.t.half(),
            32 => self.t.float(),
            64 => self.t.double(),
            _ => return None,
        };
        Some(self.b.bitcast(bits_value, ty.vector(LANES)))
    }
}

/// The kind of type in a PTX type suffix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeKind {
    /// Unsigned or untyped.
    Bits,
    /// Signed.
    Signed,
    /// Floating point.
    Float,
}

/// Reads a type suffix; returns its kind and the number of bits of a register.
pub fn ptx_type(part: &str) -> Option<(TypeKind, u32)> {
    match part {
        "f16x2" | "bf16x2" => return Some((TypeKind::Float, 32)),
        "bf16" => return Some((TypeKind::Float, 16)),
        "pred" => return Some((TypeKind::Bits, 1)),
        _ => {}
    }
    let kind = match part.as_bytes().first()? {
        b'u' | b'b' => TypeKind::Bits,
        b's' => TypeKind::Signed,
        b'f' => TypeKind::Float,
        _ => return None,
    };
    let bits: u32 = part[1..].parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64).then_some((kind, bits))
}
