//! What the analysis of conflicts between warps wants to know of an access: the shared variable, the value stored, and
//! whether the result of an atomic operation is used.

use crate::device::accesses::access::Access;
use crate::ir::globals::declared_name;
use crate::ir::kernel::is_kernel;
use crate::ir::space;
use crate::llvm::Value;
use crate::llvm::value::Opcode;
use warpline_format::site_table::{Hint, Op, Stored};

/// Steps from a pointer to the variable it leads into, at most.
const MOST_STEPS: usize = 64;

/// The hint about an access of `instruction`, unless there is nothing to say. `shared` has the names so far.
pub(in crate::device) fn of(
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

fn number(names: &mut Vec<String>, name: String) -> u32 {
    let known = names.iter().position(|known| *known == name);
    known.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    }) as u32
}

/// Name of the shared variable that a pointer leads into.
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

/// The number of a variable in shared memory. `names` has the names so far.
pub(in crate::device) fn number_of(names: &mut Vec<String>, variable: Value<'_>) -> u32 {
    number(names, declared_name(variable))
}

/// What is known of a stored value.
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

/// Whether it is an argument of a kernel; those of other functions differ from thread to thread.
fn is_of_kernel(value: Value<'_>) -> bool {
    value.argument_of().is_some_and(is_kernel)
}
