//! The LLVM types of the functions that `warpline_format::hooks` lists.

use super::space::number_of;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::{ModuleItems, Type, Types, Value};
use inkwell::module::Module;
use warpline_format::access::Space;
use warpline_format::hooks::{self, Hook};

/// Returns the LLVM type for a type of the border; pointers are in the address space `pointers`.
pub(crate) fn ty(types: Types<'_>, ty: hooks::Type, pointers: u32) -> Type<'_> {
    match ty {
        hooks::Type::Void => types.void(),
        hooks::Type::Bit => types.int(1),
        hooks::Type::Word => types.int(32),
        hooks::Type::Long => types.int(64),
        hooks::Type::Pointer => types.pointer(pointers),
    }
}

/// Returns a function that is only declared; the declaration is created at its first use.
pub(crate) fn declare<'c>(module: &Module<'c>, name: &str, parameters: &[Type<'c>], result: Type<'c>) -> Value<'c> {
    if let Some(function) = ModuleItems::function(module, name) {
        return function;
    }
    let function = module.declare(name, result.function(parameters));
    function.add_attribute(OF_FUNCTION, "nounwind", 0);
    function
}

/// Returns the function for a hook of device code.
pub(crate) fn hook<'c>(module: &Module<'c>, hook: Hook) -> Value<'c> {
    let types = ModuleItems::types(module);
    let space = match hook {
        Hook::Access(space) | Hook::Member(space) => space,
        _ => Space::Generic,
    };
    let parameters: Vec<_> = hook.arguments().iter().map(|&one| ty(types, one, number_of(space))).collect();
    declare(module, &hook.name(), &parameters, types.void())
}
