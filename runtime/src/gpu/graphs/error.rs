//! The reasons why an executable graph has no hooked twin.

use crate::cuda::error::Error;
use std::ffi::c_int;

/// The reason why a graph has no twin, as reported to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TwinError {
    /// CUDA refuses an operation that only the copy needs.
    #[error("CUDA gives error {code} for {what}")]
    Cuda {
        /// The refused operation.
        what: &'static str,
        /// CUDA's error code.
        code: Error,
    },
    /// The node has a kind that only a later CUDA version defines.
    #[error("it has a node of a kind that is not handled ({0})")]
    NodeKind(c_int),
    /// The module of a kernel was not registered.
    #[error("its module is not known")]
    UnknownModule,
    /// The copy cannot be instantiated.
    #[error("with hooks it cannot be made executable (CUDA error {0})")]
    Instantiate(Error),
    /// The runtime does not have all functions for graphs.
    #[error("the CUDA runtime that this program is linked with is too old")]
    OldRuntime,
    /// Device code launches the graph.
    #[error("it can be launched by kernels")]
    LaunchedByKernels,
    /// Copying the graph would end the capture.
    #[error("a stream was being captured")]
    Capturing,
    /// The graph uses several GPUs, but slots belong to one GPU.
    #[error("the program makes graphs for several GPUs")]
    SeveralGpus,
    /// The graph has disabled nodes, which would be enabled in the copy.
    #[error("some of its nodes were disabled")]
    NodesOff,
    /// The graph had no twin before.
    #[error("it had no hooked copy before")]
    NoTwin,
}
