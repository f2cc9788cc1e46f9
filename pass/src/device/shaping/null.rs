//! Null pointers that are known at compile time.

use crate::llvm::function::OF_FUNCTION;
use crate::llvm::types::{Kind, Type};
use crate::llvm::value::Opcode;
use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;
use std::collections::{BTreeMap, HashSet};

/// Has LLVM leave accesses through null in the functions that make a null pointer, and in those that such functions may
/// be inlined into. It may assume that there are none, and leaves out the access with all that comes before and after
/// it; so they are still there when the program runs, and the access check reports them. Other functions keep the
/// benefit of the assumption.
pub(super) fn keep_accesses(module: &Module<'_>) {
    let functions: Vec<_> = module.functions().into_iter().filter(|function| !function.is_declaration()).collect();
    // The optimiser replaces loads from these by their values.
    let constants = module.variables().into_iter().filter(|variable| variable.is_constant_variable());
    let tables: HashSet<_> = constants.filter(|variable| variable.initializer().is_some_and(holds_null)).collect();
    let mut callers: BTreeMap<String, Vec<Value<'_>>> = BTreeMap::new();
    let mut waiting = Vec::new();
    for &function in &functions {
        let instructions: Vec<_> = function.blocks().into_iter().flat_map(|block| block.instructions()).collect();
        for callee in instructions.iter().filter_map(|one| one.direct_callee()) {
            callers.entry(callee.name()).or_default().push(function);
        }
        if instructions.into_iter().any(|instruction| makes_null(instruction, &tables)) {
            waiting.push(function);
        }
    }
    let mut marked = HashSet::new();
    while let Some(function) = waiting.pop() {
        if marked.insert(function) {
            function.add_attribute(OF_FUNCTION, "null_pointer_is_valid", 0);
            waiting.extend(callers.get(&function.name()).into_iter().flatten().copied());
        }
    }
}

/// Returns whether an instruction does more with a null pointer than to compare with it, or to hand it to what has no
/// code here, or puts one into memory along with what lies around it.
fn makes_null<'c>(instruction: Value<'c>, tables: &HashSet<Value<'c>>) -> bool {
    let compares = matches!(instruction.opcode(), Some(Opcode::LLVMICmp));
    let leaves = instruction.is_any_call() && instruction.direct_callee().is_some_and(Value::is_declaration);
    let operands = instruction.operands();
    if operands.iter().any(|&operand| tables.contains(&object(operand))) {
        return true;
    }
    if is_memset(&instruction.callee_name()) {
        // What lies behind a pointer that was handed over may be anything.
        return operands[1].is_zero() && object(operands[0]).allocated_type().is_none_or(holds_pointer);
    }
    !compares && !leaves && operands.into_iter().any(|operand| is_null(operand) || zeroes(operand))
}

/// Returns whether a function sets memory: LLVM's, or that of clang's headers for device code.
fn is_memset(name: &str) -> bool {
    name == "memset" || name.starts_with("llvm.memset.p") || name.starts_with("_ZL6memset")
}

/// What an address leads into, as far as that can be seen.
fn object(mut value: Value<'_>) -> Value<'_> {
    while value.is_constant_expression()
        || matches!(value.opcode(), Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast))
    {
        value = value.operand(0);
    }
    value
}

fn holds_pointer(ty: Type<'_>) -> bool {
    match ty.kind() {
        Kind::Pointer(_) => true,
        Kind::Array(_) => holds_pointer(ty.element()),
        Kind::Struct => ty.fields().into_iter().any(holds_pointer),
        _ => false,
    }
}

/// Returns whether a value is a structure or array of zeros with a pointer in it.
fn zeroes(value: Value<'_>) -> bool {
    value.ty().is_aggregate() && value.is_zero() && holds_pointer(value.ty())
}

/// Returns whether there is a null pointer in a constant.
fn holds_null(constant: Value<'_>) -> bool {
    let parts = || constant.operands().into_iter().any(holds_null);
    is_null(constant) || zeroes(constant) || (constant.ty().is_aggregate() && parts())
}

/// Null, or an address a number of bytes after it.
fn is_null(value: Value<'_>) -> bool {
    (value.ty().is_pointer() && value.is_zero())
        || (value.is_constant_expression() && value.operands().into_iter().any(is_null))
}
