//! Modules that the runtime registers, at the start of the program or while it runs.

use super::followed::followed;
use crate::modules::module::{Module, name};
use crate::modules::variables::{fill_globals, variable_of};
use crate::output::message;
use crate::state::runtime::Runtime;
use warpline_format::event::Event;

/// Registers a module. If `shown` is given, it becomes the name of the module's only kernel in all output for the user.
/// Returns `None`, after an error message, if the module cannot be used.
///
/// # Safety
/// `data` is a fat binary or a `ModuleDescriptor`.
pub(crate) unsafe fn enter(runtime: &mut Runtime, data: *const u8, shown: Option<&str>) -> Option<usize> {
    let id = runtime.modules.len() as u32;
    // SAFETY: by the contract.
    let data = unsafe { followed(runtime, data) };
    // SAFETY: by the contract, or a descriptor that was just loaded and stays.
    let mut module = match unsafe { Module::read(data, id) }? {
        Ok(module) => module,
        Err(error) => {
            message::note(&error.to_string());
            return None;
        }
    };
    if let Some(shown) = shown {
        module.show_as(shown);
    }
    write_module(runtime, &module);
    place_globals(runtime, &mut module);
    runtime.modules.push(module);
    Some(id as usize)
}

/// Writes a module to the trace.
pub(crate) fn write_module(runtime: &mut Runtime, module: &Module) {
    runtime.trace.event(Event::Module { id: module.id, site_table: module.encoded_table() });
    for event in module.assembly(runtime.options.device.compute_capability) {
        runtime.trace.event(event);
    }
}

/// Allocates device memory for each global of a module.
fn place_globals(runtime: &mut Runtime, module: &mut Module) {
    let mut globals = Vec::with_capacity(module.variables().len());
    for (index, global) in module.variables().iter().enumerate() {
        let what = variable_of(module, index, global);
        let placed = runtime.allocate_as(global.size.max(1), what, Some((module.id, index as u32)));
        let Ok((_, address)) = placed else {
            message::note(&format!("no device memory for the variable {}", name(global.name)));
            globals.push(0);
            continue;
        };
        globals.push(address);
        if !global.slot.is_null() {
            // SAFETY: the slot belongs to the module.
            unsafe { global.slot.write(address) };
        }
    }
    module.globals = globals;
    fill_globals(module);
}
