//! What was run and how.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checks::Missing;
use super::merged::{MergedFrom, Ranges};
use super::spread::WholeRun;

/// Mode of documents from before there were others.
fn default_mode() -> String {
    "trace".to_owned()
}

/// What was run and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `cpu` or `gpu`.
    pub device: String,
    /// GPU models; the first one's scheduler gave the order.
    pub models: Vec<String>,
    /// The program exited, its trace is whole, and no kernel ended early or is missing.
    pub complete: bool,
    /// Architectures that the code which ran was built for, as 75 for `sm_75`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub architectures: Vec<u32>,
    /// Records that the user allowed to drop.
    pub dropped_records: u64,
    /// `trace`, or `counters` where the GPU counted requests by site and kept no trace.
    #[serde(default = "default_mode")]
    pub mode: String,
    /// Only a share of the launches or blocks was recorded.
    pub sampled: bool,
    /// Extent of the check for conflicts between warps: `sampled` or `full`; absent if nothing was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race_check: Option<String>,
    /// Memory that is never freed is reported (`--check-leaks`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leak_check: bool,
    /// Whether reads of bytes that nothing has written are reported (`--check-init`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub init_check: bool,
    /// Exceptional floating-point values were followed (`--check-float`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub float_check: bool,
    /// Values of accesses were followed (`--values`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub memory_values: bool,
    /// Exit code of the program (128 + n for a signal); `None` when it is not known.
    pub exit_code: Option<i32>,
    /// What the figures are based on.
    pub assumptions: BTreeMap<String, String>,
    /// Program's executable and arguments, as the program reported them.
    #[serde(default)]
    pub program: Vec<String>,
    /// What a reader should know; the same for identical runs.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What did not run, or not to its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
    /// Where a budget recorded some of the launches: figures of all, estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_run: Option<WholeRun>,
    /// Bytes of a lookup at each level, by model; absent where nothing was simulated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lookup_bytes: BTreeMap<String, LookupBytes>,
    /// Bytes that each cache holds, by model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cache_bytes: BTreeMap<String, CacheBytes>,
    /// Profiles that it consists of, if it is a merged one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<Box<MergedFrom>>,
    /// Whatever may differ between identical runs.
    pub environment: Environment,
}

/// Bytes of a lookup: what one of a level's own sectors, or its whole line, holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookupBytes {
    /// Level 1.
    pub l1: u64,
    /// Level 2.
    pub l2: u64,
}

/// Sizes of caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheBytes {
    /// Level 1 of an SM, where no shared memory takes of it; 0 unknown.
    pub l1: u64,
    /// Level 2.
    pub l2: u64,
}

/// Whatever may differ between identical runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Command line of `warpline`.
    pub command: Vec<String>,
    /// Releases of the tools.
    pub versions: BTreeMap<String, String>,
    /// Wall-clock seconds: `program`, `analysis`.
    pub seconds: BTreeMap<String, f64>,
    /// Process number of the program.
    pub pid: Option<u32>,
    /// Machine.
    pub host: Option<String>,
    /// Start, as in `2026-11-20T19:00:00Z`.
    pub date: Option<String>,
    /// Threads of the analysis.
    pub threads: Option<u32>,
    /// Which of the job's processes it was; absent if nothing shows that it was one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
    /// The ranks of each node, in profiles of several ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, Ranges>,
    /// Labels that the user gave the run: `commit`, `branch` and the like.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Rank of the program among those that were started together, by MPI or Slurm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// Its number, from 0.
    pub index: u32,
    /// How many there are; `None` if the launcher does not report it.
    pub count: Option<u32>,
    /// Its number among those of its node.
    pub local_index: Option<u32>,
    /// The node that it ran on.
    pub node: Option<String>,
    /// The launcher whose environment names the rank: `open-mpi`, `pmi` (MPICH and its kin), `slurm` or `pmix`.
    pub launcher: String,
}
