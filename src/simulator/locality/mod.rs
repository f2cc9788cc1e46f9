//! Measures of locality that are independent of a cache: exact and approximate reuse distances, and streaming uses.
//! `docs/design/locality.md` has the definitions and the algorithm.

mod axis;
mod cells;
mod distances;
mod elements;
mod eviction_time;
mod histogram;
mod lane_runs;
mod line_index;
mod reuse;
#[cfg(test)]
mod reuse_tests;
mod sample;
mod scope;
mod timeline;
mod uses;

pub use axis::Axis;
pub use cells::{ReuseCells, ReuseCounters};
pub use distances::Distances;
pub use eviction_time::EvictionTime;
pub use histogram::ReuseHistogram;
pub use reuse::{Reuse, Stores};
pub use scope::{Distance, SAMPLED_LINES, Scope, ScopeQueue, ScopeRequest};
pub use timeline::Timeline;
