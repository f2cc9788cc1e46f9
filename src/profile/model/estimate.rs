//! A kernel's time by a model.

use serde::{Deserialize, Serialize};

use super::merged::EstimateExact;

/// What limits a kernel on a model, over its launches that were recorded whole and ended without an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Model.
    pub model: String,
    /// Launches that are in it.
    pub launches: u64,
    /// Name of the slowest limit.
    pub limiter: String,
    /// Sum over the launches of the slowest limit's time.
    pub seconds: f64,
    /// Moved at each level.
    pub bytes: Bytes,
    /// All limits whose rate is known, slowest first.
    pub limits: Vec<Limit>,
    /// Limits whose rate is not known.
    pub unknown: Vec<String>,
    /// If no request touched more sectors than its bytes fill, or had bank conflicts.
    pub ideal: IdealEstimate,
    /// What merging it again needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<EstimateExact>,
}

/// Bytes moved at each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes {
    /// Looked up in L1, in its own sectors.
    pub l1: u64,
    /// Looked up in L2.
    pub l2: u64,
    /// Read from and written to device memory, without what is [`Bytes::bus`].
    pub dram: u64,
    /// Read from and written to host memory that kernels reach where it is.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub bus: u64,
}

/// One part of the GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// `instructions`, `fp32`, `fp64`, `special`, `l1_data`, `l1_tag`, `l1_lanes`, `shared`, `constant`,
    /// `l2`, `dram`, `bus`, `atomic_address`, `shared_atomics`, and the products of tensor cores by their names.
    pub name: String,
    /// The kernel's work on it.
    pub amount: u64,
    /// Unit of the amount.
    pub unit: String,
    /// Amount per second, all SMs together.
    pub rate: f64,
    /// Time of the amount, where a launch has fewer blocks than there are SMs with that many SMs only.
    pub seconds: f64,
}

/// The same with ideal requests: no sector beyond what their bytes fill, no bank conflict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdealEstimate {
    /// Name of the limit that would be the slowest.
    pub limiter: String,
    /// Time.
    pub seconds: f64,
    /// How many times faster.
    pub gain: f64,
}
