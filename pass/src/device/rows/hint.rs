//! The properties of an access that the analysis of conflicts between threads needs: the shared variable, the stored
//! value and its origin, the scope of an atomic operation and whether its result is used.

use std::collections::HashMap;

use super::update::update;
use crate::device::accesses::access::Access;
use crate::device::accesses::assembly;
use crate::ir::globals::declared_name;
use crate::ir::kernel::is_kernel;
use crate::ir::space;
use crate::ir::thread_steps::{Forms, Step};
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};
use warpline_format::conflict::{ConflictHint, Update};
use warpline_format::site_table::{Hint, Op, Stored};

/// The maximum number of steps from a pointer to its variable.
const MOST_STEPS: usize = 64;

/// Returns the hint about an access of `instruction`, unless it would be empty. `shared` contains the names so far.
pub(in crate::device) fn find(
    instruction: Value<'_>,
    site: u32,
    access: &Access<'_>,
    shared: &mut Vec<String>,
) -> Option<Hint> {
    let is_store = instruction.opcode() == Some(Opcode::LLVMStore);
    let hint = Hint {
        site,
        shared: variable(access.address.value).map(|name| number(shared, name)),
        stored: if is_store { stored(instruction.operand(0)) } else { Stored::Anything },
        unused: access.op == Op::Atomic && !instruction.is_used(),
    };
    (hint != Hint { site, ..Hint::default() }).then_some(hint)
}

/// Returns the hint about conflicts of an access, if there is one. `loads` contains the sites of the function's loads
/// so far.
pub(in crate::device) fn of_conflicts<'c>(
    instruction: Value<'c>,
    site: u32,
    op: Op,
    (forms, loads): (&mut Forms<'c>, &HashMap<Value<'c>, u32>),
    layout: Layout<'_>,
) -> Option<ConflictHint> {
    let is_store = instruction.opcode() == Some(Opcode::LLVMStore);
    let update = if op == Op::Load { None } else { update(instruction, layout) };
    let hint = ConflictHint {
        site,
        block_scope: op == Op::Atomic && is_of_block_scope(instruction),
        update: update.map_or(Update::No, |(update, _)| update),
        loaded_by: update.and_then(|(_, load)| loads.get(&load).copied()),
        differs: if is_store { differing_axes(instruction.operand(0), forms, layout) } else { 0 },
    };
    (hint != ConflictHint { site, ..ConflictHint::default() }).then_some(hint)
}

fn is_of_block_scope(instruction: Value<'_>) -> bool {
    if instruction.opcode() != Some(Opcode::LLVMCall) {
        return false;
    }
    let of_block = |name: &str| name.split('.').any(|part| part == "cta");
    let text = instruction.called_value().filter(|callee| callee.is_inline_asm()).map(Value::asm_text);
    match text {
        Some(text) => assembly::statements(&text).iter().any(|statement| {
            let opcode = assembly::opcode(statement);
            matches!(opcode.split('.').next(), Some("atom" | "red")) && of_block(opcode)
        }),
        None => of_block(&instruction.callee_name()),
    }
}

/// Returns the axes for [`ConflictHint::differs`]. Values that depend on memory may be equal.
fn differing_axes<'c>(value: Value<'c>, forms: &mut Forms<'c>, layout: Layout<'_>) -> u8 {
    let form = forms.form(value, layout);
    if form.loaded {
        return 0;
    }
    let grows = |axis: usize| matches!(form.steps[axis], Step::Bytes(step) if step != 0);
    (0..3).filter(|&axis| grows(axis)).map(|axis| 1 << axis).sum()
}

fn number(names: &mut Vec<String>, name: String) -> u32 {
    let known = names.iter().position(|known| *known == name);
    known.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    }) as u32
}

/// Returns the name of the shared variable to which a pointer refers.
fn variable(mut pointer: Value<'_>) -> Option<String> {
    for _ in 0..MOST_STEPS {
        if pointer.is_global_variable() {
            return (pointer.ty().is_pointer() && pointer.address_space() == space::SHARED)
                .then(|| declared_name(pointer));
        }
        match pointer.constant_opcode().or_else(|| pointer.is_instruction().then(|| pointer.opcode()).flatten()) {
            Some(
                Opcode::LLVMGetElementPtr
                | Opcode::LLVMAddrSpaceCast
                | Opcode::LLVMBitCast
                | Opcode::LLVMPtrToInt
                | Opcode::LLVMIntToPtr,
            ) => pointer = pointer.operand(0),
            _ => return None,
        }
    }
    None
}

/// Returns the number of a variable in shared memory. `names` contains the names so far.
pub(in crate::device) fn number_of(names: &mut Vec<String>, variable: Value<'_>) -> u32 {
    number(names, declared_name(variable))
}

/// Returns the known properties of a stored value.
fn stored(mut value: Value<'_>) -> Stored {
    for _ in 0..MOST_STEPS {
        if let Some(bits) = value.as_u64() {
            return Stored::Constant(bits);
        }
        if value.is_constant() && value.is_zero() {
            return Stored::Constant(0);
        }
        if let Some(number) = value.as_f64() {
            return Stored::Constant(number.to_bits());
        }
        if is_of_kernel(value) {
            return Stored::Argument;
        }
        match value.is_instruction().then(|| value.opcode()).flatten() {
            Some(
                Opcode::LLVMTrunc
                | Opcode::LLVMZExt
                | Opcode::LLVMSExt
                | Opcode::LLVMBitCast
                | Opcode::LLVMFPTrunc
                | Opcode::LLVMFPExt
                | Opcode::LLVMSIToFP
                | Opcode::LLVMUIToFP
                | Opcode::LLVMFPToSI
                | Opcode::LLVMFPToUI,
            ) => value = value.operand(0),
            Some(Opcode::LLVMLoad) if value.operand(0).address_space() == space::PARAMETER => {
                value = value.operand(0);
            }
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast)
                if value.operands()[1..].iter().all(|index| index.is_constant()) =>
            {
                value = value.operand(0);
            }
            _ => return Stored::Anything,
        }
    }
    Stored::Anything
}

/// Returns whether a value is an argument of a kernel; arguments of other functions differ between threads.
fn is_of_kernel(value: Value<'_>) -> bool {
    value.argument_of().is_some_and(is_kernel)
}
