//! Stages on device code, in the order in which they run: [`note_locations`], [`optimize`], [`prepare`], [`hook`].
//! `docs/design/instrumentation.md` says why each is where it is.

mod access;
mod assembly;
mod bundle;
mod copies;
mod describe;
mod distance;
mod globals;
mod hint;
mod hook;
mod inline;
mod locate;
mod matrix;
mod memory;
mod mix;
mod note;
mod operand;
mod optimize;
mod parts;
mod prepare;
mod split;
mod steps;
mod stray;
mod table;

pub use describe::describe;
pub use globals::{join_statics, mark_managed, reference_cycle};
pub use hook::hook;
pub use inline::inline_headers;
pub use note::note_locations;
pub use optimize::optimize;
pub use prepare::prepare;
pub use stray::keep_stray_accesses;

pub use crate::ir::machine::{TargetError, architecture, machine};

use crate::llvm::MachineError;

/// Why a stage on device code failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// LLVM refused something.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The module is not device code for an NVIDIA GPU.
    #[error(transparent)]
    Target(#[from] TargetError),
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
