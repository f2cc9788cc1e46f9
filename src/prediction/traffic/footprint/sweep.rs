//! Counts unions of boxes of a lattice, one stride after the other.
//!
//! Between two borders along a stride, every row contains the same boxes, so their coverage in the smaller strides is
//! counted once. Boxes that differ only in larger strides are identical for the smaller ones: of a stencil's neighbours
//! in different planes, one is left within a plane. The cost therefore depends on the number of boxes, not on their
//! size.

use rustc_hash::FxHashMap;

use crate::form::gcd;

/// First and last value of a range.
pub(super) type Range = (i64, i64);

/// Maximum number of positions in a piece that are distinguished. It covers all bytes of a line, and more positions of
/// a page than are needed.
const MOST_POSITIONS: i64 = 256;

/// Boxes. Each is a range of bytes, relative to an origin, repeated at a range of multiples of each stride.
#[derive(Debug, Default)]
pub(super) struct Boxes {
    /// Indexed by box.
    pub(super) bytes: Vec<Range>,
    /// Indexed by box and stride, the largest stride first.
    pub(super) multiples: Vec<Range>,
}

/// The pieces that some boxes cover if they start at a given position in a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Covered {
    /// Number of pieces.
    count: f64,
    /// The first and the last covered piece, counted from the piece that contains the start position.
    first: i64,
    last: i64,
}

/// Covered pieces, indexed by the start position in a piece; `None` if not computed yet.
type CoveredAt = Vec<Option<Covered>>;

/// Boxes sorted so that boxes with equal smaller strides are adjacent.
struct Sweep<'s> {
    strides: &'s [i64],
    boxes: Boxes,
    /// Indexed by box and stride: the first box that has the same smaller strides and bytes.
    classes: Vec<u32>,
    /// Base-2 logarithm of the bytes of a piece.
    shift: u32,
    /// Distance in bytes between the possible start positions of rows in a piece, and the number of these positions.
    unit: i64,
    positions: usize,
    /// Coverage in the smaller strides, by stride and set of boxes, and then by the start position in a piece.
    known: FxHashMap<(usize, Box<[u32]>), CoveredAt>,
}

/// Returns the number of pieces of `grain` bytes (a power of two) that boxes cover together. Strides are in descending
/// order, and byte ranges are relative to the address `origin`.
pub(super) fn pieces_of(strides: &[i64], origin: i64, grain: i64, boxes: &Boxes) -> f64 {
    let step = strides.iter().fold(grain as u64, |step, &stride| gcd(step, stride as u64)) as i64;
    let unit = step.max(grain / MOST_POSITIONS);
    let (boxes, classes) = ordered(boxes, strides.len());
    let all: Vec<u32> = (0..boxes.bytes.len() as u32).collect();
    let mut sweep = Sweep {
        strides,
        boxes,
        classes,
        shift: grain.trailing_zeros(),
        unit,
        positions: (grain / unit) as usize,
        known: FxHashMap::default(),
    };
    sweep.count(&all, 0, origin.rem_euclid(grain)).count
}

/// Returns boxes sorted by bytes, then by multiples of the smallest stride, and so on, together with their classes.
fn ordered(boxes: &Boxes, levels: usize) -> (Boxes, Vec<u32>) {
    let row = |cell: u32| &boxes.multiples[cell as usize * levels..(cell as usize + 1) * levels];
    let mut order: Vec<u32> = (0..boxes.bytes.len() as u32).collect();
    order.sort_unstable_by(|&one, &other| {
        let bytes = boxes.bytes[one as usize].cmp(&boxes.bytes[other as usize]);
        bytes.then_with(|| row(one).iter().rev().cmp(row(other).iter().rev()))
    });
    let mut found = Boxes::default();
    let mut classes: Vec<u32> = Vec::with_capacity(order.len() * levels);
    for (at, &cell) in order.iter().enumerate() {
        found.bytes.push(boxes.bytes[cell as usize]);
        found.multiples.extend_from_slice(row(cell));
        // Number of smaller strides in which this box equals the previous one.
        let alike = match at.checked_sub(1).map(|before| order[before]) {
            Some(before) if found.bytes[at - 1] == found.bytes[at] => {
                let equal = row(before).iter().rev().zip(row(cell).iter().rev()).take_while(|(one, two)| one == two);
                levels.saturating_sub(equal.count() + 1)
            }
            _ => levels,
        };
        for level in 0..levels {
            let class = if level >= alike { classes[(at - 1) * levels + level] } else { at as u32 };
            classes.push(class);
        }
    }
    (found, classes)
}

impl Sweep<'_> {
    /// Returns the coverage of some boxes from the stride `level` on. The boxes start `position` bytes after the start
    /// of a piece.
    fn count(&mut self, active: &[u32], level: usize, position: i64) -> Covered {
        let levels = self.strides.len();
        if level == levels {
            return self.covered(active, position);
        }
        // Boxes that are equal in all smaller strides merge if their ranges touch, as those of a stencil's neighbours
        // along this stride do.
        let mut runs: Vec<(u32, Range)> = Vec::with_capacity(active.len());
        for of_class in active.chunk_by(|one, other| self.class(*one, level) == self.class(*other, level)) {
            let mut ranges: Vec<Range> =
                of_class.iter().map(|&cell| self.boxes.multiples[cell as usize * levels + level]).collect();
            ranges.sort_unstable();
            let class = self.class(of_class[0], level);
            for (low, high) in ranges {
                match runs.last_mut() {
                    Some((own, last)) if *own == class && low <= last.1 + 1 => last.1 = last.1.max(high),
                    _ => runs.push((class, (low, high))),
                }
            }
        }
        let mut borders: Vec<i64> = runs.iter().flat_map(|&(_, (low, high))| [low, high + 1]).collect();
        borders.sort_unstable();
        borders.dedup();
        let mut rows = Covered { count: 0.0, first: i64::MAX, last: i64::MIN };
        let mut inside: Vec<u32> = Vec::new();
        for pair in borders.windows(2) {
            inside.clear();
            let is_there = |(_, (low, high)): &&(u32, Range)| *low <= pair[0] && pair[0] <= *high;
            inside.extend(runs.iter().filter(is_there).map(|run| run.0));
            if !inside.is_empty() {
                self.add_rows(&mut rows, &inside, level, position, (pair[0], pair[1]));
            }
        }
        rows
    }

    fn class(&self, cell: u32, level: usize) -> u32 {
        self.classes[cell as usize * self.strides.len() + level]
    }

    /// Adds consecutive rows that contain the same boxes. After a period of rows, the start position in a piece
    /// repeats.
    fn add_rows(&mut self, rows: &mut Covered, inside: &[u32], level: usize, position: i64, (from, end): Range) {
        let stride = self.strides[level];
        let grain = 1i64 << self.shift;
        let period = grain / gcd(grain as u64, stride as u64) as i64;
        let count = end - from;
        let (mut first_of_all, mut before) = (None, rows.last);
        for at in 0..period.min(count) {
            let start = position + (from + at) * stride;
            let one = self.answer(inside, level, start.rem_euclid(grain));
            let piece = start >> self.shift;
            let (first, last) = (piece.saturating_add(one.first), piece.saturating_add(one.last));
            // Number of rows with this start position: one per full period, and possibly one more in the last, partial
            // period.
            let alike = ((count - at - 1) / period + 1) as f64;
            rows.count += one.count * alike - self.shared(before, first, level) * if at == 0 { 1.0 } else { alike };
            first_of_all.get_or_insert((first, alike));
            rows.first = rows.first.min(first);
            before = last;
        }
        let Some((first, alike)) = first_of_all else { return };
        let round = (period * stride) >> self.shift;
        if alike > 1.0 {
            rows.count -= self.shared(before, first.saturating_add(round), level) * (alike - 1.0);
        }
        // The last row has the start position of its place in the period.
        let start = position + (end - 1) * stride;
        let last = self.answer(inside, level, start.rem_euclid(grain)).last;
        rows.last = rows.last.max((start >> self.shift).saturating_add(last));
    }

    /// Returns the coverage in the strides after `level`, which is computed once per position.
    fn answer(&mut self, inside: &[u32], level: usize, position: i64) -> Covered {
        let number = (position / self.unit) as usize;
        let key = (level, inside.into());
        if let Some(found) = self.known.get(&key).and_then(|answers| answers[number]) {
            return found;
        }
        let found = self.count(inside, level + 1, position);
        let positions = self.positions;
        self.known.entry(key).or_insert_with(|| vec![None; positions])[number] = Some(found);
        found
    }

    /// Returns the number of pieces that the end of one row and the start of the next row share.
    fn shared(&self, last: i64, first: i64, level: usize) -> f64 {
        match last >= first {
            // The ends of rows are completely covered; the ends of planes are not.
            true if level + 1 == self.strides.len() => (last - first + 1) as f64,
            true if last == first => 1.0,
            _ => 0.0,
        }
    }

    /// Returns the pieces that ranges of bytes touch. Boxes are sorted by their bytes.
    fn covered(&self, active: &[u32], position: i64) -> Covered {
        let mut found = Covered { count: 0.0, first: i64::MAX, last: i64::MIN };
        for &cell in active {
            let (low, high) = self.boxes.bytes[cell as usize];
            let (from, to) = ((low + position) >> self.shift, (high + position) >> self.shift);
            found.first = found.first.min(from);
            let from = from.max(found.last.saturating_add(1));
            if to >= from {
                found.count += (to - from + 1) as f64;
                found.last = to;
            }
        }
        found
    }
}
