//! Processes a trace and sums up the figures for the profile.
//!
//! [`analyze`] reads the stream in order and stores the contents of control records: modules, allocations, paths and
//! launches. Batches of accesses go to the workers of [`crate::requests`], with the analyses that `tool_set.rs` lists.

mod failures;
mod figures;
mod floats;
mod groups;
mod host_accesses;
mod initialisation;
mod instructions;
mod progress;
mod results;
mod rounding;
mod rows;
mod sampling;
pub mod sharing;
mod stream;
mod tool_set;
mod values;

pub use failures::{FailedLaunch, Failures};
pub use figures::{CountMoments, Figures, RatioMoments, space_name};
pub use floats::{ExceptionKey, ExceptionSum, Floats, Origin, OriginStep};
pub use groups::{LaunchGroup, LaunchKind};
pub use host_accesses::{HostAccessSum, HostAccesses};
pub use initialisation::{CopiedSum, Initialisation, ReadKey, ReadSum};
pub use instructions::{ClassSum, InstructionSums};
pub use progress::{NoProgress, Progress, Status};
pub use results::{
    Analysis, BlockSum, BranchSum, CopyKey, CopySum, FaultData, Finish, GivenUp, HostTraffic, KernelData,
    LaunchArgument, LaunchData, ObjectData, OpSum, ProgramData, WarpSum,
};
pub use rounding::{ComparedSum, RoundedWriter, Roundings};
pub use rows::AllocationRows;
pub use rows::{AllocationData, HostAllocationData};
pub use sampling::{Bounded, CONFIDENCE, LineFigure, WholeRun, WholeRuns};
pub use stream::analyzer::{analyze, analyze_for, analyze_with, analyze_with_tools};
pub use values::{ValueKey, ValueSum, Values};
