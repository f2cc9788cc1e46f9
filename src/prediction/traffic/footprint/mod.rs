//! Distinct sectors and lines that blocks touch, counted without running them.

mod carry;
mod footprints;
mod lattice;
mod skewed;
mod sweep;

pub use footprints::{Blocks, Family, Footprints, Union, boxes, conjuncts};
pub use skewed::skewed;
