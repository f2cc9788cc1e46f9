//! What can go wrong in stages on device code.

use crate::ir::machine::TargetError;
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
        /// What it is, and how to continue.
        what: String,
    },
    /// More sites than a record's site field can hold.
    #[error(
        "{module} has {count} memory instructions, a trace can distinguish {limit}: compile with less unrolling or split the file"
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
