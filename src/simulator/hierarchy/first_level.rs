//! Simulates coalescing and L1 in the SMs.
//!
//! SMs are independent at this level, so they can be divided among any number of [`FirstLevel`]s. Each forwards the
//! requests that leave its SMs. One [`SecondLevel`](super::SecondLevel) serves them in the order of the trace.

use super::traffic::TrafficCells;
use warpline_format::access::{Access, Space};
use warpline_format::site_table::{CacheOp, Op};

use super::coalesce::{Coalescer, Groups, Piece};
use super::config::{HierarchyConfig, L1Config};
use super::dense::DenseLines;
use super::l1::{Level1, Origin, RequestQueue, Route};
use super::l2::Egress;
use crate::geometry::Width;

/// Layout of the lanes' stacks in local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalLayout {
    /// First address of all stacks; a multiple of 128.
    pub base: u64,
    /// Bytes of a lane's stack.
    pub bytes_per_lane: u64,
}

impl LocalLayout {
    /// Returns the line that contains word 0 of the stacks of a resident warp.
    #[inline]
    pub fn first_line(&self, slot: u32) -> u64 {
        self.base / 128 + u64::from(slot) * self.bytes_per_lane.div_ceil(4).max(1)
    }
}

/// A request of a warp.
#[derive(Clone, Copy, Debug)]
pub struct SmRequest<'a> {
    /// SM of the warp.
    pub sm: u32,
    /// Warp slot.
    pub slot: u32,
    /// Lanes and addresses.
    pub access: &'a Access<'a>,
    /// Bytes per lane.
    pub width: Width,
    /// Operation.
    pub op: Op,
    /// Cache operator.
    pub cache: CacheOp,
    /// Cell that counts the request.
    pub cell: u32,
    /// Position in the trace, in ascending order.
    pub place: u32,
    /// Pieces of the whole warp, if they were computed before; with touched bytes unless the request is a load.
    pub pieces: Option<&'a [Piece]>,
}

/// Coalescing and L1 for some or all SMs.
pub struct FirstLevel {
    config: HierarchyConfig,
    coalescer: Coalescer,
    lines: DenseLines,
    queue: RequestQueue,
    level: Level1,
    /// Number of SMs for which memory is allocated.
    sms: u32,
    /// Lines per L1 cache in this launch.
    capacity: u32,
    local: LocalLayout,
}

impl FirstLevel {
    /// Creates a `FirstLevel` for a model.
    pub fn new(config: &HierarchyConfig) -> FirstLevel {
        let capacity = config.l1.lines(0);
        FirstLevel {
            coalescer: Coalescer::default(),
            lines: DenseLines::default(),
            queue: RequestQueue::default(),
            level: Level1::new(&config.l1, capacity),
            sms: 0,
            capacity,
            local: LocalLayout::default(),
            config: config.clone(),
        }
    }

    /// Starts a launch with empty L1 caches of `capacity` lines.
    pub fn start(&mut self, capacity: u32, local: LocalLayout) {
        self.local = local;
        self.queue.clear();
        if capacity == self.capacity {
            self.level.clear();
        } else {
            self.capacity = capacity;
            self.level = Level1::new(&self.config.l1, capacity);
            self.sms = 0;
        }
    }

    /// Adds a request, and returns its pieces. Requests to shared and constant memory are not simulated here. The
    /// pieces are served later, at the latest by [`FirstLevel::finish`]; serving counts them in `cells` and appends the
    /// requests to L2 to `out`.
    #[inline]
    pub fn request<'a>(
        &'a mut self,
        request: SmRequest<'a>,
        cells: &mut TrafficCells,
        out: &mut Egress,
    ) -> &'a [Piece] {
        let SmRequest { sm, slot, access, width, op, cache, cell, place, pieces } = request;
        if self.queue.is_full() {
            self.finish(cells, out);
        }
        let local = access.space == Space::Local;
        let route = route(&self.config.l1, local, op, cache);
        let pieces = if local {
            self.coalescer.local_pieces(access, width, self.local.first_line(slot))
        } else {
            let groups = match route {
                Route::Store if self.config.whole_stores => Groups::WARP,
                _ => self.config.coalescing,
            };
            match pieces.filter(|_| groups == Groups::WARP) {
                Some(pieces) => pieces,
                None => self.coalescer.pieces(access, width, groups, !route.is_load()),
            }
        };
        if self.sms <= sm {
            self.sms = sm + 1;
            self.level.resize(self.sms);
        }
        let from = Origin { sm: sm as u16, cell, place, route, plain: self.level.plain(route) };
        // Pieces whose lines cannot be numbered are omitted. A launch reaches this limit only beyond the memory of any
        // GPU.
        self.queue.push(from, pieces, |line| self.lines.number(line));
        pieces
    }

    /// Serves all waiting requests.
    pub fn finish(&mut self, cells: &mut TrafficCells, out: &mut Egress) {
        self.level.serve_all(&mut self.queue, &self.lines, cells, out);
        self.queue.clear();
    }
}

/// Returns the route of an access through L1.
#[inline]
fn route(config: &L1Config, local: bool, op: Op, cache: CacheOp) -> Route {
    match (op, local) {
        (Op::Atomic, _) => Route::Atomic,
        (Op::Store, true) => Route::LocalStore,
        (Op::Store, false) => Route::Store,
        (Op::Load, true) => Route::Load,
        (Op::Load, false) => match cache {
            cache if cache.is_past_l1() => Route::LoadPast,
            CacheOp::NonCoherent if config.caches_read_only_loads => Route::ReadOnly,
            CacheOp::All if config.opt_in_global_loads => Route::Load,
            _ if config.caches_global_loads => Route::Load,
            _ => Route::LoadPast,
        },
    }
}
