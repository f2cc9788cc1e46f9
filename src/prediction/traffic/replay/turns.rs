//! How many turns each warp of a block takes.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::code::{Code, changing};
use super::dealt::{BlockTurns, Turns};
use super::program::Step;
use super::turn::Turn;
use crate::classes::{Class, classes, masks};
use crate::form::{Bounds, FIXED, Truth, block};

/// Classes of blocks that are looked through for each block.
const MOST_CLASSES: usize = 64;

/// Iterations of each loop that are gone through to see where turns end, at most.
const MOST_LAPS: i64 = 8;

/// By axis: first and last coordinate of blocks that are alike.
type Stretches = [(i64, i64); 3];

/// The block asked for last.
#[derive(Clone, Copy)]
struct Last {
    linear: u64,
    at: [i64; 3],
    stretches: Stretches,
    /// Of its turns.
    number: usize,
}

/// Turns of blocks, remembered by which conditions their warps meet.
pub struct WarpTurns<'c, 'a> {
    code: &'c Code<'a>,
    turn: u32,
    /// Conditions with the counters of loops, on which some depend, at some places of these: the classes of blocks, where they are few.
    classes: Vec<Option<Vec<Class>>>,
    /// By place in the loops and condition: which of them it is.
    class_of: Vec<Vec<usize>>,
    /// By place in the loops: ranges of indices.
    places: Vec<Bounds>,
    /// By axis: where classes begin and end. Blocks between the same of them are alike.
    cuts: [Vec<i64>; 3],
    /// Number in `turns` by the stretches between cuts in which a block lies.
    known: FxHashMap<[usize; 3], usize>,
    turns: Vec<Turns>,
    last: Option<Last>,
}

impl<'c, 'a> WarpTurns<'c, 'a> {
    /// With turns of so many requests.
    pub fn new(code: &'c Code<'a>, turn: u32) -> Self {
        let places = places_in_loops(code.bounds, code.conditions.iter().any(|condition| changing(condition)));
        let of = |condition: &Truth, place: &Bounds| {
            classes(condition, &[], code.launch, place, &[]).filter(|found| found.len() <= MOST_CLASSES)
        };
        let mut classes: Vec<Option<Vec<Class>>> = Vec::new();
        let mut class_of: Vec<Vec<usize>> = Vec::new();
        for place in &places {
            let each = code.conditions.iter().enumerate().map(|(number, condition)| match class_of.first() {
                Some(before) if !changing(condition) => before[number],
                _ => {
                    classes.push(of(condition, place));
                    classes.len() - 1
                }
            });
            let each = each.collect();
            class_of.push(each);
        }
        let cuts = [0, 1, 2].map(|axis| {
            let ends = classes.iter().flatten().flatten().map(|class| class.bounds.of(block(axis)));
            let mut cuts: Vec<i64> = ends.flat_map(|(low, high)| [low, high + 1]).collect();
            cuts.sort_unstable();
            cuts.dedup();
            cuts
        });
        let (known, turns) = (FxHashMap::default(), Vec::new());
        WarpTurns { code, turn: turn.max(1), classes, class_of, places, cuts, known, turns, last: None }
    }

    /// Whether blocks come in few kinds, so that asking for each block costs little.
    pub fn are_few(&self) -> bool {
        self.classes.iter().all(Option::is_some)
    }

    /// Number of a block's turns, and the block up to which those behind it take the same.
    pub fn number_of(&mut self, linear: u64) -> (usize, u64) {
        self.of(linear);
        let Some(Last { at: [x, ..], stretches: [(_, end), ..], number, .. }) = self.last else { return (0, linear) };
        let width = i64::from(self.code.launch.grid[0]);
        (number, linear + (width - x).min(end.saturating_sub(x).saturating_add(1)) as u64)
    }

    /// Turns by their number.
    pub fn numbered(&self, number: usize) -> &Turns {
        &self.turns[number]
    }

    /// Stretches around a block, and the number of its turns.
    fn look_up(&mut self, at: &[i64; 3]) -> (Stretches, usize) {
        if self.classes.iter().any(Option::is_none) {
            self.turns = vec![self.count(at, false)];
            return ((*at).map(|at| (at, at)), 0);
        }
        let between = [0, 1, 2].map(|axis| self.cuts[axis].partition_point(|&cut| cut <= at[axis]));
        let stretches = [0, 1, 2].map(|axis| {
            let (cuts, next) = (&self.cuts[axis], between[axis]);
            let first = next.checked_sub(1).map_or(i64::MIN, |before| cuts[before]);
            (first, cuts.get(next).map_or(i64::MAX, |next| next - 1))
        });
        let number = match self.known.get(&between) {
            Some(&known) => known,
            None => {
                self.turns.push(self.count(at, true));
                self.known.insert(between, self.turns.len() - 1);
                self.turns.len() - 1
            }
        };
        (stretches, number)
    }

    fn count(&self, at: &[i64; 3], remembered: bool) -> Turns {
        let code = self.code;
        let inside = |class: &&Class| {
            (0..3).all(|axis| {
                let (low, high) = class.bounds.of(block(axis));
                low <= at[axis] && at[axis] <= high
            })
        };
        let lanes = |place: usize, condition: usize| match &self.classes[self.class_of[place][condition]] {
            Some(all) if remembered => {
                all.iter().find(inside).map_or_else(|| vec![0; code.lanes.len()], |class| class.masks.clone())
            }
            _ => self.met(code.conditions[condition], &self.places[place], at),
        };
        let lanes: Vec<Vec<Vec<u32>>> = (0..self.places.len())
            .map(|place| (0..code.conditions.len()).map(|condition| lanes(place, condition)).collect())
            .collect();
        // By at how many places in the loops some lane of it meets which condition: most warps do alike.
        let mut known: Vec<(Vec<u8>, u32)> = Vec::new();
        let turns = (0..code.lanes.len()).map(|warp| {
            let met = |condition: usize| lanes.iter().map(|place| u8::from(place[condition][warp] != 0)).sum();
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
        Turns::new(turns.collect())
    }

    /// Turns of a warp that meets conditions at so many of the places in loops. Of loops some iterations are gone through, which stand for the others.
    fn of_warp(&self, met: &[u8]) -> u32 {
        let code = self.code;
        let share = |number: usize| f64::from(met[code.condition_of[number]]) / self.places.len() as f64;
        let is_made = |number: usize| met[code.condition_of[number]] > 0;
        let mut all = 0.0;
        for (number, access) in code.accesses.iter().enumerate().filter(|(number, _)| is_made(*number)) {
            // Cases of a site are one request.
            let is_first = !code.accesses[..number]
                .iter()
                .enumerate()
                .any(|(other, one)| one.site == access.site && is_made(other));
            if is_first {
                let laps = access.counters.iter().map(|&counter| code.bounds.extent(counter).max(0) as f64);
                all += laps.product::<f64>() * share(number);
            }
        }
        let (mut turn, mut turns, mut made) = (Turn::new(self.turn), 0u64, 0u64);
        let mut laps = vec![0i64; code.counters];
        let mut at = 0;
        while let Some(step) = code.steps.get(at) {
            at += 1;
            match *step {
                Step::Open(counter, _, _) => {
                    turn.leave_item();
                    laps[counter - FIXED] = 0;
                }
                Step::Close(counter, of_loop, first) => {
                    turn.leave_item();
                    laps[counter - FIXED] += 1;
                    if laps[counter - FIXED] < of_loop.min(MOST_LAPS) {
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
        // A warp whose requests are used up learns with its next turn that it is over.
        let turns = turns + 1 + u64::from(turn.is_used_up());
        match made as f64 == all || made == 0 {
            true => turns.min(u32::MAX.into()) as u32,
            false => (turns as f64 * all / made as f64).round().clamp(1.0, u32::MAX.into()) as u32,
        }
    }

    /// Lanes that meet a condition at a place in the loops.
    fn met(&self, condition: &Truth, place: &Bounds, at: &[i64; 3]) -> Vec<u32> {
        let mut bounds = place.clone();
        for (axis, &at) in at.iter().enumerate() {
            bounds.0[block(axis)] = (at, at);
        }
        match condition.within(&bounds) {
            Truth::Known(true) => self.code.lanes.to_vec(),
            left => masks(&left, self.code.launch, &bounds),
        }
    }
}

impl BlockTurns for WarpTurns<'_, '_> {
    fn of(&mut self, linear: u64) -> &Turns {
        let [width, height, _] = self.code.launch.grid.map(i64::from);
        let (at, last) = match self.last {
            // Blocks come one after the other, and most are like the one before.
            Some(Last { linear: last, at: [x, y, z], stretches, number }) if last + 1 == linear => {
                let at = match (x + 1 < width, y + 1 < height) {
                    (true, _) => [x + 1, y, z],
                    (false, true) => [0, y + 1, z],
                    (false, false) => [0, 0, z + 1],
                };
                (at, Some((stretches, number)))
            }
            _ => (self.code.launch.place(linear), None),
        };
        let inside = |stretches: &Stretches| at.iter().zip(stretches).all(|(at, (low, high))| low <= at && at <= high);
        let (stretches, number) = match last {
            Some((stretches, number)) if inside(&stretches) => (stretches, number),
            _ => self.look_up(&at),
        };
        self.last = Some(Last { linear, at, stretches, number });
        &self.turns[number]
    }

    fn are_alike(&mut self, blocks: Range<u64>) -> bool {
        if self.classes.iter().any(Option::is_none) {
            return false;
        }
        let width = u64::from(self.code.launch.grid[0]);
        let mut first = None;
        let mut at = blocks.start;
        while at < blocks.end {
            self.of(at);
            let Some(Last { at: [x, ..], stretches: [(_, end), ..], number, .. }) = self.last else { return false };
            if self.turns[number] != self.turns[*first.get_or_insert(number)] {
                return false;
            }
            // The rest of the stretch along x is alike.
            at += (width - x as u64).min((end - x) as u64 + 1);
        }
        true
    }
}

/// Ranges of indices with the counters in the middle of their loops, and where they decide at both ends of them too: windows begin before an array's first row and
/// end behind its last one.
fn places_in_loops(bounds: &Bounds, decide: bool) -> Vec<Bounds> {
    let of = |place: fn((i64, i64)) -> i64| {
        let mut found = bounds.clone();
        for range in &mut found.0[FIXED..] {
            let at = place(*range);
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
