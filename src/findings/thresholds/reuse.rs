//! Thresholds for data that is loaded or stored repeatedly.

/// Minimum share of a broadcast's requests in which all lanes read one address. Policy.
pub const LEAST_UNIFORM_SHARE: f64 = 0.9;
/// Minimum share of an array's broadcasts in a kernel's requests. Policy.
pub const LEAST_BROADCAST_SHARE: f64 = 0.3;
/// Minimum mean number of iterations per warp for repeated accesses to count. Policy: loops over the points of a curve
/// have fewer.
pub const LEAST_ITERATIONS: u64 = 4;
/// Minimum gain of constant memory that justifies a change. Policy.
pub const LEAST_BROADCAST_GAIN: f64 = 1.25;
/// Minimum share of the time of all kernels in which broadcasts keep L1 busy. Policy: a smaller share is hidden by
/// other limits.
pub const LEAST_BROADCAST_WASTE: f64 = 0.1;
/// Bytes of constant memory. Physical.
pub const CONSTANT_BYTES: u64 = 64 << 10;

/// Maximum mean number of active lanes of a store that each thread executes once. Calibrated on flags that threads set.
pub const FEW_STORING_LANES: u64 = 4;
/// Minimum share of a kernel's requests to a value in memory. Policy.
pub const LEAST_ACCUMULATOR_SHARE: f64 = 0.1;
/// Minimum number of bytes from L2 per touched byte in a launch. Policy.
pub const LEAST_RELOADS: f64 = 8.0;
/// Maximum hit rate in L1 of loads that load data from L2 repeatedly. Policy.
pub const MOST_RELOAD_HITS: f64 = 0.75;
/// Minimum number of bytes from L1 per touched byte in a launch, if L1 limits the kernel. Calibrated on matrix products
/// without tiles.
pub const LEAST_L1_RELOADS: f64 = 64.0;
/// Minimum share of loads from global memory in the requests of such a kernel. Calibrated on the same programs.
pub const LEAST_LOAD_SHARE: f64 = 0.8;
/// Maximum share of the sectors of such a load that its bytes do not need. Policy.
pub const MOST_L1_EXCESS: f64 = 0.6;
/// Maximum share of the sectors of a load from L2 that its bytes do not need. Policy: other findings report wasted
/// sectors.
pub const MOST_EXCESS: f64 = 0.25;
/// Maximum irregular share of the requests of a load from L2; a load with more is a gather. Policy.
pub const MOST_IRREGULAR: f64 = 0.5;
/// Minimum number of times that a block loads data for a repeated load. Policy: borders and fills load slightly more
/// than once.
pub const MORE_THAN_ONCE: f64 = 1.1;
/// Minimum bytes of the data; L1 can contain less data than this. Physical, approximate.
pub const LEAST_RELOADED_BYTES: u64 = 64 << 10;
/// Share of the L1-limited time that blocking saves. Policy: tiles with two results per thread halve the loads.
pub const SAVED_BY_BLOCKING: f64 = 0.5;
/// Minimum share of repeated uses in the uses of lines. Policy: a smaller share is not reuse.
pub const LEAST_REPEATED_USES: f64 = 0.3;
/// Minimum share of the repeated uses of lines whose reuse distance exceeds L1. Policy.
pub const LEAST_BEYOND_L1: f64 = 0.3;
/// Maximum hit rate in L1 of loads whose data is evicted. Policy.
pub const MOST_EVICTED_HITS: f64 = 0.5;
/// Maximum number of requested bytes per touched byte of data that is read once. Policy.
pub const READ_ONCE: f64 = 1.1;
/// Minimum share of such data in the sectors of all loads, for it to evict other data. Policy.
pub const LEAST_STREAM_SHARE: f64 = 0.2;
/// Minimum number of bytes read from DRAM per touched byte for repeated sweeps. Policy.
pub const LEAST_SWEEPS: f64 = 2.5;
/// Minimum share of an allocation in all DRAM traffic. Policy.
pub const LEAST_TRAFFIC_SHARE: f64 = 0.1;
/// Minimum bytes of the data; L2 does not evict less data because of its size alone. Physical, approximate.
pub const LEAST_SWEPT_BYTES: u64 = 256 << 10;
/// Maximum share of a swept access's sectors that its bytes do not need. Policy: wasted sectors cause evictions first.
pub const MOST_SWEPT_EXCESS: f64 = 0.5;
/// Minimum number of launches per sweep if successive launches sweep over the data. Policy.
pub const LAUNCHES_PER_SWEEP: f64 = 0.7;
/// Maximum number of copies and fills per sweep; with more, each launch has different data. Policy.
pub const MOST_RENEWED: f64 = 0.5;
/// Minimum share of the launches before which the data was evicted. Policy: otherwise L2 contains the data for most
/// launches.
pub const LEAST_GONE_LAUNCHES: f64 = 0.25;
/// Range of the bytes that the second kernel loads per byte that the first kernel stored, if both access each byte
/// once. Policy.
pub const EACH_ONCE: std::ops::RangeInclusive<f64> = 0.9..=1.02;
/// Minimum share of the bytes passed between two kernels that the second kernel reads from DRAM. Policy.
pub const LEAST_GONE: f64 = 0.4;
/// Minimum share of these bytes in the second kernel's DRAM traffic. Policy.
pub const LEAST_HANDED_SHARE: f64 = 0.15;
/// Maximum bytes of an allocation with a few scalars, such as those of a solver's step. Calibrated on conjugate
/// gradients.
pub const MOST_SCALAR_BYTES: u64 = 256;
/// Minimum ratio of the bytes of other data that kernels write to the passed bytes, for the other data to have an
/// element per thread. Policy.
pub const AS_LARGE: f64 = 0.25;
/// Minimum share of an array that counts as the whole array. Policy.
pub const WHOLE_ARRAY: f64 = 0.95;
/// Minimum share of contiguous requests in the bytes of a kernel's loads of an array, if threads need neighbours at
/// fixed distances. Policy: single lanes load the ends of a tile's rows.
pub const NEIGHBOUR_SHARE: f64 = 0.9;
/// Maximum bytes of values that all threads read, such as the length of a step. Policy.
pub const FEW_VALUES_BYTES: u64 = 256;
