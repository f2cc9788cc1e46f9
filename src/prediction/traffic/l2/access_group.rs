//! Groups of accesses that are solved together because their addresses differ by whole elements, rows and planes.

use smallvec::SmallVec;

use super::direction::Direction;
use super::solutions::{Solution, Solutions};
use super::touches::{Finder, Lanes};
use crate::form::FIXED;
use crate::traffic::access::LINE;

/// Maximum difference between index values of accesses that are solved together.
const MOST_SHIFT: i64 = 64;

/// Accesses whose addresses are solved together.
pub(super) struct AccessGroup<'a> {
    constant: i64,
    bytes: i64,
    /// Indices that move the address of the first access, in descending order of the factor's absolute value. The
    /// ranges cover all accesses of the group.
    directions: SmallVec<[Direction; FIXED]>,
    /// The values of the last direction correspond to lanes.
    ranges: bool,
    /// Accesses of the group with their numbers.
    members: Vec<(usize, Finder<'a>)>,
}

impl<'a> AccessGroup<'a> {
    /// Creates an `AccessGroup` for accesses that differ only by shifts. `members` is not empty.
    fn new(members: Vec<(usize, Finder<'a>)>) -> AccessGroup<'a> {
        let lead = &members[0].1;
        let (constant, bytes) = lead.begin();
        let mut directions: SmallVec<[Direction; FIXED]> = lead.shifted().collect();
        for (_, finder) in &members[1..] {
            for (all, own) in directions.iter_mut().zip(finder.shifted()) {
                (all.low, all.high) = (all.low.min(own.low), all.high.max(own.high));
            }
        }
        let mut rest = (0, 0);
        for one in directions.iter_mut().rev() {
            one.rest = rest;
            let ends = (one.factor * one.low, one.factor * one.high);
            rest = (rest.0 + ends.0.min(ends.1), rest.1 + ends.0.max(ends.1));
        }
        AccessGroup { constant, bytes, directions, ranges: lead.ends_in_lanes(), members }
    }

    /// Groups numbered accesses that can be solved together.
    pub(super) fn group_finders(finders: impl Iterator<Item = (usize, Finder<'a>)>) -> Vec<AccessGroup<'a>> {
        let mut found: Vec<Vec<(usize, Finder<'a>)>> = Vec::new();
        for (number, mut finder) in finders {
            match found.iter_mut().find(|all| finder.join(&all[0].1, MOST_SHIFT)) {
                Some(all) => all.push((number, finder)),
                None => found.push(vec![(number, finder)]),
            }
        }
        found.into_iter().map(AccessGroup::new).collect()
    }

    /// Returns the accesses of the group.
    pub(super) fn members(&self) -> impl Iterator<Item = &Finder<'a>> {
        self.members.iter().map(|member| &member.1)
    }

    /// Calls `visit` with the access's number for each warp that touches the line that starts at a given byte. `at` is
    /// scratch space with one value per index: initially the first values, later the values that the previous line
    /// left.
    pub(super) fn of_line(
        &self,
        start: i64,
        (at, solutions): (&mut [i64], &mut Solutions),
        visit: &mut impl FnMut(usize, Lanes),
    ) {
        let from = start - self.constant;
        solutions.width = self.directions.len() - usize::from(self.ranges);
        solutions.values.clear();
        solutions.found.clear();
        let mut values: SmallVec<[i64; FIXED]> = self.directions.iter().map(|_| 0).collect();
        self.descend(0, (from - self.bytes + 1, from + LINE - 1), -from, &mut values, solutions);
        for (number, finder) in &self.members {
            finder.of_line(solutions, at, &mut |lanes| visit(*number, lanes));
        }
    }

    /// Tries the values of the directions from `level` on whose contribution must lie in `window`. `byte` is the start
    /// of the access within the line, given the values of the other directions.
    fn descend(&self, level: usize, window: (i64, i64), byte: i64, values: &mut [i64], found: &mut Solutions) {
        let mut ends = (0, 0);
        if let Some(one) = self.directions.get(level) {
            let (first, last) = one.within((window.0 - one.rest.1, window.1 - one.rest.0));
            if level < found.width {
                for value in first..=last {
                    values[level] = value;
                    let moved = one.factor * value;
                    self.descend(level + 1, (window.0 - moved, window.1 - moved), byte + moved, values, found);
                }
                return;
            }
            ends = (first, last);
        }
        if ends.0 <= ends.1 {
            found.values.extend_from_slice(&values[..found.width]);
            found.found.push(Solution { ends, byte });
        }
    }
}
