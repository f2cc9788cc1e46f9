//! Annotations of variables, with which a header passes facts to the pass that clang cannot express.

use super::metadata;
use crate::llvm::value::Value;
use crate::llvm::{ModuleItems, shim};
use inkwell::module::Module;
use std::ffi::CStr;

/// clang's list of the variables with `__attribute__((annotate("…")))`.
const LIST: &str = "llvm.global.annotations";

/// Properties of variables that the NVPTX back end reads.
const NVPTX: &CStr = c"nvvm.annotations";

/// The annotation of `__maxnreg__(N)` in `warpline/compatibility.h`, whose argument is N.
const REGISTERS: &str = "warpline.maxnreg";

/// The attribute with which the NVPTX back end limits a kernel's registers.
const MOST_REGISTERS: &str = "nvvm.maxnreg";

/// The section of `__managed__` variables in `warpline/compatibility.h`. A section is used because clang keeps no other
/// note of a variable that is only declared.
const MANAGED: &str = "warpline.managed";

/// The note of `__cluster_dims__` in `warpline/compatibility.h`. Its arguments are the blocks in each dimension.
const CLUSTER: &str = "warpline.cluster";

/// The attribute from which LLVM's NVPTX back end and the CPU device read a kernel's cluster. clang does not set it for
/// CUDA code.
pub const CLUSTER_DIMENSIONS: &str = "nvvm.cluster_dim";

/// Sets the cluster attributes of kernels for which the source declares clusters.
pub fn note_clusters(module: &Module<'_>) {
    let notes = module.variable(LIST).and_then(|list| list.initializer()).map_or(Vec::new(), |all| all.operands());
    for note in notes {
        let [kernel, name, _, _, arguments] = note.operands()[..] else { continue };
        let named = name.initializer().and_then(|text| text.constant_text());
        if !kernel.is_function() || named.is_none_or(|text| text.trim_end_matches('\0') != CLUSTER) {
            continue;
        }
        let sizes = arguments
            .initializer()
            .map_or(Vec::new(), |sizes| (0..3).filter_map(|axis| sizes.constant_element(axis)?.as_u64()).collect());
        if let [x, y, z] = sizes[..] {
            kernel.set_string_attribute(CLUSTER_DIMENSIONS, &format!("{x},{y},{z}"));
        }
    }
}

/// Returns the variables that the source declares `__managed__`, defined or not, and removes them from their section.
/// clang's list of annotations has no meaning for LLVM and is removed, because it would keep its variables in use.
pub fn take_managed<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    if let Some(list) = module.variable(LIST) {
        list.delete_global();
    }
    let mut managed = module.variables();
    managed.retain(|variable| variable.section() == MANAGED);
    managed.iter().for_each(|variable| variable.clear_section());
    managed
}

/// Sets the NVPTX back end's attribute for kernels with `__maxnreg__`. This must run before [`take_managed`].
pub fn limit_registers(module: &Module<'_>) {
    let Some(list) = module.variable(LIST).and_then(Value::initializer) else { return };
    for entry in list.operands() {
        let Some(limit) = register_limit(entry) else { continue };
        let kernel = entry.operand(0);
        if kernel.is_function() {
            kernel.set_string_attribute(MOST_REGISTERS, &limit.to_string());
        }
    }
}

/// Returns the argument of an entry of clang's list, if the entry is from `__maxnreg__`. An entry consists of function,
/// text, file, line and arguments.
fn register_limit(entry: Value<'_>) -> Option<u64> {
    if entry.operand_count() < 5 {
        return None;
    }
    let content = |index: u32| Some(entry.operand(index)).filter(|value| value.is_global_variable())?.initializer();
    let text = content(1)?.constant_text()?;
    if text != REGISTERS {
        return None;
    }
    content(4)?.constant_element(0)?.as_u64()
}

/// Marks managed variables for the NVPTX back end and for later stages.
pub fn note_managed(module: &Module<'_>, variables: &[Value<'_>]) {
    for &variable in variables {
        metadata::annotate(module, NVPTX, variable, "managed", 1);
    }
}

/// Returns the managed variables of device code.
pub fn managed<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    metadata::annotated(module, NVPTX, "managed")
}

/// Removes all other notes for the NVPTX back end.
pub fn keep_managed_only(module: &Module<'_>) {
    let managed = managed(module);
    shim::erase_named_metadata(module, &NVPTX.to_string_lossy());
    note_managed(module, &managed);
}
