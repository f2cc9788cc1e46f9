//! Null pointers that are known at compile time.

use crate::llvm::function::OF_FUNCTION;
use crate::llvm::types::{Kind, Type};
use crate::llvm::value::Opcode;
use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;
use std::collections::{BTreeMap, HashSet};

/// Makes LLVM keep accesses through null in the functions that create a null pointer, and in those into which such
/// functions may be inlined. LLVM may assume that there are none, and removes such an access together with the code
/// around it. If they are kept, they still exist when the program runs, and the access check reports them. Other
/// functions keep the benefit of the assumption.
pub(super) fn keep_accesses(module: &Module<'_>) {
    let functions: Vec<_> = module.functions().into_iter().filter(|function| !function.is_declaration()).collect();
    // The optimiser replaces loads from these variables by their values.
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

/// Returns whether an instruction uses a null pointer other than in a comparison or as an argument of a function
/// without code here, or stores one in memory together with the data around it.
fn makes_null<'c>(instruction: Value<'c>, tables: &HashSet<Value<'c>>) -> bool {
    let compares = matches!(instruction.opcode(), Some(Opcode::LLVMICmp));
    let leaves = instruction.is_any_call() && instruction.direct_callee().is_some_and(Value::is_declaration);
    let operands = instruction.operands();
    if operands.iter().any(|&operand| tables.contains(&object(operand))) {
        return true;
    }
    if is_memset(&instruction.callee_name()) {
        // The memory behind a pointer that was passed on may contain anything.
        return operands[1].is_zero() && object(operands[0]).allocated_type().is_none_or(holds_pointer);
    }
    !compares && !leaves && operands.into_iter().any(|operand| is_null(operand) || zeroes(operand))
}

/// Returns whether a function fills memory: LLVM's intrinsic, or the function of clang's headers for device code.
fn is_memset(name: &str) -> bool {
    name == "memset" || name.starts_with("llvm.memset.p") || name.starts_with("_ZL6memset")
}

/// Returns the object to which an address refers, as far as it can be determined.
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

/// Returns whether a value is a structure or array of zeros that contains a pointer.
fn zeroes(value: Value<'_>) -> bool {
    value.ty().is_aggregate() && value.is_zero() && holds_pointer(value.ty())
}

/// Returns whether a constant contains a null pointer.
fn holds_null(constant: Value<'_>) -> bool {
    let parts = || constant.operands().into_iter().any(holds_null);
    is_null(constant) || zeroes(constant) || (constant.ty().is_aggregate() && parts())
}

/// Returns whether a value is null, or an address at a small offset from null.
fn is_null(value: Value<'_>) -> bool {
    (value.ty().is_pointer() && value.is_zero())
        || (value.is_constant_expression() && value.operands().into_iter().any(is_null))
}
