//! Follows a trace from its first record to its last and sums up what the profile needs.
//!
//! [`Analyzer`] reads the stream in order and keeps what control records say: modules, allocations,
//! paths, launches. Access batches are checked whole ([`batch`]) and then handed to [`Worker`]s, each
//! of which takes the warps of its share of the SMs. Workers resolve each request to a *cell* (site,
//! space, device call context, allocation) and count there; further analyses that follow requests
//! plug in as a [`Follower`] and keep their own figures per cell. All results are sums, so any number
//! of workers gives the same ones.

mod alike;
mod analyzer;
mod batch;
mod cells;
mod contents;
mod counted;
pub(crate) mod decode;
mod failures;
mod figures;
mod followers;
mod groups;
mod instructions;
mod launches;
mod limits;
mod pool;
mod progress;
mod request;
mod resolve;
mod results;
mod rows;
pub(crate) mod sharing;
mod waves;
mod worker;

pub use analyzer::{analyze, analyze_for, analyze_with};
pub use batch::check_batch;
pub use cells::{CellId, CellKey, Cells, Owner};
pub use decode::request as read_request;
pub use failures::{FailedLaunch, Failures};
pub use figures::{CountMoments, Figures, RatioMoments, space_name};
pub use groups::{LaunchGroup, LaunchKind};
pub use instructions::{ClassSum, InstructionSums};
pub use launches::LaunchShape;
pub use pool::WorkerLost;
pub use progress::{NoProgress, Progress, Status};
pub use request::{Follower, Part, Request};
pub use results::{
    Analysis, BlockSum, BranchSum, CopyKey, CopySum, FaultData, Finish, HostTraffic, KernelData, LaunchData,
    ObjectData, OpSum, ProgramData, WarpSum,
};
pub use rows::{AllocationData, HostAllocationData};
pub use worker::Worker;
