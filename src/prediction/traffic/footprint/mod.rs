//! Counts the distinct sectors and lines that blocks touch, without running the blocks.

mod carry;
mod footprints;
mod lattice;
mod skewed;
mod sweep;

pub use footprints::{Blocks, Family, Footprints, Union, boxes, conjuncts};
pub use skewed::skewed;
