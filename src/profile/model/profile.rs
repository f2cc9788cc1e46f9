//! The document as a whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::allocations::{Allocation, HostAllocation, Intensity};
use super::checks::{Conflict, FailedCall, Fault, HostAccess, StreamConflict, Uninitialised};
use super::control_flow::{Block, Branch};
use super::finding::Finding;
use super::floats::{FloatException, FloatOrigin};
use super::kernel::Kernel;
use super::merged::NameOverRanks;
use super::places::{Line, Site};
use super::rounding::{ComparedResult, RoundedAllocation};
use super::run::Run;
use super::values::{AccessValues, AllocationValues};

/// Value of [`Profile::schema`].
pub const SCHEMA: &str = "warpline.profile";
/// Value of [`Profile::version`] that this release writes.
pub const VERSION: u32 = 1;

/// A whole profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
    /// Description of the run.
    pub run: Run,
    /// Kernels in the order of first launches.
    pub kernels: Vec<Kernel>,
    /// Lines, sorted by kernel, file and line.
    pub lines: Vec<Line>,
    /// Sites, sorted by kernel, site and address space.
    pub sites: Vec<Site>,
    /// Device allocations, sorted by number.
    pub allocations: Vec<Allocation>,
    /// Host allocations, sorted by number.
    pub host_allocations: Vec<HostAllocation>,
    /// Branches, sorted by kernel and source position.
    pub branches: Vec<Branch>,
    /// Basic blocks, sorted by kernel and source position.
    pub blocks: Vec<Block>,
    /// Bad accesses, in order.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// Unordered accesses to the same bytes by different warps; the most severe first.
    #[serde(default)]
    pub conflicts: Vec<Conflict>,
    /// Unordered accesses to the same bytes by launches or copies of two streams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stream_conflicts: Vec<StreamConflict>,
    /// Host code that accesses memory of the device, with `--check-host`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_accesses: Vec<HostAccess>,
    /// Reads and copies of uninitialised bytes, with `--check-init`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uninitialised: Vec<Uninitialised>,
    /// Exceptional floating-point results, with `--check-float`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub float_exceptions: Vec<FloatException>,
    /// Origins of NaNs and infinities in allocations, with `--check-float`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub float_origins: Vec<FloatOrigin>,
    /// Values that accesses transfer, with `--values`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_values: Vec<AccessValues>,
    /// Values in allocations, with `--values`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocation_values: Vec<AllocationValues>,
    /// Allocations whose elements were rounded, with `--what-if-type`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounded_allocations: Vec<RoundedAllocation>,
    /// Copies to the host that were compared with a run without rounding, with `--what-if-results`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared_results: Vec<ComparedResult>,
    /// Failed API calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_calls: Vec<FailedCall>,
    /// Findings; rank 1 comes first.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Memory operations that were or may have been executed but are not counted.
    #[serde(default)]
    pub not_seen: Vec<NotSeen>,
    /// Number of requests to global memory of all kernels by the number of touched pieces, for `load`, `store`,
    /// `atomic` and `all`, and by size of a piece (`32`, `128`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub memory_divergence: BTreeMap<String, BTreeMap<String, Vec<u64>>>,
    /// Floating-point results per byte of each allocation that kernels with such results access, over all of these
    /// kernels and for each; absent if the figures are those of a sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arithmetic_intensity: Vec<Intensity>,
    /// Spread over ranks of the figures of allocations with the same name, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocation_names: Vec<NameOverRanks>,
    /// Source lines that the rows refer to, by file and line number.
    #[serde(default)]
    pub sources: BTreeMap<String, BTreeMap<u32, String>>,
}

impl Profile {
    /// Returns the row of an allocation.
    pub fn allocation(&self, id: u64) -> Option<&Allocation> {
        let index = self.allocations.binary_search_by_key(&id, |allocation| allocation.id).ok()?;
        self.allocations.get(index)
    }

    /// Sorts allocations into the order that [`Self::allocation`] requires.
    pub fn put_in_order(&mut self) {
        self.allocations.sort_by_key(|allocation| allocation.id);
        self.host_allocations.sort_by_key(|allocation| allocation.id);
    }
}

/// A memory operation that no record shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotSeen {
    /// Function that contains it.
    pub function: String,
    /// File of the user frame.
    pub file: String,
    /// Line of the user frame.
    pub line: u32,
    /// Description of the operation.
    pub what: String,
}
