//! Launches that share a row.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::frames::Frame;
use super::metrics::{ByOp, Spaces};
use super::spread::{RatioSpread, Spread};

/// Launches of a kernel that are summed up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchGroup {
    /// How many.
    pub launches: u64,
    /// Number of the first one.
    pub first: u64,
    /// Number of the last one.
    pub last: u64,
    /// Of these launches, that ended with an error.
    #[serde(default, skip_serializing_if = "super::metrics::is_zero")]
    pub failed: u64,
    /// Blocks; `None` where they have several shapes.
    pub grid: Option<[u32; 3]>,
    /// Threads per block.
    pub block: Option<[u32; 3]>,
    /// Bytes.
    pub dynamic_shared_bytes: Option<u32>,
    /// Bytes.
    pub static_shared_bytes: u32,
    /// Registers per thread.
    pub registers: u32,
    /// Of every so many blocks one was recorded; 0: none.
    pub block_share: u64,
    /// Host call path; empty where they have several.
    pub path: Vec<Frame>,
    /// Sums over these launches.
    pub metrics: Spaces,
    /// Sums of loads, stores and atomics apart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_op: ByOp,
    /// Spread of the counts over these launches.
    pub over_launches: BTreeMap<String, Spread>,
    /// Spread of their ratios.
    pub ratios_over_launches: BTreeMap<String, RatioSpread>,
}
