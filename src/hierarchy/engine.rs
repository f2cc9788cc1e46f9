//! What happens at the SMs, and the sums of the whole simulation.
//!
//! SMs do not see each other, so any number of [`FirstLevel`]s can share them out. Each hands the
//! requests that leave its SMs on, and one [`SecondLevel`](super::SecondLevel) serves them in the order of the trace.

use warpline_format::access::{Access, Space};
use warpline_format::site_table::{CacheOp, Op};

use super::coalesce::{Coalescer, Piece, Reach};
use super::config::{HierarchyConfig, L1Config};
use super::dense::DenseLines;
use super::leaving::Leaving;
use super::level1::{Level1, Route};
use super::stages::StageCounts;
use super::waiting::{From, Queue};

/// Lookups of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelCounts {
    /// All.
    pub lookups: u64,
    /// Of these, hits.
    pub hits: u64,
    /// Of loads only.
    pub load_lookups: u64,
    /// Of these, hits.
    pub load_hits: u64,
}

impl LevelCounts {
    /// Adds another sum.
    pub fn add(&mut self, other: &LevelCounts) {
        self.lookups += other.lookups;
        self.hits += other.hits;
        self.load_lookups += other.load_lookups;
        self.load_hits += other.load_hits;
    }

    #[inline]
    pub(super) fn count(&mut self, load: bool, lookups: u32, hits: u32) {
        self.lookups += u64::from(lookups);
        self.hits += u64::from(hits);
        if load {
            self.load_lookups += u64::from(lookups);
            self.load_hits += u64::from(hits);
        }
    }
}

/// What requests cost at every level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Level 1.
    pub l1: LevelCounts,
    /// Level 2.
    pub l2: LevelCounts,
    /// Level-2 store lookups that allocated; hardware counts them as hits.
    pub l2_allocated: u64,
    /// Level-2 lookups passed on to the far partition.
    pub l2_far: u64,
    /// Sectors read from DRAM.
    pub dram_reads: u64,
    /// Sectors written to DRAM, now or later.
    pub dram_writes: u64,
    /// Passes through the stages of level 1, where the model has them.
    pub stages: StageCounts,
}

impl Traffic {
    /// Adds another sum.
    pub fn add(&mut self, other: &Traffic) {
        self.l1.add(&other.l1);
        self.l2.add(&other.l2);
        self.l2_allocated += other.l2_allocated;
        self.l2_far += other.l2_far;
        self.dram_reads += other.dram_reads;
        self.dram_writes += other.dram_writes;
        self.stages.add(&other.stages);
    }
}

/// Sums by cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficCells(Vec<Traffic>);

impl TrafficCells {
    /// The sum of a cell, made when it is new.
    #[inline]
    pub fn cell(&mut self, cell: u32) -> &mut Traffic {
        if self.0.len() <= cell as usize {
            self.0.resize(cell as usize + 1, Traffic::default());
        }
        &mut self.0[cell as usize]
    }

    /// All sums, by cell.
    pub fn as_slice(&self) -> &[Traffic] {
        &self.0
    }
}

/// Knows where a request that left an SM is counted.
pub trait SumOf {
    /// The sum of cell `cell` of what `part` handed on.
    fn sum(&mut self, part: usize, cell: u32) -> &mut Traffic;
}

impl SumOf for TrafficCells {
    #[inline]
    fn sum(&mut self, _part: usize, cell: u32) -> &mut Traffic {
        self.cell(cell)
    }
}

/// Where the lanes' stacks lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalLayout {
    /// First address of all stacks, a multiple of 128.
    pub base: u64,
    /// Bytes of a lane's stack.
    pub bytes_per_lane: u64,
}

impl LocalLayout {
    /// The line with word 0 of a resident warp's stacks.
    #[inline]
    fn first_line(&self, slot: u32) -> u64 {
        self.base / 128 + u64::from(slot) * self.bytes_per_lane.div_ceil(4).max(1)
    }
}

/// Coalescing and level 1 of some or all SMs.
pub struct FirstLevel {
    config: HierarchyConfig,
    coalescer: Coalescer,
    lines: DenseLines,
    queue: Queue,
    level: Level1,
    /// SMs that it has room for.
    sms: u32,
    /// Lines of each level-1 cache in this launch.
    capacity: u32,
    local: LocalLayout,
}

impl FirstLevel {
    /// For a model.
    pub fn new(config: &HierarchyConfig) -> FirstLevel {
        let capacity = config.l1.lines(0);
        FirstLevel {
            coalescer: Coalescer::default(),
            lines: DenseLines::default(),
            queue: Queue::default(),
            level: Level1::new(&config.l1, capacity),
            sms: 0,
            capacity,
            local: LocalLayout::default(),
            config: config.clone(),
        }
    }

    /// A launch begins: level 1 is empty and as large as the resident blocks' `shared` bytes per SM
    /// leave it.
    pub fn start(&mut self, shared: u64, local: LocalLayout) {
        self.local = local;
        self.queue.clear();
        let capacity = self.config.l1.lines(shared);
        if capacity == self.capacity {
            self.level.clear();
        } else {
            self.capacity = capacity;
            self.level = Level1::new(&self.config.l1, capacity);
            self.sms = 0;
        }
    }

    /// A request of a warp slot of an SM. Shared and constant memory do not come this way. `place` is the request's place
    /// in the trace and rises (see [`Leaving::place`]). The pieces are returned; they are served some time later, at the
    /// latest by [`FirstLevel::finish`]. Then they are counted in `cells`, and what goes to level 2 is appended to `out`.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "the request of another part of the analyzer, taken apart")]
    pub fn request(
        &mut self,
        sm: u32,
        slot: u32,
        access: &Access<'_>,
        reach: Reach,
        op: Op,
        cache: CacheOp,
        cell: u32,
        place: u32,
        cells: &mut TrafficCells,
        out: &mut Leaving,
    ) -> &[Piece] {
        if self.queue.is_full() {
            self.finish(cells, out);
        }
        let local = access.space == Space::Local;
        let route = route(&self.config.l1, local, op, cache);
        let pieces = if local {
            self.coalescer.local_pieces(access, reach, self.local.first_line(slot))
        } else {
            self.coalescer.pieces(access, reach, self.config.coalescing, !route.is_load())
        };
        if self.sms <= sm {
            self.sms = sm + 1;
            self.level.resize(self.sms);
        }
        let from = From { sm: sm as u16, cell, place, route, plain: self.level.plain(route) };
        // What is left out once more lines were touched than can be numbered no GPU could hold.
        self.queue.push(from, pieces, |line| self.lines.number(line));
        pieces
    }

    /// Serves all requests that still wait.
    pub fn finish(&mut self, cells: &mut TrafficCells, out: &mut Leaving) {
        self.level.serve_all(&mut self.queue, &self.lines, cells, out);
        self.queue.clear();
    }
}

/// The way an access takes at level 1.
#[inline]
fn route(config: &L1Config, local: bool, op: Op, cache: CacheOp) -> Route {
    match (op, local) {
        (Op::Atomic, _) => Route::Atomic,
        (Op::Store, true) => Route::LocalStore,
        (Op::Store, false) => Route::Store,
        (Op::Load, true) => Route::Load,
        (Op::Load, false) => match cache {
            CacheOp::Global | CacheOp::Volatile => Route::LoadPast,
            CacheOp::NonCoherent if config.caches_read_only_loads => Route::ReadOnly,
            _ if config.caches_global_loads => Route::Load,
            _ => Route::LoadPast,
        },
    }
}
