//! The machine for which device code was compiled.

use crate::llvm::{Machine, MachineError, ModuleItems};
use inkwell::module::Module;

/// The reason why there is no machine for a module.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// LLVM reported an error.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The module is not device code for an NVIDIA GPU.
    #[error("{module} is not NVPTX device code: its functions name no processor such as sm_75")]
    NotDeviceCode {
        /// The name of the module.
        module: String,
    },
}

/// Returns the machine for which device code was compiled, from the attributes of its functions.
pub fn machine(module: &Module<'_>) -> Result<Machine, TargetError> {
    let found = module.functions().into_iter().filter(|function| !function.is_declaration()).find_map(|function| {
        let processor = function.string_attribute("target-cpu").filter(|name| name.starts_with("sm_"))?;
        // The feature string repeats the processor; only its PTX version is needed.
        let features = function.string_attribute("target-features").unwrap_or_default();
        Some((processor, features))
    });
    // A file without any device function also has a module; it needs no specific machine.
    match found {
        Some((processor, features)) => Ok(Machine::nvptx_like(&processor, &features)?),
        None if module.functions().iter().all(|function| function.is_declaration()) => Ok(Machine::nvptx(75)?),
        None => Err(TargetError::NotDeviceCode { module: module.get_name().to_string_lossy().into_owned() }),
    }
}

/// Returns the architecture number of a machine: 75 for `sm_75`, 90 for `sm_90a`.
pub fn architecture(machine: &Machine) -> u32 {
    let name = machine.processor();
    let digits: String = name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
