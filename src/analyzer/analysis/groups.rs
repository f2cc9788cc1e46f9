//! Launches that are reported in groups.

use warpline_format::event::{Launch, LaunchId, PathId};

use super::sharing::Kind;
use super::{Figures, HostTraffic, LaunchData};

/// The properties that launches of one group share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchKind {
    kernel: u32,
    path: Option<PathId>,
    shape: Option<Shape>,
}

/// Shape of a launch, and the recorded share of it. It does not depend on the GPU model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    block_share: u64,
}

impl LaunchKind {
    /// Creates a `LaunchKind` for a launch of the kernel with this number.
    pub fn new(kernel: u32, launch: &Launch) -> LaunchKind {
        let &Launch { grid, block, dynamic_shared, block_share, path, .. } = launch;
        LaunchKind { kernel, path: Some(path), shape: Some(Shape { grid, block, dynamic_shared, block_share }) }
    }
}

impl Kind for LaunchKind {
    fn coarser(&self) -> Option<LaunchKind> {
        match (self.path, self.shape) {
            (_, Some(_)) => Some(LaunchKind { shape: None, ..*self }),
            (Some(_), None) => Some(LaunchKind { path: None, ..*self }),
            (None, None) => None,
        }
    }
}

/// Launches of a kernel whose figures are added.
#[derive(Clone, Debug)]
pub struct LaunchGroup {
    /// Number of launches.
    pub launches: u64,
    /// Number of launches that ended with an error.
    pub failed: u64,
    /// Number of launches that had not ended when the stream ended.
    pub unended: u64,
    /// Number of the last launch.
    pub last: LaunchId,
    /// Whether all launches have the call path of the first one.
    pub same_path: bool,
    /// Whether all launches have the grid, block, shared memory and recorded share of the first one.
    pub same_shape: bool,
    /// Sums over the launches. The event is that of the first launch; grid dimensions that differ are maxima.
    pub sum: LaunchData,
    /// Moments of the recorded launches.
    pub figures: Figures,
}

impl LaunchGroup {
    /// Creates a `LaunchGroup` for one launch.
    pub fn new(launch: LaunchData) -> LaunchGroup {
        let mut figures = Figures::default();
        add_figures(&mut figures, &launch);
        LaunchGroup {
            launches: 1,
            failed: failed(&launch),
            unended: u64::from(launch.error.is_none()),
            last: launch.event.id,
            same_path: true,
            same_shape: true,
            sum: launch,
            figures,
        }
    }

    /// Adds a launch.
    pub fn add(&mut self, launch: &LaunchData) {
        let kind = LaunchKind::new(0, &launch.event);
        let ours = LaunchKind::new(0, &self.sum.event);
        self.launches += 1;
        self.failed += failed(launch);
        self.unended += u64::from(launch.error.is_none());
        self.last = self.last.max(launch.event.id);
        self.same_path &= kind.path == ours.path;
        self.same_shape &= kind.shape == ours.shape;
        let blocks = |launch: &Launch| launch.grid.iter().fold(1u64, |all, &size| all.saturating_mul(size.into()));
        if blocks(&launch.event) > blocks(&self.sum.event) {
            self.sum.event.grid = launch.event.grid;
        }
        // Shares differ only among launches of several shapes. A sum with sampled launches is marked as sampled.
        self.sum.event.block_share = match (self.sum.event.block_share, launch.event.block_share) {
            (ours, theirs) if ours == theirs => ours,
            (1, theirs) => theirs,
            (ours, _) => ours,
        };
        add_figures(&mut self.figures, launch);
        self.sum.add(launch);
    }
}

fn failed(launch: &LaunchData) -> u64 {
    u64::from(launch.error != Some(0))
}

fn add_figures(figures: &mut Figures, launch: &LaunchData) {
    if launch.event.block_share != 0 {
        figures.add(launch);
    }
}

impl LaunchData {
    /// Adds the sums of another launch.
    pub fn add(&mut self, other: &LaunchData) {
        for (space, counters) in &other.spaces {
            self.spaces.entry(*space).or_default().add(counters);
        }
        for (op, sum) in &other.by_op {
            self.by_op.entry(*op).or_default().add(sum);
        }
        if self.host_memory.len() < other.host_memory.len() {
            self.host_memory.resize(other.host_memory.len(), HostTraffic::default());
        }
        for (sum, host) in self.host_memory.iter_mut().zip(&other.host_memory) {
            sum.add(host.reads, host.writes);
        }
        self.atomics.add(&other.atomics);
        self.instructions.add(&other.instructions);
        self.blocks.add(&other.blocks);
        let (ours, theirs) = (&mut self.branches, &other.branches);
        ours.executions = ours.executions.saturating_add(theirs.executions);
        ours.divergent = ours.divergent.saturating_add(theirs.divergent);
    }
}
