//! The variables that kernels can address.

use super::space;
use crate::llvm::debug::Variable;
use crate::llvm::shim::demangle;
use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;

/// Returns the module's globals in memory that kernels can address: defined variables, without shared memory, in the
/// module's order. Their index is the same in the module's descriptor and in the site table.
pub fn device_globals<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    module
        .variables()
        .into_iter()
        .filter(|variable| {
            let addressable = matches!(variable.address_space(), space::GENERIC | space::GLOBAL | space::CONSTANT);
            // `llvm.used` and similar variables are lists for the compiler.
            addressable && !variable.is_declaration() && !variable.name().starts_with("llvm.")
        })
        .collect()
}

/// Returns the name with which a variable was declared, without scopes.
pub(crate) fn declared_name(variable: Value<'_>) -> String {
    let declared = Variable::of_global(variable).map(Variable::name).filter(|name| !name.is_empty());
    declared.unwrap_or_else(|| {
        let whole = demangle(&variable.name());
        whole.rsplit("::").next().unwrap_or(&whole).to_owned()
    })
}
