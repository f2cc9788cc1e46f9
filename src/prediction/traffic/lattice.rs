//! Unions of boxes on the lattice that the strides of an allocation make.
//!
//! The starts of a family are taken apart into multiples of the strides and a rest, once for all unions of the same families.

use smallvec::SmallVec;

use super::carry::carry;
use super::sweep::{Counting, Sweep};

/// Rows that are told one by one, at most.
const MOST_ROWS: i64 = 1 << 13;
/// Lattices that are kept.
const KEPT: usize = 64;

/// By stride: first and last multiple.
pub(super) type Multiples = SmallVec<[(i64, (i64, i64)); 4]>;

/// The boxes of a family: one at each of its starts.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Number of the family.
    pub(super) family: usize,
    /// First and last byte, relative to the start.
    pub(super) bytes: (i64, i64),
    /// Ranges of multiples.
    pub(super) multiples: Multiples,
}

/// The starts of some families as multiples of some strides.
#[derive(Debug)]
struct Lattice {
    /// Largest first.
    strides: Vec<i64>,
    /// In the order in which they came.
    families: Vec<usize>,
    /// The start that the others are distances from.
    origin: i64,
    /// By family: of each start the multiples and the rest, by rising multiples.
    starts: Vec<Vec<i64>>,
}

/// Counts unions, and remembers what does not change from one to the next.
#[derive(Debug, Default)]
pub(super) struct Counter {
    known: Vec<Lattice>,
    sweep: Sweep,
}

impl Counter {
    /// Counts the pieces of `grain` bytes, a power of two, in a union, and says whether the strides leave it in doubt.
    /// `starts_of` gives the starts of a family.
    pub(super) fn measure<'a>(
        &mut self,
        pieces: &mut Vec<Piece>,
        starts_of: &dyn Fn(usize) -> &'a [i64],
        grain: i64,
        counting: Counting,
    ) -> (f64, bool) {
        let mut strides = strides_of(pieces);
        // Where strides are multiples of each other, what exceeds one is carried over to the next.
        let mut rough = false;
        if strides.windows(2).any(|pair| pair[0] % pair[1] != 0) {
            rough = told_apart(pieces, starts_of);
            strides = strides_of(pieces);
        }
        let mut families: SmallVec<[usize; 8]> = SmallVec::new();
        for piece in pieces.iter() {
            if !families.contains(&piece.family) {
                families.push(piece.family);
            }
        }
        if families.is_empty() {
            return (0.0, false);
        }
        let alike = |one: &Lattice| one.strides[..] == strides[..] && one.families[..] == families[..];
        let at = self.known.iter().position(alike).unwrap_or_else(|| {
            if self.known.len() == KEPT {
                self.known.clear();
            }
            self.known.push(Lattice::new(&strides, &families, starts_of));
            self.known.len() - 1
        });
        let lattice = &self.known[at];
        let levels = strides.len();
        let Sweep { bytes, multiples, .. } = &mut self.sweep;
        bytes.clear();
        multiples.clear();
        for piece in pieces.iter() {
            let number = lattice.families.iter().position(|family| *family == piece.family).unwrap_or(0);
            let mut ranges: SmallVec<[(i64, i64); 8]> = SmallVec::new();
            ranges.extend(strides.iter().map(|stride| {
                let own = piece.multiples.iter().find(|(own, _)| own == stride);
                own.map_or((0, 0), |(_, range)| *range)
            }));
            let mut last: &[i64] = &[];
            for start in lattice.starts[number].chunks_exact(levels + 1) {
                let (whole, rest) = (&start[..levels], start[levels]);
                let own = (rest + piece.bytes.0, rest + piece.bytes.1);
                // A stencil's neighbours along a row overlap with each other row by row.
                if let (false, Some(kept)) = (last.is_empty(), bytes.last_mut())
                    && last[..levels] == *whole
                    && own.0 <= kept.1 + 1
                {
                    kept.1 = kept.1.max(own.1);
                    continue;
                }
                last = start;
                bytes.push(own);
                multiples.extend(whole.iter().zip(&ranges).map(|(at, (low, high))| (at + low, at + high)));
            }
        }
        let unsure = carry(&lattice.strides, bytes, multiples);
        (self.sweep.measure(&lattice.strides, lattice.origin, grain, counting), rough || unsure)
    }
}

impl Lattice {
    fn new<'a>(strides: &[i64], families: &[usize], starts_of: &dyn Fn(usize) -> &'a [i64]) -> Lattice {
        // Starts are taken apart as distances from the one in the middle, a stencil's centre.
        let mut all: Vec<i64> = families.iter().flat_map(|&family| starts_of(family)).copied().collect();
        let middle = all.len() / 2;
        let origin = if all.is_empty() { 0 } else { *all.select_nth_unstable(middle).1 };
        let distances: Vec<i64> =
            families.iter().flat_map(|&family| starts_of(family)).map(|start| start - origin).collect();
        let mut apart = apart(&distances, strides).into_iter();
        let of = |&family: &usize| {
            let mut rows: Vec<Vec<i64>> = apart.by_ref().take(starts_of(family).len()).collect();
            rows.sort_unstable();
            rows.concat()
        };
        let starts = families.iter().map(of).collect();
        Lattice { strides: strides.to_vec(), families: families.to_vec(), origin, starts }
    }
}

/// The strides of some boxes, the largest first.
fn strides_of(pieces: &[Piece]) -> SmallVec<[i64; 8]> {
    let mut strides: SmallVec<[i64; 8]> = SmallVec::new();
    for (stride, _) in pieces.iter().flat_map(|piece| &piece.multiples) {
        if !strides.contains(stride) {
            strides.push(*stride);
        }
    }
    strides.sort_unstable_by_key(|stride| std::cmp::Reverse(*stride));
    strides
}

/// Where one box has whole planes as runs and another a part of some rows, tells the rows one by one; whether they are too many.
fn told_apart<'a>(pieces: &mut Vec<Piece>, starts_of: &dyn Fn(usize) -> &'a [i64]) -> bool {
    while let Some(stride) = pieces.iter().flat_map(|piece| piece.multiples.iter().map(|(stride, _)| *stride)).min() {
        if pieces.iter().all(|piece| piece.bytes.1 - piece.bytes.0 <= stride) {
            break;
        }
        let rows = |piece: &Piece| {
            let own = piece.multiples.iter().find(|(own, _)| *own == stride);
            own.map_or(1, |(_, (low, high))| high - low + 1) * starts_of(piece.family).len() as i64
        };
        if pieces.iter().map(rows).sum::<i64>() > MOST_ROWS {
            return true;
        }
        let apart = pieces.drain(..).flat_map(|mut piece| {
            let at = piece.multiples.iter().position(|(own, _)| *own == stride);
            let (low, high) = at.map_or((0, 0), |at| piece.multiples.remove(at).1);
            (low..=high).map(move |row| {
                let bytes = (piece.bytes.0 + row * stride, piece.bytes.1 + row * stride);
                Piece { family: piece.family, bytes, multiples: piece.multiples.clone() }
            })
        });
        *pieces = apart.collect();
    }
    false
}

/// Distances as multiples of the strides, and a rest behind them.
fn apart(distances: &[i64], strides: &[i64]) -> Vec<Vec<i64>> {
    let mut found: Vec<Vec<i64>> = vec![Vec::with_capacity(strides.len() + 1); distances.len()];
    let mut left = distances.to_vec();
    for &stride in strides {
        let before = rounding(&left, stride);
        for (left, found) in left.iter_mut().zip(&mut found) {
            let whole = (*left + before).div_euclid(stride);
            *left -= whole * stride;
            found.push(whole);
        }
    }
    found.iter_mut().zip(left).for_each(|(found, left)| found.push(left));
    found
}

/// How far before a multiple of a stride a start may be that belongs to it. Half of the stride, as what lies a little before a row belongs to it; but a quarter where starts lie about the middle, as those of every second
/// row, which would be one multiple or the next.
fn rounding(distances: &[i64], stride: i64) -> i64 {
    let from_middle = |distance: &i64| (distance + stride / 2).rem_euclid(stride);
    let near = stride / 16;
    let is_before = distances.iter().any(|distance| from_middle(distance) >= stride - near);
    let is_behind = distances.iter().any(|distance| from_middle(distance) < near);
    if is_before && is_behind { stride / 4 } else { stride / 2 }
}
