//! Notes on variables: how a header tells the pass what clang has no words for.

use super::metadata;
use crate::llvm::value::Value;
use crate::llvm::{ModuleItems, shim};
use inkwell::module::Module;
use std::ffi::CStr;

/// clang's list of the variables with `__attribute__((annotate("…")))`.
const LIST: &str = "llvm.global.annotations";

/// What the NVPTX back end reads of variables.
const NVPTX: &CStr = c"nvvm.annotations";

/// The section of `__managed__` variables in `warpline/compatibility.h`. A section, as clang keeps no other note of a variable
/// that is declared only.
const MANAGED: &str = "warpline.managed";

/// The variables that the source declares `__managed__`, defined or not; they leave their section. clang's list of
/// annotations, which means nothing to LLVM, goes, since it would keep its variables in use.
pub fn take_managed<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    if let Some(list) = module.variable(LIST) {
        list.delete_global();
    }
    let mut managed = module.variables();
    managed.retain(|variable| variable.section() == MANAGED);
    managed.iter().for_each(|variable| variable.clear_section());
    managed
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
