//! Stages on host code: [`note`] before optimisation, [`optimize`], and [`hook`] after it.
//! `docs/design/instrumentation.md` explains why there are two steps.

mod calls;
mod holders;
mod hook;
mod library;
mod managed;
mod names;
mod naming;
mod note;
mod place;
mod wrappers;

pub use hook::{HostHooks, hook};
pub use managed::share_managed;
pub use note::note;

use crate::llvm::module::verify;
use crate::llvm::shim::{Tuning, run_pipeline};
use crate::llvm::{Machine, MachineError, ModuleItems};
use inkwell::module::Module;

/// The reason why a stage on host code failed.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// LLVM reported an error.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// An initial value contains the address of a managed variable.
    #[error(
        "{module}: the initial value of {holder} holds the address of the __managed__ variable {variable}, which is known only when the program runs: set it in a function"
    )]
    ManagedInitializer {
        /// The name of the module.
        module: String,
        /// The variable that has this initial value.
        holder: String,
        /// The managed variable.
        variable: String,
    },
    /// There are kernels, but clang's registration of them does not have the expected form.
    #[error(
        "{module}: no variable {wrapper} to hang the device code on, found {found}: compile the host side with -Xclang -fcuda-include-gpubinary and without the new offloading driver"
    )]
    NoWrapper {
        /// The name of the module.
        module: String,
        /// The variable that was searched for.
        wrapper: &'static str,
        /// The value that was found instead.
        found: String,
    },
}

/// Returns the machine for which host code was compiled, from the attributes of its functions.
pub fn machine(module: &Module<'_>) -> Result<Machine, HostError> {
    let processor = module
        .functions()
        .into_iter()
        .filter(|function| !function.is_declaration())
        .find_map(|function| function.string_attribute("target-cpu"));
    Ok(Machine::host(processor.as_deref().unwrap_or("x86-64"))?)
}

/// Runs LLVM's `default<On>` for `level` 0 to 3, as clang would.
pub fn optimize(module: &Module<'_>, machine: &Machine, level: u8) -> Result<(), HostError> {
    let level = level.min(3);
    run_pipeline(module, machine, &format!("default<O{level}>"), Tuning::of_level(level))?;
    verify(module, "optimisation of host code")?;
    Ok(())
}
