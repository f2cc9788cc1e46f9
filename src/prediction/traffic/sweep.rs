//! Counts unions of boxes of a lattice, one stride after the other.
//!
//! Between two borders along a stride, the boxes that are there are the same from row to row, so what they cover of the smaller
//! strides is counted once. Boxes that differ in the strides before it alone are one for what follows: of a stencil's
//! neighbours along planes, one is left within a plane.

use crate::prediction::form::gcd;

/// Answers that are kept of each stride.
const KEPT: usize = 32;

/// Boxes: an interval of bytes at each of a range of multiples of the strides.
pub(in crate::prediction) struct Boxes<'a> {
    /// Largest first.
    pub strides: &'a [i64],
    /// Address that bytes are relative to.
    pub origin: i64,
    /// First and last byte of each.
    pub bytes: Vec<(i64, i64)>,
    /// First and last multiple, of each all strides.
    pub multiples: Vec<(i64, i64)>,
}

impl Boxes<'_> {
    /// Pieces of `grain` bytes in the union, in the mean over where rows may start if these are no multiples of it. `grain` is a
    /// power of two.
    pub(in crate::prediction) fn measure(self, grain: i64) -> f64 {
        let levels = self.strides.len();
        let mut order: Vec<usize> = (0..self.bytes.len()).collect();
        let row = |cell: usize| &self.multiples[cell * levels..(cell + 1) * levels];
        // Boxes that agree from a stride on lie beside each other, whatever the stride.
        order.sort_unstable_by(|&one, &other| {
            self.bytes[one].cmp(&self.bytes[other]).then_with(|| row(one).iter().rev().cmp(row(other).iter().rev()))
        });
        let bytes: Vec<(i64, i64)> = order.iter().map(|&cell| self.bytes[cell]).collect();
        let mut multiples = Vec::with_capacity(self.multiples.len());
        let mut classes = Vec::with_capacity(self.multiples.len());
        for (at, &cell) in order.iter().enumerate() {
            multiples.extend_from_slice(row(cell));
            for level in 0..levels {
                let same =
                    at > 0 && bytes[at - 1] == bytes[at] && row(order[at - 1])[level + 1..] == row(cell)[level + 1..];
                classes.push(if same { classes[(at - 1) * levels + level] } else { at as u32 });
            }
        }
        // Pieces that lie in one sector whatever the row are counted where they lie; else in the mean over where rows start.
        let step = self.strides.iter().fold(grain as u64, |step, &stride| gcd(step, stride as u64)) as i64;
        let phases: Vec<i64> = if step == grain {
            vec![self.origin.rem_euclid(grain)]
        } else {
            (0..grain / step).map(|at| at * step + self.origin.rem_euclid(step)).collect()
        };
        let mut sweep = Sweep {
            bytes: &bytes,
            multiples: &multiples,
            classes: &classes,
            strides: self.strides,
            phases: &phases,
            shift: grain.trailing_zeros(),
            spare: Vec::new(),
            known: vec![Vec::new(); levels],
        };
        let all: Vec<u32> = (0..bytes.len() as u32).collect();
        sweep.measure(&all, 0)
    }
}

/// What some boxes cover of the strides from one on, and how much of it the end of a row shares with the start of the next.
type Known = (Vec<u32>, f64, f64);

struct Sweep<'a> {
    bytes: &'a [(i64, i64)],
    multiples: &'a [(i64, i64)],
    /// By box and stride: the first box that has the same smaller strides.
    classes: &'a [u32],
    strides: &'a [i64],
    /// Where in a piece the runs may start.
    phases: &'a [i64],
    shift: u32,
    /// Lists that are used again.
    spare: Vec<Vec<u32>>,
    known: Vec<Vec<Known>>,
}

impl Sweep<'_> {
    /// The measure of the union of some boxes from a stride on.
    fn measure(&mut self, active: &[u32], level: usize) -> f64 {
        let levels = self.strides.len();
        if level == levels {
            return self.covered(active);
        }
        // Boxes that agree in what follows are one where their ranges touch: a stencil's neighbours along this stride.
        let mut runs: Vec<(i64, i64, u32)> = Vec::with_capacity(active.len());
        let mut of_class = 0;
        for &cell in active {
            let (low, high) = self.multiples[cell as usize * levels + level];
            let class = self.classes[cell as usize * levels + level];
            if runs.last().is_some_and(|last| last.2 != class) {
                of_class = joined(&mut runs, of_class);
            }
            runs.push((low, high, class));
        }
        joined(&mut runs, of_class);
        let mut borders: Vec<i64> = Vec::with_capacity(2 * runs.len());
        for &(low, high, _) in &runs {
            borders.extend([low, high + 1]);
        }
        borders.sort_unstable();
        borders.dedup();
        let mut sum = 0.0;
        let mut inside = self.spare.pop().unwrap_or_default();
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
        self.spare.push(inside);
        sum
    }

    /// What boxes cover of the strides after `level`, from memory where it was counted before.
    fn answer(&mut self, inside: &[u32], level: usize) -> (f64, f64) {
        if let Some((_, each, shared)) = self.known[level].iter().rev().find(|(known, ..)| known == inside) {
            return (*each, *shared);
        }
        let each = self.measure(inside, level + 1);
        let shared = if level + 1 == self.strides.len() { self.shared(inside, self.strides[level]) } else { 0.0 };
        let known = &mut self.known[level];
        if known.len() == KEPT {
            known.clear();
        }
        known.push((inside.to_vec(), each, shared));
        (each, shared)
    }

    /// Pieces that the end of a row and the start of the next one have in common.
    fn shared(&self, active: &[u32], stride: i64) -> f64 {
        let low = active.iter().map(|&cell| self.bytes[cell as usize].0).min().unwrap_or(0);
        let high = active.iter().map(|&cell| self.bytes[cell as usize].1).max().unwrap_or(0);
        let same = |phase: &&i64| (high + **phase) >> self.shift >= (low + stride + **phase) >> self.shift;
        self.phases.iter().filter(same).count() as f64 / self.phases.len().max(1) as f64
    }

    /// Pieces that intervals of bytes touch, in the mean over where they may start. Boxes are in the order of their bytes.
    fn covered(&self, active: &[u32]) -> f64 {
        let mut sum = 0i64;
        for &phase in self.phases {
            let mut last = i64::MIN;
            for &cell in active {
                let (low, high) = self.bytes[cell as usize];
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
