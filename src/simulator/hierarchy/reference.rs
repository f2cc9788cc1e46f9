//! A slow, obvious reference for both levels: one lookup unit at a time, one flag per byte, sets as lists. Only tests
//! use it.

use super::array::Placement;
use super::array::Replacement;
use super::coalesce::Piece;
use super::config::{Atomics, DramConfig, L1Config, L2Config, L2Misses, StoreFill, StorePolicy};
use super::l1::{L1Outcome, Route};
use super::l2::{L2Access, L2Op, L2Outcome};

#[derive(Clone)]
struct Line {
    line: u64,
    known: Vec<bool>,
    dirty: Vec<bool>,
    /// Cell of the last write to each sector.
    writers: Vec<u32>,
}

impl Line {
    fn new(line: u64, bytes: u32) -> Line {
        let sectors = bytes as usize / 32;
        Line { line, known: vec![false; bytes as usize], dirty: vec![false; sectors], writers: vec![0; sectors] }
    }

    fn readable(&self, from: u32, bytes: u32) -> bool {
        self.known[from as usize..(from + bytes) as usize].iter().all(|known| *known)
    }

    fn learn(&mut self, from: u32, bytes: u32) {
        self.known[from as usize..(from + bytes) as usize].fill(true);
    }
}

enum Order {
    /// Ways from the oldest to the youngest.
    Lru(Vec<usize>),
    /// One flag per inner node, counted from 1.
    Plru(Vec<bool>),
}

struct Set {
    ways: Vec<Option<Line>>,
    order: Order,
    /// Empty ways, the next one last; `None` if empty ways are not preferred.
    free: Option<Vec<usize>>,
}

struct Array {
    sets: Vec<Set>,
    placement: Placement,
    line_bytes: u32,
}

impl Array {
    fn new(
        slices: u32,
        sets: u32,
        ways: u32,
        index: super::Index,
        line_bytes: u32,
        replacement: &Replacement,
    ) -> Array {
        let set = || Set {
            ways: vec![None; ways as usize],
            order: match replacement {
                Replacement::Lru => Order::Lru((0..ways as usize).collect()),
                _ => Order::Plru(vec![false; ways as usize]),
            },
            free: (*replacement == Replacement::TreePlru).then(|| (0..ways as usize).rev().collect()),
        };
        Array {
            sets: (0..slices * sets).map(|_| set()).collect(),
            placement: Placement::new(slices, sets, index, line_bytes),
            line_bytes,
        }
    }

    fn present(&mut self, line: u64) -> Option<&mut Line> {
        let set = self.placement.set(line) as usize;
        self.sets[set].ways.iter_mut().flatten().find(|other| other.line == line)
    }

    fn use_way(set: &mut Set, way: usize) {
        let ways = set.ways.len();
        match &mut set.order {
            Order::Lru(order) => {
                order.retain(|other| *other != way);
                order.push(way);
            }
            Order::Plru(right) => {
                let mut node = ways + way;
                while node > 1 {
                    right[node / 2] = node.is_multiple_of(2);
                    node /= 2;
                }
            }
        }
    }

    /// Returns the line, which is marked as used and allocated if it was absent, and the evicted line.
    fn lookup_or_allocate(&mut self, line: u64) -> (&mut Line, Option<Line>) {
        let set = self.placement.set(line) as usize;
        let bytes = self.line_bytes;
        let set = &mut self.sets[set];
        let found = set.ways.iter().position(|way| way.as_ref().is_some_and(|other| other.line == line));
        let mut left = None;
        let way = found.unwrap_or_else(|| {
            let free = set.free.as_mut().and_then(Vec::pop);
            let way = match &set.order {
                _ if free.is_some() => free.unwrap_or_default(),
                Order::Lru(order) => order[0],
                Order::Plru(right) => {
                    let mut node = 1;
                    while node < set.ways.len() {
                        node = 2 * node + usize::from(right[node]);
                    }
                    node - set.ways.len()
                }
            };
            left = set.ways[way].replace(Line::new(line, bytes));
            way
        });
        Self::use_way(set, way);
        (set.ways[way].as_mut().expect("just brought"), left)
    }

    fn drop_unit(&mut self, line: u64, from: u32, bytes: u32) {
        let set = self.placement.set(line) as usize;
        let set = &mut self.sets[set];
        for way in 0..set.ways.len() {
            let Some(other) = &mut set.ways[way] else { continue };
            if other.line != line {
                continue;
            }
            other.known[from as usize..(from + bytes) as usize].fill(false);
            other.dirty[from as usize / 32..(from + bytes) as usize / 32].fill(false);
            let whole_sector = other.known.chunks(32).any(|sector| sector.iter().all(|known| *known));
            if !whole_sector && !other.dirty.contains(&true) {
                set.ways[way] = None;
                set.free.iter_mut().for_each(|free| free.push(way));
                if let Order::Lru(order) = &mut set.order {
                    order.retain(|kept| *kept != way);
                    order.insert(0, way);
                }
            }
        }
    }
}

/// L1 without its separate read-only cache.
pub(super) struct SlowL1 {
    config: L1Config,
    array: Array,
}

/// Requests to L2, sector by sector, each with the bytes of stores and the cell that counts it.
pub(super) type SentToL2 = Vec<(L2Op, u64, u32, u32)>;

/// Appends a request to L2 in the form of [`SentToL2`].
pub(super) fn flatten(request: &L2Access, line: u64, cell: u32, out: &mut SentToL2) {
    for sector in 0..4u64 {
        if request.sectors >> sector & 1 == 1 {
            let bytes = (request.bytes >> (32 * sector)) as u32;
            out.push((request.op, line * 4 + sector, if request.op == L2Op::Store { bytes } else { u32::MAX }, cell));
        }
    }
}

fn write_back(left: Option<Line>, line_bytes: u32, out: &mut SentToL2) {
    let Some(left) = left else { return };
    for (index, sector) in left.known.chunks(32).enumerate() {
        if left.dirty[index] {
            let bytes = sector.iter().enumerate().map(|(bit, known)| u32::from(*known) << bit).sum();
            out.push((L2Op::Store, left.line * u64::from(line_bytes / 32) + index as u64, bytes, left.writers[index]));
        }
    }
}

impl SlowL1 {
    pub(super) fn new(config: &L1Config, lines: u32) -> SlowL1 {
        let ways = (lines / config.sets).max(1);
        let array = Array::new(1, config.sets, ways, config.index, config.line_bytes, &config.replacement);
        SlowL1 { config: config.clone(), array }
    }

    pub(super) fn serve(&mut self, route: Route, piece: &Piece, cell: u32, out: &mut SentToL2) -> L1Outcome {
        let (line_bytes, unit) = (self.config.line_bytes, self.config.sector_bytes);
        let mut outcome = L1Outcome::default();
        let mut stores = Vec::new();
        // The line of the previous unit, and whether it was present before the piece arrived.
        let mut there = (None, false);
        // The bytes of the 128-byte line are processed unit by unit.
        for from in (0..128).step_by(unit as usize) {
            let bytes: Vec<bool> = (from..from + unit).map(|byte| piece.bytes >> byte & 1 == 1).collect();
            if !bytes.contains(&true) {
                continue;
            }
            let address = piece.line * 128 + u64::from(from);
            let (line, at) = (address / u64::from(line_bytes), (address % u64::from(line_bytes)) as u32);
            if there.0 != Some(line) {
                there = (Some(line), self.array.present(line).is_some());
            }
            let sectors = |out: &mut SentToL2, op, whole: bool| {
                for (index, sector) in bytes.chunks(32).enumerate() {
                    let mask: u32 = sector.iter().enumerate().map(|(bit, set)| u32::from(*set) << bit).sum();
                    if whole || mask != 0 {
                        let mask = if op == L2Op::Store { mask } else { u32::MAX };
                        out.push((op, address / 32 + index as u64, mask, cell));
                    }
                }
            };
            match route {
                Route::LoadPast => sectors(out, L2Op::Load, false),
                Route::Atomic if self.config.atomics == Atomics::Miss => {
                    outcome.lookups += 1;
                    sectors(out, L2Op::AtomicMiss, false);
                }
                Route::Atomic => sectors(out, L2Op::Atomic, false),
                Route::Load | Route::ReadOnly => {
                    outcome.lookups += 1;
                    let (entry, left) = self.array.lookup_or_allocate(line);
                    write_back(left, line_bytes, out);
                    if entry.readable(at, unit) {
                        outcome.hits += 1;
                    } else {
                        entry.learn(at, unit);
                        sectors(out, L2Op::Load, true);
                    }
                }
                Route::Store | Route::LocalStore => {
                    outcome.lookups += 1;
                    let local = route == Route::LocalStore;
                    let policy = match self.config.store {
                        StorePolicy::Evict | StorePolicy::Update if local => StorePolicy::AllocateBytes,
                        policy => policy,
                    };
                    match policy {
                        StorePolicy::Evict => self.array.drop_unit(line, at, unit),
                        StorePolicy::Update => {
                            let hit = self.array.present(line).is_some_and(|entry| entry.readable(at, unit));
                            outcome.hits += u32::from(hit);
                            if self.array.present(line).is_some() {
                                self.array.lookup_or_allocate(line);
                            }
                        }
                        StorePolicy::Allocate => {
                            let (entry, left) = self.array.lookup_or_allocate(line);
                            write_back(left, line_bytes, out);
                            outcome.hits += u32::from(entry.readable(at, unit));
                            entry.learn(at, unit);
                        }
                        StorePolicy::AllocateBytes => {
                            let (entry, left) = self.array.lookup_or_allocate(line);
                            write_back(left, line_bytes, out);
                            let mut hit = true;
                            for (index, sector) in bytes.chunks(32).enumerate() {
                                if sector.contains(&true) {
                                    let from = at as usize + 32 * index;
                                    hit &= entry.known[from..from + 32].contains(&true);
                                    for (byte, set) in sector.iter().enumerate() {
                                        entry.known[from + byte] |= set;
                                    }
                                }
                            }
                            outcome.hits += u32::from(if local { hit } else { there.1 });
                        }
                    }
                    if local {
                        let (entry, _) = self.array.lookup_or_allocate(line);
                        for (index, sector) in bytes.chunks(32).enumerate() {
                            if sector.contains(&true) {
                                entry.dirty[at as usize / 32 + index] = true;
                                entry.writers[at as usize / 32 + index] = cell;
                            }
                        }
                    } else {
                        sectors(&mut stores, L2Op::Store, false);
                    }
                }
            }
        }
        out.append(&mut stores);
        outcome
    }
}

/// L2 with one partition.
pub(super) struct SlowL2 {
    config: L2Config,
    dram: DramConfig,
    array: Array,
}

impl SlowL2 {
    pub(super) fn new(config: &L2Config, dram: DramConfig) -> SlowL2 {
        let array =
            Array::new(config.slices, config.sets, config.ways, config.index, config.line_bytes, &config.replacement);
        SlowL2 { config: config.clone(), dram, array }
    }

    pub(super) fn serve(&mut self, line: u64, request: &L2Access) -> L2Outcome {
        let config = &self.config;
        let mut outcome = L2Outcome::default();
        // Sectors that this request has fetched.
        let mut fetched: Vec<(u64, u32)> = Vec::new();
        for from in (0..128).step_by(config.sector_bytes as usize) {
            let unit = config.sector_bytes;
            let touched: Vec<usize> = (from / 32..(from + unit) / 32)
                .map(|sector| sector as usize)
                .filter(|sector| request.sectors >> sector & 1 == 1)
                .collect();
            if touched.is_empty() {
                continue;
            }
            outcome.lookups += 1;
            if request.op == L2Op::AtomicMiss {
                continue;
            }
            let address = line * 128 + u64::from(from);
            let (own, at) = (address / u64::from(config.line_bytes), (address % u64::from(config.line_bytes)) as usize);
            let (entry, left) = self.array.lookup_or_allocate(own);
            for sector in left.iter().flat_map(|left| left.known.chunks(32)) {
                let known = sector.iter().filter(|known| **known).count();
                outcome.dram_reads += u32::from(known != 0 && known != 32);
            }
            // Touched sectors of the unit, numbered within the line.
            let sectors: Vec<usize> = touched.iter().map(|sector| at / 32 + sector - from as usize / 32).collect();
            if request.op != L2Op::Store {
                if sectors.iter().all(|sector| entry.readable(*sector as u32 * 32, 32)) {
                    let late = sectors.iter().any(|&sector| fetched.contains(&(own, sector as u32)));
                    outcome.hits += u32::from(config.misses == L2Misses::Fetch || !late);
                } else {
                    for &sector in &sectors {
                        if entry.readable(sector as u32 * 32, 32) {
                            continue;
                        }
                        let block = (sector as u32 * 32) / config.fill_bytes * config.fill_bytes;
                        let mut read = 0;
                        for grain in (block..block + config.fill_bytes.max(self.dram.read_bytes))
                            .step_by(self.dram.read_bytes as usize)
                        {
                            let start = grain / self.dram.read_bytes * self.dram.read_bytes;
                            let end = (block + config.fill_bytes).min(config.line_bytes);
                            let lacking = (start..start + self.dram.read_bytes)
                                .step_by(32)
                                .any(|part| (block..end).contains(&part) && !entry.readable(part, 32));
                            if lacking
                                && start == grain.max(block) / self.dram.read_bytes * self.dram.read_bytes
                                && grain < end
                            {
                                read += self.dram.read_bytes / 32;
                            }
                        }
                        outcome.dram_reads += read;
                        let parts = (block..(block + config.fill_bytes).min(config.line_bytes)).step_by(32);
                        fetched.extend(parts.filter(|part| !entry.readable(*part, 32)).map(|part| (own, part / 32)));
                        entry.learn(block, config.fill_bytes);
                    }
                }
            } else {
                let mut known = true;
                for (sector, place) in sectors.iter().zip(&touched) {
                    let bytes = (request.bytes >> (32 * place)) as u32;
                    let start = sector * 32;
                    let before = entry.known[start..start + 32].contains(&true);
                    match config.store_fill {
                        StoreFill::Whole => {
                            known &= entry.readable(start as u32, 32);
                            let block = start as u32 / config.fill_bytes * config.fill_bytes;
                            entry.learn(block, config.fill_bytes);
                        }
                        StoreFill::Bytes => {
                            known &= before;
                            for byte in 0..32 {
                                entry.known[start + byte] |= bytes >> byte & 1 == 1;
                            }
                        }
                    }
                }
                if known {
                    outcome.hits += 1;
                } else {
                    outcome.allocated += 1;
                }
            }
            if request.op != L2Op::Load {
                let grain = (self.dram.write_bytes as usize).min(config.line_bytes as usize);
                for sector in sectors {
                    for part in (sector * 32 / grain * grain..sector * 32 / grain * grain + grain).step_by(32) {
                        outcome.dram_writes += u32::from(!entry.dirty[part / 32]);
                        entry.dirty[part / 32] = true;
                    }
                }
            }
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::sectors::{bytes_of, sectors_of};
    use crate::hierarchy::array::Index;
    use crate::hierarchy::dense::DenseLines;
    use crate::hierarchy::l1::Level1;
    use crate::hierarchy::l2::Level2;
    use proptest::prelude::*;

    fn piece() -> impl Strategy<Value = Piece> {
        let bytes = prop_oneof![
            (1u8..16).prop_map(bytes_of),
            any::<u128>(),
            (0u32..128, 1u32..40).prop_map(|(from, count)| ((1u128 << count) - 1) << from),
        ];
        (prop_oneof![0u64..40, (0u64..8).prop_map(|line| line * 1000)], bytes)
            .prop_filter("empty", |(_, bytes)| *bytes != 0)
            .prop_map(|(line, bytes)| Piece { line, sectors: sectors_of(bytes), bytes })
    }

    fn route() -> impl Strategy<Value = Route> {
        prop_oneof![
            4 => Just(Route::Load),
            1 => Just(Route::LoadPast),
            1 => Just(Route::ReadOnly),
            3 => Just(Route::Store),
            2 => Just(Route::LocalStore),
            1 => Just(Route::Atomic)
        ]
    }

    fn geometry() -> impl Strategy<Value = (u32, u32)> {
        prop_oneof![Just((128, 32)), Just((128, 128)), Just((64, 32)), Just((64, 64)), Just((128, 64)), Just((32, 32))]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]
        #[test]
        fn level_1_agrees(one_sm in any::<bool>(), (line_bytes, sector_bytes) in geometry(), sets_log in 0u32..3, ways in prop_oneof![1u32..6, 30u32..40], policy in 0usize..3,
                          hashed in any::<bool>(), store in 0usize..4, atomics_miss in any::<bool>(),
                          requests in prop::collection::vec((0usize..2, route(), piece()), 1..150)) {
            let store = [StorePolicy::Evict, StorePolicy::Update, StorePolicy::Allocate, StorePolicy::AllocateBytes][store];
            let config = L1Config {
                bytes: 1 << 20, reserved_bytes: 0, shared_options: vec![], default_shared: None, line_bytes, sector_bytes, sets: 1 << sets_log,
                index: if hashed { Index::Hashed } else { Index::Linear },
                replacement: [Replacement::Lru, Replacement::TreePlru, Replacement::BlindTreePlru][policy].clone(),
                tags_per_line: None, store, caches_global_loads: true, opt_in_global_loads: false, caches_read_only_loads: true, read_only_bytes: None,
                atomics: if atomics_miss { Atomics::Miss } else { Atomics::Bypass },
            };
            let lines = ways << sets_log;
            let mut fast = if one_sm { Level1::of_one_sm(&config, lines) } else { Level1::new(&config, lines) };
            fast.resize(if one_sm { 1 } else { 2 });
            let mut sms = [SlowL1::new(&config, lines), SlowL1::new(&config, lines)];
            let mut dense = DenseLines::default();
            for (sm, route, piece) in requests {
                let sm = if one_sm { 0 } else { sm };
                let slow = &mut sms[sm];
                let piece = if route.is_load() { Piece { bytes: bytes_of(piece.sectors), ..piece } } else { piece };
                let number = dense.number(piece.line).unwrap();
                let (mut got, mut want) = (SentToL2::new(), SentToL2::new());
                let outcome = fast.serve(sm as u32, route, &piece, number, |request| flatten(&request, dense.line(request.number), 0, &mut got));
                prop_assert_eq!(outcome, slow.serve(route, &piece, 0, &mut want), "{:?} {:?}", route, piece);
                // The parts of one piece are independent lines, so the order of their requests does not matter.
                got.sort_unstable_by_key(|request| (request.1, request.2));
                want.sort_unstable_by_key(|request| (request.1, request.2));
                prop_assert_eq!(got, want, "{:?} {:?}", route, piece);
            }
        }

        #[test]
        fn level_2_agrees((line_bytes, sector_bytes) in geometry(), wide_fill in any::<bool>(), by_lookup in any::<bool>(), slices in 1u32..4, sets_log in 0u32..2, ways in 1u32..6,
                          policy in 0usize..3, hashed in any::<bool>(), whole in any::<bool>(),
                          requests in prop::collection::vec((0u32..5, piece()), 1..150)) {
            let config = L2Config {
                line_bytes, sector_bytes, fill_bytes: if wide_fill { line_bytes } else { sector_bytes },
                misses: if by_lookup { L2Misses::Lookup } else { L2Misses::Fetch }, slices, sets: 1 << sets_log, ways,
                index: if hashed { Index::Hashed } else { Index::Linear },
                replacement: [Replacement::Lru, Replacement::TreePlru, Replacement::BlindTreePlru][policy].clone(),
                partitions: 1, store_fill: if whole { StoreFill::Whole } else { StoreFill::Bytes }, copies: Default::default(),
            };
            let dram = DramConfig { read_bytes: 32, write_bytes: 32 };
            let (mut fast, mut slow) = (Level2::new(&config, dram), SlowL2::new(&config, dram));
            let mut dense = DenseLines::default();
            for (op, piece) in requests {
                let op = [L2Op::Load, L2Op::Store, L2Op::Load, L2Op::Atomic, L2Op::AtomicMiss][op as usize];
                let bytes = if op == L2Op::Store { piece.bytes } else { bytes_of(piece.sectors) };
                let request = L2Access { op, number: dense.number(piece.line).unwrap(), sectors: piece.sectors, bytes };
                prop_assert_eq!(fast.serve(0, piece.line, &request), slow.serve(piece.line, &request), "{:?}", request);
            }
        }
    }
}
