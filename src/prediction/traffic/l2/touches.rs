//! Finds the warps that touch a line, from the index values with which an affine address lies in it
//! ([`super::solutions`]).

use std::cmp::Reverse;

use smallvec::SmallVec;

use super::direction::Direction;
use super::solutions::{Solution, Solutions};
use crate::form::{Bounds, FIXED, Form, Index, THREADS, Truth, block};
use crate::launch::Launch;
use crate::traffic::access::LINE;
use crate::traffic::access::MemoryAccess;
use crate::traffic::footprint::conjuncts;

/// Lanes of a warp that touch a line with one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lanes {
    /// Number of the block in the grid.
    pub(super) block: u64,
    /// Number of the warp in the block.
    pub(super) warp: u32,
    /// Number of the iteration, counted over all loops around the access together.
    pub(super) iteration: u32,
    /// Touched bytes of the line, one bit each.
    pub(super) bytes: u128,
}

/// An access whose issuing lanes can be queried.
pub(super) struct Finder<'a> {
    access: &'a MemoryAccess,
    bounds: &'a Bounds,
    launch: &'a Launch,
    /// The address in which each index outside `directions` has its first value.
    constant: i64,
    /// Indices that move the address, in descending order of the factor's absolute value.
    directions: SmallVec<[Direction; FIXED]>,
    /// Indexed by direction: the difference between the values of the accesses solved together and the values of this
    /// access.
    shifts: SmallVec<[i64; FIXED]>,
    /// Indices that do not move the address, except for the lanes' index, with the ranges that the access's condition
    /// allows.
    free: SmallVec<[(Index, (i64, i64)); FIXED]>,
    /// The thread's index that is handled as a range. It is the index of neighbouring lanes if that does not move the
    /// address; otherwise, it is the index that moves it least.
    lanes: Index,
    /// The factor of that index.
    of_lanes: i64,
    /// Inequalities that must all be true, without those that always are; `None` if the condition has another shape.
    together: Option<Vec<Least>>,
    /// Indices of threads that vary, except for the lanes' index; each with the number of threads from one value to the
    /// next.
    threads: SmallVec<[(Index, i64); THREADS]>,
    /// Number of threads from one value of the lanes' index to the next.
    step: i64,
    /// Counters of the loops around the access, with their first value and the number of iterations from one value to
    /// the next.
    counters: SmallVec<[(Index, i64, i64); 2]>,
}

/// A form that is not negative if the access occurs.
struct Least {
    constant: i64,
    of_lanes: i64,
    others: SmallVec<[(Index, i64); 4]>,
}

impl Least {
    fn new(form: &Form, lanes: Index) -> Least {
        let others = form.terms.iter().filter(|term| term.0 != lanes).copied();
        Least { constant: form.constant, of_lanes: form.factor(lanes), others: others.collect() }
    }

    /// Returns the part of a range of the lanes' index for which the inequality is true.
    #[inline(always)]
    fn within(&self, (first, last): (i64, i64), at: &[i64]) -> (i64, i64) {
        let value = self.others.iter().fold(self.constant, |sum, &(index, factor)| sum + factor * at[index]);
        match self.of_lanes {
            0 if value < 0 => (first, first - 1),
            0 => (first, last),
            // The common factors need no division.
            1 => (first.max(-value), last),
            -1 => (first, last.min(value)),
            each if each > 0 => (first.max(-value.div_euclid(each)), last),
            each => (first, last.min(value.div_euclid(-each))),
        }
    }
}

/// Largest number that floating point represents exactly enough for the solver.
const MOST: i64 = 1 << 52;

impl<'a> Finder<'a> {
    /// Creates a `Finder` for an access whose loops have the same trip count for all threads. Returns `None` if numbers
    /// are too large.
    pub(super) fn new(access: &'a MemoryAccess, bounds: &'a Bounds, launch: &'a Launch) -> Option<Finder<'a>> {
        let mut directions: SmallVec<[Direction; FIXED]> = SmallVec::new();
        let mut free: SmallVec<[Index; FIXED]> = SmallVec::new();
        let varies = |index: &Index| bounds.extent(*index) > 1;
        let mut blocks: SmallVec<[Index; 3]> = (THREADS..FIXED).filter(varies).collect();
        for thread in (0..THREADS).filter(varies) {
            let (factor, (low, high)) = (access.form.factor(thread), bounds.range(thread));
            if factor == 0 {
                free.push(thread);
                continue;
            }
            let goes_on = |index: &Index| low == 0 && Some(access.form.factor(*index)) == factor.checked_mul(high + 1);
            match blocks.iter().position(goes_on) {
                Some(at) => {
                    let (block, size) = (blocks.remove(at), high + 1);
                    let (first, last) = bounds.range(block);
                    let ends = (first.checked_mul(size)?, last.checked_mul(size)?.checked_add(high)?);
                    directions.push(Direction::new(Some(thread), Some(block), size, factor, ends));
                }
                None => directions.push(Direction::new(Some(thread), None, 1, factor, (low, high))),
            }
        }
        for other in blocks.into_iter().chain(access.counters.iter().copied().filter(varies)) {
            match access.form.factor(other) {
                0 => free.push(other),
                factor => directions.push(Direction::new(None, Some(other), 1, factor, bounds.range(other))),
            }
        }
        // Among indices with equal factors, a thread's index comes last, because its values correspond to lanes.
        directions.sort_by_key(|one| (Reverse(one.factor.unsigned_abs()), one.thread.is_some()));
        let lanes = match directions.last().and_then(|last| last.thread) {
            Some(thread) if !free.contains(&0) => thread,
            _ => 0,
        };
        free.retain(|index| *index != lanes);
        // Threads of a block vary fastest, so that lanes of one warp are adjacent.
        free.sort_unstable_by_key(|index| Reverse(*index));
        let mut least = Vec::new();
        let says_all = forms(&access.condition, &mut |form| {
            if form.range(bounds).0 < 0 && !directions.iter_mut().any(|one| one.cut(form, bounds)) {
                least.push(Least::new(form, lanes));
            }
        });
        let together = says_all.then_some(least);
        let free = free.into_iter().map(|index| (index, bounds.range(index))).collect();
        let mut rest = (0i64, 0i64);
        for one in directions.iter_mut().rev() {
            one.rest = rest;
            let ends = (one.factor.checked_mul(one.low)?, one.factor.checked_mul(one.high)?);
            rest = (rest.0.checked_add(ends.0.min(ends.1))?, rest.1.checked_add(ends.0.max(ends.1))?);
            if one.high > i64::from(u32::MAX) || one.low < 0 {
                return None;
            }
        }
        // These indices have a single value, which is not 0 if only some blocks of a grid run.
        let still = |term: &&(Index, i64)| !varies(&term.0);
        let constant =
            access.form.terms.iter().filter(still).try_fold(access.form.constant, |sum, &(index, factor)| {
                factor.checked_mul(bounds.range(index).0).and_then(|own| sum.checked_add(own))
            })?;
        if rest.0 < -MOST || rest.1 > MOST || !(-MOST..MOST).contains(&constant) {
            return None;
        }
        let mut steps = [1; THREADS];
        for index in 1..THREADS {
            steps[index] = steps[index - 1] * i64::from(launch.indices[index - 1]);
        }
        let threads = (0..THREADS).filter(|index| varies(index) && *index != lanes).map(|index| (index, steps[index]));
        let mut counters: SmallVec<[(Index, i64, i64); 2]> = SmallVec::new();
        let mut iterations = 1i64;
        for &counter in access.counters.iter().rev() {
            counters.push((counter, bounds.range(counter).0, iterations));
            iterations = iterations
                .checked_mul(bounds.extent(counter).max(1))
                .filter(|iterations| *iterations <= i64::from(u32::MAX))?;
        }
        Some(Finder {
            access,
            bounds,
            launch,
            constant,
            shifts: directions.iter().map(|_| 0).collect(),
            directions,
            free,
            lanes,
            of_lanes: access.form.factor(lanes),
            together,
            threads: threads.collect(),
            step: steps[lanes],
            counters,
        })
    }

    /// Tries to add another access to the accesses that are solved together with this one, and returns whether that was
    /// possible. The addresses may differ only by multiples of the directions' factors, and values by at most `most`.
    pub(super) fn join(&mut self, other: &Finder<'_>, most: i64) -> bool {
        let is_like = |(one, other): (&Direction, &Direction)| one.is_like(other);
        let alike = self.access.bytes == other.access.bytes
            && self.lanes == other.lanes
            && self.directions.len() == other.directions.len()
            && self.directions.iter().zip(&other.directions).all(is_like);
        let mut left = self.constant - other.constant;
        let shift = |one: &Direction| {
            let shift = (left as f64 / one.factor as f64).round() as i64;
            left -= shift * one.factor;
            shift
        };
        let shifts: SmallVec<[i64; FIXED]> = self.directions.iter().map(shift).collect();
        let joins = alike && left == 0 && shifts.iter().all(|shift| shift.abs() <= most);
        if joins {
            self.shifts = shifts;
        }
        joins
    }

    /// Returns the start address and the bytes of the access.
    pub(super) fn begin(&self) -> (i64, i64) {
        (self.constant, self.access.bytes.into())
    }

    /// Returns the directions, with ranges for all accesses that are solved together.
    pub(super) fn shifted(&self) -> impl Iterator<Item = Direction> + '_ {
        self.directions.iter().zip(&self.shifts).map(|(one, shift)| one.shifted(*shift))
    }

    /// Returns whether the values of the last direction correspond to lanes.
    pub(super) fn ends_in_lanes(&self) -> bool {
        self.directions.last().is_some_and(|last| last.thread == Some(self.lanes))
    }

    /// Returns whether the condition is evaluated lane by lane.
    pub(super) fn is_slow(&self) -> bool {
        self.together.is_none()
    }

    /// Calls `visit` for each warp that touches a line, given the solutions of accesses like this one. `at` is scratch
    /// space with one value per index: initially the first values, later the values that the previous line left.
    pub(super) fn of_line(&self, solutions: &Solutions, at: &mut [i64], visit: &mut impl FnMut(Lanes)) {
        // Rows of a warp's lanes that touch the same line count as one touch.
        let mut last: Option<Lanes> = None;
        for (values, solution) in solutions.all() {
            self.of_solution((values, solution), at, &mut |lanes: Lanes| match &mut last {
                Some(last) if (last.block, last.warp, last.iteration) == (lanes.block, lanes.warp, lanes.iteration) => {
                    last.bytes |= lanes.bytes
                }
                _ => last.replace(lanes).into_iter().for_each(&mut *visit),
            });
        }
        last.into_iter().for_each(visit);
    }

    #[inline(always)]
    fn of_solution(
        &self,
        (values, &Solution { ends: (first, last), byte }): (&[i64], &Solution),
        at: &mut [i64],
        visit: &mut impl FnMut(Lanes),
    ) {
        let own = self.directions.iter().zip(&self.shifts);
        for ((one, shift), value) in own.zip(values) {
            let value = value - shift;
            if value < one.low || value > one.high {
                return;
            }
            one.set(value, at);
        }
        let Some((one, shift)) = self.directions.get(values.len()).zip(self.shifts.get(values.len())) else {
            // If the address is the same for all lanes, the range contains every lane.
            let range =
                if self.of_lanes == 0 { self.bounds.range(self.lanes) } else { (at[self.lanes], at[self.lanes]) };
            return self.repeat(0, range, at, byte - self.of_lanes * range.0, visit);
        };
        let (first, last) = ((first - shift).max(one.low), (last - shift).min(one.high));
        let byte = byte + one.factor * shift;
        let Some(block) = one.block else { return self.repeat(0, (first, last), at, byte, visit) };
        // Splits the range by block.
        let mut value = first;
        while value <= last {
            one.set(value, at);
            let begin = at[block] * one.size;
            let end = last.min(begin + one.size - 1);
            self.repeat(0, (value - begin, end - begin), at, byte + one.factor * begin, visit);
            value = end + 1;
        }
    }

    /// Iterates over the values of the indices that do not move the address.
    fn repeat(&self, number: usize, range: (i64, i64), at: &mut [i64], byte: i64, visit: &mut impl FnMut(Lanes)) {
        let Some(&(index, (low, high))) = self.free.get(number) else { return self.in_warps(range, at, byte, visit) };
        for value in low..=high {
            at[index] = value;
            self.repeat(number + 1, range, at, byte, visit);
        }
    }

    /// Splits a range of the lanes' index into warps. `byte` is the start of the access within the line if that index
    /// is 0.
    fn in_warps(&self, (mut first, mut last): (i64, i64), at: &[i64], byte: i64, visit: &mut impl FnMut(Lanes)) {
        let factor = self.of_lanes;
        for form in self.together.iter().flatten() {
            (first, last) = form.within((first, last), at);
        }
        let threads: i64 = self.threads.iter().map(|&(index, step)| step * at[index]).sum();
        // If the number of a thread is divided into indices, values beyond the last thread do not exist.
        let left = i64::from(self.launch.threads()) - 1 - threads;
        last = last.min(if self.step == 1 { left } else { left.div_euclid(self.step) });
        if first > last {
            return;
        }
        let [width, height, _] = self.launch.grid.map(u64::from);
        let [x, y, z] = [0, 1, 2].map(|axis| at[block(axis)] as u64);
        let block = x + width * (y + height * z);
        let iteration =
            self.counters.iter().map(|&(counter, low, iterations)| (at[counter] - low) * iterations).sum::<i64>()
                as u32;
        // The value is computed only if a condition needs it.
        let mut point = None;
        let (step, bytes) = (self.step, i64::from(self.access.bytes));
        while first <= last {
            let warp = (threads + step * first) as u32 / 32;
            let in_warp = i64::from(warp) * 32 + 31 - threads;
            let end = last.min(if step == 1 { in_warp } else { in_warp / step });
            let mut touched = 0u128;
            if factor.abs() <= bytes && self.together.is_some() {
                let (one, two) = (byte + factor * first, byte + factor * end);
                touched = between(one.min(two), one.max(two) + bytes - 1);
            } else {
                for own in first..=end {
                    let first = byte + factor * own;
                    let here = between(first, first + bytes - 1);
                    if here != 0 && (self.together.is_some() || self.holds(own, &mut point, at)) {
                        touched |= here;
                    }
                }
            }
            if touched != 0 {
                visit(Lanes { block, warp, iteration, bytes: touched });
            }
            first = end + 1;
        }
    }

    /// Returns whether a condition that is not a list of inequalities is true for a thread.
    fn holds(&self, value: i64, point: &mut Option<Bounds>, at: &[i64]) -> bool {
        let point = point.get_or_insert_with(|| Bounds(at.iter().map(|&at| (at, at)).collect()));
        point.0[self.lanes] = (value, value);
        self.access.condition.over(point) == Some(true)
    }
}

/// Calls `visit` for each form that is not negative if a condition is true. Returns whether these forms are the whole
/// condition.
fn forms(condition: &Truth, visit: &mut impl FnMut(&Form)) -> bool {
    let mut all = true;
    conjuncts(condition, &mut |part| match part {
        Truth::Known(true) => {}
        Truth::AtLeast(form) => visit(form),
        Truth::Zero(form) => match Form::number(0).plus(form, -1) {
            Some(negative) => {
                visit(form);
                visit(&negative);
            }
            None => all = false,
        },
        _ => all = false,
    });
    all
}

/// Returns the bits of the bytes `first..=last` that lie in the line.
pub(super) fn between(first: i64, last: i64) -> u128 {
    let (first, last) = (first.max(0), last.min(LINE - 1));
    if first > last { 0 } else { (u128::MAX >> (LINE - 1 - last)) & (u128::MAX << first) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::access_group::AccessGroup;
    use super::*;

    /// Computes all lanes that touch a line, thread by thread, by block, warp and iteration.
    fn slowly(access: &MemoryAccess, bounds: &Bounds, launch: &Launch, start: i64) -> BTreeMap<(u64, u32, u32), u128> {
        let mut found: BTreeMap<(u64, u32, u32), u128> = BTreeMap::new();
        let iterations: Vec<Vec<i64>> = bounds.0[FIXED..].iter().fold(vec![Vec::new()], |before, &(low, high)| {
            before.iter().flat_map(|one| (low..=high).map(move |at| [&one[..], &[at]].concat())).collect()
        });
        for linear in 0..launch.blocks() {
            let place = launch.place(linear);
            for number in 0..launch.threads() {
                for (iteration, counters) in (0..).zip(&iterations) {
                    let at = launch.thread(number).into_iter().chain(place).chain(counters.iter().copied());
                    let here = Bounds(at.map(|at| (at, at)).collect());
                    let first = access.form.range(&here).0 as i64 - start;
                    let bytes = between(first, first + i64::from(access.bytes) - 1);
                    if bytes != 0 && access.condition.over(&here) == Some(true) {
                        *found.entry((linear, number / 32, iteration)).or_default() |= bytes;
                    }
                }
            }
        }
        found
    }

    /// Compares accesses that are solved together with this reference; returns the number of groups.
    fn agree(accesses: &[MemoryAccess], bounds: &Bounds, launch: &Launch) -> Result<usize, TestCaseError> {
        let finders = accesses.iter().map(|one| Finder::new(one, bounds, launch).expect("numbers are small"));
        let all = AccessGroup::group_finders(finders.enumerate());
        let ends = accesses.iter().map(|one| one.form.range(bounds));
        let (low, high) = ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap();
        let (mut at, mut solutions) = (bounds.firsts(), Solutions::default());
        for line in low as i64 / LINE - 1..=high as i64 / LINE + 1 {
            let mut found: Vec<BTreeMap<(u64, u32, u32), u128>> = vec![BTreeMap::new(); accesses.len()];
            for together in &all {
                together.of_line(line * LINE, (&mut at, &mut solutions), &mut |number, lanes| {
                    *found[number].entry((lanes.block, lanes.warp, lanes.iteration)).or_default() |= lanes.bytes;
                });
            }
            for (access, found) in accesses.iter().zip(&found) {
                prop_assert_eq!(found, &slowly(access, bounds, launch, line * LINE), "line {}", line);
            }
        }
        Ok(all.len())
    }

    fn agrees(access: &MemoryAccess, bounds: &Bounds, launch: &Launch) -> Result<(), TestCaseError> {
        agree(std::slice::from_ref(access), bounds, launch).map(|_| ())
    }

    fn bounds(launch: &Launch) -> Bounds {
        Bounds(launch.indices.into_iter().chain(launch.grid).map(|size| (0, i64::from(size) - 1)).collect())
    }

    proptest! {
        /// Tests arbitrary factors: overlapping rows, broadcasts and arrays in reverse order.
        #[test]
        fn lanes_are_those_of_all_threads(block in [1u32..9, 1u32..6, 1u32..4], grid in [1u32..4, 1u32..4, 1u32..3],
                factors in [-9i64..40, -40i64..90, -200i64..300], goes_on in [any::<bool>(), any::<bool>(), any::<bool>()],
                others in [-40i64..90, 0i64..300, 0i64..300], bytes in prop_oneof![Just(1u32), Just(4), Just(8), Just(16)],
                cut in [-3i64..30, -3i64..9], any_of in any::<bool>(), iterations in [1i64..4, 1i64..3], moves in [-50i64..300, 0i64..9]) {
            let launch = Launch::new(block, grid, BTreeMap::new());
            let mut terms: Vec<(Index, i64)> = Vec::new();
            for axis in 0..3 {
                terms.push((axis, factors[axis]));
                let next = factors[axis] * i64::from(block[axis]);
                terms.push((THREADS + axis, if goes_on[axis] { next } else { others[axis] }));
            }
            terms.extend([(FIXED, moves[0]), (FIXED + 1, moves[1])]);
            terms.retain(|term| term.1 != 0);
            terms.sort_unstable();
            let x = vec![(0, -1), (THREADS, -i64::from(block[0])), (FIXED, -2)];
            let y = vec![(1, 2), (THREADS + 1, 3)];
            let parts = vec![
                Truth::AtLeast(Form { constant: cut[0], terms: x }),
                Truth::AtLeast(Form { constant: -cut[1], terms: y }),
            ];
            let condition = if any_of { Truth::Any(parts) } else { Truth::All(parts) };
            let access = MemoryAccess {
                counters: vec![FIXED, FIXED + 1],
                ..MemoryAccess::load(Form { constant: 1 << 20, terms }, condition, bytes)
            };
            let mut bounds = bounds(&launch);
            bounds.0.extend(iterations.map(|iterations| (0, iterations - 1)));
            agrees(&access, &bounds, &launch)?;
        }
    }

    proptest! {
        /// Tests a stencil's loads. Some are in other arrays, and each has its own edges.
        #[test]
        fn lanes_of_accesses_solved_together_are_their_own(block in [2u32..20, 2u32..5, 1u32..3], grid in [1u32..4, 1u32..4, 1u32..3], row in 60i64..90,
                steps in prop::collection::vec(([-2i64..3, -2i64..3, -1i64..2], 0i64..8), 1..6)) {
            let launch = Launch::new(block, grid, BTreeMap::new());
            let factors = [4, 4 * row, 4 * row * 20];
            let mut terms: Vec<(Index, i64)> = (0..3).flat_map(|axis| {
                [(axis, factors[axis]), (THREADS + axis, factors[axis] * i64::from(block[axis]))]
            }).collect();
            terms.sort_unstable();
            let all: Vec<MemoryAccess> = steps.iter().map(|&(step, elsewhere)| {
                let constant = (1 << 20) + (0..3).map(|axis| step[axis] * factors[axis]).sum::<i64>() + if elsewhere == 0 { 2 } else { 0 };
                // Conditions keep the stencil inside the first row and column.
                let x = Form { constant: step[0].min(0), terms: vec![(0, 1), (THREADS, i64::from(block[0]))] };
                let y = Form { constant: step[1].min(0), terms: vec![(1, 1), (THREADS + 1, i64::from(block[1]))] };
                MemoryAccess::load(Form { constant, terms: terms.clone() }, Truth::All(vec![Truth::AtLeast(x), Truth::AtLeast(y)]), 4)
            }).collect();
            let apart = agree(&all, &bounds(&launch), &launch)?;
            let elsewhere = steps.iter().filter(|one| one.1 == 0).count();
            prop_assert_eq!(apart, usize::from(elsewhere > 0) + usize::from(elsewhere < steps.len()));
        }
    }

    #[test]
    fn numbers_taken_apart_are_threads() {
        // An address uses `x / 16` and `x % 16` of 64 threads along x.
        let launch = Launch { indices: [16, 4, 1, 1, 1, 1], ..Launch::new([64, 1, 1], [3, 2, 1], BTreeMap::new()) };
        let form = Form { constant: 1 << 20, terms: vec![(0, 4), (1, 512), (THREADS, 64), (THREADS + 1, 2048)] };
        let access = MemoryAccess::load(form, Truth::Known(true), 4);
        agrees(&access, &bounds(&launch), &launch).unwrap();
    }

    #[test]
    fn numbers_without_a_thread_are_nobody() {
        // An address uses `x / 32` and `x % 32` of 48 threads along x, so only half of the second 32 threads exist.
        let launch = Launch { indices: [32, 2, 1, 1, 1, 1], ..Launch::new([48, 1, 1], [3, 1, 1], BTreeMap::new()) };
        let form = Form { constant: 1 << 20, terms: vec![(0, 4), (1, 512), (THREADS, 64)] };
        agrees(&MemoryAccess::load(form, Truth::Known(true), 4), &bounds(&launch), &launch).unwrap();
    }

    #[test]
    fn numbers_that_are_too_large_are_refused() {
        let launch = Launch::new([32, 1, 1], [1 << 20, 1, 1], BTreeMap::new());
        let form = Form { constant: 0, terms: vec![(0, 4), (THREADS, 1 << 50)] };
        assert!(Finder::new(&MemoryAccess::load(form, Truth::Known(true), 4), &bounds(&launch), &launch).is_none());
    }
}
