//! Modules in which values are tracked: the code that a program contains is lowered again for the run.

use super::{compile, object};
use crate::modules::module::Module;
use crate::output::message;
use crate::real::emulation;
use crate::state::runtime::Runtime;
use std::collections::BTreeSet;
use warpline_format::operation::{Followed, NOT_ON_GPU};
use warpline_format::options::{CPU, EMULATED, FloatCheck, GPU, Options};
use warpline_format::site_table::SiteTable;

/// Returns which values a run tracks in code that is compiled for it.
pub fn followed_values(options: &Options) -> Followed {
    Followed {
        exceptions: options.check_float != FloatCheck::Off,
        recorded: options.recorded,
        lines: options.recorded_lines.clone(),
    }
}

/// If the run tracks values, returns the descriptor of the module in which values are tracked; otherwise returns
/// `data`.
///
/// # Safety
/// `data` is a fat binary or a `ModuleDescriptor`.
pub(crate) unsafe fn followed(runtime: &Runtime, data: *const u8) -> *const u8 {
    let followed = followed_values(&runtime.options);
    if followed.is_empty() || emulation::is_the_gpu() {
        return data;
    }
    // SAFETY: by the contract.
    let Some(Ok(module)) = (unsafe { Module::read(data, 0) }) else { return data };
    let device = match (crate::real::active(), emulation::is_linked()) {
        (false, _) => CPU,
        (true, _) if module.descriptor().fat_binary.is_null() => return data,
        (true, true) => EMULATED,
        (true, false) => GPU,
    };
    let made = match module.carried() {
        [] => Err("it was built without hooks".to_owned()),
        carried => compile::with_values(carried, &followed, device)
            .map_err(|_| "warpline-cc failed".to_owned())
            .and_then(|path| object::load_file(&path).map_err(|cause| cause.to_string())),
    };
    match made {
        Ok(descriptor) => {
            // SAFETY: the descriptor was just loaded, and its object stays loaded.
            if let Some(Ok(module)) = unsafe { Module::read(descriptor.cast(), 0) } {
                report_unrecorded(&module.table);
            }
            descriptor.cast()
        }
        Err(cause) => {
            let option = if followed.exceptions { "--check-float" } else { "--trace-values" };
            let name = &module.table.module;
            message::note(&format!("{option}: values of operations of {name} are not followed: {cause}"));
            data
        }
    }
}

/// Reports the operations of a module that code for a GPU does not record.
fn report_unrecorded(table: &SiteTable) {
    let unrecorded = || table.operations.iter().filter_map(|operation| operation.name.strip_suffix(NOT_ON_GPU));
    let names: BTreeSet<&str> = unrecorded().collect();
    if !names.is_empty() {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        message::note(&format!(
            "--trace-values: {}: code for a GPU does not record {} of {} operations, which are on matrix fragments or \
             textures, or in inline assembly: {names}; --device cpu does",
            table.module,
            unrecorded().count(),
            table.operations.len()
        ));
    }
}
