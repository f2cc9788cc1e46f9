//! Chooses the lines that the L2 simulation follows.

use std::ops::Range;

use crate::form::gcd;
use crate::traffic::access::LINE;
use crate::traffic::schedule::golden;
use warpline_simulator::hierarchy::{L2Config, Placement};

/// Size of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Approximate and minimum number of sampled lines.
    lines: f64,
    least_lines: f64,
    /// Approximate number of touches of these lines, and the upper limit if a minimum sample has more.
    touches: f64,
    pub(super) many_touches: f64,
    /// Minimum number of slices, if the cache has as many sets.
    slices: u32,
    /// Sets are chosen irregularly instead of at a constant distance. Irregular sets suit threads that each have their
    /// own row, because rows add a stride. A constant distance suits a stencil's rows better: the error is 1.3 %
    /// instead of 3.3 % for a star of 13 points in large launches, and 1.5 % instead of 2.7 % for a box of 27 points.
    spreads: bool,
    /// Maximum number of rounds that refine the L1 lifetimes.
    pub(super) rounds: usize,
}

/// Effort for a launch that is predicted alone.
pub(super) const USUAL: Effort = Effort {
    lines: 4000.0,
    least_lines: 500.0,
    touches: 60_000.0,
    many_touches: 200_000.0,
    slices: 2,
    spreads: false,
    rounds: 6,
};
/// Effort for large launches. A table of many configurations then takes about a second.
pub(super) const BRIEF: Effort = Effort {
    lines: 220.0,
    least_lines: 110.0,
    touches: 3_300.0,
    many_touches: 5_500.0,
    slices: 1,
    spreads: false,
    rounds: 0,
};
/// Effort if conditions are evaluated lane by lane, which is slow.
pub(super) const SLOW: Effort = Effort {
    lines: 2000.0,
    least_lines: 250.0,
    touches: 30_000.0,
    many_touches: 60_000.0,
    slices: 8,
    spreads: true,
    rounds: 6,
};
/// Minimum number of simulated sets per slice.
const LEAST_SETS: u32 = 1;

/// Some sets of some slices.
pub(super) struct Sample {
    /// Number of each slice.
    pub(super) slices: Vec<u32>,
    /// Number of each set of a slice.
    sets: Vec<u32>,
    /// Indexed by set: whether the sample contains it.
    has_set: Vec<bool>,
    /// Share of all sets that the sample contains.
    pub(super) share: f64,
    all: Placement,
    of_slice: Placement,
    lines_of_chunk: u64,
}

/// A line of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// First byte of the line.
    pub(super) start: i64,
    /// Number of the slice within the sample.
    pub(super) slice: usize,
    /// Number of the chunk that contains the line. A chunk is an aligned run of as many lines as there are slices, and
    /// has one line of each slice.
    pub(super) chunk: u64,
}

impl Sample {
    /// Creates a `Sample` for an L2 in which `touched` lines are touched `touches_of_line` times each. Returns `None`
    /// if the L2 does not distinguish lines in the supported way.
    pub(super) fn new(l2: &L2Config, touched: f64, touches_of_line: f64, effort: Effort) -> Option<Sample> {
        let all = Placement::new(l2.slices, 1, l2.index, l2.line_bytes);
        if i64::from(l2.line_bytes) != LINE || all.line_of_slice(0, 0).is_none() {
            return None;
        }
        let lines = (effort.touches / touches_of_line.max(1.0)).clamp(effort.least_lines, effort.lines);
        let wanted = (lines / touched.max(1.0)).min(1.0);
        // Strided accesses can give one slice twice as many lines as another for some time. The sets of one slice
        // differ less.
        let sets = wanted * f64::from(l2.slices) * f64::from(l2.sets);
        let few = (sets as u32).clamp(1, effort.slices);
        let count = ((wanted * f64::from(l2.slices)).ceil() as u32).max(few).clamp(1, l2.slices);
        let of_slices = f64::from(count) / f64::from(l2.slices);
        let most = (l2.sets / LEAST_SETS).max(1);
        let mut step = ((of_slices / wanted) as u32).clamp(1, most);
        while touches_of_line * touched * of_slices / f64::from(step) > effort.many_touches && 2 * step <= most {
            step *= 2;
        }
        let set = |number| if effort.spreads { some_set(number, l2.sets) } else { number * step };
        let sets: Vec<u32> = (0..l2.sets.div_ceil(step)).map(set).collect();
        let mut has_set = vec![false; l2.sets as usize];
        sets.iter().for_each(|&set| has_set[set as usize] = true);
        Some(Sample {
            slices: (0..count).map(|number| some_slice(number, count, l2.slices)).collect(),
            share: of_slices * sets.len() as f64 / f64::from(l2.sets),
            sets,
            has_set,
            all,
            of_slice: Placement::new(1, l2.sets, l2.index, l2.line_bytes),
            lines_of_chunk: l2.slices.into(),
        })
    }

    /// Returns the line that starts at an address if the sample contains it.
    pub(super) fn line_at(&self, start: i64) -> Option<Line> {
        let line = start.max(0) as u64 / LINE as u64;
        let chunk = line / self.lines_of_chunk;
        self.has_set[self.of_slice.set(chunk) as usize].then_some(())?;
        let slice = self.slices.iter().position(|&slice| self.all.line_of_slice(chunk, slice) == Some(line))?;
        Some(Line { start, slice, chunk })
    }

    /// Returns the sample's lines that overlap a range of addresses.
    pub(super) fn lines(&self, bytes: Range<i64>) -> Vec<Line> {
        let line = |byte: i64| byte.max(0) as u64 / LINE as u64;
        let (first, last) = (line(bytes.start), line(bytes.end - 1));
        let mut found = Vec::new();
        let chunks = first / self.lines_of_chunk..=last / self.lines_of_chunk;
        self.of_slice.each_in_sets(chunks, &self.sets, &mut |chunk| {
            for (slice, &number) in self.slices.iter().enumerate() {
                let line = self.all.line_of_slice(chunk, number).unwrap_or(0);
                if (first..=last).contains(&line) {
                    found.push(Line { start: line as i64 * LINE, slice, chunk });
                }
            }
        });
        found
    }
}

/// Returns one of `count` slices that are spread over all slices and also differ in the lowest bits of their numbers. A
/// single slice is the middle one, because slice 0 contains the lines with round addresses.
fn some_slice(number: u32, count: u32, all: u32) -> u32 {
    let each = all / count;
    if count == 1 { each / 2 } else { number * all / count + number % each }
}

/// Returns one of the sampled sets. Consecutive sets are at a distance that no array stride has, because sets whose
/// numbers share bits would contain the same rows. All returned sets are different.
fn some_set(number: u32, all: u32) -> u32 {
    let step = (golden(1) * f64::from(all)) as u32 | 1;
    let step = if gcd(step.into(), all.into()) == 1 { step } else { 1 };
    (u64::from(number) * u64::from(step) % u64::from(all.max(1))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_simulator::models;

    /// Compares a sample with the sets of all lines: it contains exactly the lines of its sets, and these are the
    /// stated share of all sets.
    #[test]
    fn a_sample_has_all_lines_of_its_sets() {
        for model in ["v100", "a100", "b200", "rtx4090"] {
            let l2 = models::find(model).unwrap().hierarchy().unwrap().l2;
            for touched in [100.0, 20_000.0, 1e6, 1e8] {
                let sample = Sample::new(&l2, touched, 10.0, USUAL).unwrap();
                let whole = Placement::new(l2.slices, l2.sets, l2.index, l2.line_bytes);
                let bytes = (1 << 34) + 7 * LINE + 5..(1 << 34) + 60_000 * LINE;
                let found = sample.lines(bytes.clone());
                let mut sets: Vec<u32> = found.iter().map(|line| whole.set((line.start / LINE) as u64)).collect();
                sets.sort_unstable();
                sets.dedup();
                let lines = (bytes.start / LINE..=(bytes.end - 1) / LINE)
                    .filter(|line| sets.binary_search(&whole.set(*line as u64)).is_ok());
                let mut starts: Vec<i64> = found.iter().map(|line| line.start).collect();
                starts.sort_unstable();
                assert_eq!(starts, lines.map(|line| line * LINE).collect::<Vec<_>>(), "{model}, {touched}");
                assert!(found.iter().all(|line| line.chunk == (line.start / LINE) as u64 / u64::from(l2.slices)));
                assert!(
                    sample.share * touched
                        < 2.0 * USUAL.lines + f64::from(USUAL.slices) * touched / f64::from(l2.slices),
                    "{model}, {touched}"
                );
                if sets.len() as f64 > 0.0 && found.len() > 1000 {
                    let all = f64::from(l2.slices * l2.sets);
                    assert!((sets.len() as f64 / all / sample.share - 1.0).abs() < 0.3, "{model}, {touched}");
                }
            }
        }
    }

    #[test]
    fn slices_and_sets_are_different_ones() {
        let are_different = |mut numbers: Vec<u32>, all: u32| {
            let count = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            numbers.len() == count && numbers.iter().all(|number| *number < all)
        };
        for all in [1, 2, 12, 32, 48, 253, 256] {
            assert!(are_different((0..all).map(|number| some_set(number, all)).collect(), all), "{all} sets");
            for count in (1..=all).filter(|count| *count <= 64) {
                let slices = (0..count).map(|number| some_slice(number, count, all)).collect();
                assert!(are_different(slices, all), "{count} of {all} slices");
            }
        }
    }

    #[test]
    fn other_kinds_of_l2_are_not_sampled() {
        for model in ["profiner", "vega10"] {
            let l2 = models::find(model).unwrap().hierarchy().unwrap().l2;
            assert!(Sample::new(&l2, 1e6, 10.0, USUAL).is_none());
        }
    }
}
