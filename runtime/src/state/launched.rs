//! Launches as a budget sees them.

use warpline_format::budget::Choice;
use warpline_format::event::{LaunchId, PathId};

/// What a budget chooses launches by.
#[derive(Clone, Copy, Debug)]
pub struct Launched {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Bytes.
    pub dynamic_shared: u64,
    /// Host call path.
    pub path: PathId,
}

/// A launch that has its number.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Number.
    pub id: LaunchId,
    /// Whether it is traced.
    pub traced: bool,
    /// Its place in the sample of a budget.
    pub drawn: Option<Drawn>,
}

/// A launch in the sample of a budget.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// Place, and whether it is recorded.
    pub choice: Choice,
    /// Its warps.
    pub warps: u64,
}
