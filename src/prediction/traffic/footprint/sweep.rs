//! Counts unions of boxes of a lattice, one stride after the other.
//!
//! Between two borders along a stride, the boxes that are there are the same from row to row, so what they cover of the smaller
//! strides is counted once. Boxes that differ in the strides before it alone are one for what follows: of a stencil's neighbours along
//! planes, one is left within a plane. So the cost depends on the number of boxes, not on their size.

use rustc_hash::FxHashMap;

use crate::form::gcd;

/// First and last of a range.
pub(super) type Range = (i64, i64);

/// Positions in a piece that are distinguished, at most: bytes of a line, and of pages more than are needed.
const MOST_POSITIONS: i64 = 256;

/// Boxes: an interval of bytes, relative to an origin, at each of a range of multiples of the strides.
#[derive(Debug, Default)]
pub(super) struct Boxes {
    /// Indexed by box.
    pub(super) bytes: Vec<Range>,
    /// Indexed by box and stride, the largest stride first.
    pub(super) multiples: Vec<Range>,
}

/// What some boxes cover, from a position in a piece on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Covered {
    /// Pieces.
    count: f64,
    /// The first and the last of them, counted from the piece of the position.
    first: i64,
    last: i64,
}

/// Covered pieces by the position in a piece at which they start; `None` where they are not known yet.
type CoveredAt = Vec<Option<Covered>>;

/// Boxes in an order in which those that agree from a stride on lie next to each other.
struct Sweep<'s> {
    strides: &'s [i64],
    boxes: Boxes,
    /// Indexed by box and stride: the first box that has the same smaller strides and bytes.
    classes: Vec<u32>,
    /// Bytes of a piece, as a power of two.
    shift: u32,
    /// Rows start at positions in a piece that are this many bytes apart, and this many positions there are.
    unit: i64,
    positions: usize,
    /// Keyed by stride and set of boxes: what they cover of the strides after it, by the position in a piece at which they start.
    known: FxHashMap<(usize, Box<[u32]>), CoveredAt>,
}

/// Returns the pieces of `grain` bytes, a power of two, that boxes cover together. Strides are in falling order, and `origin` is the
/// address that bytes are relative to.
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

/// Returns boxes by their bytes, then by their multiples of the smallest stride, and so on, with their classes.
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
        // From how many of the smaller strides on it agrees with the box before.
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
    /// What the union of some boxes covers from a stride on, where that starts `position` bytes after the start of a piece.
    fn count(&mut self, active: &[u32], level: usize, position: i64) -> Covered {
        let levels = self.strides.len();
        if level == levels {
            return self.covered(active, position);
        }
        // Boxes that agree in what follows are one where their ranges touch: a stencil's neighbours along this stride.
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

    /// Adds rows from one up to another, in all of which the same boxes are. After some of them they start at the same position in a
    /// piece again.
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
            // Rows that start there, of which one more than are whole rounds after it has one before it.
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
        // The last row is the one of its position in the last round.
        let start = position + (end - 1) * stride;
        let last = self.answer(inside, level, start.rem_euclid(grain)).last;
        rows.last = rows.last.max((start >> self.shift).saturating_add(last));
    }

    /// What boxes cover of the strides after `level`, counted once for each position.
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

    /// Pieces that the end of a row and the start of the next one have in common.
    fn shared(&self, last: i64, first: i64, level: usize) -> f64 {
        match last >= first {
            // Rows are whole at their ends, planes are not.
            true if level + 1 == self.strides.len() => (last - first + 1) as f64,
            true if last == first => 1.0,
            _ => 0.0,
        }
    }

    /// Pieces that intervals of bytes touch. Boxes are in the order of their bytes.
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
