//! Computes the cost of one request of a warp, with the code that counts the requests of a run.

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Item, Items, Space, push_access};
use warpline_format::site_table::Op;

use warpline_simulator::geometry::Width;
use warpline_simulator::hierarchy::{Coalescer, Groups, HierarchyConfig, tag_passes};
use warpline_simulator::metrics::{FootprintMemo, LineBytes, WavefrontMemo, footprint, wavefronts};

/// Sums over requests. They may be fractional if a sample represents other requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Requests {
    /// Requests.
    pub requests: f64,
    /// Active lanes of all requests.
    pub lanes: f64,
    /// Distinct 32-byte sectors per request, summed.
    pub sectors: f64,
    /// Distinct 128-byte lines per request, summed.
    pub lines: f64,
    /// Minimum number of sectors that can hold the distinct bytes.
    pub ideal_sectors: f64,
    /// Passes through the banks of the data stage of L1, or of shared memory.
    pub wavefronts: f64,
    /// Passes if all words were in different banks.
    pub ideal_wavefronts: f64,
    /// Passes through the tag stage of L1.
    pub tags: f64,
    /// 4-byte words per lane, summed over requests.
    pub words: f64,
}

impl Requests {
    /// Adds `times` times another sum.
    pub fn add(&mut self, other: &Requests, times: f64) {
        let fields: [(&mut f64, f64); 9] = [
            (&mut self.requests, other.requests),
            (&mut self.lanes, other.lanes),
            (&mut self.sectors, other.sectors),
            (&mut self.lines, other.lines),
            (&mut self.ideal_sectors, other.ideal_sectors),
            (&mut self.wavefronts, other.wavefronts),
            (&mut self.ideal_wavefronts, other.ideal_wavefronts),
            (&mut self.tags, other.tags),
            (&mut self.words, other.words),
        ];
        for (sum, more) in fields {
            *sum += more * times;
        }
    }
}

/// Number of a pattern: the distances of the lanes' addresses from the warp's first address. The pattern and the start
/// address determine a request's cost.
pub type Pattern = u32;

/// Properties that the requests of a site share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Bytes per lane.
    pub bytes: u32,
    /// The requests access shared memory.
    pub shared: bool,
    /// The requests only load.
    pub loads: bool,
}

/// Counts requests, and caches the counts by kind.
pub struct Costs<'a> {
    hierarchy: &'a HierarchyConfig,
    patterns: FxHashMap<[i64; 32], Pattern>,
    distances: Vec<[i64; 32]>,
    known: FxHashMap<(Pattern, u32, u32, Kind), Requests>,
    /// Counts by the distances of the active lanes' addresses, in lane order.
    seen: FxHashMap<([i64; 32], u32, u32, Kind), Requests>,
    table: LineBytes,
    coalescer: Coalescer,
    bytes: Vec<u8>,
    words: Vec<u64>,
}

/// Period in bytes of the cost: requests with the same offset in a line cost the same, apart from bank conflicts of
/// tags.
pub const PERIOD: u64 = 128;

/// Maximum number of cached requests that were computed thread by thread.
const MOST_SEEN: usize = 1 << 12;

impl<'a> Costs<'a> {
    /// Creates an instance for a model.
    pub fn new(hierarchy: &'a HierarchyConfig) -> Self {
        Costs {
            hierarchy,
            patterns: FxHashMap::default(),
            distances: Vec::new(),
            known: FxHashMap::default(),
            seen: FxHashMap::default(),
            table: LineBytes::default(),
            coalescer: Coalescer::default(),
            bytes: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Returns the number of a pattern, which is added if it is new.
    pub fn pattern(&mut self, distances: [i64; 32]) -> Pattern {
        let all = &mut self.distances;
        *self.patterns.entry(distances).or_insert_with(|| {
            all.push(distances);
            all.len() as Pattern - 1
        })
    }

    /// Returns the cost of a request that starts at an address, for the lanes of `mask`. Costs are cached by the offset
    /// in the line.
    pub fn alike(&mut self, pattern: Pattern, mask: u32, start: u64, kind: Kind) -> Requests {
        let key = (pattern, mask, (start % PERIOD) as u32, kind);
        if let Some(found) = self.known.get(&key) {
            return *found;
        }
        let distances = self.distances[pattern as usize];
        let addresses: Vec<u64> = (0..32)
            .filter(|lane| mask >> lane & 1 == 1)
            .map(|lane| start.wrapping_add(distances[lane as usize] as u64))
            .collect();
        let found = self.count(mask, &addresses, kind);
        self.known.insert(key, found);
        found
    }

    /// Returns the cost of a request with these addresses of active lanes, in lane order. Costs are cached by the
    /// relative positions of the addresses and their tag banks.
    pub fn remembered(&mut self, mask: u32, addresses: &[u64], kind: Kind) -> Requests {
        let Some(&start) = addresses.first() else { return Requests::default() };
        let period = PERIOD * u64::from(self.hierarchy.stages.map_or(1, |stages| stages.tag_banks.max(1)));
        let mut distances = [0; 32];
        for (distance, &address) in distances.iter_mut().zip(addresses) {
            *distance = address.wrapping_sub(start) as i64;
        }
        let key = (distances, mask, (start % period) as u32, kind);
        if let Some(found) = self.seen.get(&key) {
            return *found;
        }
        let found = self.count(mask, addresses, kind);
        if self.seen.len() < MOST_SEEN {
            self.seen.insert(key, found);
        }
        found
    }

    /// Computes the cost of a request with these addresses of active lanes, in lane order.
    pub fn count(&mut self, mask: u32, addresses: &[u64], kind: Kind) -> Requests {
        let Kind { bytes, shared, loads } = kind;
        if mask == 0 || bytes == 0 {
            return Requests::default();
        }
        self.bytes.clear();
        let space = if shared { Space::Shared } else { Space::Global };
        push_access(&mut self.bytes, space, 0, mask, addresses);
        let Some(Ok(Item::Access(access))) = Items::new(&self.bytes).next() else { return Requests::default() };
        let access: Access<'_> = access;
        let width = Width::solid(bytes);
        let found = footprint(&access, width, &mut FootprintMemo::default(), &mut self.table);
        let rules = self.hierarchy.bank_rules();
        let op = if loads { Op::Load } else { Op::Store };
        let passes = wavefronts(&access, width, op, &rules, &mut WavefrontMemo::default(), &mut self.words, None);
        let stages = self.hierarchy.stages.filter(|_| !shared);
        let tags = stages.map_or(0, |stages| {
            tag_passes(self.coalescer.pieces(&access, width, Groups::WARP, false), stages.tag_banks)
        });
        Requests {
            requests: 1.0,
            lanes: f64::from(mask.count_ones()),
            sectors: f64::from(found.sectors),
            lines: f64::from(found.lines),
            ideal_sectors: f64::from(found.ideal_sectors()),
            wavefronts: f64::from(passes.passes),
            ideal_wavefronts: f64::from(passes.ideal),
            tags: f64::from(tags),
            words: f64::from(bytes.div_ceil(4)),
        }
    }
}
