//! All strata of a run, and what they say of the whole.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use warpline_format::budget::{FIRST, LONGEST_ROUND, MOST_STRATA, TAKEN};
use warpline_format::event::{LaunchId, Sampled};

use super::quantile::student;
use super::stratum::{Stratum, Sum, Values};
use crate::analysis::LaunchData;
use crate::analysis::figures::{self, FigureName};

/// A launch stands where it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// More strata than there are, or rounds with impossible numbers.
    #[error("launch {0}: its place in the sample is impossible")]
    Impossible(LaunchId),
    /// It does not go on where the stratum was.
    #[error("launch {0}: its place in the sample does not follow the one before")]
    Order(LaunchId),
}

/// An estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounded {
    /// Estimate.
    pub estimate: f64,
    /// How far the figure of the whole run may be from it, with [`CONFIDENCE`]; `None` where that is not known.
    pub bound: Option<f64>,
}

/// Figures of a whole run, or of a kernel's part in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WholeRun {
    /// Launches.
    pub launches: u64,
    /// Of these, those that were recorded.
    pub recorded: u64,
    /// Kinds of launches that were told apart.
    pub strata: u64,
    /// Sums, by name of the figure.
    pub totals: BTreeMap<String, Bounded>,
    /// Ratios of sums, by name.
    pub ratios: BTreeMap<String, Bounded>,
}

/// A ratio: its figures' numbers and its name.
#[derive(Clone, Copy, Debug)]
struct Pair {
    part: usize,
    whole: usize,
    name: FigureName,
}

/// All strata.
#[derive(Clone, Debug, Default)]
pub struct Strata {
    strata: BTreeMap<u32, (u32, Stratum)>,
    figures: FxHashMap<FigureName, usize>,
    names: Vec<FigureName>,
    pairs: Vec<Pair>,
    /// The same, as strata need them.
    places: Vec<(usize, usize)>,
}

impl Strata {
    /// Whether no launch has a place.
    pub fn is_empty(&self) -> bool {
        self.strata.is_empty()
    }

    /// A launch of a kernel begins.
    ///
    /// # Errors
    /// Its place is none.
    pub fn begin(&mut self, kernel: u32, place: &Sampled) -> Result<(), SampleError> {
        let &Sampled { launch, stratum, round, length, taken } = place;
        let possible = stratum < MOST_STRATA
            && taken <= FIRST.max(TAKEN)
            && (taken..=LONGEST_ROUND).contains(&length)
            && taken > 0;
        if !possible {
            return Err(SampleError::Impossible(launch));
        }
        let figures = self.names.len();
        let (of, known) = self.strata.entry(stratum).or_insert_with(|| (kernel, Stratum::new(round, length, taken)));
        let same = (known.round, known.length, known.taken) == (round, length, taken);
        let next = round > known.round && known.seen == known.length;
        // Only the last stratum, of all that has none of its own, is of several kernels.
        if (*of != kernel && stratum + 1 != MOST_STRATA) || !(same && known.seen < length || next) {
            return Err(SampleError::Order(launch));
        }
        if next {
            known.end_round(figures, &self.places);
            (known.round, known.length, known.taken, known.seen) = (round, length, taken, 0);
        }
        known.seen += 1;
        known.launches += 1;
        Ok(())
    }

    /// A recorded launch is over. Where the stratum is in a later round by then (on a GPU, launches of several streams
    /// overlap), its figures are not used.
    pub fn end(&mut self, place: &Sampled, launch: &LaunchData) {
        let mut values = Values::new();
        figures::each_count(launch, |name, value| {
            let next = self.names.len();
            let index = *self.figures.entry(FigureName::new(name)).or_insert(next);
            if index == next {
                self.names.push(FigureName::new(name));
            }
            if values.len() <= index {
                values.resize(index + 1, 0.0);
            }
            values[index] = value as f64;
        });
        let figures = &self.figures;
        figures::each_pair(launch, |name, part, whole| {
            let number = |name| figures.get(&FigureName::new(name)).copied();
            let (Some(part), Some(whole)) = (number(part), number(whole)) else { return };
            let name = FigureName::new(name);
            if !self.pairs.iter().any(|pair| pair.name == name) {
                self.pairs.push(Pair { part, whole, name });
                self.places.push((part, whole));
            }
        });
        let Some((_, known)) = self.strata.get_mut(&place.stratum) else { return };
        known.recorded += 1;
        if known.round == place.round && (known.samples.len() as u64) < known.taken {
            known.samples.push(values);
        }
    }

    /// Figures of the whole run and of each kernel.
    pub fn whole(&self) -> (WholeRun, BTreeMap<u32, WholeRun>) {
        let mut of_kernels: BTreeMap<u32, Vec<&Stratum>> = BTreeMap::new();
        for (kernel, stratum) in self.strata.values() {
            of_kernels.entry(*kernel).or_default().push(stratum);
        }
        let all: Vec<&Stratum> = self.strata.values().map(|(_, stratum)| stratum).collect();
        let kernels = of_kernels.iter().map(|(kernel, strata)| (*kernel, self.over(strata))).collect();
        (self.over(&all), kernels)
    }

    fn over(&self, strata: &[&Stratum]) -> WholeRun {
        let sum =
            |of: &dyn Fn(&Stratum) -> u64| strata.iter().fold(0u64, |sum, stratum| sum.saturating_add(of(stratum)));
        let recorded = sum(&|stratum| stratum.recorded);
        let totals = (0..self.names.len()).map(|figure| add(strata.iter().map(|stratum| stratum.sum(figure))));
        let totals: Vec<Sum> = totals.collect();
        let named = self.names.iter().zip(&totals).filter(|(_, sum)| sum.total != 0.0);
        let ratios = self.pairs.iter().enumerate().filter_map(|(number, pair)| {
            let (part, whole) = (totals[pair.part], totals[pair.whole]);
            if whole.total <= 0.0 {
                return None;
            }
            let ratio = part.total / whole.total;
            // Linearised: the error of a ratio is that of the sum of `part - ratio * whole`, over the sum of `whole`.
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
