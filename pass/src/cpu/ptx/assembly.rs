//! Inline assembly, one PTX instruction after another.

use super::parse::{self, Operand, Statement};
use crate::cpu::emitter::leaf::{LANES, Leaf, leaf_types};
use crate::cpu::emitter::{Emitted, Emitter, context};
use crate::cpu::error::Refusal;
use crate::ir::class::named_register;
use crate::llvm::value::{IntPredicate, Ordering, RealPredicate};
use crate::llvm::{Type, Value};
use std::collections::HashMap;

/// Registers of one piece of assembly, as vectors of lanes. Floats are held as their bits.
pub struct Machine<'c> {
    /// By name.
    pub registers: HashMap<String, Value<'c>>,
    /// `$0` and on.
    pub outputs: Vec<Option<Value<'c>>>,
    /// The operands after the outputs.
    pub inputs: Vec<Value<'c>>,
    /// Carry of the `.cc` instructions, 0 or 1 in the width of the last one.
    pub carry: Option<Value<'c>>,
}

impl<'c> Emitter<'_, 'c> {
    /// Lowers inline assembly that is understood.
    pub fn assembly(&mut self, call: Value<'c>, asm: Value<'c>) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let text = asm.asm_text();
        let refuse = || Refusal::of(call, format!("the inline assembly `{}`", text.trim()));
        let statements = parse::parse(&text).ok_or_else(refuse)?;
        let layout = parse::constraints(&asm.asm_constraints()).ok_or_else(refuse)?;
        let types = leaf_types(call.ty());
        if types.len() != layout.outputs {
            return Err(refuse());
        }
        let mut machine =
            Machine { registers: HashMap::new(), outputs: vec![None; layout.outputs], inputs: Vec::new(), carry: None };
        for (argument, tied) in call.arguments().into_iter().zip(&layout.inputs) {
            let lanes = self.vector(argument)?;
            let bits = crate::cpu::compute::arithmetic::scalar_bits(lanes.ty());
            let value = self.b.bitcast(lanes, self.t.int(bits).vector(LANES));
            machine.inputs.push(value);
            if let Some(output) = tied {
                machine.outputs[*output] = Some(value);
            }
        }
        for statement in &statements {
            self.statement(&mut machine, statement).ok_or_else(refuse)?;
        }
        if types.is_empty() {
            return Ok(None);
        }
        let mut leaves = Vec::new();
        for (ty, output) in types.iter().zip(&machine.outputs) {
            let bits = crate::cpu::compute::arithmetic::scalar_bits(*ty);
            let value = output.unwrap_or_else(|| Value::zero(self.t.int(bits).vector(LANES)));
            let value = self.b.fit_lanes(value, self.t.int(bits).vector(LANES));
            leaves.push(Leaf::Lanes(self.b.bitcast(value, ty.vector(LANES))));
        }
        Ok(Some(leaves))
    }

    /// `<32 x iN>`.
    pub fn int_lanes(&self, bits: u32) -> Type<'c> {
        self.t.int(bits).vector(LANES)
    }

    /// An operand as bits of this width.
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

    /// A special register.
    fn special(&mut self, name: &str, bits: u32) -> Option<Value<'c>> {
        if name.starts_with("reserved_smem_offset") {
            return Some(Value::zero(self.int_lanes(bits)));
        }
        if name == "total_smem_size" || name == "dynamic_smem_size" {
            let size = self.field(context::SHARED_BYTES);
            let size = self.b.trunc(size, self.t.int(32));
            return Some(self.b.splat(size, LANES));
        }
        let register = match name.split_once('.') {
            Some(_) => crate::ir::class::register(&format!("llvm.nvvm.read.ptx.sreg.{name}"))?,
            None => named_register(name)?,
        };
        self.register_lanes(register, self.t.int(bits))
    }

    /// Sets an operand; with `keep`, only the lanes that the guard lets through.
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
                let bits = crate::cpu::compute::arithmetic::scalar_bits(value.ty()) / parts.len().max(1) as u32;
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

    /// A predicate as `<32 x i1>`.
    pub fn predicate(&mut self, machine: &Machine<'c>, operand: &Operand) -> Option<Value<'c>> {
        let value = match operand {
            Operand::Register(name) => *machine.registers.get(name)?,
            Operand::Argument(number) => match number.checked_sub(machine.outputs.len()) {
                Some(input) => *machine.inputs.get(input)?,
                None => machine.outputs[*number]?,
            },
            _ => return None,
        };
        Some(if crate::cpu::compute::arithmetic::scalar_bits(value.ty()) == 1 {
            value
        } else {
            self.b.ne(value, self.same(value, 0))
        })
    }

    /// Whether an operand is a predicate, not a number that could be used as one.
    pub fn is_predicate(&self, machine: &Machine<'c>, operand: &Operand) -> bool {
        let value = match operand {
            Operand::Register(name) => machine.registers.get(name).copied(),
            Operand::Argument(number) => {
                number.checked_sub(machine.outputs.len()).and_then(|input| machine.inputs.get(input).copied())
            }
            _ => None,
        };
        value.is_some_and(|value| crate::cpu::compute::arithmetic::scalar_bits(value.ty()) == 1)
    }

    fn statement(&mut self, machine: &mut Machine<'c>, statement: &Statement) -> Option<()> {
        let guard = match &statement.guard {
            Some((operand, negated)) => {
                let value = self.predicate(machine, operand)?;
                Some(if *negated { self.b.not(value) } else { value })
            }
            None => None,
        };
        let parts: Vec<&str> = statement.operation.iter().map(String::as_str).collect();
        let has = |part: &str| parts.contains(&part);
        let operands = &statement.operands;
        let ty = parts.iter().rev().find_map(|part| ptx_type(part));
        let (kind, bits) = ty.unwrap_or((TypeKind::Bits, 32));
        let opcode = parts[0];
        match opcode {
            // Copies are done at once and lanes run in lockstep: there is nothing to wait for.
            "nanosleep" | "pmevent" | "griddepcontrol" | "prefetch" | "prefetchu" | "discard" | "applypriority" => {
                return Some(());
            }
            "bar" if has("warp") => return Some(()),
            "cp" if has("commit_group") || has("wait_group") || has("wait_all") => return Some(()),
            "membar" | "fence" => {
                self.b.fence(Ordering::LLVMAtomicOrderingSequentiallyConsistent);
                return Some(());
            }
            "bar" | "barrier" if has("sync") => {
                let none = self.i32(0);
                self.barrier(warpline_format::abi::barrier::SYNC, none).ok()?;
                return Some(());
            }
            "activemask" => {
                let lanes = self.b.splat(self.mask(), LANES);
                return self.write(machine, operands.first()?, lanes, guard);
            }
            "trap" => {
                self.b.call(self.unit().runtime().trap(), &[self.context(), self.mask()]);
                return Some(());
            }
            "cp" => return self.copy_async(machine, &parts, operands, guard),
            "mma" | "ldmatrix" | "stmatrix" | "movmatrix" => return self.asm_matrix(machine, &parts, operands, guard),
            "tex" | "tld4" => return self.asm_texture(machine, &parts, operands, guard),
            "suld" | "sust" => return self.asm_surface(machine, &parts, operands, guard),
            "ld" | "ldu" => return self.asm_load(machine, &parts, operands, guard, bits),
            "st" => return self.asm_store(machine, &parts, operands, guard, bits),
            "atom" | "red" => return self.asm_atomic(machine, &parts, operands, guard, kind, bits),
            _ => {}
        }
        let (result, sources) = operands.split_first()?;
        if opcode == "shfl" {
            let value = self.read(machine, &sources[0], 32)?;
            let (amount, control) = (self.read(machine, &sources[1], 32)?, self.read(machine, &sources[2], 32)?);
            let mode = parts.iter().copied().find(|part| matches!(*part, "up" | "down" | "bfly" | "idx"))?;
            let (shuffled, valid) = self.shuffle_lanes(value, mode, &Leaf::Lanes(amount), &Leaf::Lanes(control));
            return match result {
                Operand::Pair(value, predicate) => {
                    self.write(machine, value, shuffled, guard)?;
                    self.write(machine, predicate, valid, guard)
                }
                plain => self.write(machine, plain, shuffled, guard),
            };
        }
        if opcode == "vote" {
            let [votes, members, ..] = sources else { return None };
            let votes = self.predicate(machine, votes)?;
            let votes = self.bits(votes);
            let members = self.read(machine, members, 32)?;
            // Among the members that take part.
            let among = |this: &Self, lanes| this.b.and(this.b.splat(lanes, LANES), members);
            let (yes, all) = (among(self, self.b.and(votes, self.mask())), among(self, self.mask()));
            let value = match *parts.get(1)? {
                "ballot" => yes,
                "any" => self.b.ne(yes, self.same(yes, 0)),
                "all" => self.b.eq(yes, all),
                _ => return None,
            };
            return self.write(machine, result, value, guard);
        }
        if opcode == "setp" {
            // A third source would be combined with the comparison.
            let ([left, right], comparison) = (sources, parts[1]) else { return None };
            let (left, right) = (self.read(machine, left, bits)?, self.read(machine, right, bits)?);
            let value = match kind {
                TypeKind::Float => self.asm_compared(parts.last()?, comparison, left, right)?,
                _ => self.compared(comparison, kind, left, right)?,
            };
            let Operand::Pair(first, second) = result else { return self.write(machine, result, value, guard) };
            let contrary = self.b.not(value);
            self.write(machine, first, value, guard)?;
            return self.write(machine, second, contrary, guard);
        }
        if opcode == "selp" {
            let condition = self.predicate(machine, sources.get(2)?)?;
            let (yes, no) = (self.read(machine, &sources[0], bits)?, self.read(machine, &sources[1], bits)?);
            let value = self.b.select(condition, yes, no);
            return self.write(machine, result, value, guard);
        }
        let value = match (opcode, kind) {
            _ if super::video::video(opcode).is_some() => self.asm_video(machine, &parts, sources)?,
            _ if super::video::scalar_video(opcode) => self.asm_scalar_video(machine, &parts, sources)?,
            ("mov", _) => {
                let value = self.read(machine, &sources[0], bits)?;
                return self.write(machine, result, value, guard);
            }
            ("cvta", _) => self.asm_converted_pointer(machine, &parts, &sources[0], bits)?,
            ("isspacep", _) => self.asm_is_space(machine, &parts, &sources[0])?,
            ("cvt", _) => self.asm_convert(machine, &parts, sources)?,
            ("set", _) => self.asm_set(machine, &parts, sources)?,
            (_, TypeKind::Float) => self.asm_float(machine, &parts, sources, bits)?,
            _ => self.asm_integer(machine, &parts, sources, kind, bits)?,
        };
        self.write(machine, result, value, guard)
    }

    /// Numbers or integers, compared.
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

    /// Bits as a float of that width.
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

/// What a PTX type suffix says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeKind {
    /// Unsigned or untyped.
    Bits,
    /// Signed.
    Signed,
    /// Floating point.
    Float,
}

/// Reads a type suffix: its kind and the bits of a register.
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
