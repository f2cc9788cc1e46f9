//! Modules in which values are tracked: the code that a program contains is lowered again for the run.

use super::{compile, object};
use crate::modules::module::Module;
use crate::output::message;
use crate::state::runtime::Runtime;
use warpline_format::operation::Followed;
use warpline_format::options::{FloatCheck, Options};

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
pub(super) unsafe fn followed(runtime: &Runtime, data: *const u8) -> *const u8 {
    let followed = followed_values(&runtime.options);
    if followed.is_empty() || crate::real::active() || crate::real::emulation::is_the_gpu() {
        return data;
    }
    // SAFETY: by the contract.
    let Some(Ok(module)) = (unsafe { Module::read(data, 0) }) else { return data };
    let made = match module.carried() {
        [] => Err("it was built without hooks".to_owned()),
        carried => compile::with_values(carried, &followed)
            .map_err(|_| "warpline-cc failed".to_owned())
            .and_then(|path| object::load_file(&path).map_err(|cause| cause.to_string())),
    };
    match made {
        Ok(descriptor) => descriptor.cast(),
        Err(cause) => {
            let option = if followed.exceptions { "--check-float" } else { "--trace-values" };
            let name = &module.table.module;
            message::note(&format!("{option}: values of operations of {name} are not followed: {cause}"));
            data
        }
    }
}
