//! One SM: its L1 and its resident blocks, whose warps issue in the order of [`warpline_format::schedule`].

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::requests::{Kind, RequestPieces};
use crate::classes::masks;
use crate::form::{Bounds, FIXED, Index, Truth, block};
use crate::traffic::access::MemoryAccess;
use crate::traffic::capacity::Capacity;
use crate::traffic::lane_addresses::LaneAddresses;
use crate::traffic::schedule::{Code, Step, Turn, changes_in_loops, position_after, route};
use warpline_simulator::hierarchy::{DenseLines, L2Op, Level1, Piece, Route};
use warpline_simulator::simd::processor;

/// Maximum number of cached masks, by condition, block and iteration.
const MOST_MASKS: usize = 1 << 12;

/// Sectors of loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Requested sectors.
    pub loaded: u64,
    /// Sectors that L1 missed.
    pub missed: u64,
}

impl Counted {
    /// Returns the share of the loaded sectors that L1 missed.
    pub fn missed_share(&self) -> f64 {
        if self.loaded > 0 { self.missed as f64 / self.loaded as f64 } else { 0.0 }
    }

    /// Adds another sum.
    #[inline(always)]
    pub fn add(&mut self, other: &Counted) {
        self.loaded += other.loaded;
        self.missed += other.missed;
    }
}

/// Lanes of a block's warps for which a condition is true.
#[derive(Clone)]
enum Met {
    Lanes(Rc<Vec<u32>>),
    /// The lanes depend on the iteration.
    Changing(Truth),
}

/// A block that an SM runs.
struct Resident {
    /// Number in the list of blocks assigned to the SM.
    number: usize,
    bounds: Bounds,
    /// Indexed by condition.
    met: Vec<Met>,
    /// Indexed by access: the address of the block's first thread with all loop counters at 0.
    bases: Vec<i64>,
    unfinished: u32,
}

#[derive(Clone, Copy)]
struct Warp {
    step: u32,
    running: bool,
}

/// Properties that a warp's requests of an access share.
#[derive(Clone, Copy)]
struct Same {
    /// Active lanes of the last request; 0 before the first one.
    mask: u32,
    /// Kind of the requests.
    kind: Kind,
    /// Byte distance between the first thread of the block and of the warp.
    first: i64,
}

/// A simulated SM.
pub struct Sm<'a, 'b> {
    code: &'b Code<'a>,
    by_lane: LaneAddresses<'a>,
    pieces: &'b mut RequestPieces<'a>,
    lines: &'b mut DenseLines,
    l1: Level1,
    masks: FxHashMap<(usize, usize, Vec<i64>), Rc<Vec<u32>>>,
    /// Indexed by access: the pattern of its warps.
    patterns: Vec<usize>,
    /// Indexed by access and warp.
    same: Vec<Same>,
    turn: u32,
    /// Number of pieces that only fill L1 and are not counted.
    filling: u64,
    /// Counts of all requests after the filling phase, indexed by access.
    pub by_access: Vec<Counted>,
    /// Number of pieces served.
    pub served: u64,
}

impl<'a, 'b> Sm<'a, 'b> {
    /// Makes an SM with an empty L1.
    pub fn new(
        code: &'b Code<'a>,
        pieces: &'b mut RequestPieces<'a>,
        lines: &'b mut DenseLines,
        capacity: &Capacity<'_>,
    ) -> Self {
        let warps = code.launch.warps();
        let patterns: Vec<usize> =
            code.accesses.iter().map(|access| pieces.block_pattern(&access.form, code.launch)).collect();
        let of_warp = |(pattern, warp)| Same { mask: 0, kind: Kind::default(), first: pieces.first(pattern, warp) };
        let each = patterns.iter().flat_map(|&pattern| (0..warps).map(move |warp| (pattern, warp)));
        let same = each.map(of_warp).collect();
        Sm {
            code,
            by_lane: LaneAddresses::new(code.accesses, (code.addresses, code.launch), code.bounds),
            pieces,
            lines,
            l1: Level1::of_one_sm(&capacity.hierarchy.l1, capacity.l1_lines),
            masks: FxHashMap::default(),
            patterns,
            same,
            turn: capacity.turn,
            filling: 0,
            by_access: vec![Counted::default(); code.accesses.len()],
            served: 0,
        }
    }

    /// Runs blocks, `resident` at a time, until `most` pieces are served; returns whether all blocks ran to their ends.
    /// If `phases` has positions, the first blocks start there. Pieces are then counted only after `filling` pieces,
    /// and only while further blocks wait to start.
    pub fn run(&mut self, blocks: &[u64], resident: usize, phases: &[f64], filling: u64, most: u64) -> bool {
        self.filling = filling;
        processor::with_newer_instructions(RunBlocks { sm: self, blocks, resident, phases, most })
    }

    #[inline(always)]
    fn run_blocks(&mut self, blocks: &[u64], resident: usize, phases: &[f64], most: u64) -> bool {
        let warps = self.code.launch.warps() as usize;
        let places = resident.min(blocks.len());
        let mut states = vec![Warp { step: 0, running: true }; places * warps];
        let mut counters = vec![0i64; places * warps * self.code.counters];
        for (place, phase) in phases.iter().enumerate().take(places) {
            let (step, iterations) = position_after(&self.code.steps, *phase);
            for slot in place * warps..(place + 1) * warps {
                states[slot].step = step as u32;
                let own = &mut counters[slot * self.code.counters..(slot + 1) * self.code.counters];
                iterations.iter().for_each(|&(counter, before)| self.code.set(own, counter, before));
            }
        }
        // The last blocks, which no others follow, would have the cache to themselves.
        let to_the_end = phases.is_empty();
        let mut all: Vec<Option<Resident>> = (0..places).map(|place| Some(self.start(place, blocks[place]))).collect();
        let (mut next, mut live) = (places, places);
        while live > 0 {
            for place in 0..places {
                for warp in 0..warps {
                    let slot = place * warps + warp;
                    let (true, Some(block)) = (states[slot].running, all[place].as_mut()) else { continue };
                    if self.served > most {
                        return false;
                    }
                    let own = &mut counters[slot * self.code.counters..(slot + 1) * self.code.counters];
                    let number = block.number;
                    states[slot].running = self.turn(block, warp, &mut states[slot].step, own);
                    if states[slot].running {
                        continue;
                    }
                    block.unfinished -= 1;
                    if block.unfinished > 0 {
                        continue;
                    }
                    self.masks.retain(|key, _| key.1 != number);
                    live -= 1;
                    all[place] = None;
                    if next < blocks.len() {
                        all[place] = Some(self.start(next, blocks[next]));
                        states[place * warps..(place + 1) * warps].fill(Warp { step: 0, running: true });
                        next += 1;
                        live += 1;
                    } else if !to_the_end {
                        return false;
                    }
                }
            }
        }
        true
    }

    fn start(&mut self, number: usize, linear: u64) -> Resident {
        let code = self.code;
        let at = code.launch.place(linear);
        let mut bounds = code.bounds.clone();
        for (axis, &at) in at.iter().enumerate() {
            bounds.0[block(axis)] = (at, at);
        }
        let met = code.conditions.iter().map(|condition| match condition.within(&bounds) {
            Truth::Known(true) => Met::Lanes(code.lanes.clone()),
            left if changes_in_loops(&left) => Met::Changing(left),
            left => Met::Lanes(Rc::new(masks(&left, code.launch, &bounds))),
        });
        let met = met.collect();
        let base = |access: &MemoryAccess| {
            let terms = (0..3).map(|axis| access.form.factor(block(axis)).wrapping_mul(at[axis]));
            terms.fold(access.form.constant, i64::wrapping_add)
        };
        let bases = code.accesses.iter().map(base).collect();
        Resident { number, bounds, met, bases, unfinished: code.launch.warps() }
    }

    /// Runs one issue slot of a warp; returns whether the warp has steps left.
    #[inline(always)]
    fn turn(&mut self, block: &Resident, warp: usize, step: &mut u32, counters: &mut [i64]) -> bool {
        let code = self.code;
        let mut turn = Turn::new(self.turn);
        while let Some(&next) = code.steps.get(*step as usize) {
            match next {
                Step::Open(counter, _, _) => {
                    *step += 1;
                    turn.leave_item();
                    code.set(counters, counter, 0);
                }
                Step::Close(counter, iterations, first) => {
                    *step += 1;
                    turn.leave_item();
                    for &own in &code.counters_of[counter - FIXED] {
                        counters[own - FIXED] += 1;
                    }
                    if counters[counter - FIXED] < code.bounds.range(counter).0 + iterations {
                        *step = first as u32;
                    }
                }
                Step::Access(number) => {
                    if turn.is_over_before(&code.accesses[number]) {
                        return true;
                    }
                    *step += 1;
                    let mut mask = self.mask(block, number, warp, counters);
                    if mask != 0 && self.by_lane.has(number) {
                        let place = [0, 1, 2].map(|axis| block.bounds.range(self::block(axis)).0);
                        mask = self.by_lane.request((number, warp), mask, place, |index| counters[index - FIXED]);
                    }
                    if mask != 0 {
                        turn.make(&code.accesses[number]);
                        self.request(block, number, warp, mask, counters);
                    }
                }
            }
        }
        // A warp whose last request fills its issue slot needs one more, empty slot to end.
        turn.is_used_up()
    }

    fn mask(&mut self, block: &Resident, access: usize, warp: usize, counters: &[i64]) -> u32 {
        let code = self.code;
        let condition = code.condition_of[access];
        let is_over = |counter: &Index| counters[counter - FIXED] > code.bounds.range(*counter).1;
        if code.uneven && code.accesses[access].counters.iter().any(is_over) {
            return 0;
        }
        let truth = match &block.met[condition] {
            Met::Lanes(masks) => return masks[warp],
            Met::Changing(truth) => truth,
        };
        let own = &code.accesses[access].counters;
        let key = (condition, block.number, own.iter().map(|index| counters[index - FIXED]).collect::<Vec<_>>());
        if let Some(known) = self.masks.get(&key) {
            return known[warp];
        }
        let mut bounds = block.bounds.clone();
        let fix = |index: &Index| (*index, counters[*index - FIXED]);
        for (index, at) in own.iter().map(fix) {
            bounds.0[index] = (at, at);
        }
        let found = match truth.within(&bounds) {
            Truth::Known(true) => code.lanes.clone(),
            left => Rc::new(masks(&left, code.launch, &bounds)),
        };
        if self.masks.len() >= MOST_MASKS {
            self.masks.clear();
        }
        let mask = found[warp];
        self.masks.insert(key, found);
        mask
    }

    #[inline(always)]
    fn request(&mut self, block: &Resident, number: usize, warp: usize, mask: u32, counters: &[i64]) {
        let code = self.code;
        let access = &code.accesses[number];
        let route = route(access);
        let (pieces, sectors, line) = if access.is_affine() {
            let same = &mut self.same[number * code.lanes.len() + warp];
            if same.mask != mask {
                let pattern = self.patterns[number];
                (same.mask, same.kind) = (mask, self.pieces.kind(pattern, warp, mask, access.bytes, route));
            }
            let mut start = block.bases[number].wrapping_add(same.first);
            for &(index, factor) in access.form.terms.iter().rev().take_while(|(index, _)| *index >= FIXED) {
                start = start.wrapping_add(factor.wrapping_mul(counters[index - FIXED]));
            }
            let (pieces, sectors) = self.pieces.pieces_at(same.kind, start);
            (pieces, sectors, start.div_euclid(128) as u64)
        } else {
            let (pieces, sectors) = self.pieces.pieces_of_lanes(self.by_lane.addresses(), mask, access.bytes, route);
            (pieces, sectors, 0)
        };
        self.served += pieces.len() as u64;
        let loaded = if route.is_load() { u64::from(sectors) } else { 0 };
        let missed: u64 = match route {
            // This is by far the most frequent case and therefore has a short code path.
            Route::Load => self.l1.load(pieces, line, self.lines).into(),
            _ => pieces.iter().map(|piece| serve(&mut self.l1, self.lines, route, &piece.moved(line))).sum(),
        };
        if self.served >= self.filling {
            self.by_access[number].add(&Counted { loaded, missed });
        }
    }
}

/// Serves a piece of a request; returns the loaded sectors that L1 missed.
#[inline(always)]
fn serve(l1: &mut Level1, lines: &mut DenseLines, route: Route, piece: &Piece) -> u64 {
    let Some(dense) = lines.number(piece.line) else { return 0 };
    let mut missed = 0;
    l1.serve(0, route, piece, dense, |wanted| {
        if wanted.op == L2Op::Load {
            missed += u64::from(wanted.sectors.count_ones());
        }
    });
    missed
}

struct RunBlocks<'s, 'a, 'b> {
    sm: &'s mut Sm<'a, 'b>,
    blocks: &'s [u64],
    resident: usize,
    phases: &'s [f64],
    most: u64,
}

impl processor::Job for RunBlocks<'_, '_, '_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.sm.run_blocks(self.blocks, self.resident, self.phases, self.most)
    }
}
