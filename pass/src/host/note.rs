//! Before optimisation: names of allocations, and call paths that stay whole.

use super::calls::{base_name, cuda_allocation, host_allocation};
use super::hook::place_after;
use super::library::{fills_device_vector, is_container_call, is_standard, is_toolkit};
use super::names::{Name, object_at, pointer_at, result_of};
use super::wrappers::Wrappers;
use crate::llvm::debug::Location;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::metadata;
use crate::llvm::{Builder, Layout, ModuleItems, Value};
use inkwell::module::Module;

/// Note on a host allocation: the name of the variable that its result goes to.
pub(super) const NAME: &str = "warpline.name";
/// List of the calls on containers and the names of the variables that they are called on. The allocation is deep
/// inside the library; after inlining its call path leads through such a place.
pub(super) const CONTAINERS: &std::ffi::CStr = c"warpline.containers";
/// Longest name with run-time indices, its end included.
const NAME_BYTES: u32 = 128;

/// Puts `__warpline_name` before CUDA allocations, notes the names of host allocations for [`super::hook`], and sees to
/// it that no function vanishes from call paths: tail calls stay calls, and every function can be unwound.
/// To run on the front end's output, before any pass; without debug information no names are found.
pub fn note(module: &Module<'_>) {
    let layout = Layout::of(module);
    let wrappers = Wrappers::find(module, layout);
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        function.set_string_attribute("disable-tail-calls", "true");
        if !function.has_attribute(OF_FUNCTION, "uwtable") {
            // 2 is the asynchronous kind, clang's own default on this target.
            function.add_attribute(OF_FUNCTION, "uwtable", 2);
        }
        // Inside the toolkit's typed templates the variable is called devPtr, in the user's own wrappers perhaps p.
        let own = function.name();
        let toolkit = is_toolkit(&own);
        let wrapper = toolkit || cuda_allocation(base_name(&own)).is_some() || wrappers.contains(function);
        for call in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            let Some(callee) = call.direct_callee() else { continue };
            let callee = callee.name();
            if let Some(name) = wrappers.allocated(call, layout) {
                if let (Some(name), false) = (name, wrapper) {
                    emit_name(module, call, &name);
                }
            } else if let Some(allocation) = host_allocation(&callee) {
                let name = match allocation.through {
                    Some(index) => call.call_arguments().get(index).and_then(|&target| pointer_at(target, layout)),
                    None => result_of(call, layout),
                };
                if let Some(name) = name {
                    metadata::set_text(call, NAME, &static_text(&name));
                }
            } else if !toolkit
                && fills_device_vector(&callee)
                && let Some(after) = place_after(call)
                && let Some(name) = call.call_arguments().first().and_then(|&object| object_at(object, layout))
            {
                emit_name(module, call, &name);
                forget_name(module, after);
            } else if is_container_call(&callee)
                && !is_standard(&own)
                && let Some(location) = Location::of(call)
                && let Some(name) = call.call_arguments().first().and_then(|&object| object_at(object, layout))
            {
                metadata::list_text(module, CONTAINERS, location, &static_text(&name));
            }
        }
    }
}

fn static_text(name: &Name<'_>) -> String {
    name.text.concat()
}

/// `__warpline_name("variable")`; where indices are known only at run time, the text is put together there.
fn emit_name<'c>(module: &Module<'c>, call: Value<'c>, name: &Name<'c>) {
    let types = ModuleItems::types(module);
    let pointer = types.pointer(0);
    let hook = module.declare("__warpline_name", types.void().function(&[pointer]));
    let builder = Builder::new(types);
    builder.before(call);
    if name.indices.is_empty() {
        let text = text_constant(module, &static_text(name));
        builder.call(hook, &[text]);
        return;
    }
    let print = module.declare("snprintf", types.int(32).variadic(&[pointer, types.int(64), pointer]));
    let format = name.text.join("%lld").replace("%lld", "\0").replace('%', "%%").replace('\0', "%lld");
    let format = text_constant(module, &format);
    // The buffer stands in the entry block, or a loop would grow the stack.
    let Some(first) = call.block().and_then(|block| block.function().blocks().first().copied()) else { return };
    let Some(&start) = first.instructions().first() else { return };
    builder.before(start);
    let buffer = builder.alloca(types.int(8).array(u64::from(NAME_BYTES)), 1);
    builder.before(call);
    let mut arguments = vec![buffer, Value::int(types.int(64), u64::from(NAME_BYTES)), format];
    for &index in &name.indices {
        arguments.push(builder.sext(index, types.int(64)));
    }
    builder.call(print, &arguments);
    builder.call(hook, &[buffer]);
}

/// `__warpline_name(null)`: what the call was to allocate has been.
fn forget_name<'c>(module: &Module<'c>, after: Value<'c>) {
    let types = ModuleItems::types(module);
    let pointer = types.pointer(0);
    let hook = module.declare("__warpline_name", types.void().function(&[pointer]));
    let builder = Builder::new(types);
    builder.before(after);
    builder.call(hook, &[Value::zero(pointer)]);
}

/// A private zero-terminated string.
pub(super) fn text_constant<'c>(module: &Module<'c>, text: &str) -> Value<'c> {
    let types = ModuleItems::types(module);
    let mut bytes: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
    bytes.push(0);
    let name = format!("__warpline_text.{text}");
    if let Some(known) = module.variable(&name) {
        return known;
    }
    let value = Value::bytes(types, &bytes);
    let variable = module.new_variable(&name, value.ty(), 0);
    variable.set_initializer(value);
    variable.set_constant(true);
    variable.set_linkage(crate::llvm::value::Linkage::LLVMPrivateLinkage);
    variable
}
