//! Why an executable graph has no hooked twin.

use crate::cuda::error::Error;
use std::ffi::c_int;

/// Why a graph has no twin, as reported to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TwinError {
    /// CUDA refuses something that only the copy needs.
    #[error("CUDA gives error {code} for {what}")]
    Cuda {
        /// What it refuses.
        what: &'static str,
        /// Its code.
        code: Error,
    },
    /// A later CUDA has more kinds of nodes.
    #[error("it has a node of a kind that is not handled ({0})")]
    NodeKind(c_int),
    /// The module of a kernel was not registered.
    #[error("its module is not known")]
    UnknownModule,
    /// The copy does not become an executable graph.
    #[error("with hooks it cannot be made executable (CUDA error {0})")]
    Instantiate(Error),
    /// Functions for graphs are missing.
    #[error("the CUDA runtime that this program is linked with is too old")]
    OldRuntime,
    /// Device code launches it.
    #[error("it can be launched by kernels")]
    LaunchedByKernels,
    /// Making a copy would end the capture.
    #[error("a stream was being captured")]
    Capturing,
    /// Slots belong to one GPU.
    #[error("the program makes graphs for several GPUs")]
    SeveralGpus,
    /// The copy would have them switched on.
    #[error("some of its nodes were switched off")]
    NodesOff,
    /// It had no twin before.
    #[error("it had none")]
    NoTwin,
}
