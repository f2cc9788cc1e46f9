//! `__attribute__((annotate("…")))` on variables: how a header tells the pass what clang has no words for.

use super::metadata;
use super::value::Value;
use super::{ModuleItems, shim};
use inkwell::module::Module;
use std::ffi::CStr;

/// clang's list of annotated variables: `{ variable, text, file, line, arguments }` each.
const LIST: &str = "llvm.global.annotations";

/// What the NVPTX back end reads of variables.
const NVPTX: &CStr = c"nvvm.annotations";

/// The annotation of `__managed__` variables in `warpline/compatibility.h`.
const MANAGED: &str = "warpline.managed";

/// The variables that the source declares `__managed__`. The list of annotations, which means nothing to LLVM, goes, since
/// it would keep its variables in use.
pub fn take_managed<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    let Some(list) = module.variable(LIST) else { return Vec::new() };
    let entries =
        list.initializer().into_iter().flat_map(|all| (0..).map_while(move |index| all.constant_element(index)));
    let managed = entries.filter_map(|entry| {
        let [variable, text] = [0, 1].map(|index| entry.constant_element(index).map(behind_casts));
        let text = text?.initializer()?.constant_text()?;
        variable.filter(|variable| variable.is_global_variable() && text == MANAGED)
    });
    let managed = managed.collect();
    list.delete_global();
    managed
}

/// What a constant expression casts.
fn behind_casts(mut value: Value<'_>) -> Value<'_> {
    while value.is_constant_expression() && value.operand_count() == 1 {
        value = value.operand(0);
    }
    value
}

/// Tells the NVPTX back end, and who comes later, of managed variables.
pub fn note_managed(module: &Module<'_>, variables: &[Value<'_>]) {
    for &variable in variables {
        metadata::annotate(module, NVPTX, variable, "managed", 1);
    }
}

/// The managed variables of device code.
pub fn managed<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    metadata::annotated(module, NVPTX, "managed")
}

/// Removes all other notes for the NVPTX back end.
pub fn keep_managed_only(module: &Module<'_>) {
    let managed = managed(module);
    shim::erase_named_metadata(module, &NVPTX.to_string_lossy());
    note_managed(module, &managed);
}
