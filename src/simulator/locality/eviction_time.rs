//! Approximate reuse distances from reuse times: average eviction time.
//!
//! For each use, the clock records only the *gap*: the number of uses since the last use of the same element. No order
//! is stored. When the scope ends, gaps are converted to distances. A use in a gap of *g* uses is the first use of its
//! element in that gap if its own gap extends beyond the start. If the mix of uses does not change over time, the
//! number of such uses is D(g) = Σ P(b ≥ s) for s = 0 to g − 1, where b is the gap of any use of the scope, infinite
//! for a first use. D(g) is the depth to which a line sinks in an LRU stack (equation 2 of Hu and others, "Kinetic
//! modeling of data eviction in cache", USENIX ATC 2016). The sum equals the mean of min(b + 1, g) over all uses.

use super::cells::{ReuseCells, counters};
use super::histogram::Limits;
use super::timeline::{HistogramSelector, Notes, Timeline};

/// Counts uses as time.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvictionTime {
    now: u32,
}

impl EvictionTime {
    /// Largest time, because users need one of the 32 bits. Ages above half of it are clamped.
    const MOST: u32 = 1 << 31;
    const HALF: u32 = Self::MOST / 2;
}

impl Timeline for EvictionTime {
    type Notes = Gaps;
    const SAMPLED: bool = true;

    #[inline(always)]
    fn has_room(&self, count: u32) -> bool {
        self.now <= Self::MOST - count
    }

    fn grow(&mut self) -> bool {
        false
    }

    #[inline(always)]
    fn push(&mut self, count: u32) -> u32 {
        let first = self.now;
        self.now += count;
        first
    }

    #[inline(always)]
    fn skip(&mut self, count: u32) {
        self.now += count;
    }

    #[inline(always)]
    fn clear(&mut self, _first: u32, _count: u32) {}

    #[inline(always)]
    fn after(&self, from: u32) -> u32 {
        self.now - from
    }

    fn renumber(&self) -> impl Fn(u32) -> u32 {
        |time| time.saturating_sub(Self::HALF)
    }

    fn compact(&mut self) {
        self.now -= Self::HALF;
    }

    fn reset(&mut self) {
        self.now = 0;
    }
}

/// Number of bins per power of two for gaps of 4 or more. A bin stores the mean of its gaps, so equal gaps stay exact.
const FINE: u32 = 4;
const BINS: usize = bin(u32::MAX) + 1;

const fn bin(gap: u32) -> usize {
    if gap < FINE {
        return gap as usize;
    }
    let log = gap.ilog2();
    ((log - 1) * FINE + (gap >> (log - 2)) - FINE) as usize
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    count: u64,
    sum: u64,
}

impl Bin {
    #[inline(always)]
    fn add(&mut self, gap: u32, times: u32) {
        self.count += u64::from(times);
        self.sum += u64::from(gap) * u64::from(times);
    }
}

/// Gaps of the loads of one cell.
#[derive(Clone, Debug, Default)]
struct OfCell {
    bins: Vec<Bin>,
    /// Number of all uses, sampled or not.
    uses: u64,
    /// First uses that were sampled, multiplied by their weight.
    cold: u64,
}

impl OfCell {
    /// Scales the sample to the true number of uses, and returns the number of first uses. A difference within the
    /// random error is attributed to first uses, of which each line has one. A larger difference comes from frequently
    /// used lines that the sample contains too rarely or too often. These have short distances, so the difference is
    /// added to the shortest distance (SHARDS-adj: Waldspurger and others, FAST 2015).
    fn adjust(&mut self, weight: u32) -> u64 {
        let followed = self.bins.iter().map(|bin| bin.count).sum::<u64>() + self.cold;
        let chance = (self.cold as f64 * f64::from(weight)).sqrt() as u64;
        if followed > self.uses {
            let mut excess = followed - self.uses;
            let off = excess.min(chance).min(self.cold);
            excess -= off;
            for bin in self.bins.iter_mut().filter(|bin| bin.count > 0) {
                let taken = excess.min(bin.count);
                bin.sum -= bin.sum / bin.count * taken;
                bin.count -= taken;
                excess -= taken;
            }
            return self.cold - off - excess.min(self.cold - off);
        }
        let missing = self.uses - followed;
        if let Some(bin) = self.bins.iter_mut().find(|bin| bin.count > 0) {
            let on = missing.min(chance);
            bin.sum += bin.sum / bin.count * (missing - on);
            bin.count += missing - on;
            return self.cold + on;
        }
        if self.cold > 0 {
            return self.uses;
        }
        // If no line was sampled, there are hardly more lines than one sampled line represents.
        let first = missing.min(weight.into());
        at(&mut self.bins, 0).count += missing - first;
        first
    }
}

/// Reuse gaps of all uses in a scope, such as an SM or the whole GPU.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    /// Bins of all uses.
    all: Vec<Bin>,
    cold: u64,
    /// Bins of loads, by cell.
    cells: Vec<OfCell>,
    limits: Limits,
}

#[inline(always)]
fn at(bins: &mut Vec<Bin>, index: usize) -> &mut Bin {
    if bins.len() <= index {
        bins.resize((index + 1).next_multiple_of(2 * FINE as usize).min(BINS), Bin::default());
    }
    &mut bins[index]
}

impl Notes for Gaps {
    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    #[inline(always)]
    fn used(&mut self, times: u32, cell: u32) {
        self.cell(cell).uses += u64::from(times);
    }

    #[inline(always)]
    fn cold(&mut self, times: u32, load: bool, cell: u32) {
        self.cold += u64::from(times);
        if load {
            self.cell(cell).cold += u64::from(times);
        }
    }

    #[inline(always)]
    fn again(
        &mut self,
        distance: u32,
        times: u32,
        load: bool,
        cell: u32,
        _which: HistogramSelector,
        _cells: &mut ReuseCells,
    ) {
        let bin = bin(distance);
        at(&mut self.all, bin).add(distance, times);
        if load {
            at(&mut self.cell(cell).bins, bin).add(distance, times);
        }
    }

    fn finish(&mut self, weight: u32, which: HistogramSelector, cells: &mut ReuseCells) {
        let fall = Fall::new(&self.all, self.cold);
        for (cell, loads) in (0..).zip(&mut self.cells).filter(|(_, loads)| loads.uses > 0) {
            let cold = loads.cold;
            let first = if weight == 1 { cold } else { loads.adjust(weight) };
            let histogram = which(counters(cells, cell));
            // The sampled first uses are already counted.
            histogram.infinite = (histogram.infinite + first).saturating_sub(cold);
            for bin in loads.bins.iter().filter(|bin| bin.count > 0) {
                histogram.count(fall.distance(bin.sum / bin.count), bin.count, self.limits);
            }
            loads.bins.clear();
            (loads.uses, loads.cold) = (0, 0);
        }
        self.all.clear();
        self.cold = 0;
    }
}

impl Gaps {
    #[inline(always)]
    fn cell(&mut self, cell: u32) -> &mut OfCell {
        if self.cells.len() <= cell as usize {
            self.cells.resize(cell as usize + 1, OfCell::default());
        }
        &mut self.cells[cell as usize]
    }
}

/// Computes the mean of min(b + 1, g) over all uses.
struct Fall<'a> {
    bins: &'a [Bin],
    /// Number of uses in the bins before each bin, and the sum of b + 1 over them.
    before: Vec<(u64, u64)>,
    total: u64,
}

impl<'a> Fall<'a> {
    fn new(bins: &'a [Bin], cold: u64) -> Fall<'a> {
        let mut sum = (0, 0);
        let before = bins.iter().map(|bin| {
            let before = sum;
            sum = (sum.0 + bin.count, sum.1 + bin.sum + bin.count);
            before
        });
        let before = before.collect();
        Fall { bins, before, total: sum.0 + cold }
    }

    /// Returns D(g), rounded. `g` is a gap that occurred.
    fn distance(&self, gap: u64) -> u32 {
        let index = bin(gap as u32);
        // Uses that were not sampled may have been assigned a gap that did not occur.
        let (Some(&(uses, below)), Some(own)) = (self.before.get(index), self.bins.get(index)) else { return 0 };
        // All gaps of the bin are assumed to equal their mean.
        let own_sum = (own.sum + own.count).min(gap * own.count);
        let sum = below as f64 + own_sum as f64 + gap as f64 * (self.total - uses - own.count) as f64;
        (sum / self.total as f64).round() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locality::ReuseCounters;

    #[test]
    fn bins_tile_the_gaps() {
        let mut last = 0;
        for gap in (0..5000).chain([1 << 20, (1 << 20) + (1 << 18), u32::MAX]) {
            let here = bin(gap);
            assert!(here >= last && here < BINS, "{gap}");
            assert!(gap > 4999 || here - last <= 1, "{gap}");
            last = here;
        }
        assert_eq!((bin(3), bin(4), bin(7), bin(8), bin(9), bin(10)), (3, 4, 7, 8, 8, 9));
    }

    /// Computes D(g) by its definition.
    fn slow(gaps: &[u32], cold: u64, gap: u32) -> f64 {
        let reach = |s: u32| gaps.iter().filter(|&&b| b >= s).count() as u64 + cold;
        (0..gap).map(reach).sum::<u64>() as f64 / (gaps.len() as u64 + cold) as f64
    }

    #[test]
    fn gaps_become_the_depth_that_they_fall_to() {
        // Each gap has its own bin, so only the result is rounded.
        let gaps = [0, 1, 2, 3, 3, 5, 10, 40, 40, 40, 300];
        let mut notes = Gaps::default();
        let mut cells = ReuseCells::new();
        for gap in gaps {
            notes.again(gap, 1, true, 0, |counters| &mut counters.element, &mut cells);
            notes.used(1, 0);
        }
        notes.cold(4, true, 0);
        notes.used(4, 0);
        let fall = Fall::new(&notes.all, notes.cold);
        for gap in gaps {
            assert_eq!(fall.distance(gap.into()), slow(&gaps, 4, gap).round() as u32, "{gap}");
        }
        notes.finish(1, |counters: &mut ReuseCounters| &mut counters.element, &mut cells);
        assert_eq!(cells[0].element.finite(), gaps.len() as u64);
        // The next scope starts empty.
        notes.again(0, 1, true, 0, |counters| &mut counters.element, &mut cells);
        assert_eq!((notes.all[0].count, notes.cold), (1, 0));
    }

    #[test]
    fn old_times_stay_old() {
        let mut clock = EvictionTime { now: EvictionTime::MOST - 1 };
        assert!(clock.has_room(1) && !clock.has_room(2));
        let [old, recent] = [5, EvictionTime::MOST - 3].map(clock.renumber());
        clock.compact();
        assert_eq!((clock.after(recent), old), (2, 0));
        assert!(clock.has_room(160) && clock.after(old) >= EvictionTime::HALF - 1);
    }
}
