//! The strata of a run, and the estimates for the whole run.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use warpline_format::budget::{FIRST, LONGEST_ROUND, MOST_STRATA, TAKEN};
use warpline_format::event::{LaunchId, Sampled};

use super::lines::{LineCounts, LineFigure};
use super::quantile::student;
use super::stratum::{Stratum, Sum, Values};
use crate::analysis::LaunchData;
use crate::analysis::figures::{self, FigureName};

/// A launch has an invalid position in the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// The number of strata exceeds the maximum, or a round has impossible numbers.
    #[error("launch {0}: its place in the sample is impossible")]
    Impossible(LaunchId),
    /// The launch does not continue its stratum's sequence.
    #[error("launch {0}: its place in the sample does not follow the one before")]
    Order(LaunchId),
}

/// An estimate with an error bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounded {
    /// The estimate.
    pub estimate: f64,
    /// Maximum difference from the true figure at the confidence level [`CONFIDENCE`]; `None` if it is unknown.
    pub bound: Option<f64>,
}

/// Figures of a whole run, or of a kernel in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WholeRun {
    /// Number of launches.
    pub launches: u64,
    /// Number of recorded launches.
    pub recorded: u64,
    /// Number of strata (distinguished kinds of launches).
    pub strata: u64,
    /// Sums, by name of the figure.
    pub totals: BTreeMap<String, Bounded>,
    /// Ratios of sums, by name.
    pub ratios: BTreeMap<String, Bounded>,
}

/// Estimates of a run and of its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WholeRuns {
    /// The whole run.
    pub all: WholeRun,
    /// Estimates by kernel.
    pub kernels: BTreeMap<u32, WholeRun>,
    /// Sums of lines. Empty if there are too many lines to estimate all of them.
    pub lines: BTreeMap<LineFigure, Bounded>,
}

/// Maximum number of figures of lines times strata, which limits the memory to about 100 MB.
const MOST_LINE_FIGURES: usize = 1 << 20;

/// Assigns numbers to figures.
#[derive(Clone, Debug)]
struct Numbers<K> {
    by_name: FxHashMap<K, usize>,
    names: Vec<K>,
}

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Numbers { by_name: FxHashMap::default(), names: Vec::new() }
    }
}

impl<K: Copy + Eq + std::hash::Hash> Numbers<K> {
    fn number(&mut self, name: K) -> usize {
        let next = self.names.len();
        let number = *self.by_name.entry(name).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }

    /// Stores a launch's value at the position of its figure.
    fn set(&mut self, values: &mut Values, name: K, value: u64) {
        let number = self.number(name);
        if values.len() <= number {
            values.resize(number + 1, 0.0);
        }
        values[number] = value as f64;
    }
}

/// A stratum, and the kernel that it belongs to.
#[derive(Clone, Debug)]
struct KernelStratum {
    kernel: u32,
    counts: Stratum,
    lines: Stratum,
    /// Maximum number of line figures in a launch.
    most_lines: usize,
}

/// A ratio: the numbers of its two figures, and its name.
#[derive(Clone, Copy, Debug)]
struct Pair {
    part: usize,
    whole: usize,
    name: FigureName,
}

/// All strata of a run.
#[derive(Clone, Debug, Default)]
pub struct Strata {
    strata: BTreeMap<u32, KernelStratum>,
    figures: Numbers<FigureName>,
    /// Numbers of line figures, by kernel. A stratum stores only lines of its kernel.
    lines: BTreeMap<u32, Numbers<LineFigure>>,
    /// Number of line figures in all strata.
    line_figures: usize,
    pairs: Vec<Pair>,
    /// The figures of each ratio, in the form that strata need.
    places: Vec<(usize, usize)>,
}

impl Strata {
    /// Returns whether no launch is part of a sample.
    pub fn is_empty(&self) -> bool {
        self.strata.is_empty()
    }

    /// Records the start of a launch of a kernel.
    ///
    /// # Errors
    /// Returns an error if the launch's position in the sample is invalid.
    pub fn begin(&mut self, kernel: u32, place: &Sampled) -> Result<(), SampleError> {
        let &Sampled { launch, stratum, round, length, taken } = place;
        let possible = stratum < MOST_STRATA
            && taken <= FIRST.max(TAKEN)
            && (taken..=LONGEST_ROUND).contains(&length)
            && taken > 0;
        if !possible {
            return Err(SampleError::Impossible(launch));
        }
        let held = self.strata.entry(stratum).or_insert_with(|| {
            let new = Stratum::new(round, length, taken);
            KernelStratum { kernel, counts: new.clone(), lines: new, most_lines: 0 }
        });
        let known = &held.counts;
        let same = (known.round, known.length, known.taken) == (round, length, taken);
        let next = round > known.round && known.seen == known.length;
        // Only the last stratum, which collects the remaining launches, has several kernels.
        if (held.kernel != kernel && stratum + 1 != MOST_STRATA) || !(same && known.seen < length || next) {
            return Err(SampleError::Order(launch));
        }
        held.counts.begin(place, self.figures.names.len(), &self.places);
        let lines = self.lines.get(&held.kernel).map_or(0, |lines| lines.names.len());
        held.lines.begin(place, lines, &[]);
        Ok(())
    }

    /// Records the end of a recorded launch.
    pub fn end(&mut self, place: &Sampled, launch: &LaunchData, lines: &LineCounts) {
        let mut values = Values::new();
        figures::each_count(launch, |name, value| self.figures.set(&mut values, FigureName::new(name), value));
        let figures = &self.figures.by_name;
        figures::each_pair(launch, |name, part, whole| {
            let number = |name| figures.get(&FigureName::new(name)).copied();
            let (Some(part), Some(whole)) = (number(part), number(whole)) else { return };
            let name = FigureName::new(name);
            if !self.pairs.iter().any(|pair| pair.name == name) {
                self.pairs.push(Pair { part, whole, name });
                self.places.push((part, whole));
            }
        });
        let Some(held) = self.strata.get_mut(&place.stratum) else { return };
        held.counts.end(place, values);
        let mut values = Values::new();
        if self.line_figures <= MOST_LINE_FIGURES {
            let numbers = self.lines.entry(held.kernel).or_default();
            lines.iter().for_each(|(figure, value)| numbers.set(&mut values, figure, value));
        }
        self.line_figures += values.len().saturating_sub(held.most_lines);
        held.most_lines = held.most_lines.max(values.len());
        held.lines.end(place, values);
    }

    /// Returns the figures of the whole run, of each kernel and of each line.
    pub fn whole(&self) -> WholeRuns {
        let mut of_kernels: BTreeMap<u32, Vec<&KernelStratum>> = BTreeMap::new();
        for held in self.strata.values() {
            of_kernels.entry(held.kernel).or_default().push(held);
        }
        let all: Vec<&Stratum> = self.strata.values().map(|held| &held.counts).collect();
        let kernels = of_kernels.iter().map(|(kernel, strata)| {
            let counts: Vec<&Stratum> = strata.iter().map(|held| &held.counts).collect();
            (*kernel, self.over(&counts))
        });
        let kernels = kernels.collect();
        let mut lines: BTreeMap<LineFigure, Sum> = BTreeMap::new();
        if self.line_figures <= MOST_LINE_FIGURES {
            for (kernel, numbers) in &self.lines {
                let Some(strata) = of_kernels.get(kernel) else { continue };
                for (number, figure) in numbers.names.iter().enumerate() {
                    let sum = add(strata.iter().map(|held| held.lines.sum(number)));
                    // The shared stratum may contain a line that also occurs in a stratum of its kernel.
                    let known = lines.remove(figure).into_iter().chain([sum]);
                    lines.insert(*figure, add(known));
                }
            }
        }
        let lines = lines.iter().map(|(figure, sum)| (*figure, bounded(sum))).collect();
        WholeRuns { all: self.over(&all), kernels, lines }
    }

    fn over(&self, strata: &[&Stratum]) -> WholeRun {
        let sum =
            |of: &dyn Fn(&Stratum) -> u64| strata.iter().fold(0u64, |sum, stratum| sum.saturating_add(of(stratum)));
        let recorded = sum(&|stratum| stratum.recorded);
        let totals = (0..self.figures.names.len()).map(|figure| add(strata.iter().map(|stratum| stratum.sum(figure))));
        let totals: Vec<Sum> = totals.collect();
        let named = self.figures.names.iter().zip(&totals).filter(|(_, sum)| sum.total != 0.0);
        let ratios = self.pairs.iter().enumerate().filter_map(|(number, pair)| {
            let (part, whole) = (totals[pair.part], totals[pair.whole]);
            if whole.total <= 0.0 {
                return None;
            }
            let ratio = part.total / whole.total;
            // The ratio is linearised: its error is that of the sum of `part - ratio * whole`, divided by the sum of
            // `whole`.
            let variance = strata.iter().try_fold(0.0, |sum, stratum| {
                let of_part = stratum.pooled_variance(pair.part)?;
                let of_whole = stratum.pooled_variance(pair.whole)?;
                let both = stratum.covariance(number, (pair.part, pair.whole))?;
                Some(sum + (of_part - 2.0 * ratio * both + ratio * ratio * of_whole).max(0.0))
            });
            let degrees = degrees(&part).min(degrees(&whole));
            let bound = variance.map(|variance| student(degrees) * variance.sqrt() / whole.total);
            Some((pair.name.to_string(), Bounded { estimate: ratio, bound }))
        });
        WholeRun {
            launches: sum(&|stratum| stratum.launches),
            recorded,
            strata: strata.len() as u64,
            totals: named.map(|(name, sum)| (name.to_string(), bounded(sum))).collect(),
            ratios: ratios.collect(),
        }
    }
}

fn add(sums: impl Iterator<Item = Sum>) -> Sum {
    let none = Sum { variance: Some(0.0), ..Sum::default() };
    sums.fold(none, |all, sum| Sum {
        total: all.total + sum.total,
        variance: all.variance.zip(sum.variance).map(|(all, more)| all + more),
        parts: all.parts + sum.parts,
    })
}

fn degrees(sum: &Sum) -> f64 {
    match sum.variance {
        Some(variance) if sum.parts > 0.0 => variance * variance / sum.parts,
        _ => f64::INFINITY,
    }
}

fn bounded(sum: &Sum) -> Bounded {
    let bound = sum.variance.map(|variance| student(degrees(sum)) * variance.sqrt());
    Bounded { estimate: sum.total, bound }
}

#[cfg(test)]
#[path = "strata_tests.rs"]
mod tests;
