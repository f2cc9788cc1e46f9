//! Combines the listed analyses to one tool.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use warpline_format::event::LaunchId;

use super::sum::AnySum;
use super::{Sum, Sums};
use crate::requests::{AnalysisTool, Cells, Event, LaunchShape};

/// An [`AnalysisTool`] of any type whose results can be added.
pub(super) trait AnyTool: Send {
    fn needs_shared(&self) -> bool;
    fn needs_requests(&self) -> bool;
    fn start(&mut self, launch: &LaunchShape);
    fn batch(&mut self, launch: LaunchId);
    fn batch_end(&mut self);
    fn event(&mut self, event: Event<'_>);
    fn end(&mut self, launch: &LaunchShape, cells: &mut Cells) -> Box<dyn AnySum>;
}

impl<T: AnalysisTool<Result: Sum>> AnyTool for T {
    fn needs_shared(&self) -> bool {
        AnalysisTool::needs_shared(self)
    }

    fn needs_requests(&self) -> bool {
        AnalysisTool::needs_requests(self)
    }

    fn start(&mut self, launch: &LaunchShape) {
        AnalysisTool::start(self, launch);
    }

    fn batch(&mut self, launch: LaunchId) {
        AnalysisTool::batch(self, launch);
    }

    fn batch_end(&mut self) {
        AnalysisTool::batch_end(self);
    }

    fn event(&mut self, event: Event<'_>) {
        AnalysisTool::event(self, event);
    }

    fn end(&mut self, launch: &LaunchShape, cells: &mut Cells) -> Box<dyn AnySum> {
        Box::new(AnalysisTool::end(self, launch, cells))
    }
}

/// The listed analyses of one worker.
#[derive(Default)]
pub struct Listed(Vec<Shard>);

/// The shard of one analysis.
struct Shard {
    tool: Box<dyn AnyTool>,
    /// Whether the analysis uses requests. Requests are the most frequent events, so other analyses are not called for
    /// them.
    needs_requests: bool,
}

impl Listed {
    /// Appends an analysis.
    pub(super) fn push(&mut self, tool: Box<dyn AnyTool>) {
        self.0.push(Shard { needs_requests: tool.needs_requests(), tool });
    }
}

impl AnalysisTool for Listed {
    type Result = Sums;

    fn needs_shared(&self) -> bool {
        self.0.iter().any(|shard| shard.tool.needs_shared())
    }

    fn needs_requests(&self) -> bool {
        self.0.iter().any(|shard| shard.needs_requests)
    }

    fn start(&mut self, launch: &LaunchShape) {
        self.0.iter_mut().for_each(|shard| shard.tool.start(launch));
    }

    fn batch(&mut self, launch: LaunchId) {
        self.0.iter_mut().for_each(|shard| shard.tool.batch(launch));
    }

    fn batch_end(&mut self) {
        self.0.iter_mut().for_each(|shard| shard.tool.batch_end());
    }

    #[inline]
    fn event(&mut self, event: Event<'_>) {
        let is_request = matches!(event, Event::Request(_));
        for shard in self.0.iter_mut().filter(|shard| !is_request || shard.needs_requests) {
            shard.tool.event(event);
        }
    }

    fn end(&mut self, launch: &LaunchShape, cells: &mut Cells) -> Sums {
        Sums(self.0.iter_mut().map(|shard| shard.tool.end(launch, cells)).collect())
    }
}

/// Analyses that the caller provides, as functions that create a worker's shard.
#[derive(Clone, Default)]
pub struct Tools(Vec<Arc<MakeTool>>);

type MakeTool = dyn Fn(u32) -> Box<dyn AnyTool> + Send + Sync;

impl Tools {
    /// Adds a tool; `make` returns the shard of the worker with that number.
    #[must_use]
    pub fn with<T: AnalysisTool<Result: Sum> + 'static>(
        mut self,
        make: impl Fn(u32) -> T + Send + Sync + 'static,
    ) -> Tools {
        self.0.push(Arc::new(move |worker| Box::new(make(worker))));
        self
    }

    /// Appends the shards of one worker.
    pub(crate) fn append_to(&self, listed: &mut Listed, worker: u32) {
        self.0.iter().for_each(|make| listed.push(make(worker)));
    }
}

/// The state of an analysis for each running launch. Several launches may run at the same time, and their batches are
/// interleaved.
#[derive(Debug)]
pub struct ByLaunch<T> {
    launches: FxHashMap<LaunchId, T>,
    current: Option<(LaunchId, T)>,
}

impl<T> Default for ByLaunch<T> {
    fn default() -> Self {
        ByLaunch { launches: FxHashMap::default(), current: None }
    }
}

impl<T> ByLaunch<T> {
    /// Starts a launch ([`AnalysisTool::start`]).
    pub fn start(&mut self, launch: LaunchId, state: T) {
        self.launches.insert(launch, state);
    }

    /// Selects the launch of the following events ([`AnalysisTool::batch`]).
    pub fn batch(&mut self, launch: LaunchId) {
        self.current = self.launches.remove_entry(&launch);
    }

    /// Returns the state of the current batch's launch.
    #[inline]
    pub fn current(&mut self) -> Option<&mut T> {
        self.current.as_mut().map(|(_, state)| state)
    }

    /// Ends the batch ([`AnalysisTool::batch_end`]).
    pub fn batch_end(&mut self) {
        self.launches.extend(self.current.take());
    }

    /// Ends the launch and returns its state ([`AnalysisTool::end`]).
    pub fn end(&mut self, launch: LaunchId) -> Option<T> {
        self.launches.remove(&launch)
    }
}
