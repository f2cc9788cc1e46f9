//! The list of analyses that process requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpline_format::access::Space;
use warpline_format::event::LaunchId;

use super::KernelData;
use crate::analyses::{self, Listed, Sums, Tools};
use crate::attribution::{AllocationMap, MapChange};
use crate::patterns::{Patterns, SerialAtomics, SitePattern, Touched};
use crate::requests::{AnalysisTool, LaunchShape, LaunchWork, Pool, WorkerLost};
use crate::simulation::{Settings, SharedStage, Simulation};
use warpline_simulator::hierarchy::Written;

/// The tools of one worker.
type ToolSet = (Option<Simulation>, (Option<Patterns>, Listed));
/// The results of the tools at the end of a launch.
pub(super) type ToolResults = <ToolSet as AnalysisTool>::Result;

/// Creates the tools of worker number `worker`. If nothing is simulated, only the caller's `tools` run.
fn new(simulated: Option<(&Settings, &SharedStage)>, tools: &Tools, worker: u32) -> ToolSet {
    let Some((settings, stage)) = simulated else {
        let mut listed = Listed::default();
        tools.append_to(&mut listed, worker);
        return (None, (None, listed));
    };
    let simulation = Simulation::new(settings, worker, stage.clone());
    let mut listed = if settings.traffic_only { Listed::default() } else { analyses::all(settings.pages) };
    tools.append_to(&mut listed, worker);
    (Some(simulation), ((!settings.traffic_only).then(Patterns::default), listed))
}

/// The workers with their tools, and L2 if caches are simulated.
pub(super) struct ToolPool {
    pool: Pool<ToolSet>,
    stage: Option<SharedStage>,
    batches: u64,
    /// Whether workers count unpaired halves of waves in a separate batch at the end of a launch.
    wide: bool,
}

impl ToolPool {
    pub(super) fn new(threads: usize, simulation: Option<&Settings>, tools: &Tools) -> ToolPool {
        let threads = if simulation.is_some_and(Settings::needs_one_worker) { 1 } else { threads };
        let stage = simulation.map(|settings| SharedStage::new(settings, threads.max(1) as u32));
        let banks = simulation.map(|settings| settings.hierarchy.bank_rules()).unwrap_or_default();
        let tool = |index| new(simulation.zip(stage.as_ref()), tools, index);
        let pool = match simulation.and_then(|settings| settings.narrowed.clone()) {
            Some(narrowed) => Pool::narrowed(threads, narrowed, banks, tool),
            None => Pool::new(threads, banks, tool),
        };
        let wide = simulation.is_some_and(|settings| settings.hierarchy.wave_lanes == 64);
        ToolPool { pool, stage, batches: 0, wide }
    }

    /// Records that a copy writes device memory.
    pub(super) fn copied(&self, written: Written) {
        if let Some(stage) = &self.stage {
            stage.copied(self.batches, written);
        }
    }

    pub(super) fn start(&mut self, shape: &Arc<LaunchShape>) -> Result<(), WorkerLost> {
        self.pool.start(shape)
    }

    pub(super) fn changed(&mut self, change: MapChange) -> Result<(), WorkerLost> {
        self.pool.changed(change)
    }

    pub(super) fn batch(&mut self, launch: LaunchId, items: &[u8]) -> Result<(), WorkerLost> {
        self.batches += 1;
        self.pool.batch(launch, items)
    }

    /// Returns the results of the workers for an ended launch.
    pub(super) fn end(&mut self, launch: LaunchId) -> Result<Vec<LaunchWork<ToolResults>>, WorkerLost> {
        self.batches += u64::from(self.wide);
        let mut works = self.pool.end(launch)?;
        // All workers have submitted their parts of every batch, so L2 has served them.
        let sums = self.stage.as_ref().map(|stage| stage.take(launch)).unwrap_or_default();
        for work in &mut works {
            let Some(sums) = sums.get(work.worker as usize) else { continue };
            for (cell, traffic) in (0..work.cells.len() as u32).zip(sums.as_slice()) {
                work.cells.counters(cell).add_traffic(traffic);
            }
        }
        Ok(works)
    }
}

/// The combined results of the workers' tools for one launch.
#[derive(Default)]
pub(super) struct LaunchResults {
    sums: Sums,
    sites: BTreeMap<(u32, Space), SitePattern>,
    touched: Vec<Touched>,
}

impl LaunchResults {
    /// Adds the results of one worker.
    pub(super) fn add(&mut self, (_, (patterns, sums)): ToolResults) {
        self.sums.add(&sums);
        let Some(patterns) = patterns else { return };
        for (key, pattern) in patterns.sites {
            self.sites.entry(key).or_default().add(&pattern);
        }
        self.touched.push(patterns.touched);
    }

    /// Returns the launch's atomic operations that run one after the other.
    pub(super) fn serial_atomics(&self) -> SerialAtomics {
        SerialAtomics::from_sites(self.sites.iter().map(|(&(_, space), pattern)| (space, pattern)))
    }

    /// Adds the results to the kernel's figures and to the touched memory, while the launch's allocations are still
    /// current.
    pub(super) fn keep(mut self, kernel: &mut KernelData, touched: &mut Touched, map: &AllocationMap) {
        self.sums.settle();
        kernel.sums.add(&self.sums);
        for ((site, space), mut pattern) in self.sites {
            pattern.collisions.settle(|address| {
                // The address of a block's shared memory depends on the other resident blocks, so it identifies
                // nothing.
                let row = map.find(address).allocation.filter(|_| space == Space::Global)?;
                Some((row, address - map.start(address)?))
            });
            kernel.patterns.entry((site, space)).or_default().add(&pattern);
        }
        self.touched.iter().for_each(|more| touched.add(more));
    }
}
