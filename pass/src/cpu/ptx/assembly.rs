//! Inline assembly, one PTX instruction after another.

use super::machine::{Machine, TypeKind, ptx_type};
use super::video;
use crate::cpu::compute::arithmetic::scalar_bits;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::target::types::{LANES, leaf_types};
use crate::llvm::types::Kind;
use crate::llvm::value::Ordering;
use crate::llvm::{Type, Value};
use crate::ptx::parse::{self, Operand, Statement};
use std::collections::HashMap;

impl<'c> Emitter<'_, 'c> {
    /// Lowers inline assembly that is understood.
    pub fn assembly(&mut self, call: Value<'c>, asm: Value<'c>) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let text = asm.asm_text();
        let refuse = || Refusal::of(call, format!("the inline assembly `{}`", text.trim()));
        let statements = parse::parse(&text).ok_or_else(refuse)?;
        let layout = parse::constraints(&asm.asm_constraints()).ok_or_else(refuse)?;
        let outputs = output_types(call.ty());
        if outputs.len() != layout.outputs {
            return Err(refuse());
        }
        let mut machine = Machine {
            registers: HashMap::new(),
            outputs: vec![None; layout.outputs],
            inputs: Vec::new(),
            lanes: self.assembly_mask(),
            carry: None,
        };
        for (argument, tied) in call.arguments().into_iter().zip(&layout.inputs) {
            let value = self.register_of(argument)?;
            // A register holds something, whatever it is: what nobody set is used beside what somebody did, as the other half of a pair.
            let value = if argument.is_undef() { Value::zero(value.ty()) } else { value };
            machine.inputs.push(value);
            if let Some(output) = tied {
                machine.outputs[*output] = Some(value);
            }
        }
        let alone = statements.len() == 1;
        for statement in &statements {
            let one = || Refusal::of(call, format!("`{}` of the inline assembly `{}`", statement.text, text.trim()));
            self.statement(&mut machine, statement).ok_or_else(|| if alone { refuse() } else { one() })?;
        }
        if outputs.is_empty() {
            return Ok(None);
        }
        let mut leaves = Vec::new();
        for (elements, output) in outputs.iter().zip(&machine.outputs) {
            let widths: Vec<u32> = elements.iter().map(|ty| scalar_bits(*ty)).collect();
            let whole = self.t.int(widths.iter().sum()).vector(LANES);
            let value = self.b.fit_lanes(output.unwrap_or_else(|| Value::zero(whole)), whole);
            let mut below = 0;
            for (ty, bits) in elements.iter().zip(widths) {
                let part = self.b.lshr(value, self.same(value, u64::from(below)));
                let part = self.b.fit_lanes(part, self.t.int(bits).vector(LANES));
                leaves.push(Leaf::Lanes(self.b.bitcast(part, ty.vector(LANES))));
                below += bits;
            }
        }
        Ok(Some(leaves))
    }

    /// A value as a register holds it: the elements of a small vector beside each other, the first lowest.
    fn register_of(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        let elements = self.leaves(value)?;
        let mut parts = Vec::with_capacity(elements.len());
        for element in &elements {
            let lanes = element.lanes(&self.b);
            parts.push(self.b.bitcast(lanes, self.t.int(scalar_bits(lanes.ty())).vector(LANES)));
        }
        let bits = parts.iter().map(|part| scalar_bits(part.ty())).sum();
        Ok(if let [one] = parts[..] { one } else { self.packed(&parts, bits) })
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
            // A hint for L2, which nothing here follows.
            "createpolicy" => {
                let none = self.b.splat(self.i64(0), LANES);
                return self.write(machine, operands.first()?, none, guard);
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
            // To other blocks of a cluster, with a barrier object to tell of it.
            "st" | "red" if has("async") => return None,
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
            _ if video::video(opcode).is_some() => self.asm_video(machine, &parts, sources)?,
            _ if video::scalar_video(opcode) => self.asm_scalar_video(machine, &parts, sources)?,
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
}

/// The outputs of a piece of assembly, each as the types of the elements in its register.
fn output_types(ty: Type<'_>) -> Vec<Vec<Type<'_>>> {
    match ty.kind() {
        Kind::Void => Vec::new(),
        Kind::Struct => ty.fields().into_iter().map(leaf_types).collect(),
        _ => vec![leaf_types(ty)],
    }
}
