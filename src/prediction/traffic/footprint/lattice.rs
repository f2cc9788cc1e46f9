//! Unions of boxes on the lattice that the strides of an allocation make.
//!
//! The starts of a family are split into multiples of the strides and a rest.

use smallvec::SmallVec;

use super::carry::carry;
use super::sweep::{Boxes, Range, pieces_of};

/// Rows that pieces are split into, at most.
const MOST_ROWS: i64 = 1 << 13;
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

/// Counts the pieces of `grain` bytes, a power of two, in the union of the boxes of some families; returns also whether the strides
/// leave it in doubt. `starts_of` gives the starts of a family.
pub(super) fn measure<'a>(pieces: &mut Vec<Piece>, starts_of: &dyn Fn(usize) -> &'a [i64], grain: i64) -> (f64, bool) {
    let mut strides = strides_of(pieces);
    // Where strides are multiples of each other, what exceeds one is carried over to the next.
    let mut rough = false;
    if strides.windows(2).any(|pair| pair[0] % pair[1] != 0) {
        rough = row_by_row(pieces, starts_of);
        strides = strides_of(pieces);
    }
    // Starts are split as distances from the one in the middle, a stencil's centre.
    let mut all: Vec<i64> = pieces.iter().flat_map(|piece| starts_of(piece.family)).copied().collect();
    if all.is_empty() {
        return (0.0, false);
    }
    all.sort_unstable();
    all.dedup();
    let origin = all[all.len() / 2];
    let distances: Vec<i64> = all.iter().map(|start| start - origin).collect();
    let rows = split(&distances, &strides);
    let mut boxes = Boxes::default();
    for piece in pieces.iter() {
        let mut own: Vec<&[i64]> = starts_of(piece.family)
            .iter()
            .filter_map(|start| Some(&rows[all.binary_search(start).ok()?][..]))
            .collect();
        own.sort_unstable();
        add(piece, &own, &strides, &mut boxes);
    }
    let unsure = carry(&strides, &mut boxes.bytes, &mut boxes.multiples);
    (pieces_of(&strides, origin, grain, &boxes), rough || unsure)
}

/// Adds a piece's box at each of its starts, which are multiples of the strides and a rest, in rising order.
fn add(piece: &Piece, starts: &[&[i64]], strides: &[i64], boxes: &mut Boxes) {
    let ranges: SmallVec<[Range; 8]> = strides
        .iter()
        .map(|stride| piece.multiples.iter().find(|(own, _)| own == stride).map_or((0, 0), |(_, range)| *range))
        .collect();
    let mut last: &[i64] = &[];
    for start in starts {
        let (rest, whole) = start.split_last().map_or((0, &[][..]), |(rest, whole)| (*rest, whole));
        let own = (rest + piece.bytes.0, rest + piece.bytes.1);
        // A stencil's neighbours along a row overlap with each other row by row.
        if let (false, Some(kept)) = (last.is_empty(), boxes.bytes.last_mut())
            && last[..strides.len()] == *whole
            && own.0 <= kept.1 + 1
        {
            kept.1 = kept.1.max(own.1);
            continue;
        }
        last = start;
        boxes.bytes.push(own);
        boxes.multiples.extend(whole.iter().zip(&ranges).map(|(at, (low, high))| (at + low, at + high)));
    }
}

/// Returns the strides of some boxes, the largest first.
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

/// Splits pieces into rows where one has whole planes as runs and another a part of some rows; returns whether they are too many.
fn row_by_row<'a>(pieces: &mut Vec<Piece>, starts_of: &dyn Fn(usize) -> &'a [i64]) -> bool {
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

/// Splits distances into multiples of the strides and a rest.
fn split(distances: &[i64], strides: &[i64]) -> Vec<Vec<i64>> {
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
