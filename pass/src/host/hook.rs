//! The stage after optimisation: replaces the registration of device code, and adds hooks to host allocations.

use super::HostError;
use super::calls::{HostAllocation, frees, host_allocation};
use super::naming::text_constant;
use super::note::{CONTAINERS, NAME};
use super::place::place_after;
use crate::llvm::debug::Location;
use crate::llvm::metadata;
use crate::llvm::module::verify;
use crate::llvm::{Builder, ModuleItems, Value};
use inkwell::module::Module;
use std::collections::HashMap;

/// The structure that clang passes to `__cudaRegisterFatBinary`.
const WRAPPER: &str = "__cuda_fatbin_wrapper";

/// clang's function that registers device code, and the list of functions that run before `main`.
const REGISTRATION: &str = "__cuda_module_ctor";
const CONSTRUCTORS: &str = "llvm.global_ctors";

/// The priority of the registration. It must be earlier than all constructors of the user's code, including those in
/// other files, because they may use kernels and device variables. 101 is the first priority that is not reserved for
/// the implementation.
const EARLY: u64 = 101;

/// The work that [`hook`] must do.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostHooks<'a> {
    /// The symbol of the `ModuleDescriptor` that replaces the fat binary; `None` if the file has no device code.
    pub descriptor: Option<&'a str>,
    /// Whether `malloc`, `new` and similar functions are hooked.
    pub allocations: bool,
}

/// Redirects the registration of device code to the descriptor and hooks host allocations. The results of the user's
/// code do not change.
pub fn hook(module: &Module<'_>, hooks: HostHooks<'_>) -> Result<(), HostError> {
    if let Some(descriptor) = hooks.descriptor {
        redirect(module, descriptor)?;
    }
    register_early(module);
    if hooks.allocations {
        let containers = metadata::listed_texts(module, CONTAINERS);
        for function in module.functions() {
            for call in function.blocks().into_iter().flat_map(|block| block.instructions()) {
                allocation(module, call, &containers);
            }
        }
    }
    verify(module, "hooking of host code")?;
    Ok(())
}

/// Redirects the wrapper, which is `{ magic, version, pointer to the fat binary, unused }`.
fn redirect(module: &Module<'_>, descriptor: &str) -> Result<(), HostError> {
    let missing = |found: &str| HostError::NoWrapper {
        module: module.get_name().to_string_lossy().into_owned(),
        wrapper: WRAPPER,
        found: found.into(),
    };
    let wrapper = module.variable(WRAPPER).ok_or_else(|| missing("nothing"))?;
    let Some(initializer) = wrapper.initializer() else { return Err(missing("a declaration")) };
    let types = ModuleItems::types(module);
    let fields: Option<Vec<_>> = (0..4).map(|index| initializer.constant_element(index)).collect();
    let Some(mut fields) = fields.filter(|fields| fields[2].ty().is_pointer()) else {
        return Err(missing("another structure"));
    };
    let target = match module.variable(descriptor) {
        Some(known) => known,
        None => module.new_variable(descriptor, types.int(8), 0),
    };
    fields[2] = target;
    wrapper.set_initializer(Value::structure(types, &fields, false));
    Ok(())
}

/// Moves the registration before all constructors. clang lists it with the constructors of static objects, after them
/// and with the same priority, so a kernel that such a constructor launches would not be registered yet. nvcc's
/// registration comes first.
fn register_early(module: &Module<'_>) {
    let types = ModuleItems::types(module);
    let Some(list) = module.variable(CONSTRUCTORS) else { return };
    let Some(initializer) = list.initializer() else { return };
    let entries: Vec<_> = (0..).map_while(|index| initializer.constant_element(index)).collect();
    let early = |entry: Value<'_>| entry.constant_element(1).is_some_and(|function| function.name() == REGISTRATION);
    let Some(first) = entries.first() else { return };
    let element = first.ty();
    let changed: Vec<_> = (entries.iter())
        .map(|&entry| match (early(entry), entry.constant_element(1), entry.constant_element(2)) {
            (true, Some(function), Some(data)) => {
                Value::structure_of(element, &[Value::int(types.int(32), EARLY), function, data])
            }
            _ => entry,
        })
        .collect();
    list.set_initializer(Value::array(element, &changed));
}

fn allocation<'c>(module: &Module<'c>, call: Value<'c>, containers: &HashMap<usize, String>) {
    let Some(callee) = call.direct_callee() else { return };
    let name = callee.name();
    let types = ModuleItems::types(module);
    let (pointer, word) = (types.pointer(0), types.int(64));
    let builder = Builder::new(types);
    let arguments = call.call_arguments();
    let before = |freed: Value<'c>| {
        let function = module.declare("__warpline_host_freed", types.void().function(&[pointer]));
        builder.before(call);
        builder.call(function, &[freed]);
    };
    if frees(&name) {
        if let Some(&freed) = arguments.first() {
            before(freed);
        }
        return;
    }
    let Some(HostAllocation { kind, size, times, through, frees }) = host_allocation(&name) else { return };
    if let Some(&freed) = frees.and_then(|index| arguments.get(index)) {
        before(freed);
    }
    let Some(&bytes) = arguments.get(size) else { return };
    let Some(after) = place_after(call) else { return };
    let function =
        module.declare("__warpline_host_allocated", types.void().function(&[pointer, word, pointer, pointer]));
    let container = || {
        let chain = Location::from_instruction(call).map(Location::chain).unwrap_or_default();
        chain.into_iter().skip(1).find_map(|place| containers.get(&metadata::place_key(place)).cloned())
    };
    let label = match metadata::text(call, NAME).or_else(container) {
        Some(text) => text_constant(module, &text),
        None => Value::zero(pointer),
    };
    builder.before(after);
    builder.locate_like(Some(call));
    let total = match times.and_then(|index| arguments.get(index)) {
        Some(&count) => builder.mul(bytes, count),
        None => bytes,
    };
    let address = match through.and_then(|index| arguments.get(index)) {
        Some(&target) => builder.load(pointer, target, 8),
        None => call,
    };
    builder.call(function, &[address, total, text_constant(module, kind), label]);
    metadata::clear(call, NAME);
}
