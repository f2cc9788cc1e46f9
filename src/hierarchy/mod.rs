//! The memory hierarchy of a GPU: coalescing, level 1, level 2, DRAM.
//!
//! Everything here is a data structure with plain inputs: lanes, SM numbers, cells. `docs/design/hierarchy.md`
//! tells the rules and where they come from.

mod by_sm;
mod cache;
mod coalesce;
mod config;
mod dense;
mod engine;
mod finder;
mod full;
mod leaving;
mod level1;
mod level2;
#[cfg(test)]
mod many_tests;
mod order;
mod plru;
mod policy;
pub(crate) mod processor;
pub(crate) mod ranks;
mod recency;
#[cfg(test)]
mod reference;
mod rows;
mod rules;
mod rules1;
mod scatter;
mod second;
mod slices;
mod stages;
mod units;
mod waiting;
mod written;

pub use cache::{Evicted, SectorCache};
pub use coalesce::{Coalescer, Groups, Piece, Reach};
pub use config::{
    Atomics, Banks, Copies, DramConfig, HierarchyConfig, L1Config, L1Stages, L2Config, StoreFill, StorePolicy,
    TlbConfig,
};
pub use dense::{DenseLines, LINE_BYTES, SECTOR_BYTES};
pub use engine::{FirstLevel, LevelCounts, LocalLayout, SumOf, Traffic, TrafficCells};
pub use leaving::{L2Request, Leaving, Outgoing};
pub use level1::{Ask, L1Outcome, Level1, Route, ToL2};
pub use level2::{L2Outcome, Level2};
pub use plru::TreePlru;
pub use policy::Replacement;
pub use second::SecondLevel;
pub use slices::{Index, Placement, Shares};
pub use stages::{StageCounts, tag_passes};
pub use written::Written;
