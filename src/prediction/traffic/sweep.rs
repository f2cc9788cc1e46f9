//! Counts unions of boxes of a lattice, one stride after the other.
//!
//! Between two borders along a stride, the boxes that are there are the same from row to row, so what they cover of the smaller
//! strides is counted once. Boxes that differ in the strides before it alone are one for what follows: of a stencil's
//! neighbours along planes, one is left within a plane.

use super::box_order::BoxOrder;
use crate::prediction::form::gcd;

/// Answers that are kept of each stride.
const KEPT: usize = 32;

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
    /// Where in a piece the runs may start.
    phases: Vec<i64>,
    shift: u32,
    counting: Counting,
    levels: Vec<Level>,
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
    /// Sets of boxes whose answers are known, one behind the other.
    sets: Vec<u32>,
    known: Vec<Known>,
}

/// What some boxes cover of the strides after one, and how much of it the end of a row shares with the start of the next.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Where the boxes are among the sets.
    set: (u32, u32),
    each: f64,
    shared: f64,
}

impl Sweep {
    /// Pieces of `grain` bytes in the union, or those that are covered altogether, in the mean over where rows may start if these are no multiples of it. `grain` is a
    /// power of two, strides are in falling order, and `origin` is the address that bytes are relative to.
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
        // Pieces that lie in one sector whatever the row are counted where they lie; else in the mean over where rows start.
        let step = strides.iter().fold(grain as u64, |step, &stride| gcd(step, stride as u64)) as i64;
        self.phases.clear();
        if step == grain {
            self.phases.push(origin.rem_euclid(grain));
        } else {
            self.phases.extend((0..grain / step).map(|at| at * step + origin.rem_euclid(step)));
        }
        self.shift = grain.trailing_zeros();
        self.levels.resize_with(levels.max(self.levels.len()), Level::default);
        for level in &mut self.levels {
            level.sets.clear();
            level.known.clear();
        }
        let mut all = std::mem::take(&mut self.all);
        all.clear();
        all.extend(0..self.bytes.len() as u32);
        let found = self.count(&all, 0);
        self.all = all;
        found
    }

    /// The measure of the union of some boxes from a stride on.
    fn count(&mut self, active: &[u32], level: usize) -> f64 {
        let levels = self.strides.len();
        if level == levels {
            return self.covered(active);
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
        let mut sum = 0.0;
        for pair in borders.windows(2) {
            inside.clear();
            inside.extend(runs.iter().filter(|(low, high, _)| *low <= pair[0] && pair[0] <= *high).map(|run| run.2));
            if inside.is_empty() {
                continue;
            }
            let (each, shared) = self.answer(&inside, level);
            let rows = (pair[1] - pair[0]) as f64;
            sum += each * rows - shared * (rows - 1.0);
        }
        let own = &mut self.levels[level];
        (own.runs, own.borders, own.inside) = (runs, borders, inside);
        sum
    }

    /// What boxes cover of the strides after `level`, from memory where it was counted before.
    fn answer(&mut self, inside: &[u32], level: usize) -> (f64, f64) {
        let Level { sets, known, .. } = &self.levels[level];
        let same = |one: &&Known| sets[one.set.0 as usize..one.set.1 as usize] == *inside;
        if let Some(Known { each, shared, .. }) = known.iter().rev().find(same) {
            return (*each, *shared);
        }
        let each = self.count(inside, level + 1);
        let shared = if level + 1 == self.strides.len() { self.shared(inside, self.strides[level]) } else { 0.0 };
        let Level { sets, known, .. } = &mut self.levels[level];
        if known.len() == KEPT {
            known.clear();
            sets.clear();
        }
        let first = sets.len() as u32;
        sets.extend_from_slice(inside);
        known.push(Known { set: (first, sets.len() as u32), each, shared });
        (each, shared)
    }

    /// Pieces that the end of a row and the start of the next one have in common.
    fn shared(&self, active: &[u32], stride: i64) -> f64 {
        if self.counting == Counting::Whole {
            return 0.0;
        }
        let low = active.iter().map(|&cell| self.ordered.0[cell as usize].0).min().unwrap_or(0);
        let high = active.iter().map(|&cell| self.ordered.0[cell as usize].1).max().unwrap_or(0);
        let same = |phase: &&i64| (high + **phase) >> self.shift >= (low + stride + **phase) >> self.shift;
        self.phases.iter().filter(same).count() as f64 / self.phases.len().max(1) as f64
    }

    /// Pieces that intervals of bytes touch, in the mean over where they may start. Boxes are in the order of their bytes.
    fn covered(&self, active: &[u32]) -> f64 {
        if self.counting == Counting::Whole {
            return self.whole(active);
        }
        let mut sum = 0i64;
        for &phase in &self.phases {
            let mut last = i64::MIN;
            for &cell in active {
                let (low, high) = self.ordered.0[cell as usize];
                let (from, to) = ((low + phase) >> self.shift, (high + phase) >> self.shift);
                let from = from.max(last.saturating_add(1));
                if to >= from {
                    sum += to - from + 1;
                    last = to;
                }
            }
        }
        sum as f64 / self.phases.len().max(1) as f64
    }
}

impl Sweep {
    /// Pieces that intervals of bytes cover altogether, in the mean over where they may start. Rows that are covered from end to end go on in the
    /// next one.
    fn whole(&self, active: &[u32]) -> f64 {
        let mut joined: Vec<(i64, i64)> = Vec::new();
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
        let of = |phase: &i64| {
            let whole = |(low, high): &(i64, i64)| {
                (((high + phase + 1) >> self.shift) - ((low + phase + grain - 1) >> self.shift)).max(0)
            };
            joined.iter().map(whole).sum::<i64>()
        };
        self.phases.iter().map(of).sum::<i64>() as f64 / self.phases.len().max(1) as f64
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
