//! How many turns each warp of a block takes.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::dealt::Turns;
use super::sm::{Code, changing};
use crate::prediction::classes::{Class, classes, masks};
use crate::prediction::form::{Bounds, FIXED, Truth, block};

/// Classes of blocks that are looked through for each block.
const MOST_CLASSES: usize = 64;

/// Turns of blocks, remembered by which conditions their warps meet.
pub struct WarpTurns<'c, 'a> {
    code: &'c Code<'a>,
    turn: u32,
    /// By condition: the classes of blocks, where they are few and no counter decides.
    classes: Vec<Option<Vec<Class>>>,
    /// By class of each condition.
    known: FxHashMap<SmallVec<[usize; 8]>, Turns>,
}

impl<'c, 'a> WarpTurns<'c, 'a> {
    /// With turns of so many requests.
    pub fn new(code: &'c Code<'a>, turn: u32) -> Self {
        let of = |condition: &&Truth| {
            let found = match changing(condition) {
                true => None,
                false => classes(condition, &[], code.launch, code.bounds, &[]),
            };
            found.filter(|found| found.len() <= MOST_CLASSES)
        };
        WarpTurns {
            code,
            turn: turn.max(1),
            classes: code.conditions.iter().map(of).collect(),
            known: FxHashMap::default(),
        }
    }

    /// Of a block.
    pub fn of(&mut self, linear: u64) -> Turns {
        let at = self.code.place(linear);
        let inside = |class: &Class| {
            (0..3).all(|axis| {
                let (low, high) = class.bounds.of(block(axis));
                low <= at[axis] && at[axis] <= high
            })
        };
        let none = usize::MAX;
        let key: Option<SmallVec<[usize; 8]>> = self
            .classes
            .iter()
            .map(|all| all.as_ref().map(|all| all.iter().position(inside).unwrap_or(none)))
            .collect();
        let Some(key) = key else { return self.count(&at, None) };
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = self.count(&at, Some(&key));
        self.known.insert(key, found.clone());
        found
    }

    fn count(&self, at: &[i64; 3], key: Option<&[usize]>) -> Turns {
        let code = self.code;
        let lanes: Vec<Vec<u32>> = (0..code.conditions.len())
            .map(|condition| match (key, &self.classes[condition]) {
                (Some(key), Some(all)) => {
                    all.get(key[condition]).map_or_else(|| vec![0; code.lanes.len()], |class| class.masks.clone())
                }
                _ => self.middle(code.conditions[condition], at),
            })
            .collect();
        let mut requests = vec![0u64; code.lanes.len()];
        for (number, access) in code.accesses.iter().enumerate() {
            let times: u64 = access.counters.iter().map(|&counter| code.bounds.extent(counter).max(0) as u64).product();
            for (sum, _) in requests.iter_mut().zip(&lanes[code.condition_of[number]]).filter(|(_, mask)| **mask != 0) {
                *sum += times;
            }
        }
        // A warp whose requests are used up learns with its next turn that it is over.
        let turns = requests.iter().map(|count| (count / u64::from(self.turn) + 1).min(u64::from(u32::MAX)) as u32);
        Rc::new(turns.collect())
    }

    /// Lanes that meet a condition in the middle of the loops, on whose counters it depends.
    fn middle(&self, condition: &Truth, at: &[i64; 3]) -> Vec<u32> {
        let mut bounds: Bounds = self.code.bounds.clone();
        for (axis, &at) in at.iter().enumerate() {
            bounds.0[block(axis)] = (at, at);
        }
        for range in &mut bounds.0[FIXED..] {
            let middle = range.0 + (range.1 - range.0) / 2;
            *range = (middle, middle);
        }
        match condition.within(&bounds) {
            Truth::Known(true) => self.code.lanes.to_vec(),
            left => masks(&left, self.code.launch, &bounds),
        }
    }
}
