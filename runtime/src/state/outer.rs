//! The trace that waits while a section of the program has one of its own.

use crate::trace::Trace;
use std::collections::BTreeSet;
use warpline_format::budget::Sampler;
use warpline_format::event::AllocationId;

/// What continues when a section has ended.
#[derive(Debug)]
pub struct Outer {
    /// Its trace.
    pub(crate) trace: Trace,
    /// Launches so far.
    pub(crate) launches: u64,
    /// Of them those that are recorded.
    pub(crate) chosen: u64,
    /// Chooses among its launches.
    pub(crate) sampler: Option<Sampler>,
    /// See [`crate::state::runtime::Runtime::estimating`].
    pub(crate) estimating: bool,
    /// Modules that are in its trace.
    pub(crate) modules: usize,
    /// Allocations that are live in its trace.
    pub(crate) live: BTreeSet<AllocationId>,
}
