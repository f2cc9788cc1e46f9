//! Null pointers that the compiler knows.

use crate::llvm::function::OF_FUNCTION;
use crate::llvm::value::Opcode;
use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;
use std::collections::{BTreeMap, HashSet};

/// Has LLVM leave accesses through null in the functions that make a null pointer, and in those that such functions may be inlined
/// into. It may assume that there are none, and leaves out the access with all that comes before and after it; so they are still
/// there when the program runs, and the access check tells of them. Elsewhere nothing is lost that the assumption brings.
pub(super) fn keep_accesses(module: &Module<'_>) {
    let functions: Vec<_> = module.functions().into_iter().filter(|function| !function.is_declaration()).collect();
    let mut callers: BTreeMap<String, Vec<Value<'_>>> = BTreeMap::new();
    let mut waiting = Vec::new();
    for &function in &functions {
        let instructions: Vec<_> = function.blocks().into_iter().flat_map(|block| block.instructions()).collect();
        for callee in instructions.iter().filter_map(|one| one.direct_callee()) {
            callers.entry(callee.name()).or_default().push(function);
        }
        if instructions.into_iter().any(makes_null) {
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

/// Whether an instruction does more with a null pointer than to compare with it, or to hand it to what has no code here.
fn makes_null(instruction: Value<'_>) -> bool {
    let compares = matches!(instruction.opcode(), Some(Opcode::LLVMICmp));
    let leaves = instruction.is_any_call() && instruction.direct_callee().is_some_and(Value::is_declaration);
    !compares && !leaves && instruction.operands().into_iter().any(is_null)
}

/// Null, or an address a number of bytes behind it.
fn is_null(value: Value<'_>) -> bool {
    (value.ty().is_pointer() && value.is_zero())
        || (value.is_constant_expression() && value.operands().into_iter().any(is_null))
}
