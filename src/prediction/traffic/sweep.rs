//! Counts unions of boxes of a lattice, one stride after the other.
//!
//! Between two borders along a stride, the boxes that are there are the same from row to row, so what they cover of the smaller
//! strides is counted once. Boxes that differ in the strides before it alone are one for what follows: of a stencil's
//! neighbours along planes, one is left within a plane.

use super::box_order::BoxOrder;
use crate::form::gcd;

/// Sets of boxes whose answers are kept, of each stride.
const KEPT: usize = 32;
/// Places in a piece that are told apart, at most: bytes of a line, and of pages more than are needed.
const MOST_PLACES: i64 = 256;

/// Counts unions of boxes: an interval of bytes at each of a range of multiples of the strides. What it needs is kept from one
/// union to the next.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// First and last byte of each box, relative to the origin. Filled by the caller.
    pub(super) bytes: Vec<(i64, i64)>,
    /// First and last multiple, of each box those of all strides. Filled by the caller.
    pub(super) multiples: Vec<(i64, i64)>,
    /// Largest first.
    strides: Vec<i64>,
    order: BoxOrder,
    /// All boxes.
    all: Vec<u32>,
    /// Bytes and multiples in an order in which boxes that agree from a stride on lie beside each other.
    ordered: (Intervals, Intervals),
    /// By box and stride: the first box that has the same smaller strides.
    classes: Vec<u32>,
    /// Bytes of a piece, as a power of two.
    shift: u32,
    /// Rows start at places in a piece that are so many bytes apart; so many places there are.
    unit: i64,
    places: usize,
    counting: Counting,
    levels: Vec<Level>,
    /// Intervals that are joined.
    joined: Intervals,
}

/// What is counted of a union.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Counting {
    /// Pieces of so many bytes, a power of two, of which some byte is covered.
    #[default]
    Touched,
    /// Those of which every byte is.
    Whole,
}

/// First and last of ranges.
type Intervals = Vec<(i64, i64)>;

/// What is needed of a stride.
#[derive(Debug, Default)]
struct Level {
    runs: Vec<(i64, i64, u32)>,
    borders: Vec<i64>,
    inside: Vec<u32>,
    /// Sets of boxes whose answers are known, one behind the other, and where each is.
    sets: Vec<u32>,
    known: Vec<(u32, u32)>,
    /// What each covers of the strides after this one, by the place in a piece at which they start.
    answers: Vec<Option<Covered>>,
}

/// What some boxes cover, from a place in a piece on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Covered {
    /// Pieces.
    count: f64,
    /// The first and the last of them, counted from the piece in which the place is.
    first: i64,
    last: i64,
}

impl Covered {
    const NOTHING: Covered = Covered { count: 0.0, first: i64::MAX, last: i64::MIN };
}

/// What the rows that were added cover together: pieces, the first and the last of them.
struct Rows {
    sum: f64,
    first: i64,
    last: i64,
}

impl Sweep {
    /// Pieces of `grain` bytes in the union, or those that are covered altogether. `grain` is a power of two, strides are in falling order, and `origin` is
    /// the address that bytes are relative to.
    pub(super) fn measure(&mut self, strides: &[i64], origin: i64, grain: i64, counting: Counting) -> f64 {
        let levels = strides.len();
        self.counting = counting;
        self.strides.clear();
        self.strides.extend_from_slice(strides);
        let row = |cell: u32| &self.multiples[cell as usize * levels..(cell as usize + 1) * levels];
        self.order.sort(&self.bytes, &self.multiples, levels);
        let order = &self.order.numbers;
        let (bytes, multiples) = &mut self.ordered;
        bytes.clear();
        multiples.clear();
        self.classes.clear();
        for (at, &cell) in order.iter().enumerate() {
            bytes.push(self.bytes[cell as usize]);
            multiples.extend_from_slice(row(cell));
            // From how many of the smaller strides on it agrees with the box before.
            let alike = match at.checked_sub(1).map(|before| order[before]) {
                Some(before) if bytes[at - 1] == bytes[at] => {
                    let equal =
                        row(before).iter().rev().zip(row(cell).iter().rev()).take_while(|(one, two)| one == two);
                    levels.saturating_sub(equal.count() + 1)
                }
                _ => levels,
            };
            for level in 0..levels {
                let class = if level >= alike { self.classes[(at - 1) * levels + level] } else { at as u32 };
                self.classes.push(class);
            }
        }
        let step = strides.iter().fold(grain as u64, |step, &stride| gcd(step, stride as u64)) as i64;
        self.unit = step.max(grain / MOST_PLACES);
        self.places = (grain / self.unit) as usize;
        self.shift = grain.trailing_zeros();
        self.levels.resize_with(levels.max(self.levels.len()), Level::default);
        for level in &mut self.levels {
            level.sets.clear();
            level.known.clear();
            level.answers.clear();
        }
        let mut all = std::mem::take(&mut self.all);
        all.clear();
        all.extend(0..self.bytes.len() as u32);
        let found = self.count(&all, 0, origin.rem_euclid(grain));
        self.all = all;
        found.count
    }

    /// What the union of some boxes covers from a stride on, where that starts `place` bytes behind the start of a piece.
    fn count(&mut self, active: &[u32], level: usize, place: i64) -> Covered {
        let levels = self.strides.len();
        if level == levels {
            return self.covered(active, place);
        }
        let Level { mut runs, mut borders, mut inside, .. } = self.levels[level].take_lists();
        // Boxes that agree in what follows are one where their ranges touch: a stencil's neighbours along this stride.
        let mut of_class = 0;
        for &cell in active {
            let (low, high) = self.ordered.1[cell as usize * levels + level];
            let class = self.classes[cell as usize * levels + level];
            if runs.last().is_some_and(|last| last.2 != class) {
                of_class = joined(&mut runs, of_class);
            }
            runs.push((low, high, class));
        }
        joined(&mut runs, of_class);
        for &(low, high, _) in &runs {
            borders.extend([low, high + 1]);
        }
        borders.sort_unstable();
        borders.dedup();
        let mut rows = Rows { sum: 0.0, first: i64::MAX, last: i64::MIN };
        for pair in borders.windows(2) {
            inside.clear();
            inside.extend(runs.iter().filter(|(low, high, _)| *low <= pair[0] && pair[0] <= *high).map(|run| run.2));
            if !inside.is_empty() {
                self.add_rows(&mut rows, &inside, level, place, (pair[0], pair[1]));
            }
        }
        let own = &mut self.levels[level];
        (own.runs, own.borders, own.inside) = (runs, borders, inside);
        Covered { count: rows.sum, first: rows.first, last: rows.last }
    }

    /// Adds rows from one up to another, in all of which the same boxes are. After some of them they start at the same place in a piece again.
    fn add_rows(&mut self, rows: &mut Rows, inside: &[u32], level: usize, place: i64, (from, end): (i64, i64)) {
        let stride = self.strides[level];
        let grain = 1i64 << self.shift;
        let period = grain / gcd(grain as u64, stride as u64) as i64;
        let count = end - from;
        let set = self.known(inside, level);
        let (mut first_of_all, mut before) = (None, rows.last);
        for at in 0..period.min(count) {
            let start = place + (from + at) * stride;
            let one = self.answer((inside, set), level, start.rem_euclid(grain));
            let piece = start >> self.shift;
            let (first, last) = (piece.saturating_add(one.first), piece.saturating_add(one.last));
            // Rows that start there, of which one more than are whole rounds behind it has one before it.
            let alike = ((count - at - 1) / period + 1) as f64;
            rows.sum += one.count * alike - self.shared(before, first, level) * if at == 0 { 1.0 } else { alike };
            first_of_all.get_or_insert((first, alike));
            rows.first = rows.first.min(first);
            before = last;
        }
        let Some((first, alike)) = first_of_all else { return };
        let round = (period * stride) >> self.shift;
        if alike > 1.0 {
            rows.sum -= self.shared(before, first.saturating_add(round), level) * (alike - 1.0);
        }
        // The last row is the one of its place in the last round.
        let start = place + (end - 1) * stride;
        let last = self.answer((inside, set), level, start.rem_euclid(grain)).last;
        rows.last = rows.last.max((start >> self.shift).saturating_add(last));
    }

    /// Where a set of boxes is among those whose answers are kept.
    fn known(&mut self, inside: &[u32], level: usize) -> usize {
        let places = self.places;
        let Level { sets, known, answers, .. } = &mut self.levels[level];
        let same = |one: &(u32, u32)| sets[one.0 as usize..one.1 as usize] == *inside;
        if let Some(at) = known.iter().rposition(same) {
            return at;
        }
        if known.len() == KEPT {
            known.clear();
            sets.clear();
            answers.clear();
        }
        let first = sets.len() as u32;
        sets.extend_from_slice(inside);
        known.push((first, sets.len() as u32));
        answers.resize(known.len() * places, None);
        known.len() - 1
    }

    /// What boxes cover of the strides after `level`, from memory where it was counted before.
    fn answer(&mut self, (inside, set): (&[u32], usize), level: usize, place: i64) -> Covered {
        let number = (place / self.unit) as usize;
        let at = set * self.places + number;
        if let Some(known) = self.levels[level].answers[at] {
            return known;
        }
        let found = self.count(inside, level + 1, place);
        self.levels[level].answers[at] = Some(found);
        found
    }

    /// Pieces that the end of a row and the start of the next one have in common.
    fn shared(&self, last: i64, first: i64, level: usize) -> f64 {
        match last >= first && self.counting == Counting::Touched {
            // Rows are whole at their ends, planes are not.
            true if level + 1 == self.strides.len() => (last - first + 1) as f64,
            true if last == first => 1.0,
            _ => 0.0,
        }
    }

    /// Pieces that intervals of bytes touch. Boxes are in the order of their bytes.
    fn covered(&mut self, active: &[u32], place: i64) -> Covered {
        if self.counting == Counting::Whole {
            return Covered { count: self.whole(active, place), ..Covered::NOTHING };
        }
        let mut sum = 0i64;
        let mut found = Covered::NOTHING;
        for &cell in active {
            let (low, high) = self.ordered.0[cell as usize];
            let (from, to) = ((low + place) >> self.shift, (high + place) >> self.shift);
            found.first = found.first.min(from);
            let from = from.max(found.last.saturating_add(1));
            if to >= from {
                sum += to - from + 1;
                found.last = to;
            }
        }
        Covered { count: sum as f64, ..found }
    }

    /// Pieces that intervals of bytes cover altogether. Rows that are covered from end to end go on in the next one.
    fn whole(&mut self, active: &[u32], place: i64) -> f64 {
        let joined = &mut self.joined;
        joined.clear();
        for &cell in active {
            let (low, high) = self.ordered.0[cell as usize];
            match joined.last_mut() {
                Some(last) if low <= last.1 + 1 => last.1 = last.1.max(high),
                _ => joined.push((low, high)),
            }
        }
        let grain = 1i64 << self.shift;
        let row = self.strides.last().copied().unwrap_or(i64::MAX);
        if joined.iter().map(|(low, high)| high - low + 1).sum::<i64>() >= row {
            return row as f64 / grain as f64;
        }
        if row < grain {
            return 0.0;
        }
        let whole = |(low, high): &(i64, i64)| {
            (((high + place + 1) >> self.shift) - ((low + place + grain - 1) >> self.shift)).max(0)
        };
        joined.iter().map(whole).sum::<i64>() as f64
    }
}

impl Level {
    /// The lists that a count fills, empty; what is known stays.
    fn take_lists(&mut self) -> Level {
        let mut lists = Level {
            runs: std::mem::take(&mut self.runs),
            borders: std::mem::take(&mut self.borders),
            inside: std::mem::take(&mut self.inside),
            ..Level::default()
        };
        lists.runs.clear();
        lists.borders.clear();
        lists
    }
}

/// Joins ranges that touch, of the last class on from `first`; where the next class starts.
fn joined(runs: &mut Vec<(i64, i64, u32)>, first: usize) -> usize {
    if runs.len() - first > 1 {
        runs[first..].sort_unstable();
        let mut kept = first;
        for at in first + 1..runs.len() {
            let (low, high, class) = runs[at];
            if low <= runs[kept].1 + 1 {
                runs[kept].1 = runs[kept].1.max(high);
            } else {
                kept += 1;
                runs[kept] = (low, high, class);
            }
        }
        runs.truncate(kept + 1);
    }
    runs.len()
}
