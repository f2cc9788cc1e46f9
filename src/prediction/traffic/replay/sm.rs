//! One SM: its resident blocks, whose warps take turns as [`warpline_format::schedule`] deals them, and its L1.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::code::{Code, changing, route};
use super::counted::Counted;
use super::program::{Step, place_at};
use super::requests::{Kind, RequestPieces};
use super::turn::Turn;
use crate::classes::masks;
use crate::form::{Bounds, FIXED, Index, Truth, block};
use crate::traffic::by_thread::ByLane;
use crate::traffic::volumes::Affine;
use warpline_simulator::hierarchy::{
    DenseLines, HierarchyConfig, L1Config, L2Op, Level1, Piece, Replacement, Route, StorePolicy,
};
use warpline_simulator::simd::processor;

/// Masks by condition, block and iteration that are kept.
const MOST_MASKS: usize = 1 << 12;

/// Lanes of a block's warps that meet a condition.
#[derive(Clone)]
enum Met {
    Lanes(Rc<Vec<u32>>),
    /// It depends on the iteration.
    Changing(Truth),
}

/// A block that an SM runs.
struct Resident {
    /// Number among the blocks that the SM was given.
    number: usize,
    /// Blocks that came before it, over those that share the SM.
    generation: u32,
    bounds: Bounds,
    /// By condition.
    met: Vec<Met>,
    /// By access: its address at the block's first thread, counters apart.
    bases: Vec<i64>,
    unfinished: u32,
}

#[derive(Clone, Copy)]
struct Warp {
    step: u32,
    running: bool,
}

/// What a warp's requests of an access have in common.
#[derive(Clone, Copy)]
struct Same {
    /// Lanes of the last one, 0 before there was any.
    mask: u32,
    /// Its kind.
    kind: Kind,
    /// Bytes from the block's first thread to the warp's.
    first: i64,
}

/// How the blocks that share an SM at first begin.
pub enum Start {
    /// Together, with this step. Where that is not the first one, what they do is not counted by access.
    Late(u32),
    /// Each as far as this share of it. Once some pieces have filled L1, all is counted until no block is left to follow one that ends.
    Underway { phases: Vec<f64>, filling: f64 },
}

/// One SM.
pub struct Sm<'a, 'b> {
    code: &'b Code<'a>,
    by_thread: ByLane<'a>,
    pieces: &'b mut RequestPieces<'a>,
    lines: &'b mut DenseLines,
    l1: Level1,
    /// The SM's share of L2, where there are loops.
    l2: Option<Level1>,
    /// By dense number: sectors that the blocks of a generation asked L2 for, and which generation.
    asked: Vec<(u8, u32)>,
    masks: FxHashMap<(usize, usize, Vec<i64>), Rc<Vec<u32>>>,
    /// By access and warp.
    same: Vec<Same>,
    turn: u32,
    /// Blocks that came in late, the first ones: what they do is not counted by access.
    late: usize,
    /// Pieces that only fill L1.
    filling: u64,
    /// By access, of all blocks that began with their first step, or of all behind the filling.
    pub by_access: Vec<Counted>,
    /// Pieces served.
    pub served: u64,
}

impl<'a, 'b> Sm<'a, 'b> {
    /// With an empty L1 of so many lines, and so many lines of L2.
    pub fn new(
        code: &'b Code<'a>,
        pieces: &'b mut RequestPieces<'a>,
        lines: &'b mut DenseLines,
        hierarchy: &HierarchyConfig,
        (l1_lines, l2_lines): (u32, u32),
        turn: u32,
    ) -> Self {
        let l1 = Level1::of_one_sm(&hierarchy.l1, l1_lines);
        let loops = code.accesses.iter().any(|access| !access.counters.is_empty());
        let warps = code.launch.warps();
        let of_warp = |(way, warp)| Same { mask: 0, kind: Kind::default(), first: pieces.first(way, warp) };
        let same = code.way_of.iter().flat_map(|&way| (0..warps).map(move |warp| (way, warp))).map(of_warp).collect();
        let l2 = loops.then(|| share_of_l2(&hierarchy.l1, l2_lines));
        Sm {
            code,
            by_thread: ByLane::new(code.accesses, (code.addresses, code.launch), code.bounds),
            pieces,
            lines,
            l1,
            l2,
            asked: Vec::new(),
            masks: FxHashMap::default(),
            same,
            turn,
            late: 0,
            filling: 0,
            by_access: vec![Counted::default(); code.accesses.len()],
            served: 0,
        }
    }

    /// Runs blocks, `resident` of them at a time, until `most` pieces were served: what each of them counted, and whether all
    /// were run to their ends.
    pub fn run(&mut self, blocks: &[u64], resident: usize, start: &Start, most: u64) -> (Vec<Counted>, bool) {
        processor::with_newer_instructions(RunBlocks { sm: self, blocks, resident, start, most })
    }

    #[inline(always)]
    fn run_blocks(&mut self, blocks: &[u64], resident: usize, start: &Start, most: u64) -> (Vec<Counted>, bool) {
        let warps = self.code.launch.warps() as usize;
        let places = resident.min(blocks.len());
        let mut states = vec![Warp { step: 0, running: true }; places * warps];
        let mut counters = vec![0i64; places * warps * self.code.counters];
        for place in 0..places {
            let of_warps = place * warps..(place + 1) * warps;
            match start {
                Start::Late(step) => states[of_warps].iter_mut().for_each(|warp| warp.step = *step),
                Start::Underway { phases, .. } => {
                    let (step, laps) = place_at(&self.code.steps, phases.get(place).copied().unwrap_or(0.0));
                    for slot in of_warps {
                        states[slot].step = step as u32;
                        let own = &mut counters[slot * self.code.counters..(slot + 1) * self.code.counters];
                        laps.iter().for_each(|&(counter, before)| self.code.set(own, counter, before));
                    }
                }
            }
        }
        // Without blocks to follow, those that are left have the cache for themselves.
        let mut to_the_end = true;
        match start {
            Start::Late(step) => self.late = if *step > 0 { places } else { 0 },
            Start::Underway { filling, .. } => (self.filling, to_the_end) = (*filling as u64, false),
        }
        let mut counted = vec![Counted::default(); blocks.len()];
        let mut all: Vec<Option<Resident>> =
            (0..places).map(|place| Some(self.start(place, blocks[place], places))).collect();
        let (mut next, mut live) = (places, places);
        while live > 0 {
            for place in 0..places {
                for warp in 0..warps {
                    let slot = place * warps + warp;
                    let (true, Some(block)) = (states[slot].running, all[place].as_mut()) else { continue };
                    if self.served > most {
                        return (counted, false);
                    }
                    let own = &mut counters[slot * self.code.counters..(slot + 1) * self.code.counters];
                    let number = block.number;
                    states[slot].running = self.turn(block, warp, &mut states[slot].step, own, &mut counted[number]);
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
                        all[place] = Some(self.start(next, blocks[next], places));
                        states[place * warps..(place + 1) * warps].fill(Warp { step: 0, running: true });
                        next += 1;
                        live += 1;
                    } else if !to_the_end {
                        return (counted, false);
                    }
                }
            }
        }
        (counted, true)
    }

    fn start(&mut self, number: usize, linear: u64, resident: usize) -> Resident {
        let code = self.code;
        let at = code.launch.place(linear);
        let mut bounds = code.bounds.clone();
        for (axis, &at) in at.iter().enumerate() {
            bounds.0[block(axis)] = (at, at);
        }
        let met = code.conditions.iter().map(|condition| match condition.within(&bounds) {
            Truth::Known(true) => Met::Lanes(code.lanes.clone()),
            left if changing(&left) => Met::Changing(left),
            left => Met::Lanes(Rc::new(masks(&left, code.launch, &bounds))),
        });
        let met = met.collect();
        let base = |access: &Affine| {
            let terms = (0..3).map(|axis| access.form.factor(block(axis)).wrapping_mul(at[axis]));
            terms.fold(access.form.constant, i64::wrapping_add)
        };
        let bases = code.accesses.iter().map(base).collect();
        Resident { number, generation: (number / resident) as u32, bounds, met, bases, unfinished: code.launch.warps() }
    }

    /// A turn of a warp; whether it is left with something to do.
    #[inline(always)]
    fn turn(
        &mut self,
        block: &Resident,
        warp: usize,
        step: &mut u32,
        counters: &mut [i64],
        counted: &mut Counted,
    ) -> bool {
        let code = self.code;
        let mut turn = Turn::new(self.turn);
        while let Some(&next) = code.steps.get(*step as usize) {
            match next {
                Step::Open(counter, _, _) => {
                    *step += 1;
                    turn.leave_item();
                    code.set(counters, counter, 0);
                }
                Step::Close(counter, laps, first) => {
                    *step += 1;
                    turn.leave_item();
                    for &own in &code.counters_of[counter - FIXED] {
                        counters[own - FIXED] += 1;
                    }
                    if counters[counter - FIXED] < code.bounds.of(counter).0 + laps {
                        *step = first as u32;
                    }
                }
                Step::Access(number) => {
                    if turn.is_over_before(&code.accesses[number]) {
                        return true;
                    }
                    *step += 1;
                    let mut mask = self.mask(block, number, warp, counters);
                    if mask != 0 && self.by_thread.has(number) {
                        let place = [0, 1, 2].map(|axis| block.bounds.of(self::block(axis)).0);
                        mask = self.by_thread.of((number, warp), mask, place, |index| counters[index - FIXED]);
                    }
                    if mask != 0 {
                        turn.make(&code.accesses[number]);
                        self.request(block, number, warp, mask, counters, counted);
                    }
                }
            }
        }
        // That there is nothing more a warp learns with its next turn.
        turn.is_used_up()
    }

    fn mask(&mut self, block: &Resident, access: usize, warp: usize, counters: &[i64]) -> u32 {
        let code = self.code;
        let condition = code.condition_of[access];
        let is_over = |counter: &Index| counters[counter - FIXED] > code.bounds.of(*counter).1;
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
    fn request(
        &mut self,
        block: &Resident,
        number: usize,
        warp: usize,
        mask: u32,
        counters: &[i64],
        counted: &mut Counted,
    ) {
        let code = self.code;
        let access = &code.accesses[number];
        let route = route(access);
        if !access.has_footprint() {
            return self.request_by_thread(block, number, mask, counted);
        }
        let same = &mut self.same[number * code.lanes.len() + warp];
        if same.mask != mask {
            (same.mask, same.kind) = (mask, self.pieces.kind(code.way_of[number], warp, mask, access.bytes, route));
        }
        let mut start = block.bases[number].wrapping_add(same.first);
        for &(index, factor) in access.form.terms.iter().rev().take_while(|(index, _)| *index >= FIXED) {
            start = start.wrapping_add(factor.wrapping_mul(counters[index - FIXED]));
        }
        let line = start.div_euclid(128) as u64;
        let mut request = Counted::default();
        let load = route.is_load();
        let generation = block.generation;
        let (pieces, sectors) = self.pieces.of(same.kind, start);
        self.served += pieces.len() as u64;
        if load {
            request.loaded = sectors.into();
        }
        if let (Route::Load, None) = (route, &self.l2) {
            // What is by far the most, without anything that only others need.
            request.missed = self.l1.load(pieces, line, self.lines).into();
            self.count(block, number, &request, counted);
            return;
        }
        let mut levels = Served { l1: &mut self.l1, l2: &mut self.l2, asked: &mut self.asked, lines: self.lines };
        for piece in pieces.iter().map(|piece| piece.moved(line)) {
            levels.serve(route, &piece, generation, &mut request);
        }
        self.count(block, number, &request, counted);
    }

    /// A request whose lanes' addresses have been worked out.
    fn request_by_thread(&mut self, block: &Resident, number: usize, mask: u32, counted: &mut Counted) {
        let access = &self.code.accesses[number];
        let route = route(access);
        let mut request = Counted::default();
        let (pieces, sectors) = self.pieces.of_lanes(self.by_thread.addresses(), mask, access.bytes, route);
        self.served += pieces.len() as u64;
        if route.is_load() {
            request.loaded = sectors.into();
        }
        let mut levels = Served { l1: &mut self.l1, l2: &mut self.l2, asked: &mut self.asked, lines: self.lines };
        for piece in pieces {
            levels.serve(route, piece, block.generation, &mut request);
        }
        self.count(block, number, &request, counted);
    }

    #[inline(always)]
    fn count(&mut self, block: &Resident, number: usize, request: &Counted, counted: &mut Counted) {
        if self.served < self.filling {
            return;
        }
        if self.code.accesses[number].has_footprint() {
            counted.add(request);
        }
        if block.number >= self.late {
            self.by_access[number].add(request);
        }
    }
}

/// What serves a request.
struct Served<'s> {
    l1: &'s mut Level1,
    l2: &'s mut Option<Level1>,
    asked: &'s mut Vec<(u8, u32)>,
    lines: &'s mut DenseLines,
}

impl Served<'_> {
    /// Serves a piece of a request that a block of this generation makes.
    #[inline(always)]
    fn serve(&mut self, route: Route, piece: &Piece, generation: u32, request: &mut Counted) {
        let Some(dense) = self.lines.number(piece.line) else { return };
        let (l2, asked, lines) = (&mut *self.l2, &mut *self.asked, &*self.lines);
        self.l1.serve(0, route, piece, dense, |wanted| {
            let load = wanted.op == L2Op::Load;
            if load {
                request.missed += u64::from(wanted.sectors.count_ones());
            }
            let Some(l2) = l2 else { return };
            if asked.len() <= dense as usize {
                asked.resize(lines.bound(), (0, 0));
            }
            let (sectors, of) = &mut asked[dense as usize];
            let before = if *of == generation { *sectors } else { 0 };
            (*sectors, *of) = (before | wanted.sectors, generation);
            let to_l2 = Piece { line: piece.line, sectors: wanted.sectors, bytes: wanted.bytes };
            let route = if load { Route::Load } else { Route::Store };
            let outcome = l2.serve(0, route, &to_l2, dense, |_| ());
            if load {
                let again = (before & wanted.sectors).count_ones();
                request.asked_again += u64::from(again);
                request.lost_again += u64::from(again.saturating_sub(outcome.hits));
            }
        });
    }
}

struct RunBlocks<'s, 'a, 'b> {
    sm: &'s mut Sm<'a, 'b>,
    blocks: &'s [u64],
    resident: usize,
    start: &'s Start,
    most: u64,
}

impl processor::Job for RunBlocks<'_, '_, '_> {
    type Output = (Vec<Counted>, bool);

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.sm.run_blocks(self.blocks, self.resident, self.start, self.most)
    }
}

/// A cache of so many lines that keeps all that goes to L2.
fn share_of_l2(l1: &L1Config, lines: u32) -> Level1 {
    let share = L1Config {
        sets: 1,
        replacement: Replacement::Lru,
        tags_per_line: None,
        store: StorePolicy::Allocate,
        read_only_bytes: None,
        ..l1.clone()
    };
    Level1::of_one_sm(&share, lines)
}
