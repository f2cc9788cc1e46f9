//! Allocations, including those of pools and of graphs.

pub mod allocations;
pub mod graph_allocations;
pub mod pools;
