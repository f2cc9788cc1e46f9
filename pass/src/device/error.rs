//! The errors of the stages on device code.

use crate::ir::machine::TargetError;
use crate::llvm::MachineError;

/// The reason why a stage on device code failed.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// LLVM reported an error.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The module is not device code for an NVIDIA GPU.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The code contains something that the stages cannot process correctly.
    #[error("{place}: {what}")]
    Unsupported {
        /// The source position, or the name of the function.
        place: String,
        /// The description of the problem, and how to continue.
        what: String,
    },
    /// There are more sites than the site field of a record can distinguish.
    #[error(
        "{module} has {count} memory instructions, a trace can distinguish {limit}: compile with less unrolling or split the file"
    )]
    TooManySites {
        /// The name of the module.
        module: String,
        /// The number of sites found.
        count: usize,
        /// The maximum number of sites.
        limit: usize,
    },
}
