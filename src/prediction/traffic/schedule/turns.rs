//! Counts the issue slots of each warp of a block.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::code::{Code, changes_in_loops};
use super::program::Step;
use super::turn::Turn;
use crate::classes::{Class, classes, masks};
use crate::form::{Bounds, FIXED, Truth, block};

/// Maximum number of block classes per condition. If there are more, each block is evaluated separately.
const MOST_CLASSES: usize = 64;
/// Maximum number of blocks that are evaluated one by one.
const MOST_BLOCKS: u64 = 1 << 14;
/// Maximum number of iterations per loop that are followed to find the ends of issue slots.
const MOST_ITERATIONS: i64 = 8;

/// Issue slots of the warps of blocks. Blocks whose warps satisfy the same conditions have equal numbers of issue
/// slots.
pub struct WarpTurns<'c, 'a> {
    code: &'c Code<'a>,
    turn: u32,
    /// Ranges of indices at selected positions in the loops.
    positions: Vec<Bounds>,
    /// Classes of blocks by the lanes for which a condition is true, at selected positions in the loops; `None` if
    /// there are too many classes.
    classes: Vec<Option<Vec<Class>>>,
    /// Indexed by position in the loops and condition: the number in `classes`.
    class_of: Vec<Vec<usize>>,
    /// Indexed by axis: borders of classes. Blocks between two adjacent borders have equal numbers of issue slots.
    cuts: [Vec<i64>; 3],
    /// Number in `turns`, keyed by the intervals between borders.
    known: FxHashMap<[usize; 3], usize>,
    turns: Vec<Box<[u32]>>,
}

impl<'c, 'a> WarpTurns<'c, 'a> {
    /// Prepares issue slots of `turn` requests; `None` if too many blocks would have to be evaluated one by one.
    pub fn new(code: &'c Code<'a>, turn: u32) -> Option<Self> {
        let positions = positions_in_loops(code.bounds, code.conditions.iter().any(|one| changes_in_loops(one)));
        let mut all: Vec<Option<Vec<Class>>> = Vec::new();
        let mut class_of: Vec<Vec<usize>> = Vec::new();
        for position in &positions {
            let mut own = Vec::new();
            for (number, condition) in code.conditions.iter().enumerate() {
                match class_of.first() {
                    Some(before) if !changes_in_loops(condition) => own.push(before[number]),
                    _ => {
                        let found = classes(condition, &[], code.launch, position, &[]);
                        all.push(found.filter(|found| found.len() <= MOST_CLASSES));
                        own.push(all.len() - 1);
                    }
                }
            }
            class_of.push(own);
        }
        if code.launch.blocks() > MOST_BLOCKS && all.iter().any(Option::is_none) {
            return None;
        }
        let cuts = [0, 1, 2].map(|axis| {
            let ends = all.iter().flatten().flatten().map(|class| class.bounds.range(block(axis)));
            let mut cuts: Vec<i64> = ends.flat_map(|(low, high)| [low, high + 1]).collect();
            cuts.sort_unstable();
            cuts.dedup();
            cuts
        });
        let (known, turns) = (FxHashMap::default(), Vec::new());
        Some(WarpTurns { code, turn: turn.max(1), positions, classes: all, class_of, cuts, known, turns })
    }

    /// Returns the number of a block's entry in `turns`, and the block up to which the following blocks have the same
    /// entry.
    pub fn number_of(&mut self, linear: u64) -> (usize, u64) {
        let at = self.code.launch.place(linear);
        if self.classes.iter().any(Option::is_none) {
            let own = self.count(&at);
            let known = self.turns.iter().position(|known| *known == own);
            let number = known.unwrap_or_else(|| {
                self.turns.push(own);
                self.turns.len() - 1
            });
            return (number, linear + 1);
        }
        let between = [0, 1, 2].map(|axis| self.cuts[axis].partition_point(|&cut| cut <= at[axis]));
        let number = match self.known.get(&between) {
            Some(&known) => known,
            None => {
                self.turns.push(self.count(&at));
                self.known.insert(between, self.turns.len() - 1);
                self.turns.len() - 1
            }
        };
        let width = i64::from(self.code.launch.grid[0]);
        let end = self.cuts[0].get(between[0]).map_or(width, |end| width.min(*end));
        (number, linear + (end - at[0]) as u64)
    }

    /// Returns the issue slots of each warp for an entry number.
    pub fn numbered(&self, number: usize) -> &[u32] {
        &self.turns[number]
    }

    fn count(&self, at: &[i64; 3]) -> Box<[u32]> {
        let code = self.code;
        // By position in the loops and condition: the lanes for which the condition is true.
        let own = (0..self.positions.len()).map(|position| {
            (0..code.conditions.len()).map(|condition| self.lanes(position, condition, at)).collect::<Vec<_>>()
        });
        let own: Vec<Vec<Cow<'_, [u32]>>> = own.collect();
        // Most warps satisfy the same conditions.
        let mut known: Vec<(Vec<u8>, u32)> = Vec::new();
        let turns = (0..code.lanes.len()).map(|warp| {
            let meets = |masks: &[u32]| u8::from(masks.get(warp).is_some_and(|mask| *mask != 0));
            let met = |condition: usize| own.iter().map(|all| meets(&all[condition])).sum();
            let met: Vec<u8> = (0..code.conditions.len()).map(met).collect();
            match known.iter().find(|(own, _)| *own == met) {
                Some((_, turns)) => *turns,
                None => {
                    let turns = self.of_warp(&met);
                    known.push((met, turns));
                    turns
                }
            }
        });
        turns.collect()
    }

    /// Returns the lanes of a block's warps for which a condition is true at a position in the loops; empty if there
    /// are none.
    fn lanes(&self, position: usize, condition: usize, at: &[i64; 3]) -> Cow<'_, [u32]> {
        if let Some(all) = &self.classes[self.class_of[position][condition]] {
            let inside = |class: &&Class| {
                (0..3).all(|axis| {
                    let (low, high) = class.bounds.range(block(axis));
                    low <= at[axis] && at[axis] <= high
                })
            };
            return Cow::Borrowed(all.iter().find(inside).map_or(&[][..], |class| &class.masks));
        }
        let mut bounds = self.positions[position].clone();
        for (axis, &at) in at.iter().enumerate() {
            bounds.0[block(axis)] = (at, at);
        }
        match self.code.conditions[condition].within(&bounds) {
            Truth::Known(true) => Cow::Borrowed(&self.code.lanes),
            left => Cow::Owned(masks(&left, self.code.launch, &bounds)),
        }
    }

    /// Returns the number of issue slots of a warp. `met` counts, for each condition, the positions in the loops at
    /// which it is true. The first iterations of a loop represent all.
    fn of_warp(&self, met: &[u8]) -> u32 {
        let code = self.code;
        let share = |number: usize| f64::from(met[code.condition_of[number]]) / self.class_of.len() as f64;
        let is_made = |number: usize| met[code.condition_of[number]] > 0;
        let mut all = 0.0;
        for (number, access) in code.accesses.iter().enumerate().filter(|(number, _)| is_made(*number)) {
            // Cases of a site are one request.
            let is_first = !code.accesses[..number]
                .iter()
                .enumerate()
                .any(|(other, one)| one.site == access.site && is_made(other));
            if is_first {
                let iterations = access.counters.iter().map(|&counter| code.bounds.extent(counter).max(0) as f64);
                all += iterations.product::<f64>() * share(number);
            }
        }
        let (mut turn, mut turns, mut made) = (Turn::new(self.turn), 0u64, 0u64);
        let mut iterations = vec![0i64; code.counters];
        let mut at = 0;
        while let Some(step) = code.steps.get(at) {
            at += 1;
            match *step {
                Step::Open(counter, _, _) => {
                    turn.leave_item();
                    iterations[counter - FIXED] = 0;
                }
                Step::Close(counter, of_loop, first) => {
                    turn.leave_item();
                    iterations[counter - FIXED] += 1;
                    if iterations[counter - FIXED] < of_loop.min(MOST_ITERATIONS) {
                        at = first;
                    }
                }
                Step::Access(number) if is_made(number) => {
                    let access = &code.accesses[number];
                    if turn.is_over_before(access) {
                        (turn, turns) = (Turn::new(self.turn), turns + 1);
                    }
                    made += u64::from(turn.make(access));
                }
                Step::Access(_) => {}
            }
        }
        // A warp whose last request fills its issue slot needs one more, empty slot to end.
        let turns = turns + 1 + u64::from(turn.is_used_up());
        match made as f64 == all || made == 0 {
            true => turns.min(u32::MAX.into()) as u32,
            false => (turns as f64 * all / made as f64).round().clamp(1.0, u32::MAX.into()) as u32,
        }
    }
}

/// Returns ranges of indices in which each loop counter has its middle value. If conditions depend on the counters, it
/// also returns the ranges with the first and with the last values. For example, a window may start before an array's first row and end after its last row.
fn positions_in_loops(bounds: &Bounds, decide: bool) -> Vec<Bounds> {
    let of = |position: fn((i64, i64)) -> i64| {
        let mut found = bounds.clone();
        for range in &mut found.0[FIXED..] {
            let at = position(*range);
            *range = (at, at);
        }
        found
    };
    let mut all = vec![of(|(first, last)| first + (last - first) / 2)];
    if decide {
        all.extend([of(|(first, _)| first), of(|(_, last)| last)]);
    }
    all
}
