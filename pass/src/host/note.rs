//! The stage before optimisation: names of allocations, and preparations that keep call paths complete.

use super::calls::{base_name, cuda_allocation, host_allocation};
use super::holders::Holder;
use super::library::{fills_device_vector, is_container_call, is_standard, is_toolkit};
use super::names::{Name, object_at, pointer_at, result_of};
use super::naming;
use super::place::place_after;
use super::wrappers::Wrappers;
use crate::llvm::debug::Location;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::metadata;
use crate::llvm::{Layout, ModuleItems, Value};
use inkwell::module::Module;

/// The note on a host allocation: the name of the variable in which its result is stored.
pub(super) const NAME: &str = "warpline.name";
/// The list of calls on containers, with the names of the container variables. The allocation is deep inside the
/// library; after inlining, its call path contains the position of such a call.
pub(super) const CONTAINERS: &std::ffi::CStr = c"warpline.containers";

/// Inserts `__warpline_name` before CUDA allocations and notes the names of host allocations for [`super::hook`]. Also
/// ensures that no function disappears from call paths: tail calls stay calls, and every function can be unwound. This
/// must run on the front end's output, before any pass. Without debug information, no names are found.
pub fn note(module: &Module<'_>) {
    let layout = Layout::from_module(module);
    let wrappers = Wrappers::find(module, layout);
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        function.set_string_attribute("disable-tail-calls", "true");
        if !function.has_attribute(OF_FUNCTION, "uwtable") {
            // 2 is the asynchronous kind, which is clang's default on this target.
            function.add_attribute(OF_FUNCTION, "uwtable", 2);
        }
        // Inside the toolkit's typed templates, the variable is called devPtr, and in the user's own wrappers it may be
        // called p.
        let own = function.name();
        let toolkit = is_toolkit(&own);
        let outside = match toolkit || cuda_allocation(base_name(&own)).is_some() {
            true => Some(false),
            false => wrappers.is_named_outside(function),
        };
        for call in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            let Some(callee) = call.direct_callee() else { continue };
            let callee = callee.name();
            if let Some(name) = wrappers.allocated(call, layout) {
                let inside = if is_standard(&own) { wrappers.inside_library(call) } else { None };
                match (inside, name) {
                    (Some(inside), _) => naming::inside(module, call, &inside),
                    (None, Some(name)) if outside != Some(false) => {
                        naming::name(module, call, &name, outside.is_some());
                        // A wrapper may find that it need not allocate.
                        if cuda_allocation(base_name(&callee)).is_none()
                            && let Some(after) = place_after(call)
                        {
                            naming::clear(module, after);
                        }
                    }
                    _ => {}
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
                naming::name(module, call, &name, false);
                naming::clear(module, after);
            } else {
                if !toolkit
                    && !is_standard(&own)
                    && let Some(holder) = Holder::of_call(call, &wrappers, layout)
                {
                    naming::holder(module, call, &holder);
                }
                container(module, call, &callee, &own, layout);
            }
        }
    }
}

/// Notes the position of a call on a container, and the container's name.
fn container<'c>(module: &Module<'c>, call: Value<'c>, callee: &str, own: &str, layout: Layout<'_>) {
    if is_container_call(callee)
        && !is_standard(own)
        && let Some(location) = Location::from_instruction(call)
        && let Some(name) = call.call_arguments().first().and_then(|&object| object_at(object, layout))
    {
        metadata::list_text(module, CONTAINERS, location, &static_text(&name));
    }
}

fn static_text(name: &Name<'_>) -> String {
    name.text.concat()
}
