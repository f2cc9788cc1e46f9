//! Gives each position of a lattice one unique representation.
//!
//! If one stride is a multiple of the next smaller one (rows and every second row, for example), a position has several
//! representations: one multiple of the larger stride equals several multiples of the smaller one. Boxes in different
//! representations would be counted as different positions. Multiples of the smaller stride that exceed the larger
//! stride are therefore carried over to it, like digits of a number.

use smallvec::SmallVec;

use crate::form::gcd;

/// First and last value of a range.
type Range = (i64, i64);

/// Converts boxes to unique representations. Each box has a range of bytes and ranges of multiples of all strides, the
/// largest stride first. A box is split if it needs several ranges. Returns whether positions may still have two
/// representations because the strides are not multiples of each other.
pub(super) fn carry(strides: &[i64], bytes: &mut Vec<Range>, multiples: &mut Vec<Range>) -> bool {
    let mut boxes = Boxes { levels: strides.len(), bytes, multiples };
    let mut rough = false;
    // Bytes are the finest level.
    for fine in (1..=strides.len()).rev() {
        let (large, small) = (strides[fine - 1], strides.get(fine).copied().unwrap_or(1));
        let (least, most) = boxes.extent(fine);
        let exceeds = match fine == strides.len() {
            // A run of bytes is carried into rows if it is longer than a row or starts in a later row. Halos of
            // neighbours extend beyond one row.
            true => boxes.bytes.iter().any(|(low, high)| high - low >= large || low - least >= large),
            false => most - least >= large / small,
        };
        if !exceeds {
            continue;
        }
        if large % small != 0 {
            // Two positions coincide where multiples of the two strides are equal.
            let common = gcd(large as u64, small as u64) as i64;
            let (begin, end) = boxes.extent(fine - 1);
            rough |= most - least >= large / common && end - begin >= small / common;
            continue;
        }
        let digits = Digits { each: large / small, least };
        for cell in 0..boxes.bytes.len() {
            let [first, others @ ..] = digits.parts(*boxes.range(cell, fine - 1), *boxes.range(cell, fine));
            let added =
                others.into_iter().flatten().map(|ranges| (boxes.copy(cell), ranges)).collect::<SmallVec<[_; 2]>>();
            for (at, (coarse_range, fine_range)) in first.map(|ranges| (cell, ranges)).into_iter().chain(added) {
                *boxes.range(at, fine - 1) = coarse_range;
                *boxes.range(at, fine) = fine_range;
            }
        }
    }
    rough
}

/// Boxes with a range at each level: multiples of each stride, then bytes.
struct Boxes<'a> {
    levels: usize,
    bytes: &'a mut Vec<Range>,
    multiples: &'a mut Vec<Range>,
}

impl Boxes<'_> {
    fn range(&mut self, cell: usize, level: usize) -> &mut Range {
        match level == self.levels {
            true => &mut self.bytes[cell],
            false => &mut self.multiples[cell * self.levels + level],
        }
    }

    /// Returns the smallest and the largest value of all ranges at a level.
    fn extent(&self, level: usize) -> Range {
        let join = |all: Option<Range>, one: &Range| Some(all.map_or(*one, |all| (all.0.min(one.0), all.1.max(one.1))));
        let found = match level == self.levels {
            true => self.bytes.iter().fold(None, join),
            false => self.multiples.iter().skip(level).step_by(self.levels).fold(None, join),
        };
        found.unwrap_or((0, 0))
    }

    /// Adds a copy of an existing box and returns its number.
    fn copy(&mut self, cell: usize) -> usize {
        self.bytes.push(self.bytes[cell]);
        self.multiples.extend_from_within(cell * self.levels..(cell + 1) * self.levels);
        self.bytes.len() - 1
    }
}

/// Multiples of a stride, counted from `least`. `each` of them equal one multiple of the next larger stride.
struct Digits {
    each: i64,
    least: i64,
}

impl Digits {
    /// Returns up to three boxes that cover the given ranges of multiples of the larger and the smaller stride. The
    /// first box always exists.
    fn parts(&self, coarse: Range, fine: Range) -> [Option<(Range, Range)>; 3] {
        let &Digits { each, least } = self;
        let (first, last) = (fine.0 - least, fine.1 - least);
        let digit = |low: i64, high: i64| (least + low, least + high);
        if coarse.0 != coarse.1 && last - first + 1 < each {
            // The range lies in one multiple of the larger stride, or covers the end of one and the start of the next.
            let over = first.div_euclid(each);
            let (first, last) = (first - over * each, last - over * each);
            let here = (coarse.0 + over, coarse.1 + over);
            return match last < each {
                true => [Some((here, digit(first, last))), None, None],
                false => {
                    let next = (here.0 + 1, here.1 + 1);
                    [Some((here, digit(first, each - 1))), Some((next, digit(0, last - each))), None]
                }
            };
        }
        // The range covers all positions between the first and the last one.
        let (first, last) = (coarse.0 * each + first, coarse.1 * each + last);
        let (from, to) = (first.div_euclid(each), last.div_euclid(each));
        let (begin, end) = (first.rem_euclid(each), last.rem_euclid(each));
        if from == to {
            return [Some(((from, from), digit(begin, end))), None, None];
        }
        let whole = (from + i64::from(begin > 0), to - i64::from(end < each - 1));
        let mut found = [
            (begin > 0).then(|| ((from, from), digit(begin, each - 1))),
            (whole.0 <= whole.1).then(|| (whole, digit(0, each - 1))),
            (end < each - 1).then(|| ((to, to), digit(0, end))),
        ];
        found.sort_by_key(Option::is_none);
        found
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn places(strides: &[i64], multiples: &[Range]) -> Vec<i64> {
        let (Some((&stride, rest)), Some((&(low, high), others))) = (strides.split_first(), multiples.split_first())
        else {
            return vec![0];
        };
        let inner = places(rest, others);
        (low..=high).flat_map(|at| inner.iter().map(move |place| at * stride + place)).collect()
    }

    proptest! {
        #[test]
        fn boxes_stay_where_they_are_and_are_written_in_one_way(
            factors in prop::collection::vec(1i64..5, 1..3),
            boxes in prop::collection::vec(prop::collection::vec((-4i64..12, 0i64..9), 3), 1..5),
            long in 1i64..9,
        ) {
            let mut strides = vec![4];
            factors.iter().for_each(|factor| strides.push(strides[strides.len() - 1] * (factor + 1)));
            strides.reverse();
            let levels = strides.len();
            let ranges = boxes.iter().flat_map(|one| one[..levels].iter().map(|(low, size)| (*low, low + size)));
            let mut multiples: Vec<Range> = ranges.collect();
            // Some runs of bytes are longer than a row of four bytes.
            let mut bytes: Vec<Range> = boxes.iter().map(|one| (one[0].1 % 3, one[0].1 % 3 + one[1].1 % long)).collect();
            let all = |bytes: &[Range], multiples: &[Range]| -> BTreeSet<i64> {
                let each = multiples.chunks(levels).zip(bytes);
                each.flat_map(|(one, run)| places(&strides, one).into_iter().flat_map(move |at| (run.0..=run.1).map(move |byte| at + byte))).collect()
            };
            let least = bytes.iter().map(|run| run.0).min().unwrap_or(0);
            let is_in_one_way = bytes.iter().any(|run| run.1 - run.0 >= 4 || run.0 - least >= 4)
                || bytes.iter().all(|run| run.1 - least < 4);
            let before = all(&bytes, &multiples);
            prop_assert!(!carry(&strides, &mut bytes, &mut multiples));
            prop_assert_eq!(&before, &all(&bytes, &multiples));
            prop_assert_eq!(bytes.len() * levels, multiples.len());
            // Representations are unique unless runs extend a little into the next row, so each position is counted
            // once.
            if !is_in_one_way {
                return Ok(());
            }
            let written: BTreeSet<Vec<i64>> = multiples.chunks(levels).zip(&bytes).flat_map(|(one, run)| {
                let mut ways = vec![Vec::new()];
                for &(low, high) in one.iter().chain([run]) {
                    ways = ways.iter().flat_map(|way| (low..=high).map(move |at| {
                        let mut next: Vec<i64> = way.clone();
                        next.push(at);
                        next
                    })).collect();
                }
                ways
            }).collect();
            prop_assert_eq!(written.len(), before.len());
        }
    }

    #[test]
    fn strides_that_are_no_multiples_are_told() {
        let of = |first: Range, second: Range| {
            let mut multiples = vec![first, (0, 0), (0, 0), second];
            carry(&[24, 16], &mut vec![(0, 3); 2], &mut multiples)
        };
        assert!(of((0, 9), (0, 9)));
        // No position is three times sixteen bytes away.
        assert!(!of((0, 9), (0, 1)) && !of((0, 1), (0, 9)));
    }
}
