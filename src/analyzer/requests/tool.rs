//! The interface of analyses: the events of a launch that they receive, and the results that they return.

use warpline_format::access::OperationValues;
use warpline_format::event::LaunchId;
use warpline_format::operation::Operation;

use super::{Cells, LaunchShape, Request};

/// An event of a launch. The list grows as Warpline records more; tools should ignore events that they do not use.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A block becomes resident.
    Block {
        /// First warp slot of the block.
        slot: u32,
        /// Number of warps, which occupy consecutive slots.
        warps: u32,
        /// Linear index of the block in its grid.
        block: u64,
    },
    /// A warp makes a memory request.
    Request(&'a Request<'a>),
    /// A warp executes an operation whose values are recorded (`warpline run --trace-values`).
    Operation(&'a Execution<'a>),
    /// A warp reaches a block-wide barrier.
    Barrier {
        /// Warp slot of the warp.
        slot: u32,
    },
}

/// A warp's execution of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'a> {
    /// Number of the operation, active lanes, and the bits of result and operands.
    pub values: &'a OperationValues<'a>,
    /// Operator and position, from the site table of the launch's module.
    pub operation: &'a Operation,
    /// Warp slot of the warp.
    pub slot: u32,
}

/// An analysis of the events of launches. Each worker has an instance of it (a shard).
///
/// All events of one SM, and therefore of one block, reach the same shard, in the order in which the SM made them.
/// Store figures in vectors indexed by cell. Cells are numbered per worker and launch; [`AnalysisTool::end`] must
/// convert them to [`super::CellKey`]s. Several launches may run at the same time; [`crate::analyses::ByLaunch`] keeps
/// the state of each.
pub trait AnalysisTool: Send {
    /// What a shard returns at the end of a launch. Its sum over shards must not depend on their number.
    type Result: Default + Send;

    /// Returns whether the tool needs every request to shared memory. If not, requests without bank conflicts may be
    /// omitted.
    fn needs_shared(&self) -> bool {
        true
    }
    /// Returns whether the tool uses [`Event::Request`].
    fn needs_requests(&self) -> bool {
        true
    }
    /// Returns whether the counters of requests are needed in addition to the results of the tools. If a tool returns
    /// `false`, requests to shared and constant memory may be omitted.
    fn needs_counters(&self) -> bool {
        true
    }
    /// Returns the number of lanes per request of the model: 32, or 64 if two neighbouring warps make one request.
    fn wave_lanes(&self) -> u32 {
        32
    }
    /// Called when a launch starts.
    fn start(&mut self, _launch: &LaunchShape) {}
    /// Called before the events of a batch. The events up to [`AnalysisTool::batch_end`] belong to this launch.
    fn batch(&mut self, _launch: LaunchId) {}
    /// Called at the end of a batch. Every shard receives every batch.
    fn batch_end(&mut self) {}
    /// Called for each event in the launch of the current batch.
    fn event(&mut self, event: Event<'_>);
    /// Called when a launch ends. The tool may add to the figures of its cells.
    fn end(&mut self, _launch: &LaunchShape, _cells: &mut Cells) -> Self::Result {
        Self::Result::default()
    }
}

/// Ignores all events.
impl AnalysisTool for () {
    type Result = ();

    fn needs_shared(&self) -> bool {
        false
    }

    fn needs_requests(&self) -> bool {
        false
    }

    #[inline]
    fn event(&mut self, _event: Event<'_>) {}
}

/// Forwards events to the tool, if there is one.
impl<T: AnalysisTool> AnalysisTool for Option<T> {
    type Result = Option<T::Result>;

    fn needs_shared(&self) -> bool {
        self.as_ref().is_some_and(T::needs_shared)
    }

    fn needs_requests(&self) -> bool {
        self.as_ref().is_some_and(T::needs_requests)
    }

    fn needs_counters(&self) -> bool {
        self.as_ref().is_none_or(T::needs_counters)
    }

    fn wave_lanes(&self) -> u32 {
        self.as_ref().map_or(32, T::wave_lanes)
    }

    fn start(&mut self, launch: &LaunchShape) {
        self.iter_mut().for_each(|tool| tool.start(launch));
    }

    fn batch(&mut self, launch: LaunchId) {
        self.iter_mut().for_each(|tool| tool.batch(launch));
    }

    fn batch_end(&mut self) {
        self.iter_mut().for_each(T::batch_end);
    }

    #[inline]
    fn event(&mut self, event: Event<'_>) {
        if let Some(tool) = self {
            tool.event(event);
        }
    }

    fn end(&mut self, launch: &LaunchShape, cells: &mut Cells) -> Self::Result {
        self.as_mut().map(|tool| tool.end(launch, cells))
    }
}

/// Forwards each event to two tools, one after the other.
impl<A: AnalysisTool, B: AnalysisTool> AnalysisTool for (A, B) {
    type Result = (A::Result, B::Result);

    fn needs_shared(&self) -> bool {
        self.0.needs_shared() || self.1.needs_shared()
    }

    fn needs_requests(&self) -> bool {
        self.0.needs_requests() || self.1.needs_requests()
    }

    fn needs_counters(&self) -> bool {
        self.0.needs_counters() && self.1.needs_counters()
    }

    fn wave_lanes(&self) -> u32 {
        self.0.wave_lanes().max(self.1.wave_lanes())
    }

    fn start(&mut self, launch: &LaunchShape) {
        self.0.start(launch);
        self.1.start(launch);
    }

    fn batch(&mut self, launch: LaunchId) {
        self.0.batch(launch);
        self.1.batch(launch);
    }

    fn batch_end(&mut self) {
        self.0.batch_end();
        self.1.batch_end();
    }

    #[inline]
    fn event(&mut self, event: Event<'_>) {
        self.0.event(event);
        self.1.event(event);
    }

    fn end(&mut self, launch: &LaunchShape, cells: &mut Cells) -> Self::Result {
        (self.0.end(launch, cells), self.1.end(launch, cells))
    }
}
