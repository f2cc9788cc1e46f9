//! Device variables, and globals that the compiler creates.

use super::rows::table::Table;
use crate::ir::globals::device_globals;
use crate::ir::space;
use crate::llvm::debug::Variable;
use crate::llvm::metadata::compile_units;
use crate::llvm::shim::demangle;
use crate::llvm::source_name::before_externalisation;
use crate::llvm::{Layout, ModuleItems, Value, annotations};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};
use warpline_format::site_table::{Frame, Global, GlobalKind};

/// Limits the registers of kernels with `__maxnreg__`. This must run on the front end's output, before
/// [`mark_managed`].
pub fn limit_registers(module: &Module<'_>) {
    annotations::limit_registers(module);
}

/// Marks the variables that the source declares `__managed__`. This must run on the front end's output.
pub fn mark_managed(module: &Module<'_>) {
    annotations::note_clusters(module);
    let mut managed = annotations::take_managed(module);
    // For a variable that is only declared, the note comes with the file that defines it.
    managed.retain(|variable| !variable.is_declaration());
    annotations::note_managed(module, &managed);
}

/// In relocatable code, clang renames a `static` variable or kernel that host code uses, but keeps the old name, which
/// nothing defines, in earlier uses. This function redirects these uses to the renamed variable or kernel.
pub fn join_statics(module: &Module<'_>) {
    let all: Vec<_> = module.variables().into_iter().chain(module.functions()).collect();
    let renamed: HashMap<String, Value<'_>> = (all.iter().filter(|value| !value.is_declaration()))
        .filter_map(|&value| {
            let old = before_externalisation(&value.name())?.to_owned();
            Some((old, value))
        })
        .collect();
    for value in all.into_iter().filter(|value| value.is_declaration()) {
        if let Some(&defined) = renamed.get(&value.name()).filter(|defined| defined.ty() == value.ty()) {
            value.replace_all_uses_with(defined);
        }
    }
}

/// Adds the globals to the table.
pub(super) fn list(module: &Module<'_>, table: &mut Table<'_>) {
    let layout = Layout::from_module(module);
    let managed: HashSet<_> = annotations::managed(module).into_iter().map(Value::raw).collect();
    for variable in device_globals(module) {
        let debug = Variable::of_global(variable).filter(|debug| !debug.name().is_empty());
        let kind = match variable.address_space() {
            space::CONSTANT => GlobalKind::Constant,
            _ if managed.contains(&variable.raw()) => GlobalKind::Managed,
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

/// Returns the names of variables whose initial values refer to each other in a cycle, or `None` if there is no such
/// cycle. LLVM's PTX printer cannot order such variables and ends the process, so it must not receive such a module.
pub fn reference_cycle(module: &Module<'_>) -> Option<Vec<String>> {
    let mut done = HashSet::new();
    let mut path: Vec<Value<'_>> = Vec::new();
    // There is one entry per variable of the path: the variables to which it refers and that have not been processed
    // yet.
    let mut open: Vec<Vec<Value<'_>>> = Vec::new();
    for start in module.variables() {
        if done.contains(&start.raw()) {
            continue;
        }
        path.push(start);
        open.push(referred(start));
        while let Some(rest) = open.last_mut() {
            let Some(next) = rest.pop() else {
                open.pop();
                done.extend(path.pop().map(Value::raw));
                continue;
            };
            if let Some(at) = path.iter().position(|one| one.raw() == next.raw()) {
                return Some(path[at..].iter().map(|variable| demangle(&variable.name())).collect());
            }
            if !done.contains(&next.raw()) {
                path.push(next);
                open.push(referred(next));
            }
        }
    }
    None
}

/// Returns the variables to which the initial value of a variable refers.
fn referred<'c>(variable: Value<'c>) -> Vec<Value<'c>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut left: Vec<Value<'c>> = variable.initializer().into_iter().collect();
    while let Some(value) = left.pop() {
        if value.is_global_variable() {
            found.push(value);
        } else if value.is_constant() && !value.is_function() && seen.insert(value.raw()) {
            left.extend(value.operands());
        }
    }
    found
}

/// Returns the absolute path of the module's main source file.
pub(super) fn main_file(module: &Module<'_>) -> String {
    compile_units(module)
        .first()
        .and_then(|unit| unit.path())
        .unwrap_or_else(|| module.get_source_file_name().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    fn cycle(text: &str) -> Option<Vec<String>> {
        let context = Context::create();
        // LLVM requires a zero after the text, which is not part of it.
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
        reference_cycle(&context.create_module_from_ir(buffer).expect("valid IR"))
    }

    #[test]
    fn chains_and_diamonds_are_no_cycles() {
        let text = "
            declare void @function()
            @a = global { ptr, ptr } { ptr @b, ptr getelementptr (i8, ptr @c, i64 8) }
            @b = global ptr @d
            @c = global [2 x ptr] [ptr @d, ptr @function]
            @d = global i32 4
            @e = external global ptr";
        assert_eq!(cycle(text), None);
        assert_eq!(cycle(""), None);
    }

    #[test]
    fn a_cycle_is_named_without_what_leads_to_it() {
        let text = "
            @before = global ptr @first
            @first = global { i32, ptr } { i32 1, ptr @second }
            @second = global [1 x ptr] [ptr getelementptr (i8, ptr @third, i64 4)]
            @third = global { ptr, ptr } { ptr null, ptr addrspacecast (ptr addrspace(1) @fourth to ptr) }
            @fourth = addrspace(1) global ptr @first";
        assert_eq!(cycle(text), Some(["first", "second", "third", "fourth"].map(String::from).to_vec()));
        assert_eq!(cycle("@own = global ptr @own"), Some(vec!["own".into()]));
    }
}
