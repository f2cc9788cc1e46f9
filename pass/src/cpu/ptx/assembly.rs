//! Lowers inline assembly, one PTX instruction after another.

use super::machine::{Machine, TypeKind, ptx_type};
use super::{compare, video, warp};
use crate::cpu::compute::arithmetic::scalar_bits;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::target::types::{LANES, leaf_types};
use crate::llvm::types::Kind;
use crate::llvm::value::Ordering;
use crate::llvm::{Type, Value};
use crate::ptx::barrier::Barrier;
use crate::ptx::parse::{self, Operand, Statement};
use std::collections::HashMap;

impl<'c> Emitter<'_, 'c> {
    /// Lowers inline assembly that is supported.
    pub fn assembly(&mut self, call: Value<'c>, asm: Value<'c>) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let text = asm.asm_text();
        let refuse = || Refusal::new(call, format!("the inline assembly `{}`", text.trim()));
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
            previous: None,
        };
        for (argument, tied) in call.arguments().into_iter().zip(&layout.inputs) {
            let value = self.register_of(argument)?;
            // A register always has a value, because an unset half of a pair is used together with a set half.
            let value = if argument.is_undef() { Value::zero(value.ty()) } else { value };
            machine.inputs.push(value);
            if let Some(output) = tied {
                machine.outputs[*output] = Some(value);
            }
        }
        let alone = statements.len() == 1;
        let followed = self.followed_statements(call);
        for (index, statement) in statements.iter().enumerate() {
            self.operation = followed.get(&index).copied();
            let sources = self.statement_sources(&machine, statement);
            let one = || Refusal::new(call, format!("`{}` of the inline assembly `{}`", statement.text, text.trim()));
            self.statement(&mut machine, statement).ok_or_else(|| if alone { refuse() } else { one() })?;
            self.record_statement(&mut machine, statement, sources);
        }
        self.operation = None;
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

    /// Returns a value in the form of a register: the elements of a small vector are adjacent, with the first one
    /// lowest.
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
        // No register has 128 bits.
        if has("b128") {
            return None;
        }
        match opcode {
            // Copies are performed immediately, and lanes run in lockstep, so these instructions have nothing to wait
            // for.
            "nanosleep" | "pmevent" | "griddepcontrol" | "prefetch" | "prefetchu" | "discard" | "applypriority" => {
                return Some(());
            }
            // A hint for L2, which the CPU device ignores.
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
            "barrier" if has("cluster") && guard.is_none() && (has("arrive") || has("wait")) => {
                self.cluster_barrier(has("wait"));
                return Some(());
            }
            "mapa" | "getctarank" => return self.asm_cluster_address(machine, &parts, operands, guard),
            // A guarded barrier has already been converted to a branch.
            "bar" | "barrier" if guard.is_none() => {
                let barrier = Barrier::read(statement)?;
                return self.asm_barrier(machine, &barrier);
            }
            "mbarrier" => return self.asm_mbarrier(machine, &parts, operands, guard),
            "cp" if has("mbarrier") => return self.asm_mbarrier(machine, &parts, operands, guard),
            "trap" if guard.is_none() => {
                self.b.call(self.unit().runtime().trap(), &[self.context(), self.mask()]);
                return Some(());
            }
            "cp" => return self.copy_async(machine, &parts, operands, guard),
            "mma" | "ldmatrix" | "stmatrix" | "movmatrix" => return self.asm_matrix(machine, &parts, operands, guard),
            "tex" | "tld4" => return self.asm_texture(machine, &parts, operands, guard),
            "suld" | "sust" => return self.asm_surface(machine, &parts, operands, guard),
            // A store to other blocks of a cluster, with a barrier object that is notified.
            "st" | "red" if has("async") => return None,
            "ld" | "ldu" => return self.asm_load(machine, &parts, operands, guard, bits),
            "st" => return self.asm_store(machine, &parts, operands, guard, bits),
            "atom" | "red" => return self.asm_atomic(machine, &parts, operands, guard, kind, bits),
            _ => {}
        }
        if warp::exchanges(opcode) {
            return self.asm_exchange(machine, &parts, operands, guard);
        }
        if compare::compares(opcode) {
            return self.asm_comparison(machine, &parts, operands, guard, (kind, bits));
        }
        let (result, sources) = operands.split_first()?;
        if let (Operand::Pair(value, holds), "lop3") = (result, opcode) {
            return self.asm_lop3_tested(machine, &parts, (value, holds), sources, guard);
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
        if self.operation.is_some() {
            self.follow_assembly(machine, &parts, value, sources, guard);
        }
        self.write(machine, result, value, guard)
    }
}

/// Returns the outputs of assembly, each as the types of the elements in its register.
fn output_types(ty: Type<'_>) -> Vec<Vec<Type<'_>>> {
    match ty.kind() {
        Kind::Void => Vec::new(),
        Kind::Struct => ty.fields().into_iter().map(leaf_types).collect(),
        _ => vec![leaf_types(ty)],
    }
}
