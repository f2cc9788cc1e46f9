//! Stages on device code, in the order in which they run: [`note_locations`], [`optimize`], [`prepare`], [`hook`].
//! `docs/design/instrumentation.md` says why each is where it is.

mod access;
mod assembly;
mod bundle;
mod copies;
mod describe;
mod distance;
mod globals;
mod hook;
mod locate;
mod matrix;
mod memory;
mod mix;
mod note;
mod optimize;
mod prepare;
mod split;
mod table;

pub use describe::describe;
pub use globals::{device_globals, join_statics, mark_managed, reference_cycle};
pub use hook::hook;
pub(crate) use matrix::space_of;
pub use note::note_locations;
pub use optimize::optimize;
pub use prepare::prepare;

use crate::llvm::{Machine, MachineError, ModuleItems};
use inkwell::module::Module;

/// Address spaces of device code, as the NVPTX target numbers them.
pub mod space {
    /// Not known at compile time.
    pub const GENERIC: u32 = 0;
    /// Global memory.
    pub const GLOBAL: u32 = 1;
    /// The block's shared memory.
    pub const SHARED: u32 = 3;
    /// Constant memory.
    pub const CONSTANT: u32 = 4;
    /// The thread's own stack.
    pub const LOCAL: u32 = 5;
    /// Shared memory of any block of the cluster.
    pub const SHARED_CLUSTER: u32 = 7;
    /// Kernel parameters.
    pub const PARAMETER: u32 = 101;
}

/// Number of the calling convention of kernels.
pub const KERNEL_CONVENTION: u32 = 71;

/// Why a stage on device code failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// LLVM refused something.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The module is not device code for an NVIDIA GPU.
    #[error("{module} is no NVPTX device code: its functions name no processor such as sm_75")]
    NotDeviceCode {
        /// Name of the module.
        module: String,
    },
    /// Something in the code that the stages cannot treat faithfully.
    #[error("{place}: {what}")]
    Unsupported {
        /// Source position, or the function's name.
        place: String,
        /// What it is, and how to go on.
        what: String,
    },
    /// More sites than a record's site field can hold.
    #[error(
        "{module} has {count} memory instructions, a trace can tell {limit} apart: compile with less unrolling or split the file"
    )]
    TooManySites {
        /// Name of the module.
        module: String,
        /// Sites found.
        count: usize,
        /// Sites that fit.
        limit: usize,
    },
}

/// What the hook stage needs to know besides the code.
#[derive(Clone, Debug, Default)]
pub struct HookOptions {
    /// Folders whose files are not the user's code: clang's resource folder, the toolkit's and the system's headers.
    /// Absolute, compared by path prefix as the compiler wrote the paths.
    pub system_folders: Vec<String>,
    /// Accesses at constant distances from each other share a record.
    pub bundles: bool,
}

/// The machine that device code was compiled for, from the attributes of its functions.
pub fn machine(module: &Module<'_>) -> Result<Machine, DeviceError> {
    let found = module.functions().into_iter().filter(|function| !function.is_declaration()).find_map(|function| {
        let processor = function.string_attribute("target-cpu").filter(|name| name.starts_with("sm_"))?;
        // The feature string repeats the processor; it is the PTX version that matters.
        let features = function.string_attribute("target-features").unwrap_or_default();
        Some((processor, features))
    });
    // A file without any device function still has a module; it needs no particular machine.
    match found {
        Some((processor, features)) => Ok(Machine::nvptx_like(&processor, &features)?),
        None if module.functions().iter().all(|function| function.is_declaration()) => Ok(Machine::nvptx(75)?),
        None => Err(DeviceError::NotDeviceCode { module: module.get_name().to_string_lossy().into_owned() }),
    }
}

/// Architecture number of a machine: 75 for `sm_75`, 90 for `sm_90a`.
pub fn architecture(machine: &Machine) -> u32 {
    let name = machine.processor();
    let digits: String = name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
