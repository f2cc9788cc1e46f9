//! Variables that kernels can address.

use super::space;
use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;

/// The module's globals in memory that kernels can address: defined, not shared memory, in the module's own order.
/// Their index is that of the module's descriptor and of the site table.
pub fn device_globals<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    module
        .variables()
        .into_iter()
        .filter(|variable| {
            let addressable = matches!(variable.address_space(), space::GENERIC | space::GLOBAL | space::CONSTANT);
            // `llvm.used` and its kin are lists for the compiler.
            addressable && !variable.is_declaration() && !variable.name().starts_with("llvm.")
        })
        .collect()
}
