//! Traces analysed: counts, caches, reuse distances, races, and what a profile file holds of them.

mod analysis;
mod growth;
mod memory_bound;
mod ownership;
mod profile_file;
mod races;
mod rounding;
mod simulation;
mod values;
mod warp_order;

#[path = "../support/page.rs"]
mod page;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support_programs/mod.rs"]
mod support_programs;
