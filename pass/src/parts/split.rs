//! Splits a module: functions go to parts, and variables stay in the remaining module.

use super::plan::Plan;
use crate::cpu;
use crate::llvm::part::clone_part;
use crate::llvm::value::{Linkage, Visibility};
use crate::llvm::{MachineError, ModuleItems, Value};
use inkwell::module::Module;
use std::collections::BTreeSet;

/// A part of a module: some of its functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The bitcode of the part.
    pub bitcode: Vec<u8>,
    /// Whether all its functions, except copies of small ones, are warp functions that write records. Most functions
    /// of a module do, and few of them ever run. Their code is therefore generated for a short compile time.
    pub hooked: bool,
}

/// The functions of a module in parts.
pub struct Split {
    /// The parts.
    pub parts: Vec<Part>,
    /// The names that one part defines and another part, or the remaining module, uses.
    pub shared: Vec<String>,
}

/// Moves the functions of a large module to parts, and leaves its variables. A module for which this is not worthwhile
/// is not changed.
///
/// Symbols that were local to the module and are now shared have hidden visibility. They must get names that no other
/// translation unit uses, see [`Split::rename`].
pub fn split(module: &Module<'_>, processor: &str) -> Result<Option<Split>, MachineError> {
    let plan = Plan::new(module);
    if plan.parts.len() < 2 {
        return Ok(None);
    }
    cpu::infer_attributes(module, processor)?;
    let mut shared = Vec::new();
    let mut definitions: Vec<Vec<Value<'_>>> =
        plan.parts.iter().map(|part| part.iter().map(|&at| plan.functions[at]).collect()).collect();
    let homes = homes(&plan);
    for (at, &function) in plan.functions.iter().enumerate() {
        let [home] = homes[at][..] else { continue };
        let referrers = &plan.referrers[at];
        let elsewhere = parts_of(&homes, &referrers.functions).into_iter().any(|part| part != home);
        if function.is_local() && (referrers.others || elsewhere) {
            shared.push(share(function));
        }
    }
    for variable in module.variables() {
        let referrers = plan.referrers_of(variable);
        if variable.is_declaration() || !variable.is_local() || referrers.functions.is_empty() {
            continue;
        }
        if is_plain_constant(variable) {
            for part in parts_of(&homes, &referrers.functions) {
                definitions[part].push(variable);
            }
        } else {
            shared.push(share(variable));
        }
    }
    let parts = (definitions.iter().enumerate())
        .map(|(number, part)| Part { bitcode: bitcode(&clone_part(module, part)), hooked: number < plan.hooked_parts })
        .collect();
    for function in &plan.functions {
        function.delete_body();
    }
    for value in module.functions() {
        if !value.is_used() && value.is_declaration() {
            value.delete_global();
        }
    }
    Ok(Some(Split { parts, shared }))
}

impl Split {
    /// Appends a suffix to the shared names in a part, or in the remaining module.
    pub fn rename(&self, module: &Module<'_>, suffix: &str) {
        for name in &self.shared {
            if let Some(value) = module.function(name).or_else(|| module.variable(name)) {
                value.set_name(&renamed(name, suffix));
            }
        }
    }

    /// Returns the shared names with a suffix.
    pub fn names(&self, suffix: &str) -> Vec<String> {
        self.shared.iter().map(|name| renamed(name, suffix)).collect()
    }
}

fn renamed(name: &str, suffix: &str) -> String {
    format!("{name}.{suffix}")
}

fn share(value: Value<'_>) -> String {
    if value.name().is_empty() {
        value.set_name("warpline.shared");
    }
    value.set_linkage(Linkage::LLVMExternalLinkage);
    value.set_visibility(Visibility::LLVMHiddenVisibility);
    value.name()
}

/// Returns the parts that define each function.
fn homes(plan: &Plan<'_>) -> Vec<Vec<usize>> {
    let mut homes = vec![Vec::new(); plan.functions.len()];
    for (number, part) in plan.parts.iter().enumerate() {
        for &at in part {
            homes[at].push(number);
        }
    }
    homes
}

fn parts_of(homes: &[Vec<usize>], functions: &BTreeSet<usize>) -> BTreeSet<usize> {
    functions.iter().flat_map(|&function| &homes[function]).copied().collect()
}

/// Returns whether there may be several copies of a constant: the address of a private constant is not compared, and
/// the constant refers to nothing else.
fn is_plain_constant(variable: Value<'_>) -> bool {
    variable.linkage() == Linkage::LLVMPrivateLinkage
        && variable.is_constant_variable()
        && variable.initializer().is_some_and(is_plain)
}

fn is_plain(value: Value<'_>) -> bool {
    !value.is_global() && value.operands().into_iter().all(is_plain)
}

fn bitcode(module: &Module<'_>) -> Vec<u8> {
    module.write_bitcode_to_memory().as_slice().to_vec()
}
