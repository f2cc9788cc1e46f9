//! The estimated time of a kernel on a model.

use serde::{Deserialize, Serialize};

use super::merged::EstimateExact;

/// Estimate of a kernel on a model, over its launches that were completely recorded and ended without an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Model.
    pub model: String,
    /// Number of included launches.
    pub launches: u64,
    /// Name of the slowest unit.
    pub limiter: String,
    /// Time of each launch's slowest unit, summed over the launches.
    pub seconds: f64,
    /// Bytes moved at each level.
    pub bytes: Bytes,
    /// All limits with a known rate, slowest first.
    pub limits: Vec<Limit>,
    /// Names of limits with an unknown rate.
    pub unknown: Vec<String>,
    /// Estimate for ideal requests: minimal sectors and no bank conflicts.
    pub ideal: IdealEstimate,
    /// Exact sums for further merging.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<EstimateExact>,
}

/// Bytes moved at each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes {
    /// Bytes of the lookups in L1, in its own sectors.
    pub l1: u64,
    /// Bytes of the lookups in L2.
    pub l2: u64,
    /// Bytes read from and written to device memory, without [`Bytes::bus`].
    pub dram: u64,
    /// Bytes read from and written to host memory that kernels access directly.
    #[serde(default, skip_serializing_if = "super::number::is_zero")]
    pub bus: u64,
}

/// The limit of one unit of the GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// `instructions`, `fp32`, `fp64`, `special`, `l1_data`, `l1_tag`, `l1_lanes`, `shared`, `constant`,
    /// `l2`, `dram`, `bus`, `atomic_address`, `shared_atomics`, and the products of tensor cores by their names.
    pub name: String,
    /// The kernel's work on the unit.
    pub amount: u64,
    /// Unit of the amount.
    pub unit: String,
    /// Amount per second of all SMs together.
    pub rate: f64,
    /// Time for the amount. A launch with fewer blocks than SMs uses only as many SMs.
    pub seconds: f64,
}

/// The estimate for ideal requests: minimal sectors and no bank conflicts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdealEstimate {
    /// Name of the unit that would be the slowest.
    pub limiter: String,
    /// Time in seconds.
    pub seconds: f64,
    /// Speedup over the actual requests.
    pub gain: f64,
}
