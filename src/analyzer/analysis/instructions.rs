//! Counts executed instructions by class, from block counts.

use warpline_format::matrix::Product;
use warpline_format::site_table::InstructionMix;

/// Name of a class, and the accessor of its count in a block's instruction mix.
type Class = (&'static str, fn(&InstructionMix) -> u32);

const CLASSES: [Class; 10] = [
    ("fp16", |mix| mix.fp16),
    ("fp32", |mix| mix.fp32),
    ("fp64", |mix| mix.fp64),
    ("int", |mix| mix.int),
    ("special", |mix| mix.special),
    ("conversion", |mix| mix.conversion),
    ("control", |mix| mix.control),
    ("memory", |mix| mix.memory),
    ("barrier", |mix| mix.barrier),
    ("tensor", |mix| mix.tensor),
];

/// Executions of the instructions of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassSum {
    /// Executions by warps.
    pub warps: u64,
    /// Executions by lanes.
    pub lanes: u64,
}

/// Executed instructions by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionSums {
    classes: [ClassSum; CLASSES.len()],
    /// Multiply-adds of tensor cores, by [`Product`].
    products: [u64; Product::ALL.len()],
}

impl InstructionSums {
    /// Adds `executions` executions of a block by warps, with `lanes` lanes in total.
    pub fn add_block(&mut self, mix: &InstructionMix, executions: u64, lanes: u64) {
        for (sum, (_, count)) in self.classes.iter_mut().zip(CLASSES) {
            let count = u64::from(count(mix));
            sum.warps = sum.warps.saturating_add(executions.saturating_mul(count));
            sum.lanes = sum.lanes.saturating_add(lanes.saturating_mul(count));
        }
        for (sum, count) in self.products.iter_mut().zip(mix.products) {
            *sum = sum.saturating_add(executions.saturating_mul(count.into()));
        }
    }

    /// Adds other sums.
    pub fn add(&mut self, other: &InstructionSums) {
        for (sum, more) in self.classes.iter_mut().zip(&other.classes) {
            sum.warps = sum.warps.saturating_add(more.warps);
            sum.lanes = sum.lanes.saturating_add(more.lanes);
        }
        for (sum, more) in self.products.iter_mut().zip(other.products) {
            *sum = sum.saturating_add(more);
        }
    }

    /// Returns the classes that occur.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, ClassSum)> {
        let named = CLASSES.iter().zip(self.classes).map(|((name, _), sum)| (*name, sum));
        named.filter(|(_, sum)| *sum != ClassSum::default())
    }

    /// Returns the multiply-adds of tensor cores, by [`Product`].
    pub fn products(&self) -> [u64; Product::ALL.len()] {
        self.products
    }

    /// Returns the executions of one class by warps.
    pub fn warps(&self, class: &str) -> u64 {
        self.iter().find(|(name, _)| *name == class).map_or(0, |(_, sum)| sum.warps)
    }

    /// Returns the executions of all classes by warps.
    pub fn all_warps(&self) -> u64 {
        self.classes.iter().fold(0, |all, sum| all.saturating_add(sum.warps))
    }

    /// Returns the executions of all classes by lanes.
    pub fn all_lanes(&self) -> u64 {
        self.classes.iter().fold(0, |all, sum| all.saturating_add(sum.lanes))
    }
}
