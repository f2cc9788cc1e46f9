//! Device variables and the globals that the compiler makes.

use super::space;
use super::table::Table;
use crate::llvm::debug::Variable;
use crate::llvm::metadata::compile_units;
use crate::llvm::shim::demangle;
use crate::llvm::{Layout, ModuleItems, Value};
use inkwell::module::Module;
use warpline_format::site_table::{Frame, Global, GlobalKind};

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

/// Lists them in the table.
pub(super) fn list(module: &Module<'_>, table: &mut Table<'_>) {
    let layout = Layout::of(module);
    for variable in device_globals(module) {
        let debug = Variable::of_global(variable).filter(|debug| !debug.name().is_empty());
        let kind = match variable.address_space() {
            space::CONSTANT => GlobalKind::Constant,
            // Switch tables, strings, constant arrays and libdevice's tables have no source variable.
            _ if debug.is_none() && !variable.is_externally_initialized() => GlobalKind::Compiler,
            _ => GlobalKind::Device,
        };
        let frame = debug.map(|debug| {
            let file = table.file(&debug.path().unwrap_or_default());
            table.frame(Frame { function: String::new(), file, line: debug.line(), column: 0 })
        });
        let name = debug.map_or_else(|| demangle(&variable.name()), Variable::name);
        let bytes = layout.size(variable.value_type());
        table.table.globals.push(Global { name, kind, bytes, frame });
    }
}

/// Absolute path of the module's main source file.
pub(super) fn main_file(module: &Module<'_>) -> String {
    compile_units(module)
        .first()
        .and_then(|unit| unit.path())
        .unwrap_or_else(|| module.get_source_file_name().to_string_lossy().into_owned())
}
