//! One SM: its resident blocks, whose warps take turns as [`warpline_format::schedule`] deals them, and its L1.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::program::{Step, steps};
use super::requests::RequestPieces;
use crate::hierarchy::{DenseLines, HierarchyConfig, L1Config, L2Op, Level1, Piece, Replacement, Route, StorePolicy};
use crate::prediction::classes::{lanes, masks};
use crate::prediction::form::{Bounds, FIXED, Index, Truth, block};
use crate::prediction::launch::Launch;
use crate::prediction::traffic::volumes::Affine;
use crate::simd::processor;

/// Masks by condition, block and iteration that are kept.
const MOST_MASKS: usize = 1 << 12;

/// What was counted, in sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// Of loads' requests.
    pub loaded: f64,
    /// Of these: not found in L1.
    pub missed: f64,
    /// Of these: not what the blocks that share the SM at a time asked L2 for the first time.
    pub asked_again: f64,
    /// Of these: not found in the SM's share of L2.
    pub lost_again: f64,
}

impl Counted {
    /// The share of the loaded sectors that L1 did not have.
    pub fn missed_share(&self) -> f64 {
        if self.loaded > 0.0 { self.missed / self.loaded } else { 0.0 }
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &Counted) {
        self.loaded += other.loaded;
        self.missed += other.missed;
        self.asked_again += other.asked_again;
        self.lost_again += other.lost_again;
    }
}

/// The kernel, as the warps of one launch run it.
pub struct Code<'a> {
    /// In the order of the code.
    pub accesses: &'a [Affine],
    /// The launch.
    pub launch: &'a Launch,
    /// Ranges of its indices.
    pub bounds: &'a Bounds,
    /// Different conditions.
    pub conditions: Vec<&'a Truth>,
    /// By access.
    pub condition_of: Vec<usize>,
    /// Lanes that exist, by warp.
    pub lanes: Rc<Vec<u32>>,
    /// Share of the outermost loops' iterations that is left out, the most of any loop.
    pub left_out: f64,
    steps: Vec<Step>,
    /// By access: its warps' patterns.
    way_of: Vec<usize>,
    counters: usize,
}

impl<'a> Code<'a> {
    /// Of loops about the share `share` of the iterations is run.
    pub fn new(
        accesses: &'a [Affine],
        launch: &'a Launch,
        bounds: &'a Bounds,
        share: f64,
        pieces: &mut RequestPieces<'_>,
    ) -> Code<'a> {
        let mut conditions: Vec<&Truth> = Vec::new();
        let mut condition_of = Vec::new();
        for access in accesses {
            let known = conditions.iter().position(|known| **known == access.condition);
            condition_of.push(known.unwrap_or_else(|| {
                conditions.push(&access.condition);
                conditions.len() - 1
            }));
        }
        let (steps, left_out) = steps(accesses, bounds, share);
        Code {
            accesses,
            launch,
            bounds,
            left_out,
            steps,
            conditions,
            condition_of,
            way_of: accesses.iter().map(|access| pieces.way(&access.form, launch)).collect(),
            counters: bounds.0.len().saturating_sub(FIXED),
            lanes: Rc::new(lanes(launch)),
        }
    }

    /// `blockIdx` of a block.
    pub fn place(&self, linear: u64) -> [i64; 3] {
        let [width, height, _] = self.launch.grid.map(u64::from);
        [linear % width, linear / width % height, linear / width / height].map(|at| at as i64)
    }
}

/// Whether a condition depends on a loop's counter.
pub fn changing(truth: &Truth) -> bool {
    let mut found = false;
    truth.forms(&mut |form| found |= form.terms.iter().any(|(index, _)| *index >= FIXED));
    found
}

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

/// One SM.
pub struct Sm<'a, 'b> {
    code: &'b Code<'a>,
    pieces: &'b mut RequestPieces<'a>,
    lines: &'b mut DenseLines,
    l1: Level1,
    /// The SM's share of L2, where there are loops.
    l2: Option<Level1>,
    /// By dense number: sectors that the blocks of a generation asked L2 for, and which generation.
    asked: Vec<(u8, u32)>,
    masks: FxHashMap<(usize, usize, Vec<i64>), Rc<Vec<u32>>>,
    turn: u32,
    /// By access, of all blocks.
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
        let mut l1 = Level1::new(&hierarchy.l1, l1_lines);
        l1.resize(1);
        let loops = code.accesses.iter().any(|access| !access.counters.is_empty());
        let l2 = loops.then(|| share_of_l2(&hierarchy.l1, l2_lines));
        Sm {
            code,
            pieces,
            lines,
            l1,
            l2,
            asked: Vec::new(),
            masks: FxHashMap::default(),
            turn,
            by_access: vec![Counted::default(); code.accesses.len()],
            served: 0,
        }
    }

    /// Runs blocks, `resident` of them at a time, until `most` pieces were served: what each of them counted, and whether all
    /// were run to their ends.
    pub fn run(&mut self, blocks: &[u64], resident: usize, most: u64) -> (Vec<Counted>, bool) {
        processor::with_newer_instructions(RunBlocks { sm: self, blocks, resident, most })
    }

    #[inline(always)]
    fn run_blocks(&mut self, blocks: &[u64], resident: usize, most: u64) -> (Vec<Counted>, bool) {
        let warps = self.code.launch.warps() as usize;
        let places = resident.min(blocks.len());
        let mut counted = vec![Counted::default(); blocks.len()];
        let mut all: Vec<Option<Resident>> =
            (0..places).map(|place| Some(self.start(place, blocks[place], places))).collect();
        let mut states = vec![Warp { step: 0, running: true }; places * warps];
        let mut counters = vec![0i64; places * warps * self.code.counters];
        let (mut next, mut live, mut slot) = (places, places, 0);
        while live > 0 {
            if self.served > most {
                return (counted, false);
            }
            let place = slot / warps;
            if let (true, Some(block)) = (states[slot].running, all[place].as_mut()) {
                let own = &mut counters[slot * self.code.counters..(slot + 1) * self.code.counters];
                let number = block.number;
                states[slot].running =
                    self.turn(block, (slot % warps) as u32, &mut states[slot].step, own, &mut counted[number]);
                if !states[slot].running {
                    block.unfinished -= 1;
                    if block.unfinished == 0 {
                        self.masks.retain(|key, _| key.1 != number);
                        live -= 1;
                        all[place] = None;
                        if next < blocks.len() {
                            all[place] = Some(self.start(next, blocks[next], places));
                            states[place * warps..(place + 1) * warps].fill(Warp { step: 0, running: true });
                            next += 1;
                            live += 1;
                        }
                    }
                }
            }
            slot = (slot + 1) % states.len();
        }
        (counted, true)
    }

    fn start(&mut self, number: usize, linear: u64, resident: usize) -> Resident {
        let code = self.code;
        let at = code.place(linear);
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
        warp: u32,
        step: &mut u32,
        counters: &mut [i64],
        counted: &mut Counted,
    ) -> bool {
        let code = self.code;
        let mut left = self.turn;
        while let Some(&next) = code.steps.get(*step as usize) {
            if left == 0 {
                return true;
            }
            *step += 1;
            match next {
                Step::Open(counter, _, _) => counters[counter - FIXED] = code.bounds.of(counter).0,
                Step::Close(counter, laps, first) => {
                    let at = &mut counters[counter - FIXED];
                    *at += 1;
                    if *at < code.bounds.of(counter).0 + laps {
                        *step = first as u32;
                    }
                }
                Step::Access(number) => {
                    let mask = self.mask(block, number, warp, counters);
                    if mask != 0 {
                        left -= 1;
                        self.request(block, number, warp, mask, counters, counted);
                    }
                }
            }
        }
        false
    }

    fn mask(&mut self, block: &Resident, access: usize, warp: u32, counters: &[i64]) -> u32 {
        let code = self.code;
        let condition = code.condition_of[access];
        let truth = match &block.met[condition] {
            Met::Lanes(masks) => return masks[warp as usize],
            Met::Changing(truth) => truth,
        };
        let own = &code.accesses[access].counters;
        let key = (condition, block.number, own.iter().map(|index| counters[index - FIXED]).collect::<Vec<_>>());
        if let Some(known) = self.masks.get(&key) {
            return known[warp as usize];
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
        let mask = found[warp as usize];
        self.masks.insert(key, found);
        mask
    }

    #[inline(always)]
    fn request(
        &mut self,
        block: &Resident,
        number: usize,
        warp: u32,
        mask: u32,
        counters: &[i64],
        counted: &mut Counted,
    ) {
        let access = &self.code.accesses[number];
        let (pattern, first) = self.pieces.warp(self.code.way_of[number], warp);
        let mut start = block.bases[number].wrapping_add(first);
        for &(index, factor) in access.form.terms.iter().rev().take_while(|(index, _)| *index >= FIXED) {
            start = start.wrapping_add(factor.wrapping_mul(counters[index - FIXED]));
        }
        let line = start.div_euclid(128) as u64;
        let mut request = Counted::default();
        let route = route(access);
        let load = route.is_load();
        let generation = block.generation;
        for piece in self.pieces.of(pattern, mask, start, access.bytes, route) {
            let piece = Piece { line: piece.line.wrapping_add(line) & (u64::MAX >> 7), ..*piece };
            let Some(dense) = self.lines.number(piece.line) else { continue };
            self.served += 1;
            if load {
                request.loaded += f64::from(piece.sectors.count_ones());
            }
            let (l2, asked, lines) = (&mut self.l2, &mut self.asked, &self.lines);
            self.l1.serve(0, route, &piece, dense, |wanted| {
                let load = wanted.op == L2Op::Load;
                if load {
                    request.missed += f64::from(wanted.sectors.count_ones());
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
                    request.asked_again += f64::from(again);
                    request.lost_again += f64::from(again.saturating_sub(outcome.hits));
                }
            });
        }
        counted.add(&request);
        self.by_access[number].add(&request);
    }
}

struct RunBlocks<'s, 'a, 'b> {
    sm: &'s mut Sm<'a, 'b>,
    blocks: &'s [u64],
    resident: usize,
    most: u64,
}

impl processor::Job for RunBlocks<'_, '_, '_> {
    type Output = (Vec<Counted>, bool);

    #[inline(always)]
    fn run(self) -> Self::Output {
        self.sm.run_blocks(self.blocks, self.resident, self.most)
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
    let mut l2 = Level1::new(&share, lines);
    l2.resize(1);
    l2
}

/// The way of an access through L1.
fn route(access: &Affine) -> Route {
    match (access.atomic, access.loads) {
        (true, _) => Route::Atomic,
        (_, true) => Route::Load,
        _ => Route::Store,
    }
}
