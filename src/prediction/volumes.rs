//! Distinct sectors that runs of blocks touch.
//!
//! The addresses of an access over a box of indices are a lattice: runs of bytes (what the smallest stride covers without a
//! gap) at multiples of larger strides. Accesses of one allocation share strides, a row's and a plane's length for instance,
//! so each is a box of that lattice, moved by its constant. The union of boxes is counted by sweeping, one stride after
//! the other; its cost does not depend on how large the boxes are.

use super::count::gcd;
use super::form::{Bounds, Form, Index, Truth};

/// Rows that are told one by one, at most.
const MOST_ROWS: i64 = 1 << 13;
/// Pieces from which a distance of rows is no distance.
const PAGE: i64 = 4096;

/// An access whose address is affine.
#[derive(Clone, Debug)]
pub struct Affine {
    /// Its address.
    pub form: Form,
    /// Where it happens.
    pub condition: Truth,
    /// Bytes per lane.
    pub bytes: u32,
    /// Number of the allocation that it leads into, counted in some way: unions are taken within one.
    pub allocation: usize,
    /// It loads.
    pub loads: bool,
    /// It stores.
    pub stores: bool,
}

/// A box of a lattice: an interval of bytes at each of a range of multiples of the strides.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    /// The address at which all indices are 0.
    constant: i64,
    /// First and last byte, relative to the constant.
    bytes: (i64, i64),
    /// By stride: first and last multiple.
    multiples: Vec<(i64, (i64, i64))>,
}

/// Indices that together step through memory by multiples of one stride, without a gap.
struct Merged {
    stride: i64,
    /// Steps beyond the first.
    reach: i64,
    members: Vec<(Index, i64)>,
    range: (i64, i64),
}

/// Sectors of a union, and whether the count is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Union {
    /// How many.
    pub sectors: f64,
    /// Some edge was not cut, or lattices overlap in a way that is not seen.
    pub rough: bool,
}

/// Boxes of `blockIdx` that a run of linear block numbers consists of.
pub fn boxes(first: u64, end: u64, grid: [u32; 3]) -> Vec<[(i64, i64); 3]> {
    let [width, height, _] = grid.map(u64::from);
    let plane = width * height;
    let mut found = Vec::new();
    let mut at = first;
    while at < end {
        let (x, y, z) = (at % width, at / width % height, at / plane);
        let left = end - at;
        let ranges = if x == 0 && y == 0 && left >= plane {
            let planes = left / plane;
            at += planes * plane;
            [(0, width - 1), (0, height - 1), (z, z + planes - 1)]
        } else if x == 0 && left >= width {
            let rows = (left / width).min(height - y);
            at += rows * width;
            [(0, width - 1), (y, y + rows - 1), (z, z)]
        } else {
            let blocks = left.min(width - x);
            at += blocks;
            [(x, x + blocks - 1), (y, y), (z, z)]
        };
        found.push(ranges.map(|(low, high)| (low as i64, high as i64)));
    }
    found
}

/// Distinct pieces of `grain` bytes that accesses touch in a run of blocks, all allocations together.
pub fn union<'a>(
    accesses: impl Iterator<Item = &'a Affine>,
    bounds: &Bounds,
    boxes: &[[(i64, i64); 3]],
    grain: i64,
) -> Union {
    union_of(accesses.map(|access| (access, boxes)), bounds, grain)
}

/// As [`union`], each access in blocks of its own.
pub fn union_of<'a>(
    accesses: impl Iterator<Item = (&'a Affine, &'a [[(i64, i64); 3]])>,
    bounds: &Bounds,
    grain: i64,
) -> Union {
    let mut by_allocation: Vec<(usize, Vec<Piece>)> = Vec::new();
    let mut rough = false;
    let mut here = bounds.clone();
    for (access, boxes) in accesses {
        for ranges in boxes {
            here.0[3..6].copy_from_slice(ranges);
            let Some((piece, unsure)) = piece(access, &here, grain) else { continue };
            rough |= unsure;
            match by_allocation.iter_mut().find(|(known, _)| *known == access.allocation) {
                Some((_, pieces)) => pieces.push(piece),
                None => by_allocation.push((access.allocation, vec![piece])),
            }
        }
    }
    let mut sectors = 0.0;
    for (_, pieces) in by_allocation {
        let (count, unsure) = measure(pieces, grain);
        sectors += count;
        rough |= unsure;
    }
    Union { sectors, rough }
}

/// The box that an access touches, and whether some edge was not cut; `None` where it touches nothing.
fn piece(access: &Affine, bounds: &Bounds, grain: i64) -> Option<(Piece, bool)> {
    let condition = access.condition.within(bounds);
    if condition == Truth::Known(false) || bounds.0.iter().any(|(low, high)| low > high) {
        return None;
    }
    let step = |&(index, factor): &(Index, i64)| Some((factor.checked_abs()?, index, factor));
    let mut steps = access.form.terms.iter().map(step).collect::<Option<Vec<(i64, Index, i64)>>>()?;
    steps.sort_unstable();
    // Indices that a condition takes together are cut together: a row that is cut does not merge into a plane.
    let mut together: Vec<&Form> = Vec::new();
    conjuncts(&condition, &mut |part| {
        if let Truth::AtLeast(form) = part {
            together.push(form);
        }
    });
    // Those of few indices first: what takes many, as a triangle's edge does, is not cut.
    together.sort_by_key(|form| form.terms.len());
    let cut_by = |index: Index| together.iter().position(|form| form.factor(index) != 0);
    let mut merged: Vec<Merged> = Vec::new();
    for (stride, index, factor) in steps {
        let (low, high) = bounds.of(index);
        let own = cut_by(index);
        let fits = |one: &Merged| {
            let alike = one.members.iter().all(|(member, _)| cut_by(*member) == own);
            alike && stride % one.stride == 0 && stride / one.stride <= one.reach + 1
        };
        let multiple = match merged.iter_mut().rev().find(|one| fits(one)) {
            Some(one) => {
                let multiple = factor / one.stride;
                one.reach += multiple.abs() * (high - low);
                one.members.push((index, multiple));
                one.range.0 += (multiple * low).min(multiple * high);
                one.range.1 += (multiple * low).max(multiple * high);
                continue;
            }
            None => factor.signum(),
        };
        let range = ((multiple * low).min(multiple * high), (multiple * low).max(multiple * high));
        merged.push(Merged { stride, reach: high - low, members: vec![(index, multiple)], range });
    }
    let mut rough = false;
    let mut empty = false;
    conjuncts(&condition, &mut |part| {
        let Truth::AtLeast(form) = part else {
            rough |= *part != Truth::Known(true);
            return;
        };
        match merged.iter_mut().find_map(|one| ratio(form, &one.members, bounds).map(|ratio| (one, ratio))) {
            Some((one, (ratio, constant))) if ratio > 0 => {
                one.range.0 =
                    one.range.0.max((-constant).div_euclid(ratio) + i64::from((-constant).rem_euclid(ratio) != 0));
                empty |= one.range.0 > one.range.1;
            }
            Some((one, (ratio, constant))) => {
                one.range.1 = one.range.1.min(constant.div_euclid(-ratio));
                empty |= one.range.0 > one.range.1;
            }
            // What the address does not change with decides whether there is an access, not where.
            None => {
                rough |=
                    form.terms.iter().any(|(index, _)| access.form.factor(*index) != 0 && bounds.extent(*index) > 1);
            }
        }
    });
    if empty {
        return None;
    }
    let mut bytes = (0, i64::from(access.bytes) - 1);
    let mut multiples = Vec::new();
    // The smallest stride fills a run where no piece lies between two steps.
    for (number, one) in merged.into_iter().enumerate() {
        let near = grain >= PAGE && multiples.is_empty() && one.stride <= bytes.1 - bytes.0 + grain;
        if number == 0 && one.stride <= grain || near {
            bytes = (bytes.0 + one.stride * one.range.0, bytes.1 + one.stride * one.range.1);
        } else {
            multiples.push((one.stride, one.range));
        }
    }
    Some((Piece { constant: access.form.constant, bytes, multiples }, rough))
}

/// Calls `visit` for each of the conditions that have to hold together.
fn conjuncts<'a>(truth: &'a Truth, visit: &mut dyn FnMut(&'a Truth)) {
    match truth {
        Truth::All(parts) => parts.iter().for_each(|part| conjuncts(part, visit)),
        other => visit(other),
    }
}

/// `r` and `c` where a form is `c + r` times the steps that indices make together.
fn ratio(form: &Form, members: &[(Index, i64)], bounds: &Bounds) -> Option<(i64, i64)> {
    let (first, multiple) = *members.first()?;
    let factor = form.factor(first);
    if factor == 0 || factor % multiple != 0 {
        return None;
    }
    let ratio = factor / multiple;
    let mut constant = form.constant;
    for &(index, factor) in &form.terms {
        match members.iter().find(|(member, _)| *member == index) {
            Some((_, multiple)) if factor == ratio * multiple => {}
            None if bounds.extent(index) == 1 => constant += factor * bounds.of(index).0,
            _ => return None,
        }
    }
    let all = members.iter().all(|(index, multiple)| form.factor(*index) == ratio * multiple);
    all.then_some((ratio, constant))
}

/// A box in the strides of all boxes.
struct Cell {
    bytes: (i64, i64),
    multiples: Vec<(i64, i64)>,
}

/// Counts the pieces of `grain` bytes in a union, and says whether the strides leave it in doubt.
fn measure(mut pieces: Vec<Piece>, grain: i64) -> (f64, bool) {
    let mut rough = false;
    // Where one box has whole planes as runs and another a part of some rows, the rows are told one by one.
    while let Some(stride) = pieces.iter().flat_map(|piece| piece.multiples.iter().map(|(stride, _)| *stride)).min() {
        if pieces.iter().all(|piece| piece.bytes.1 - piece.bytes.0 <= stride) {
            break;
        }
        let rows = |piece: &Piece| {
            piece.multiples.iter().find(|(own, _)| *own == stride).map_or(1, |(_, (low, high))| high - low + 1)
        };
        if pieces.iter().map(rows).sum::<i64>() > MOST_ROWS {
            rough = true;
            break;
        }
        let apart = pieces.into_iter().flat_map(|mut piece| {
            let at = piece.multiples.iter().position(|(own, _)| *own == stride);
            let (low, high) = at.map_or((0, 0), |at| piece.multiples.remove(at).1);
            (low..=high).map(move |row| {
                let bytes = (piece.bytes.0 + row * stride, piece.bytes.1 + row * stride);
                Piece { constant: piece.constant, bytes, multiples: piece.multiples.clone() }
            })
        });
        pieces = apart.collect();
    }
    let mut strides: Vec<i64> =
        pieces.iter().flat_map(|piece| piece.multiples.iter().map(|(stride, _)| *stride)).collect();
    strides.sort_unstable_by_key(|stride| std::cmp::Reverse(*stride));
    strides.dedup();
    // Constants are taken apart as distances from the one in the middle, a stencil's centre.
    let mut starts: Vec<i64> = pieces.iter().map(|piece| piece.constant).collect();
    starts.sort_unstable();
    let Some(&origin) = starts.get(starts.len() / 2) else { return (0.0, false) };
    let mut cells: Vec<Cell> = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        let mut start = piece.constant - origin;
        let multiples: Vec<(i64, i64)> = strides
            .iter()
            .map(|&stride| {
                // The nearest multiple: what lies a little before a row belongs to it.
                let whole = (start + stride / 2).div_euclid(stride);
                start -= whole * stride;
                let range = piece.multiples.iter().find(|(own, _)| *own == stride).map_or((0, 0), |(_, range)| *range);
                (whole + range.0, whole + range.1)
            })
            .collect();
        cells.push(Cell { bytes: (start + piece.bytes.0, start + piece.bytes.1), multiples });
    }
    // A stencil's neighbours along a row overlap with each other row by row.
    cells.sort_unstable_by(|one, other| (&one.multiples, one.bytes).cmp(&(&other.multiples, other.bytes)));
    cells.dedup_by(|next, kept| {
        let touch = next.multiples == kept.multiples && next.bytes.0 <= kept.bytes.1 + 1;
        if touch {
            kept.bytes.1 = kept.bytes.1.max(next.bytes.1);
        }
        touch
    });
    // Pieces that lie in one sector whatever the row are counted where they lie; else in the mean over where rows start.
    let step = strides.iter().fold(grain as u64, |step, &stride| gcd(step, stride as u64)) as i64;
    let phases: Vec<i64> = if step == grain {
        vec![origin.rem_euclid(grain)]
    } else {
        (0..grain / step).map(|at| at * step + origin.rem_euclid(step)).collect()
    };
    let all: Vec<usize> = (0..cells.len()).collect();
    let sweep = Sweep { cells: &cells, strides: &strides, phases: &phases, grain };
    (sweep.measure(&all, 0), rough)
}

/// Counts a union of boxes.
struct Sweep<'a> {
    cells: &'a [Cell],
    /// Largest first.
    strides: &'a [i64],
    /// Where in a piece the runs may start.
    phases: &'a [i64],
    grain: i64,
}

impl Sweep<'_> {
    /// The measure of the union of some boxes from a stride on.
    fn measure(&self, active: &[usize], level: usize) -> f64 {
        let Some(&stride) = self.strides.get(level) else {
            let mut list: Vec<(i64, i64)> = active.iter().map(|&cell| self.cells[cell].bytes).collect();
            return covered(&mut list, self.phases, self.grain);
        };
        let mut borders: Vec<i64> = active
            .iter()
            .flat_map(|&cell| {
                let (low, high) = self.cells[cell].multiples[level];
                [low, high + 1]
            })
            .collect();
        borders.sort_unstable();
        borders.dedup();
        let mut sum = 0.0;
        let mut last: (Vec<usize>, f64, f64) = (Vec::new(), 0.0, 0.0);
        for pair in borders.windows(2) {
            let inside: Vec<usize> = active
                .iter()
                .copied()
                .filter(|&cell| {
                    let (low, high) = self.cells[cell].multiples[level];
                    low <= pair[0] && pair[0] <= high
                })
                .collect();
            if inside.is_empty() {
                continue;
            }
            if inside != last.0 {
                let each = self.measure(&inside, level + 1);
                let shared = if level + 1 == self.strides.len() { self.shared(&inside, stride) } else { 0.0 };
                last = (inside, each, shared);
            }
            let rows = (pair[1] - pair[0]) as f64;
            sum += last.1 * rows - last.2 * (rows - 1.0);
        }
        sum
    }

    /// Pieces that the end of a row and the start of the next one have in common.
    fn shared(&self, active: &[usize], stride: i64) -> f64 {
        let low = active.iter().map(|&cell| self.cells[cell].bytes.0).min().unwrap_or(0);
        let high = active.iter().map(|&cell| self.cells[cell].bytes.1).max().unwrap_or(0);
        let same =
            |phase: &&i64| (high + **phase).div_euclid(self.grain) >= (low + stride + **phase).div_euclid(self.grain);
        self.phases.iter().filter(same).count() as f64 / self.phases.len().max(1) as f64
    }
}

/// Pieces of `grain` bytes that intervals of bytes touch, in the mean over where they may start.
fn covered(list: &mut [(i64, i64)], phases: &[i64], grain: i64) -> f64 {
    list.sort_unstable();
    let mut sum = 0i64;
    for &phase in phases {
        let mut last = i64::MIN;
        for &(low, high) in list.iter() {
            let (from, to) = ((low + phase).div_euclid(grain), (high + phase).div_euclid(grain));
            let from = from.max(last.saturating_add(1));
            if to >= from {
                sum += to - from + 1;
                last = to;
            }
        }
    }
    sum as f64 / phases.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn runs_of_blocks_are_boxes() {
        let grid = [3, 4, 5];
        for first in 0..60u64 {
            for end in first..=60 {
                let found = boxes(first, end, grid);
                assert!(found.len() <= 5, "{first} {end} {found:?}");
                let mut all: Vec<i64> = Vec::new();
                for [x, y, z] in found {
                    for at in z.0..=z.1 {
                        for row in y.0..=y.1 {
                            all.extend((x.0..=x.1).map(|column| column + 3 * (row + 4 * at)));
                        }
                    }
                }
                assert_eq!(all, (first as i64..end as i64).collect::<Vec<_>>());
            }
        }
    }

    /// Accesses of stencils: rows and planes of an array, constants a few elements, rows and planes away.
    fn accesses() -> impl Strategy<Value = (Vec<Affine>, Bounds)> {
        let shape = (1i64..9, 1i64..5, 1i64..4, 1i64..4, 1i64..4, 1i64..3);
        let array = (0i64..4, 0i64..3, prop_oneof![Just(4i64), Just(8)], 0i64..2);
        let far = prop::collection::vec((-3i64..4, -2i64..3, -2i64..3, any::<bool>()), 1..6);
        (shape, array, far, 0i64..3).prop_map(|(shape, (pad, more, bytes, skew), far, edge)| {
            let (tx, ty, tz, bx, by, bz) = shape;
            let (width, height) = (tx * bx, ty * by);
            // A whole number of sectors to a row, so that each count is exact; far enough apart that halos are not shared.
            let row = (bytes * (width + 8) + 32 * pad + 31) / 32 * 32 + 32;
            let plane = row * (height + 12 + more);
            let form = |x: i64, y: i64, z: i64| Form {
                constant: 4096 * 64 + 4 * skew * bytes + bytes * x + row * y + plane * z,
                terms: vec![(0, bytes), (1, row), (2, plane), (3, bytes * tx), (4, row * ty), (5, plane * tz)],
            };
            let inside = Form { constant: width - 1 - edge, terms: vec![(0, -1), (3, -tx)] };
            let accesses = far.into_iter().map(|(x, y, z, guarded)| Affine {
                form: form(x, y, z),
                condition: if guarded { Truth::AtLeast(inside.clone()) } else { Truth::Known(true) },
                bytes: bytes as u32,
                allocation: 0,
                loads: true,
                stores: false,
            });
            let bounds = [tx, ty, tz, bx, by, bz].map(|extent| (0, extent - 1)).to_vec();
            (accesses.collect(), Bounds(bounds))
        })
    }

    proptest! {
        /// Against a set that every thread's every byte goes into.
        #[test]
        fn unions_are_those_of_all_threads((accesses, bounds) in accesses(), from in 0u64..27, count in 1u64..27) {
            let sizes: Vec<i64> = (0..6).map(|index| bounds.extent(index)).collect();
            let grid = [sizes[3] as u32, sizes[4] as u32, sizes[5] as u32];
            let blocks: u64 = grid.iter().map(|&size| u64::from(size)).product();
            let first = from % blocks;
            let end = (first + count).min(blocks);
            for grain in [32, 128] {
                let mut want = BTreeSet::new();
                for block in first..end {
                    let [x, y, _] = grid.map(u64::from);
                    let block = [block % x, block / x % y, block / x / y];
                    for thread in 0..sizes[0] * sizes[1] * sizes[2] {
                        let thread = [thread % sizes[0], thread / sizes[0] % sizes[1], thread / sizes[0] / sizes[1]];
                        let at: Vec<(i64, i64)> = thread.into_iter().chain(block.map(|at| at as i64)).map(|at| (at, at)).collect();
                        let at = Bounds(at);
                        for access in accesses.iter().filter(|access| access.condition.over(&at) == Some(true)) {
                            let start = access.form.range(&at).0 as i64;
                            want.extend(start / grain..=(start + i64::from(access.bytes) - 1) / grain);
                        }
                    }
                }
                let got = union(accesses.iter(), &bounds, &boxes(first, end, grid), grain);
                if grain == 32 {
                    prop_assert!(!got.rough);
                    prop_assert_eq!(got.sectors, want.len() as f64);
                } else {
                    // Rows of a multiple of 32 bytes start anywhere in a line.
                    let rows = 200.0;
                    prop_assert!((got.sectors - want.len() as f64).abs() <= rows, "{} {}", got.sectors, want.len());
                }
            }
        }
    }
}
