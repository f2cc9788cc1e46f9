//! The properties of launches on which a budget is based.

use warpline_format::budget::Choice;
use warpline_format::event::{LaunchId, PathId};

/// The properties by which a budget selects launches.
#[derive(Clone, Copy, Debug)]
pub struct Launched {
    /// The number of blocks.
    pub grid: [u32; 3],
    /// The number of threads per block.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u64,
    /// The host call path.
    pub path: PathId,
}

/// A launch that has been numbered.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// The launch's number.
    pub id: LaunchId,
    /// Whether the launch is traced.
    pub traced: bool,
    /// The launch's position in the sample of a budget.
    pub drawn: Option<Drawn>,
}

/// A launch in the sample of a budget.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// The position, and whether the launch is recorded.
    pub choice: Choice,
    /// The number of warps of the launch.
    pub warps: u64,
}
