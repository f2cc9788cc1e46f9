//! Reasons why a record cannot be processed.

use warpline_format::event::{AllocationId, LaunchId};

use super::counted::CountsError;
use super::limits::FigureError;
use crate::analysis::sampling::SampleError;
use crate::attribution::{AllocationError, ModuleError};
use crate::requests::{BatchError, ShapeError, WorkerLost};
use crate::simulation::ReorderError;

/// Reasons why a record cannot be processed. All except the last two mean that the stream is inconsistent.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("a second program record")]
    SecondProgram,
    #[error("a launch before the program record")]
    NoProgram,
    #[error("{what} {id} is announced twice")]
    Twice { what: &'static str, id: u64 },
    #[error("{what} {id} is announced twice, with different content")]
    Differs { what: &'static str, id: u64 },
    #[error("allocation {0} is freed and was never announced")]
    NotAnnounced(AllocationId),
    #[error("a copy to {0:#x} ends past the last address")]
    CopyPastEnd(u64),
    #[error("launch {0} begins twice, or behind a later one")]
    LaunchOrder(LaunchId),
    #[error("launch {launch} of the unknown module {module}")]
    UnknownModule { launch: LaunchId, module: u32 },
    #[error("launch {launch} of the unknown kernel {kernel}")]
    UnknownKernel { launch: LaunchId, kernel: u32 },
    #[error("{what} of launch {launch}, which is not running")]
    NotRunning { what: &'static str, launch: LaunchId },
    #[error("launch {launch} counts the unknown branch {branch}")]
    UnknownBranch { launch: LaunchId, branch: u32 },
    #[error("launch {0} ends and never began")]
    NeverBegan(LaunchId),
    #[error(transparent)]
    Module(#[from] ModuleError),
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error(transparent)]
    Figure(#[from] FigureError),
    #[error(transparent)]
    Counts(#[from] CountsError),
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error(transparent)]
    Reorder(#[from] ReorderError),
    /// The memory limit is reached; the stream is consistent.
    #[error("the memory that --memory grants is exhausted")]
    Memory,
    #[error(transparent)]
    Worker(#[from] WorkerLost),
}
