//! Divides a launch into parts in which the same threads of each block satisfy a condition.
//!
//! A condition such as `blockIdx.x * 32 + threadIdx.x < n` is true for all threads of most blocks, for no thread of
//! some blocks, and for a part of the threads of a few. Block indices and loop counters span a box. The box is cut
//! where such a condition changes, until all blocks of each part agree thread by thread.

use super::form::{Bounds, FIXED, Form, Index, THREADS, Truth, thread};
use super::launch::Launch;

/// Maximum number of classes. A condition that changes along a diagonal of the grid needs one class per block.
const MOST_CLASSES: usize = 1 << 14;

/// A part of a launch in which the same threads of each block satisfy a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Ranges of all indices; those of threads cover the whole block.
    pub bounds: Bounds,
    /// Lanes of each warp that satisfy the condition.
    pub masks: Vec<u32>,
}

impl Class {
    /// Returns the number of blocks times the number of iterations of the loops with the given counters.
    pub fn points(&self, counters: &[Index]) -> f64 {
        (THREADS..FIXED).chain(counters.iter().copied()).map(|index| self.bounds.extent(index) as f64).product()
    }
}

/// Returns the classes in which a condition is true for at least one thread, cut further where one of `splits` changes;
/// `None` if there are too many.
pub fn classes(
    truth: &Truth,
    splits: &[Truth],
    launch: &Launch,
    bounds: &Bounds,
    counters: &[Index],
) -> Option<Vec<Class>> {
    let mut found = Vec::new();
    let outer: Vec<Index> = (THREADS..FIXED).chain(counters.iter().copied()).collect();
    if outer.iter().any(|&index| bounds.extent(index) == 0) {
        return Some(found);
    }
    let whole = lanes(launch);
    let mut work = vec![(bounds.clone(), truth.within(bounds))];
    while let Some((bounds, left)) = work.pop() {
        if found.len() + work.len() > MOST_CLASSES {
            return None;
        }
        if left == Truth::Known(false) {
            continue;
        }
        let further = || splits.iter().find_map(|split| cut(&split.within(&bounds), &bounds, &outer));
        if let Some((index, at)) = cut(&left, &bounds, &outer).or_else(further) {
            let (low, high) = bounds.range(index);
            for piece in [(at, high), (low, at - 1)] {
                let mut bounds = bounds.clone();
                bounds.0[index] = piece;
                let left = left.within(&bounds);
                work.push((bounds, left));
            }
            continue;
        }
        let masks = if left == Truth::Known(true) { whole.clone() } else { masks(&left, launch, &bounds) };
        if masks.iter().any(|&mask| mask != 0) {
            found.push(Class { bounds, masks });
        }
    }
    Some(found)
}

/// Returns the index along which to cut a box, and the first value of the upper part.
fn cut(truth: &Truth, bounds: &Bounds, outer: &[Index]) -> Option<(Index, i64)> {
    let mut best: Option<(bool, Index, i64)> = None;
    truth.forms(&mut |form| {
        let varying: Vec<Index> =
            outer.iter().copied().filter(|&index| bounds.extent(index) > 1 && form.factor(index) != 0).collect();
        let span = |index: &Index| form.factor(*index).unsigned_abs().saturating_mul(bounds.extent(*index) as u64);
        let Some(&index) = varying.iter().max_by_key(|index| span(index)) else { return };
        let alone = varying.len() == 1;
        if best.is_none_or(|(known, ..)| alone && !known) {
            best = Some((alone, index, border(form, index, bounds)));
        }
    });
    best.map(|(_, index, at)| (index, at))
}

/// Returns a value of an index at which the sign of a form becomes or stops being constant over the other indices;
/// otherwise, the middle of the range.
fn border(form: &Form, index: Index, bounds: &Bounds) -> i64 {
    let (low, high) = bounds.range(index);
    let mut here = bounds.clone();
    let mut sign = |at: i64| {
        here.0[index] = (at, at);
        match form.range(&here) {
            (least, _) if least > 0 => 1,
            (0, most) if most > 0 => 2,
            (_, most) if most < 0 => -1,
            _ => 0,
        }
    };
    // Values of the index with the same sign are contiguous. A bisection finds the first change after the low end.
    let first = sign(low);
    if first != sign(high) {
        let (mut same, mut other) = (low, high);
        while other - same > 1 {
            let middle = same + (other - same) / 2;
            if sign(middle) == first { same = middle } else { other = middle }
        }
        return other;
    }
    low + (high - low + 1) / 2
}

/// Returns the existing lanes of each warp.
pub fn lanes(launch: &Launch) -> Vec<u32> {
    let threads = launch.threads();
    (0..launch.warps()).map(|warp| u32::MAX >> (32 - (threads - warp * 32).min(32))).collect()
}

/// Returns the lanes that satisfy a condition that does not depend on the other varying indices of the box.
pub fn masks(truth: &Truth, launch: &Launch, bounds: &Bounds) -> Vec<u32> {
    let mut here = bounds.clone();
    for range in &mut here.0[THREADS..] {
        range.1 = range.0;
    }
    let mut masks = vec![0u32; launch.warps() as usize];
    let mut together = Some(Vec::new());
    rows_of(truth, &here, &mut together);
    if let Some(forms) = together {
        rows(&forms, launch, &mut masks);
        return masks;
    }
    for number in 0..launch.threads() {
        for (range, at) in here.0.iter_mut().zip(launch.thread(number)) {
            *range = (at, at);
        }
        if truth.over(&here) == Some(true) {
            masks[number as usize / 32] |= 1 << (number % 32);
        }
    }
    masks
}

/// Collects the constant and the factors of the threads' indices for forms that must all be at least 0; `None` if the
/// condition has another shape or numbers are large.
fn rows_of(truth: &Truth, bounds: &Bounds, found: &mut Option<Vec<(i64, [i64; THREADS])>>) {
    match truth {
        Truth::Known(true) => {}
        Truth::All(parts) => parts.iter().for_each(|part| rows_of(part, bounds, found)),
        Truth::AtLeast(form) => {
            let (low, high) = form.range(bounds);
            let mut rest = Some(form.clone());
            for &(index, _) in form.terms.iter().filter(|(index, _)| *index >= THREADS) {
                rest = rest.and_then(|rest| rest.at(index, bounds.range(index).0));
            }
            let small = |end: i128| end.unsigned_abs() < 1 << 60;
            match rest.filter(|rest| small(low) && small(high) && small(rest.constant.into())) {
                Some(rest) => found.iter_mut().for_each(|all| {
                    all.push((rest.constant, std::array::from_fn(|axis| rest.factor(thread(axis)))));
                }),
                None => *found = None,
            }
        }
        _ => *found = None,
    }
}

/// Sets the lanes of the threads for which all forms are at least 0. In each row of threads, they are an interval.
fn rows(forms: &[(i64, [i64; THREADS])], launch: &Launch, masks: &mut [u32]) {
    let width = launch.indices[0].max(1);
    let mut next = launch.thread(0);
    for first in (0..launch.threads()).step_by(width as usize) {
        let at = next;
        launch.next_row(&mut next);
        let (mut low, mut high) = (0, i64::from(width) - 1);
        for (constant, factors) in forms {
            let mut base = *constant;
            for axis in 0..THREADS {
                base += at[axis] * factors[axis];
            }
            match factors[0] {
                0 if base < 0 => high = -1,
                0 => {}
                1 => low = low.max(-base),
                -1 => high = high.min(base),
                x @ 1.. => low = low.max((-base).div_euclid(x) + i64::from((-base).rem_euclid(x) != 0)),
                x => high = high.min(base.div_euclid(-x)),
            }
        }
        let (mut at, end) = (i64::from(first) + low, i64::from(first) + high);
        while at <= end {
            let (warp, lane) = (at / 32, at % 32);
            let count = (32 - lane).min(end - at + 1);
            masks[warp as usize] |= (u32::MAX >> (32 - count)) << lane;
            at += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::interpret::bounds_of;

    fn condition() -> impl Strategy<Value = Truth> {
        let indices = [0, 1, 2, THREADS, THREADS + 1, THREADS + 2, FIXED];
        let form = (-40i64..40, prop::collection::vec(-3i64..4, 7)).prop_map(move |(constant, factors)| {
            let terms = indices.into_iter().zip(factors).filter(|term| term.1 != 0).collect();
            Form { constant, terms }
        });
        let leaf = prop_oneof![4 => form.clone().prop_map(Truth::AtLeast), 1 => form.prop_map(Truth::Zero)];
        leaf.prop_recursive(2, 6, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..3).prop_map(Truth::All),
                prop::collection::vec(inner.clone(), 1..3).prop_map(Truth::Any),
                inner.prop_map(|part| Truth::Not(Box::new(part))),
            ]
        })
    }

    proptest! {
        /// Checks that each point of a launch lies in at most one class, and that its lanes are those of the class.
        #[test]
        fn classes_partition_a_launch(truth in condition(), block in prop::array::uniform3(1u32..5),
                grid in prop::array::uniform3(1u32..4), iterations in 1i64..4) {
            let launch = Launch::new(block, grid, BTreeMap::new());
            let mut bounds = bounds_of(&launch, 1);
            bounds.0[FIXED] = (0, iterations - 1);
            let found = classes(&truth, &[], &launch, &bounds, &[FIXED]).unwrap();
            for point in 0..launch.blocks() as i64 * iterations {
                let [x, y, z] = launch.grid.map(i64::from);
                let outer = [point % x, point / x % y, point / x / y % z, point / x / y / z];
                let inside = |class: &&Class| {
                    outer.iter().zip(&class.bounds.0[THREADS..]).all(|(at, (low, high))| low <= at && at <= high)
                };
                let here: Vec<&Class> = found.iter().filter(inside).collect();
                prop_assert!(here.len() <= 1);
                for number in 0..launch.threads() {
                    let at = launch.thread(number).into_iter().chain(outer).map(|at| (at, at)).collect();
                    let want = truth.over(&Bounds(at)) == Some(true);
                    let got = here.first().is_some_and(|class| class.masks[number as usize / 32] >> (number % 32) & 1 == 1);
                    prop_assert_eq!(got, want, "{:?} thread {}", outer, number);
                }
            }
        }
    }
}
