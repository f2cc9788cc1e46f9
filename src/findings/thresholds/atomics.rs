//! Thresholds for atomic operations that update one address.

/// Minimum mean number of lanes per request at the most frequent address of the request. Policy.
pub const DEEP: f64 = 1.5;
/// Minimum mean number of lanes for operations to be reported although the model has no cost for them. Policy.
pub const VERY_DEEP: f64 = 8.0;
/// Approximate number of colliding lanes if data selects among about as many addresses as a warp has lanes. Calibrated on
/// histograms of random data.
pub const BY_CHANCE: f64 = 3.0;
/// Minimum number of updates of the hottest address per block. Policy: a block that combines its updates has fewer.
pub const LANES_PER_BLOCK: u64 = 4;
/// Minimum share of the hottest address in all updates. Policy.
pub const LEAST_HOTTEST_SHARE: f64 = 0.01;
/// Maximum mean number of distinct addresses per request for requests to one address. Policy.
pub const ONE_ADDRESS: f64 = 1.5;
/// Minimum share of the time of all kernels for updates by different warps to be more than a note. Policy.
pub const LEAST_WASTE_OF_WARPS: f64 = 0.1;
/// Clock frequency in hertz if the model's frequency is unknown. Policy: a typical value.
pub const USUAL_CLOCK_HZ: f64 = 1.5e9;
/// Maximum bytes of shared memory per block without a function attribute. Physical.
pub const MOST_SHARED_BYTES: u64 = 48 << 10;
/// Bytes of an `mbarrier` object. Physical.
pub const MBARRIER_BYTES: u32 = 8;
