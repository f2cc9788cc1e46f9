//! Allocations, of pools and of graphs, too.

pub mod allocations;
pub mod graph_allocations;
pub mod pools;
