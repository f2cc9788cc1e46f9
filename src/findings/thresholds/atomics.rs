//! Atomic operations that update one address.

/// Lanes of a request at the address that most of them update, on average, at least. Policy.
pub const DEEP: f64 = 1.5;
/// The same where they are reported although the model has no cost for them. Policy.
pub const VERY_DEEP: f64 = 8.0;
/// Lanes that meet where data chooses among about as many addresses as a warp has lanes. Calibrated on histograms of random data.
pub const BY_CHANCE: f64 = 3.0;
/// Updates of the hottest address for each block, at least: fewer are those of a block that combines them. Policy.
pub const LANES_PER_BLOCK: u64 = 4;
/// Least share of all updates that the hottest address gets. Policy.
pub const LEAST_HOTTEST_SHARE: f64 = 0.01;
/// Distinct addresses of a request, on average, below which it is one. Policy.
pub const ONE_ADDRESS: f64 = 1.5;
/// Share of the time of all kernels below which updates of different warps are a note. Policy.
pub const LEAST_WASTE_OF_WARPS: f64 = 0.1;
/// Clock where the model's is not known, in hertz. Policy: a usual one.
pub const USUAL_CLOCK_HZ: f64 = 1.5e9;
/// Bytes of shared memory that a block may have without an attribute. Physical.
pub const MOST_SHARED_BYTES: u64 = 48 << 10;
/// Bytes of an `mbarrier` object. Physical.
pub const MBARRIER_BYTES: u32 = 8;
