//! Locality independent of any cache: reuse distances, exact and approximate, and streaming uses.
//! `docs/design/locality.md` tells the definitions and the method.

mod aet;
mod axis;
mod distances;
mod elements;
mod histogram;
mod reuse;
#[cfg(test)]
mod reuse_tests;
mod scope;

pub use aet::Aet;
pub use axis::Axis;
pub use distances::Distances;
pub use histogram::ReuseHistogram;
pub use reuse::{Reuse, ReuseCells, ReuseCounters, Stores};
pub use scope::{Scope, Serve};
