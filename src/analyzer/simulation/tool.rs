//! The part of the simulation that each worker runs independently.

use rustc_hash::FxHashMap;
use warpline_format::abi::windows;
use warpline_format::access::Space;
use warpline_format::event::LaunchId;
use warpline_format::site_table::{CacheOp, Op};

use super::reuse::{LaunchScopes, ReuseServer};
use super::stage::SharedStage;
use super::{ReuseScope, ReuseSettings, Settings};
use crate::requests::{AnalysisTool, Cells, Event, LaunchShape, Request};
use warpline_simulator::hierarchy::{
    Egress, FirstLevel, LocalLayout, SmRequest, StageCounts, TrafficCells, tag_passes,
};
use warpline_simulator::locality::ScopeRequest;

/// Approximate maximum bytes of waiting requests of all resident blocks, and limits for one block.
const ALL_QUEUES: usize = 32 << 20;
const QUEUE_BYTES: std::ops::RangeInclusive<usize> = 4 << 10..=64 << 10;

/// A launch that is running.
struct Running {
    first: FirstLevel,
    /// Scopes of reuse distances: by resident block over all SMs, by SM, or a single one. `None` if distances are not
    /// computed.
    scopes: Option<LaunchScopes>,
    warps: u32,
    slots_per_sm: u32,
    traffic: TrafficCells,
    kernel: u32,
}

/// Simulates the SMs of one worker.
pub struct Simulation {
    settings: Settings,
    worker: u32,
    stage: SharedStage,
    launches: FxHashMap<LaunchId, Running>,
    current: Option<(LaunchId, Running)>,
    batch: u64,
    left: Egress,
    idle: Vec<FirstLevel>,
    reuse: Option<ReuseServer>,
}

impl Simulation {
    /// Creates the simulation of worker number `worker`.
    pub fn new(settings: &Settings, worker: u32, stage: SharedStage) -> Simulation {
        let in_thread = stage.workers() > 1;
        let reuse = settings.reuse.map(|reuse| ReuseServer::new(reuse.distance, settings.stores, in_thread));
        Simulation {
            settings: settings.clone(),
            worker,
            left: stage.leaving(),
            stage,
            launches: FxHashMap::default(),
            current: None,
            batch: 0,
            idle: Vec::new(),
            reuse,
        }
    }

    fn block(&mut self, slot: u32, block: u64) {
        let Some((_, running)) = &mut self.current else { return };
        let Some(ReuseSettings { scope: ReuseScope::Block, .. }) = self.settings.reuse else { return };
        if let (Some(scopes), Some(reuse)) = (&mut running.scopes, &mut self.reuse) {
            scopes.begin(slot / running.warps, block, reuse);
        }
    }

    fn request(&mut self, request: &Request<'_>) {
        if !matches!(request.access.space, Space::Global | Space::Local) {
            return;
        }
        let Some((_, running)) = &mut self.current else { return };
        let width = request.width;
        let sm = request.slot / running.slots_per_sm;
        let op = request.site.op;
        let access = request.access;
        let (traffic, left) = (&mut running.traffic, &mut self.left);
        let mut cache = request.site.cache;
        if let Some(bypass) = &self.settings.bypass
            && op == Op::Load
            && access.space == Space::Global
            && bypass.covers(running.kernel, access.site, request.slot % running.warps)
        {
            cache = CacheOp::Global;
        }
        let (slot, cell, place) = (request.slot, request.cell, request.place);
        let from = SmRequest { sm, slot, access, width, op, cache, cell, place, pieces: Some(request.pieces) };
        let pieces = running.first.request(from, traffic, left);
        if let Some(stages) = &self.settings.hierarchy.stages {
            running.traffic.cell(request.cell).stages.add(&StageCounts {
                data: u64::from(request.passes.passes),
                ideal_data: u64::from(request.passes.ideal),
                tag: u64::from(tag_passes(pieces, stages.tag_banks)),
                words: u64::from(request.width.bytes.div_ceil(4)),
            });
        }
        // Reuse distances are computed for memory that blocks share, not for the lanes' stacks.
        if access.space == Space::Global
            && let Some(ReuseSettings { scope, .. }) = self.settings.reuse
            && let (Some(scopes), Some(reuse)) = (&mut running.scopes, &mut self.reuse)
        {
            let scope = match scope {
                ReuseScope::Block => request.slot / running.warps,
                ReuseScope::Sm => sm,
                ReuseScope::Launch => 0,
            };
            scopes.request(scope, &ScopeRequest { access, width, op, cell, pieces: request.pieces }, reuse);
        }
    }
}

impl AnalysisTool for Simulation {
    type Result = ();

    fn needs_shared(&self) -> bool {
        false
    }

    fn needs_counters(&self) -> bool {
        !self.settings.traffic_only
    }

    fn wave_lanes(&self) -> u32 {
        self.settings.hierarchy.wave_lanes
    }

    fn start(&mut self, launch: &LaunchShape) {
        let mut first = self.idle.pop().unwrap_or_else(|| FirstLevel::new(&self.settings.hierarchy));
        let local = LocalLayout { base: windows::LOCAL, bytes_per_lane: u64::from(launch.local_bytes) };
        let lines = self.settings.hierarchy.l1.lines_preferred(launch.shared_per_sm, launch.carveout);
        first.start(lines, local);
        let hierarchy = &self.settings.hierarchy;
        let l1_bytes = u64::from(lines) * u64::from(hierarchy.l1.line_bytes);
        let cache_bytes = [l1_bytes, hierarchy.l2.bytes()];
        let scopes = |reuse| LaunchScopes::new(launch.id, room_of(launch), cache_bytes, reuse);
        let running = Running {
            first,
            scopes: self.reuse.as_mut().map(scopes),
            warps: launch.warps.max(1),
            slots_per_sm: launch.slots_per_sm.max(1),
            traffic: TrafficCells::default(),
            kernel: launch.kernel,
        };
        self.launches.insert(launch.id, running);
    }

    fn batch(&mut self, launch: LaunchId) {
        self.current = self.launches.remove_entry(&launch);
    }

    #[inline]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Block { slot, block, .. } => self.block(slot, block),
            Event::Request(request) => self.request(request),
            Event::Barrier { .. } | Event::Operation(_) => {}
        }
    }

    fn batch_end(&mut self) {
        if let Some((launch, mut running)) = self.current.take() {
            running.first.finish(&mut running.traffic, &mut self.left);
            self.stage.submit(self.batch, launch, self.worker, &mut self.left);
            self.launches.insert(launch, running);
        }
        self.batch += 1;
    }

    fn end(&mut self, launch: &LaunchShape, cells: &mut Cells) {
        let Some(running) = self.launches.remove(&launch.id) else { return };
        self.stage.finish(self.worker);
        for (cell, traffic) in (0..).zip(running.traffic.as_slice()) {
            if cell < cells.len() as u32 {
                cells.counters(cell).add_traffic(traffic);
            }
        }
        let reuse = running.scopes.zip(self.reuse.as_mut()).map(|(scopes, reuse)| scopes.finish(reuse));
        for (cell, reuse) in (0..).zip(&reuse.unwrap_or_default()) {
            if cell < cells.len() as u32 {
                cells.counters(cell).add_reuse(reuse);
            }
        }
        self.idle.push(running.first);
    }
}

/// Returns the maximum bytes of requests in each block's queue: [`ALL_QUEUES`] divided among the resident blocks.
fn room_of(launch: &LaunchShape) -> usize {
    let blocks = u64::from(launch.slots / launch.warps.max(1)).min(launch.blocks).max(1) as usize;
    (ALL_QUEUES / blocks).clamp(*QUEUE_BYTES.start(), *QUEUE_BYTES.end())
}
