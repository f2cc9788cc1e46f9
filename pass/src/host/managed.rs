//! `__managed__` variables, which are one object for kernels and host code.
//!
//! clang treats them as `__device__` variables (`warpline/compatibility.h`). For these, host code has a shadow whose
//! address only identifies the variable for the API. This file replaces each use of the shadow by the address that the
//! runtime stores in a pointer when the variable is registered, as nvcc does. In relocatable code, all files that name
//! the variable share this pointer.

use super::HostError;
use crate::llvm::annotations::take_managed;
use crate::llvm::debug::Variable;
use crate::llvm::shim::{demangle, expand_constant_users};
use crate::llvm::value::Linkage;
use crate::llvm::{Builder, ModuleItems, Value};
use inkwell::module::Module;
use std::collections::HashSet;

/// Registers a device variable: `(handle, shadow, name, name, external, size, constant, normalised)`.
const DEVICE: &str = "__cudaRegisterVar";
/// Registers a managed variable; the parameters are the same, except that the address of the pointer replaces that of
/// the shadow.
const MANAGED: &str = "__cudaRegisterManagedVar";
/// clang's list of device variables that host code uses and other files define.
const EXTERNAL: &str = "__clang_gpu_used_external";

/// Makes host code use the same managed variables as kernels. This must run on the front end's output.
pub fn share_managed(module: &Module<'_>) -> Result<(), HostError> {
    let managed = take_managed(module);
    // clang declares the function with the parameters that it has in HIP.
    if let Some(known) = module.function(MANAGED).filter(|known| !managed.is_empty() && !known.is_used()) {
        known.delete_global();
    }
    for shadow in managed {
        share(module, shadow)?;
    }
    Ok(())
}

fn share<'c>(module: &Module<'c>, shadow: Value<'c>) -> Result<(), HostError> {
    expand_constant_users(shadow);
    let types = ModuleItems::types(module);
    let pointer = module.new_variable(&format!("{}.managed", shadow.name()), types.pointer(0), 0);
    let defined = !shadow.is_declaration();
    if defined {
        pointer.set_initializer(Value::zero(types.pointer(0)));
        pointer.set_linkage(shadow.linkage());
    }
    let mut done = HashSet::new();
    for user in shadow.users() {
        if !user.is_instruction() {
            if let Some(holder) = holder(user) {
                return Err(HostError::ManagedInitializer {
                    module: module.get_name().to_string_lossy().into_owned(),
                    holder: source_name(holder),
                    variable: source_name(shadow),
                });
            }
        } else if done.insert(user.raw()) {
            replace(module, user, shadow, pointer);
        }
    }
    if defined {
        // If another file uses the shadow as the variable, the linker must report an error.
        shadow.set_linkage(Linkage::LLVMInternalLinkage);
    } else {
        // The remaining use is the list of variables that other files define.
        shadow.replace_all_uses_with(pointer);
        shadow.delete_global();
    }
    Ok(())
}

/// Makes an instruction use the address stored in `pointer`.
fn replace<'c>(module: &Module<'c>, user: Value<'c>, shadow: Value<'c>, pointer: Value<'c>) {
    let builder = Builder::new(user.types());
    if user.is_call() && user.direct_callee().is_some_and(|callee| callee.name() == DEVICE) {
        let mut arguments = user.call_arguments();
        if arguments.get(1).is_some_and(|known| known.raw() == shadow.raw()) {
            let ty = user.direct_callee().map(Value::value_type);
            let Some(ty) = ty else { return };
            arguments[1] = pointer;
            builder.before(user);
            builder.call(module.declare(MANAGED, ty), &arguments);
            user.erase();
            return;
        }
    }
    let incoming = if user.is_phi() { user.incoming() } else { Vec::new() };
    for index in 0..user.operand_count() {
        if user.operand(index).raw() != shadow.raw() {
            continue;
        }
        // The value that a phi receives from a block is loaded in that block.
        let place = incoming.get(index as usize).and_then(|(_, block)| block.terminator()).unwrap_or(user);
        builder.before(place);
        builder.locate_like(Some(user));
        user.set_operand(index, builder.load(user.types().pointer(0), pointer, 8));
    }
}

/// Returns the variable whose initial value contains a constant; lists for the compiler and the linker do not count.
fn holder<'c>(constant: Value<'c>) -> Option<Value<'c>> {
    if constant.is_global_variable() {
        let list = |name: &str| name.starts_with("llvm.") || name == EXTERNAL;
        return Some(constant).filter(|variable| !list(&variable.name()));
    }
    constant.users().into_iter().filter(|user| !user.is_instruction()).find_map(holder)
}

fn source_name(variable: Value<'_>) -> String {
    let debug = Variable::of_global(variable).map(Variable::name).filter(|name| !name.is_empty());
    debug.unwrap_or_else(|| demangle(&variable.name()))
}
