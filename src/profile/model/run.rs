//! Description of the run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checks::Missing;
use super::merged::{MergedFrom, Ranges};
use super::spread::WholeRun;

/// Returns the mode of documents that do not contain one.
fn default_mode() -> String {
    "trace".to_owned()
}

/// Description of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `cpu` or `gpu`.
    pub device: String,
    /// GPU models. The scheduler of the first one determined the order.
    pub models: Vec<String>,
    /// Whether the program exited, its trace is complete, and no kernel ended early or is missing.
    pub complete: bool,
    /// Architectures for which the executed code was built, for example 75 for `sm_75`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub architectures: Vec<u32>,
    /// Number of records that were dropped with the user's permission.
    pub dropped_records: u64,
    /// `trace`, or `counters` if the GPU counted requests by site without a trace.
    #[serde(default = "default_mode")]
    pub mode: String,
    /// Whether only a part of the launches or blocks was recorded.
    pub sampled: bool,
    /// Extent of the check for conflicts between warps: `sampled` or `full`; absent if the check did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race_check: Option<String>,
    /// Whether memory that is never freed is reported (`--check-leaks`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leak_check: bool,
    /// Whether uninitialised reads are reported (`--check-init`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub init_check: bool,
    /// Accesses of host code to memory of the device were checked (`--check-host`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host_check: bool,
    /// Whether exceptional floating-point values were recorded (`--check-float`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub float_check: bool,
    /// Whether values of accesses were recorded (`--values`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub memory_values: bool,
    /// Exit code of the program (128 + n for a signal); `None` if unknown.
    pub exit_code: Option<i32>,
    /// Assumptions that the figures depend on.
    pub assumptions: BTreeMap<String, String>,
    /// Program's executable and arguments, as the program reported them.
    #[serde(default)]
    pub program: Vec<String>,
    /// Notes for the reader, which are equal for identical runs.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Work that did not run or did not complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
    /// Estimated figures of all launches, if a budget recorded only some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_run: Option<WholeRun>,
    /// Bytes per lookup at each level, by model; absent if nothing was simulated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lookup_bytes: BTreeMap<String, LookupBytes>,
    /// Capacity of each cache in bytes, by model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cache_bytes: BTreeMap<String, CacheBytes>,
    /// The profiles that a merged profile consists of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Box<MergedFrom>>,
    /// Data that may differ between identical runs.
    pub environment: Environment,
}

/// Bytes per lookup: a sector of the level, or a whole line if it has no sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookupBytes {
    /// Bytes per lookup of L1.
    pub l1: u64,
    /// Bytes per lookup of L2.
    pub l2: u64,
}

/// Sizes of caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheBytes {
    /// Size of an SM's L1 without shared memory; 0 if unknown.
    pub l1: u64,
    /// Size of L2.
    pub l2: u64,
}

/// Data that may differ between identical runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Command line of `warpline`.
    pub command: Vec<String>,
    /// Versions of the tools.
    pub versions: BTreeMap<String, String>,
    /// Wall-clock seconds: `program`, `analysis`.
    pub seconds: BTreeMap<String, f64>,
    /// Process number of the program.
    pub pid: Option<u32>,
    /// Name of the machine.
    pub host: Option<String>,
    /// Start time, for example `2026-11-20T19:00:00Z`.
    pub date: Option<String>,
    /// Number of threads of the analysis.
    pub threads: Option<u32>,
    /// Rank of the process in its job; absent if the process was not detected as one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
    /// The ranks of each node, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, Ranges>,
    /// Labels that the user gave the run: `commit`, `branch` and the like.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Rank of the program among processes that MPI or Slurm started together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// Number of the rank, counted from 0.
    pub index: u32,
    /// Number of ranks; `None` if the launcher does not report it.
    pub count: Option<u32>,
    /// Number of the rank among those of its node.
    pub local_index: Option<u32>,
    /// Name of the node that it ran on.
    pub node: Option<String>,
    /// The launcher whose environment names the rank: `open-mpi`, `pmi` (MPICH and derivatives), `slurm` or `pmix`.
    pub launcher: String,
}
