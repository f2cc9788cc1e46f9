//! Unions of boxes on the lattice that the strides of an allocation form.
//!
//! The start addresses of a family are split into multiples of the strides and a remainder.

use smallvec::SmallVec;

use super::carry::carry;
use super::sweep::{Boxes, Range, pieces_of};

/// Maximum number of rows that pieces are split into.
const MOST_ROWS: i64 = 1 << 13;
/// First and last multiple of each stride.
pub(super) type Multiples = SmallVec<[(i64, (i64, i64)); 4]>;

/// The boxes of a family, one at each of its start addresses.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Number of the family.
    pub(super) family: usize,
    /// First and last byte, relative to the start address.
    pub(super) bytes: (i64, i64),
    /// Ranges of multiples of the strides.
    pub(super) multiples: Multiples,
}

/// Counts the pieces of `grain` bytes (a power of two) in the union of the boxes of some families. Also returns whether
/// the strides make the count uncertain. `starts_of` returns the start addresses of a family.
pub(super) fn measure<'a>(pieces: &mut Vec<Piece>, starts_of: &dyn Fn(usize) -> &'a [i64], grain: i64) -> (f64, bool) {
    let mut strides = strides_of(pieces);
    // If strides are multiples of each other, multiples that exceed the next larger stride are carried over to it.
    let mut rough = false;
    if strides.windows(2).any(|pair| pair[0] % pair[1] != 0) {
        rough = row_by_row(pieces, starts_of);
        strides = strides_of(pieces);
    }
    // Start addresses are split as distances from the median address, which is the centre of a stencil.
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

/// Adds a piece's box at each of its start addresses, in ascending order. Each start is already split into multiples of
/// the strides and a remainder.
fn add(piece: &Piece, starts: &[&[i64]], strides: &[i64], boxes: &mut Boxes) {
    let ranges: SmallVec<[Range; 8]> = strides
        .iter()
        .map(|stride| piece.multiples.iter().find(|(own, _)| own == stride).map_or((0, 0), |(_, range)| *range))
        .collect();
    let mut last: &[i64] = &[];
    for start in starts {
        let (rest, whole) = start.split_last().map_or((0, &[][..]), |(rest, whole)| (*rest, whole));
        let own = (rest + piece.bytes.0, rest + piece.bytes.1);
        // The neighbours of a stencil in one row overlap in every row.
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

/// Splits pieces into rows if one piece covers whole planes as runs and another covers a part of some rows. Returns
/// whether there are too many rows.
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

/// Splits distances into multiples of the strides and a remainder.
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

/// Returns the number of bytes by which a start may precede a multiple of a stride and still belong to it. The value is
/// half of the stride, because an address shortly before a row belongs to that row. It is a quarter if many starts lie
/// near the middle between two multiples, as for every second row; half would then assign them to either multiple.
fn rounding(distances: &[i64], stride: i64) -> i64 {
    let from_middle = |distance: &i64| (distance + stride / 2).rem_euclid(stride);
    let near = stride / 16;
    let is_before = distances.iter().any(|distance| from_middle(distance) >= stride - near);
    let is_behind = distances.iter().any(|distance| from_middle(distance) < near);
    if is_before && is_behind { stride / 4 } else { stride / 2 }
}
