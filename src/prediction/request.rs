//! What one request of a warp costs, by the code that counts the requests of a run.

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Item, Items, Space, push_access};
use warpline_format::site_table::Op;

use warpline_simulator::geometry::Width;
use warpline_simulator::hierarchy::{Coalescer, Groups, HierarchyConfig, tag_passes};
use warpline_simulator::metrics::{FootprintMemo, LineTable, WavefrontMemo, footprint, wavefronts};

/// Sums over requests. Not whole numbers where they stand for requests that were not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Requests {
    /// Requests.
    pub requests: f64,
    /// Active lanes.
    pub lanes: f64,
    /// Distinct 32-byte sectors of each request.
    pub sectors: f64,
    /// Distinct 128-byte lines of each request.
    pub lines: f64,
    /// Sectors that the distinct bytes would fill.
    pub ideal_sectors: f64,
    /// Passes over the banks: of the data stage of L1, or of shared memory.
    pub wavefronts: f64,
    /// Passes if the words lay in different banks.
    pub ideal_wavefronts: f64,
    /// Passes through the tag stage of L1.
    pub tags: f64,
    /// Words of 4 bytes per lane, times requests.
    pub words: f64,
}

impl Requests {
    /// Adds `times` what another sum has.
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

/// Distances of the lanes' addresses from the warp's first one: what a request's cost depends on, beside where it starts.
pub type Pattern = u32;

/// What requests of a site have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Bytes per lane.
    pub bytes: u32,
    /// In shared memory.
    pub shared: bool,
    /// Whether they load and do nothing else.
    pub loads: bool,
}

/// Counts requests, each kind once.
pub struct Costs<'a> {
    hierarchy: &'a HierarchyConfig,
    patterns: FxHashMap<[i64; 32], Pattern>,
    distances: Vec<[i64; 32]>,
    known: FxHashMap<(Pattern, u32, u32, Kind), Requests>,
    /// Keyed by the distances of the active lanes' addresses, in order.
    seen: FxHashMap<([i64; 32], u32, u32, Kind), Requests>,
    table: LineTable,
    coalescer: Coalescer,
    bytes: Vec<u8>,
    words: Vec<u64>,
}

/// Requests that lie alike in a line cost the same, but for the banks of their tags.
pub const PERIOD: u64 = 128;

/// Requests computed thread by thread that are remembered, at most.
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
            table: LineTable::default(),
            coalescer: Coalescer::default(),
            bytes: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Returns the number of a pattern.
    pub fn pattern(&mut self, distances: [i64; 32]) -> Pattern {
        let all = &mut self.distances;
        *self.patterns.entry(distances).or_insert_with(|| {
            all.push(distances);
            all.len() as Pattern - 1
        })
    }

    /// Of a request from an address on, by the lanes of `mask`; remembered by where it lies in its line.
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

    /// Of a request whose active lanes, in order, have these addresses; remembered by how they lie to each other and in the banks of tags.
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

    /// Of a request whose active lanes, in order, have these addresses.
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
