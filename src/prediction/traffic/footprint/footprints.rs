//! Counts the distinct sectors that ranges of blocks touch.
//!
//! The addresses of an access over a box of indices form a lattice: runs of bytes (the range that the smallest stride
//! covers without a gap) at multiples of larger strides. Accesses of one allocation share strides, such as the length
//! of a row and of a plane. Each access is therefore a box of that lattice, shifted by its constant. The union of boxes
//! is counted by sweeping one stride after the other ([`super::lattice`]). The cost does not depend on the size of the
//! boxes. Accesses that differ only in their constants form a family, whose box is computed once.

use smallvec::SmallVec;

use super::lattice::{Multiples, Piece, measure};
use crate::form::{Bounds, FIXED, Form, Index, THREADS, Truth};
use crate::traffic::access::MemoryAccess;

/// Distance in bytes from which two pieces are no longer treated as rows of one array.
const PAGE: i64 = 4096;
/// Maximum number of index values for which a condition is evaluated value by value.
const MOST_PARTIAL: i128 = 4;
/// How boxes are split: coarsely, if the footprint is one of many results, or finely, if it must be exact.
const COARSE: Splits = Splits { within: 2, strips: 16, boxes: usize::MAX };
const FINE: Splits = Splits { within: 3, strips: 1 << 11, boxes: 1 << 11 };

/// Parts of an index's range: the first and last value of each part.
type Ranges = SmallVec<[(i64, i64); 8]>;

/// Limits for splitting an access's indices if one box does not describe its footprint.
#[derive(Clone, Copy, Debug)]
struct Splits {
    /// Maximum depth of nested splits.
    within: u32,
    /// Maximum number of strips that a box is split into if more than a few index values matter.
    strips: i64,
    /// Number of boxes from which no further box is split.
    boxes: usize,
}

/// A box of `blockIdx`: the first and last value of each axis.
pub type Blocks = [(i64, i64); 3];

/// Accesses in one part of the code that differ only in their start addresses.
#[derive(Debug)]
pub struct Family {
    /// Number of the allocation.
    pub allocation: usize,
    /// The accesses load.
    pub loads: bool,
    /// The accesses store.
    pub stores: bool,
    /// The accesses need their data in L2: they are loads or atomic operations.
    pub reads: bool,
    bytes: u32,
    terms: Vec<(Index, i64)>,
    /// The absolute value of a factor, the index, and the factor, in ascending order of the absolute value.
    steps: Vec<(i64, Index, i64)>,
    condition: Truth,
    /// Forms that must all be at least 0, those with the fewest indices first; `None` if the condition has another
    /// shape.
    together: Option<Vec<Form>>,
    /// Start addresses in ascending order.
    starts: Vec<i64>,
}

/// The accesses of a launch, prepared for counting unions.
#[derive(Debug)]
pub struct Footprints<'a> {
    families: Vec<Family>,
    bounds: &'a Bounds,
}

/// Number of sectors in a union, and whether the count is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Union {
    /// Number of sectors.
    pub sectors: f64,
    /// The count is approximate: an edge was not cut, or lattices overlap in a way that the algorithm does not detect.
    pub rough: bool,
}

/// Indices that together step through memory by multiples of one stride, without a gap.
struct Merged {
    stride: i64,
    /// Number of steps after the first position.
    reach: i64,
    /// The condition that limits these indices, and the change of the condition per step.
    cut: Option<usize>,
    ratio: i64,
    range: (i64, i64),
}

/// Returns the boxes of `blockIdx` that a range of linear block numbers consists of.
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

impl<'a> Footprints<'a> {
    /// Creates a `Footprints` for accesses over the indices of a launch.
    pub fn new(accesses: &[MemoryAccess], bounds: &'a Bounds) -> Footprints<'a> {
        let mut families: Vec<Family> = Vec::new();
        for access in accesses {
            let alike = |one: &&mut Family| {
                (one.allocation, one.bytes, one.loads, one.stores, one.reads)
                    == (access.allocation, access.bytes, access.loads, access.stores, access.reads())
                    && one.terms == access.form.terms
                    && one.condition == access.condition
            };
            match families.iter_mut().find(alike) {
                Some(family) => family.starts.push(access.form.constant),
                None => families.extend(Family::new(access)),
            }
        }
        for family in &mut families {
            family.starts.sort_unstable();
            family.starts.dedup();
        }
        Footprints { families, bounds }
    }

    /// Returns the number of distinct pieces of `grain` bytes (a power of two) that the wanted accesses touch in ranges
    /// of blocks, summed over all allocations.
    pub fn union(&self, wanted: impl Fn(&Family) -> bool, boxes: &[Blocks], grain: i64) -> Union {
        self.counted(wanted, boxes, grain, COARSE)
    }

    /// Returns the number of pieces that all accesses touch. Edges, such as a triangle's, are cut as finely as needed,
    /// which takes longer.
    pub fn distinct(&self, boxes: &[Blocks], grain: i64) -> Union {
        let of = |splits| self.counted(|_| true, boxes, grain, splits);
        let found = of(COARSE);
        if found.rough { of(FINE) } else { found }
    }

    /// Counts the pieces of `grain` bytes of a union.
    fn counted(&self, wanted: impl Fn(&Family) -> bool, boxes: &[Blocks], grain: i64, splits: Splits) -> Union {
        let mut found = Union::default();
        let mut here = self.bounds.clone();
        // Unions are computed separately for each allocation.
        let mut pieces = Vec::new();
        for first in 0..self.families.len() {
            let allocation = self.families[first].allocation;
            if self.families[..first].iter().any(|family| family.allocation == allocation) {
                continue;
            }
            pieces.clear();
            let alike =
                self.families.iter().enumerate().skip(first).filter(|(_, family)| family.allocation == allocation);
            for (number, family) in alike {
                for ranges in boxes.iter().filter(|_| wanted(family)) {
                    here.0[THREADS..FIXED].copy_from_slice(ranges);
                    found.rough |= family.pieces(number, &mut here, grain, splits, &mut pieces);
                }
            }
            let (count, unsure) = measure(&mut pieces, &|number| &self.families[number].starts, grain);
            found.sectors += count;
            found.rough |= unsure;
        }
        found
    }
}

impl Family {
    /// Creates a `Family` for a first access; `None` if the absolute value of a factor does not fit into 64 bits.
    fn new(access: &MemoryAccess) -> Option<Family> {
        let step = |&(index, factor): &(Index, i64)| Some((factor.checked_abs()?, index, factor));
        let mut steps = access.form.terms.iter().map(step).collect::<Option<Vec<_>>>()?;
        steps.sort_unstable();
        let mut together = Some(Vec::new());
        conjuncts(&access.condition, &mut |part| match part {
            Truth::AtLeast(form) => together.iter_mut().for_each(|forms| forms.push(form.clone())),
            Truth::Known(true) => {}
            _ => together = None,
        });
        if let Some(forms) = &mut together {
            forms.sort_by_key(|form| form.terms.len());
        }
        Some(Family {
            allocation: access.allocation,
            loads: access.loads,
            stores: access.stores,
            reads: access.reads(),
            bytes: access.bytes,
            terms: access.form.terms.clone(),
            steps,
            condition: access.condition.clone(),
            together,
            starts: vec![access.form.constant],
        })
    }

    /// Adds the boxes that an access touches, and returns whether an edge was not cut. If one box is not enough, the
    /// outermost index is split. An example is the end of a tile whose rows are distributed over several indices.
    fn pieces(&self, number: usize, bounds: &mut Bounds, grain: i64, splits: Splits, found: &mut Vec<Piece>) -> bool {
        let Some((piece, edge)) = self.piece(number, bounds, grain) else { return false };
        let parts = match &edge {
            Edge::Cut => None,
            Edge::Left(Some(form)) if splits.within > 0 && found.len() < splits.boxes => {
                split(form, bounds).or_else(|| self.strips(form, bounds, splits.strips))
            }
            Edge::Left(_) => None,
        };
        let Some((index, parts)) = parts else {
            found.push(piece);
            return matches!(edge, Edge::Left(_));
        };
        let whole = bounds.range(index);
        let mut rough = false;
        for part in parts {
            bounds.0[index] = part;
            rough |= self.pieces(number, bounds, grain, Splits { within: splits.within - 1, ..splits }, found);
        }
        bounds.0[index] = whole;
        rough
    }

    /// Returns ranges of the index that moves the address of a form most. Each range leaves less of an edge uncut; for
    /// a triangle they are up to `most` strips of rows.
    fn strips(&self, form: &Form, bounds: &Bounds, most: i64) -> Option<(Index, Ranges)> {
        let is_free = |index: Index| form.factor(index) != 0 && bounds.extent(index) > 1;
        let &(_, index, _) = self.steps.iter().rev().find(|(_, index, _)| is_free(*index))?;
        let (low, high) = bounds.range(index);
        let each = (bounds.extent(index) + most - 1) / most;
        let firsts = (low..=high).step_by(each as usize);
        Some((index, firsts.map(|first| (first, (first + each - 1).min(high))).collect()))
    }

    /// Returns the box that an access touches, and whether all its edges were cut; `None` if the access touches
    /// nothing.
    fn piece(&self, number: usize, bounds: &Bounds, grain: i64) -> Option<(Piece, Edge)> {
        if bounds.0.iter().any(|(low, high)| low > high) {
            return None;
        }
        let mut edge = Edge::Cut;
        let other;
        // Conditions that are true in only a part of the box.
        let mut cuts: SmallVec<[&Form; 8]> = SmallVec::new();
        match &self.together {
            Some(forms) => {
                for form in forms {
                    match form.range(bounds) {
                        (low, _) if low >= 0 => {}
                        (_, high) if high < 0 => return None,
                        _ => cuts.push(form),
                    }
                }
            }
            None => {
                other = self.condition.within(bounds);
                if other == Truth::Known(false) {
                    return None;
                }
                conjuncts(&other, &mut |part| match part {
                    Truth::AtLeast(form) => cuts.push(form),
                    Truth::Known(true) => {}
                    _ => edge = Edge::Left(None),
                });
                // Conditions with few indices come first. Conditions with many indices, such as the edge of a triangle,
                // are not cut.
                cuts.sort_by_key(|form| form.terms.len());
            }
        }
        // Indices that appear in one condition are cut together. A row that is cut cannot merge into a plane.
        let mut merged: SmallVec<[Merged; 8]> = SmallVec::new();
        let mut members: SmallVec<[(Index, i64, usize); 8]> = SmallVec::new();
        for &(stride, index, factor) in &self.steps {
            let (low, high) = bounds.range(index);
            let cut = cuts.iter().position(|form| form.factor(index) != 0);
            // Indices that appear in a condition in another ratio, such as the rows of a triangle, form another
            // direction.
            let of_form = cut.map_or(0, |cut| cuts[cut].factor(index));
            let goes_along = |one: &Merged| one.ratio.checked_mul(factor / one.stride) == Some(of_form);
            let fits = |one: &Merged| {
                one.cut == cut && stride % one.stride == 0 && stride / one.stride <= one.reach + 1 && goes_along(one)
            };
            if let Some(at) = merged.iter().rposition(fits) {
                let one = &mut merged[at];
                let multiple = factor / one.stride;
                one.reach += multiple.abs() * (high - low);
                one.range.0 += (multiple * low).min(multiple * high);
                one.range.1 += (multiple * low).max(multiple * high);
                members.push((index, multiple, at));
            } else {
                let multiple = factor.signum();
                let range = ((multiple * low).min(multiple * high), (multiple * low).max(multiple * high));
                members.push((index, multiple, merged.len()));
                merged.push(Merged { stride, reach: high - low, cut, ratio: of_form.saturating_mul(multiple), range });
            }
        }
        for form in cuts {
            let found: SmallVec<[(usize, Ratio); 4]> =
                (0..merged.len()).filter_map(|at| Some((at, ratio(form, &members, at, bounds)?))).collect();
            let exact = found.iter().find(|(_, ratio)| ratio.is_exact);
            // If several directions decide together, each is cut where no values of the others satisfy the condition.
            for (at, ratio) in if let Some(one) = exact { std::slice::from_ref(one) } else { &found[..] } {
                let range = &mut merged[*at].range;
                ratio.cut(range);
                if range.0 > range.1 {
                    return None;
                }
            }
            if exact.is_none() {
                // Indices that do not move the address decide only whether an access occurs.
                let moves = |index: Index| self.steps.iter().any(|(_, own, _)| *own == index);
                if form.terms.iter().any(|(index, _)| moves(*index) && bounds.extent(*index) > 1) {
                    edge = Edge::Left(match edge {
                        Edge::Cut => Some(form.clone()),
                        Edge::Left(before) => before,
                    });
                }
            }
        }
        let mut bytes = (0, i64::from(self.bytes) - 1);
        let mut multiples = Multiples::new();
        // The smallest stride forms a contiguous run if no piece lies between two steps.
        for (number, one) in merged.into_iter().enumerate() {
            let near = grain >= PAGE && multiples.is_empty() && one.stride <= bytes.1 - bytes.0 + grain;
            if number == 0 && one.stride <= grain || one.stride <= bytes.1 - bytes.0 + 1 && multiples.is_empty() || near
            {
                bytes = (bytes.0 + one.stride * one.range.0, bytes.1 + one.stride * one.range.1);
            } else {
                multiples.push((one.stride, one.range));
            }
        }
        Some((Piece { family: number, bytes, multiples }, edge))
    }
}

/// Whether the box of an access ends exactly where the access's conditions end.
enum Edge {
    /// All conditions were applied.
    Cut,
    /// Some conditions were not applied; contains the first one that is an inequality.
    Left(Option<Form>),
}

/// Splits the range of the index that changes a form most. One range contains the values for which the form is never
/// negative; every other value, for which the remaining indices decide, becomes a range of its own. Returns `None` if
/// there are many such values.
fn split(form: &Form, bounds: &Bounds) -> Option<(Index, Ranges)> {
    let free = form.terms.iter().filter(|(index, _)| bounds.extent(*index) > 1);
    let &(index, factor) = free.max_by_key(|(_, factor)| factor.unsigned_abs())?;
    let (low, high) = bounds.range(index);
    let rest =
        Form { constant: form.constant, terms: form.terms.iter().filter(|term| term.0 != index).copied().collect() };
    let (least, most) = rest.range(bounds);
    let step = i128::from(factor.unsigned_abs());
    // Number of steps from the end with the greatest value over which the form's lower and upper bound stay above zero.
    let start = if factor > 0 { high } else { low };
    let steps =
        |rest: i128| (i128::from(factor) * i128::from(start) + rest).div_euclid(step).min(i128::from(high - low));
    let (whole, any) = (steps(least), steps(most));
    if any - whole.max(-1) > MOST_PARTIAL {
        return None;
    }
    let at = |steps: i128| start - factor.signum() * steps as i64;
    let mut parts = SmallVec::new();
    if whole >= 0 {
        parts.push((at(0).min(at(whole)), at(0).max(at(whole))));
    }
    parts.extend((whole.max(-1) + 1..=any).map(|steps| (at(steps), at(steps))));
    Some((index, parts))
}

/// Calls `visit` for each conjunct of a condition.
pub fn conjuncts<'a>(truth: &'a Truth, visit: &mut dyn FnMut(&'a Truth)) {
    match truth {
        Truth::All(parts) => parts.iter().for_each(|part| conjuncts(part, visit)),
        other => visit(other),
    }
}

/// A form over the steps of one group of indices: its value is at most `most` plus `each` per step.
struct Ratio {
    each: i64,
    most: i64,
    /// No other index changes the form, so the bound is exact.
    is_exact: bool,
}

impl Ratio {
    /// Keeps the steps at which the form may be at least 0.
    fn cut(&self, range: &mut (i64, i64)) {
        let &Ratio { each, most, .. } = self;
        if each > 0 {
            let least = (-most).div_euclid(each) + i64::from((-most).rem_euclid(each) != 0);
            range.0 = range.0.max(least);
        } else {
            range.1 = range.1.min(most.div_euclid(-each));
        }
    }
}

/// Returns the relation of a form to the steps of a group of indices; `None` if there is none.
fn ratio(form: &Form, members: &[(Index, i64, usize)], group: usize, bounds: &Bounds) -> Option<Ratio> {
    let own = || members.iter().filter(|(.., number)| *number == group);
    let &(first, multiple, _) = own().next()?;
    let factor = form.factor(first);
    if factor == 0 || factor % multiple != 0 {
        return None;
    }
    let each = factor / multiple;
    let (mut most, mut is_exact) = (form.constant, true);
    for &(index, factor) in &form.terms {
        match own().find(|(member, ..)| *member == index) {
            Some((_, multiple, _)) if factor == each * multiple => {}
            None => {
                let (low, high) = bounds.range(index);
                most = most.checked_add(factor.checked_mul(low)?.max(factor.checked_mul(high)?))?;
                is_exact &= low == high;
            }
            _ => return None,
        }
    }
    own().all(|(index, multiple, _)| form.factor(*index) == each * multiple).then_some(Ratio { each, most, is_exact })
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

    /// Returns an access that depends on `threadIdx` and `blockIdx`, with the given factors for the x, y and z index of
    /// threads.
    fn access(constant: i64, factors: [i64; 3], block: [i64; 3], bytes: u32, condition: Truth) -> MemoryAccess {
        let threads = (0..).zip(factors);
        let blocks = (THREADS..).zip(factors.iter().zip(block).map(|(factor, size)| factor * size));
        let terms = threads.chain(blocks).filter(|term| term.1 != 0).collect();
        MemoryAccess::load(Form { constant, terms }, condition, bytes)
    }

    fn sectors(accesses: &[MemoryAccess], block: [i64; 3], grid: [i64; 3], blocks: std::ops::Range<u64>) -> f64 {
        let more = [1; THREADS - 3];
        let bounds = Bounds(block.iter().chain(&more).chain(&grid).map(|size| (0, size - 1)).collect());
        let found = Footprints::new(accesses, &bounds).union(
            |_| true,
            &boxes(blocks.start, blocks.end, grid.map(|size| size as u32)),
            32,
        );
        assert!(!found.rough);
        found.sectors
    }

    /// Threads and copies of an access share the rows of a tile. The last tile has four of its 32 rows.
    #[test]
    fn tiles_end_where_the_array_does() {
        let rows_left = |first| Truth::AtLeast(Form { constant: 99 - first, terms: vec![(1, -1), (THREADS, -32)] });
        let rows = |first: i64| MemoryAccess {
            form: Form { constant: 128 * first, terms: vec![(0, 16), (1, 128), (THREADS, 32 * 128)] },
            ..access(0, [0; 3], [1; 3], 16, rows_left(first))
        };
        let tiles = [rows(0), rows(16)];
        assert_eq!(sectors(&tiles, [8, 16, 1], [4, 1, 1], 0..4), 100.0 * 4.0);
        assert_eq!(sectors(&tiles, [8, 16, 1], [4, 1, 1], 2..4), 36.0 * 4.0);
    }

    /// Each thread computes two rows and reads the rows before and after them, so rows are shared between threads.
    #[test]
    fn rows_of_several_points_are_the_same_rows() {
        let row = 4096;
        let point = |by: i64| access((1 << 24) + by, [4, 2 * row, 0], [32, 8, 1], 4, Truth::Known(true));
        let points: Vec<MemoryAccess> =
            [0, row].iter().flat_map(|own| [0, row + 4, -row - 4].map(|by| point(own + by))).collect();
        // The block reads its 16 rows and one row before and after them. The first two blocks lack the sector after a
        // row, the last two the sector before it.
        assert_eq!(sectors(&points, [32, 8, 1], [32, 16, 1], 40..41), 14.0 * 6.0 + 4.0 * 5.0);
    }

    /// Compulsory volumes that can be calculated by hand.
    #[test]
    fn volumes_are_those_of_closed_forms() {
        let always = || Truth::Known(true);
        // The blocks copy 256 floats, which are 32 sectors.
        let copy = [access(0, [4, 0, 0], [256, 1, 1], 4, always())];
        assert_eq!(sectors(&copy, [256, 1, 1], [64, 1, 1], 7..8), 32.0);
        assert_eq!(sectors(&copy, [256, 1, 1], [64, 1, 1], 3..24), 21.0 * 32.0);
        // A transpose reads a matrix of 1024 columns along y: 32 rows of 8 floats, each one sector.
        let transpose = [access(0, [4096, 4, 0], [32, 8, 1], 4, always())];
        assert_eq!(sectors(&transpose, [32, 8, 1], [32, 128, 1], 5..6), 32.0);
        // All blocks in a column of blocks read 1024 rows of one sector each.
        assert_eq!(sectors(&transpose, [32, 8, 1], [32, 128, 1], 0..32), 1024.0);
        // Reading one member of a 40-byte structure touches one sector per structure. With 24 bytes, every sector is
        // touched.
        let one = |bytes| [access(0, [bytes, 0, 0], [256, 1, 1], 4, always())];
        assert_eq!(sectors(&one(40), [256, 1, 1], [4, 1, 1], 0..1), 256.0);
        assert_eq!(sectors(&one(24), [256, 1, 1], [4, 1, 1], 0..1), 192.0);
        // A five-point stencil on a block of 32 x 8 floats touches eight rows with one more sector on each side, and a
        // row of four sectors above and below.
        let row = 4096;
        let plane: Vec<MemoryAccess> =
            [0, -4, 4, -row, row].map(|by| access((1 << 20) + by, [4, row, 0], [32, 8, 1], 4, always())).to_vec();
        assert_eq!(sectors(&plane, [32, 8, 1], [32, 16, 1], 40..41), 8.0 * 6.0 + 2.0 * 4.0);
        // A seven-point stencil on 64 x 20 x 10 doubles touches all rows except those at the edges of the box, each of
        // 16 sectors.
        let size = [64, 20, 10];
        let strides = [8, 8 * 64, 8 * 64 * 20];
        let block = [16, 4, 2];
        let inside = (0..3).flat_map(|axis| {
            let form = |sign: i64, constant| Form {
                constant,
                terms: vec![(axis, sign), (THREADS + axis, sign * block[axis])],
            };
            [Truth::AtLeast(form(1, -1)), Truth::AtLeast(form(-1, size[axis] - 2))]
        });
        let inside = Truth::All(inside.collect());
        let around = strides.iter().flat_map(|stride| [*stride, -stride]).chain([0]);
        let stencil: Vec<MemoryAccess> =
            around.map(|by| access((1 << 20) + by, strides, block, 8, inside.clone())).collect();
        let rows = 18 * 8 + 2 * 18 + 2 * 8;
        assert_eq!(sectors(&stencil, block, [4, 5, 5], 0..100), f64::from(16 * rows));
    }

    /// Generates the accesses of stencils: constants are a few elements, rows and planes apart.
    fn accesses() -> impl Strategy<Value = (Vec<MemoryAccess>, Bounds)> {
        let shape = (1i64..9, 1i64..5, 1i64..4, 1i64..4, 1i64..4, 1i64..3);
        let array = (0i64..24, 0i64..3, prop_oneof![Just(4i64), Just(8)], 0i64..2);
        let far = prop::collection::vec((-3i64..4, -2i64..3, -2i64..3, any::<bool>()), 1..6);
        (shape, array, far, 0i64..3).prop_map(|(shape, (pad, more, bytes, skew), far, edge)| {
            let (tx, ty, tz, bx, by, bz) = shape;
            let (width, height) = (tx * bx, ty * by);
            // Rows start anywhere in a sector, and are so far apart that halos do not overlap.
            let row = bytes * (width + 16 + pad);
            let plane = row * (height + 12 + more) + bytes * more;
            let form = |x: i64, y: i64, z: i64| Form {
                constant: 4096 * 64 + 4 * skew * bytes + bytes * x + row * y + plane * z,
                terms: [(0, bytes), (1, row), (2, plane)]
                    .into_iter()
                    .chain((THREADS..).zip([bytes * tx, row * ty, plane * tz]))
                    .collect(),
            };
            let inside = Form { constant: width - 1 - edge, terms: vec![(0, -1), (THREADS, -tx)] };
            let accesses = far.into_iter().map(|(x, y, z, guarded)| {
                let condition = if guarded { Truth::AtLeast(inside.clone()) } else { Truth::Known(true) };
                MemoryAccess::load(form(x, y, z), condition, bytes as u32)
            });
            let extents = [tx, ty, tz].into_iter().chain([1; THREADS - 3]).chain([bx, by, bz]);
            let bounds = extents.map(|extent| (0, extent - 1)).collect();
            (accesses.collect(), Bounds(bounds))
        })
    }

    proptest! {
        /// Compares unions with a set that contains every byte of every thread.
        #[test]
        fn unions_are_those_of_all_threads((accesses, bounds) in accesses(), from in 0u64..27, count in 1u64..27) {
            let sizes: Vec<i64> = (0..FIXED).map(|index| bounds.extent(index)).collect();
            let grid = [0, 1, 2].map(|axis| sizes[THREADS + axis] as u32);
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
                        let at: Vec<(i64, i64)> = thread.into_iter().chain([0; THREADS - 3]).chain(block.map(|at| at as i64)).map(|at| (at, at)).collect();
                        let at = Bounds(at);
                        for access in accesses.iter().filter(|access| access.condition.over(&at) == Some(true)) {
                            let start = access.form.range(&at).0 as i64;
                            want.extend(start / grain..=(start + i64::from(access.bytes) - 1) / grain);
                        }
                    }
                }
                let got = Footprints::new(&accesses, &bounds).union(|_| true, &boxes(first, end, grid), grain);
                prop_assert!(!got.rough);
                prop_assert_eq!(got.sectors, want.len() as f64);
            }
        }
    }
}
