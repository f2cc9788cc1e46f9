//! Divides the requests of warps into pieces, and caches the pieces by the request's start offset in a line.

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Item, Items, Space, push_access};

use crate::form::{Form, THREADS, thread};
use crate::launch::Launch;
use warpline_simulator::geometry::Width;
use warpline_simulator::hierarchy::{Coalescer, Groups, HierarchyConfig, Piece, Route};

const LINE: i64 = 128;

/// Number of a pattern: the distances of all lanes' addresses from lane 0's address.
type Pattern = u32;

/// Factors of the threads' indices; for each warp, its pattern and the byte distance between the first thread of the
/// block and of the warp.
type ThreadPattern = ([i64; THREADS], Vec<(Pattern, i64)>);

/// The properties of a request, besides its start offset in a line, that determine its pieces.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    pattern: Pattern,
    mask: u32,
    bytes: u32,
    route: Route,
}

/// Number of a [`Shape`].
#[derive(Clone, Copy, Default)]
pub struct Kind(u32);

/// The pieces of a request, as a range of [`RequestPieces::pieces`].
#[derive(Clone, Copy, PartialEq, Eq)]
struct PieceRange {
    first: u32,
    count: u32,
    /// Distinct sectors, even if several pieces request one.
    sectors: u32,
}

/// Marks pieces that have not been computed yet.
const UNKNOWN: PieceRange = PieceRange { first: 0, count: u32::MAX, sectors: 0 };

/// Pieces of requests. The coalescer of a run divides each kind of request once.
pub struct RequestPieces<'a> {
    hierarchy: &'a HierarchyConfig,
    coalescer: Coalescer,
    patterns: FxHashMap<[i64; 32], Pattern>,
    distances: Vec<[i64; 32]>,
    warps: Vec<ThreadPattern>,
    kinds: FxHashMap<Shape, Kind>,
    /// Indexed by kind: its shape, and its pieces by the offset of lane 0's address in a line.
    ranges: Vec<(Shape, [PieceRange; LINE as usize])>,
    pieces: Vec<Piece>,
    /// Pieces of the last request that was not cached.
    once: Vec<Piece>,
    bytes: Vec<u8>,
}

impl<'a> RequestPieces<'a> {
    /// Creates an instance for a model.
    pub fn new(hierarchy: &'a HierarchyConfig) -> Self {
        RequestPieces {
            hierarchy,
            coalescer: Coalescer::default(),
            patterns: FxHashMap::default(),
            distances: Vec::new(),
            warps: Vec::new(),
            kinds: FxHashMap::default(),
            ranges: Vec::new(),
            pieces: Vec::new(),
            once: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Returns the number, for [`RequestPieces::kind`], of a thread pattern: how a form's value changes over the
    /// threads of a block.
    pub fn block_pattern(&mut self, form: &Form, launch: &Launch) -> usize {
        let factors = std::array::from_fn(|axis| form.factor(thread(axis)));
        if let Some(known) = self.warps.iter().position(|(known, _)| *known == factors) {
            return known;
        }
        let offset = |number: u32| {
            let terms = launch.thread(number).into_iter().zip(factors).map(|(at, factor)| at.wrapping_mul(factor));
            terms.fold(0i64, i64::wrapping_add)
        };
        let patterns = &mut self.patterns;
        let all = &mut self.distances;
        let warps = (0..launch.warps()).map(|warp| {
            let first = offset(warp * 32);
            let distances = std::array::from_fn(|lane| offset(warp * 32 + lane as u32).wrapping_sub(first));
            let pattern = *patterns.entry(distances).or_insert_with(|| {
                all.push(distances);
                all.len() as Pattern - 1
            });
            (pattern, first)
        });
        self.warps.push((factors, warps.collect()));
        self.warps.len() - 1
    }

    /// Returns the byte distance between the first thread of the block and of a warp.
    pub fn first(&self, way: usize, warp: u32) -> i64 {
        self.warps[way].1[warp as usize].1
    }

    /// Returns the kind of a warp's requests with the active lanes `mask`.
    pub fn kind(&mut self, way: usize, warp: usize, mask: u32, bytes: u32, route: Route) -> Kind {
        let shape = Shape { pattern: self.warps[way].1[warp].0, mask, bytes, route };
        let ranges = &mut self.ranges;
        *self.kinds.entry(shape).or_insert_with(|| {
            ranges.push((shape, [UNKNOWN; LINE as usize]));
            Kind(ranges.len() as u32 - 1)
        })
    }

    /// Returns the pieces and the number of distinct sectors of a request whose lane 0 has this address. Lines are
    /// relative to the line of lane 0, modulo 2^64.
    #[inline(always)]
    pub fn pieces_at(&mut self, kind: Kind, start: i64) -> (&[Piece], u32) {
        let within = start.rem_euclid(LINE);
        let mut range = self.ranges[kind.0 as usize].1[within as usize];
        if range == UNKNOWN {
            range = self.divide(kind, within);
        }
        (&self.pieces[range.first as usize..(range.first + range.count) as usize], range.sectors)
    }

    #[cold]
    fn divide(&mut self, kind: Kind, within: i64) -> PieceRange {
        let Shape { pattern, mask, bytes, route } = self.ranges[kind.0 as usize].0;
        // This address is in the middle of the address space, so no lane's address wraps.
        const MIDDLE: u64 = 1 << 62;
        let distances = &self.distances[pattern as usize];
        let addresses: Vec<u64> = (0..32)
            .filter(|lane| mask >> lane & 1 == 1)
            .map(|lane| MIDDLE.wrapping_add_signed(within.wrapping_add(distances[lane as usize])))
            .collect();
        let from = self.pieces.len();
        let sectors = self.push(&addresses, mask, bytes, route);
        for piece in &mut self.pieces[from..] {
            piece.line = piece.line.wrapping_sub(MIDDLE / LINE as u64);
        }
        let range = PieceRange { first: from as u32, count: (self.pieces.len() - from) as u32, sectors };
        self.ranges[kind.0 as usize].1[within as usize] = range;
        range
    }

    /// Returns the pieces and the number of distinct sectors of a request with these addresses of active lanes, in lane
    /// order. They are not cached: requests with addresses computed thread by thread rarely repeat.
    pub fn pieces_of_lanes(&mut self, addresses: &[u64], mask: u32, bytes: u32, route: Route) -> (&[Piece], u32) {
        let from = self.pieces.len();
        let sectors = self.push(addresses, mask, bytes, route);
        self.once.clear();
        self.once.extend(self.pieces.drain(from..));
        (&self.once, sectors)
    }

    /// Appends the pieces of a request and returns its number of distinct sectors.
    fn push(&mut self, addresses: &[u64], mask: u32, bytes: u32, route: Route) -> u32 {
        let from = self.pieces.len();
        self.bytes.clear();
        push_access(&mut self.bytes, Space::Global, 0, mask, addresses);
        if let Some(Ok(Item::Access(access))) = Items::new(&self.bytes).next() {
            let access: Access<'_> = access;
            let groups = match route {
                Route::Store if self.hierarchy.whole_stores => Groups::WARP,
                _ => self.hierarchy.coalescing,
            };
            self.pieces.extend(self.coalescer.pieces(&access, Width::solid(bytes), groups, !route.is_load()));
        }
        let own = &self.pieces[from..];
        let mut sectors: Vec<(u64, u8)> = own.iter().map(|piece| (piece.line, piece.sectors)).collect();
        sectors.sort_unstable();
        let of_lines = sectors.chunk_by(|one, other| one.0 == other.0);
        of_lines.map(|line| line.iter().fold(0, |all, (_, sectors)| all | sectors).count_ones()).sum()
    }
}
