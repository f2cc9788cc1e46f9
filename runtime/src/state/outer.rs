//! The outer trace, which waits while a section of the program has its own trace.

use crate::trace::Trace;
use std::collections::BTreeSet;
use warpline_format::budget::Sampler;
use warpline_format::event::AllocationId;

/// The state that continues when a section has ended.
#[derive(Debug)]
pub struct Outer {
    /// The outer trace.
    pub(crate) trace: Trace,
    /// The number of launches so far.
    pub(crate) launches: u64,
    /// The number of these launches that are recorded.
    pub(crate) chosen: u64,
    /// The sampler that selects among the launches.
    pub(crate) sampler: Option<Sampler>,
    /// See [`crate::state::runtime::Runtime::estimating`].
    pub(crate) estimating: bool,
    /// The number of modules that the outer trace contains.
    pub(crate) modules: usize,
    /// The allocations that are live in the outer trace.
    pub(crate) live: BTreeSet<AllocationId>,
}
