//! The memory hierarchy of a GPU: coalescing, L1, L2, DRAM.
//!
//! All modules are data structures with plain inputs: lanes, SM numbers, cells. Data flows in one direction:
//! [`Coalescer`] → [`Level1`] → [`Egress`] → [`Level2`]. `docs/design/hierarchy.md` explains the rules and their
//! sources.

mod array;
mod coalesce;
mod config;
mod dense;
mod first_level;
mod l1;
mod l2;
#[cfg(test)]
mod many_tests;
pub mod pointer_chase;
#[cfg(test)]
mod reference;
mod traffic;

pub use array::{Evicted, Index, Placement, Replacement, SectorCache, Shares, TreePlru};
pub use coalesce::{Coalescer, Groups, Piece, StageCounts, tag_passes};
pub use config::{
    Atomics, Copies, DramConfig, HierarchyConfig, L1Config, L1Stages, L2Config, L2Misses, StoreFill, StorePolicy,
    TlbConfig,
};
pub use dense::DenseLines;
pub use first_level::{FirstLevel, LocalLayout, SmRequest};
pub use l1::{L1Outcome, Level1, Route};
pub use l2::{Egress, EgressQueue, L2Access, L2Op, L2Outcome, L2Request, Level2, SecondLevel, Written};
pub use traffic::{LevelCounts, SumOf, Traffic, TrafficCells};
