//! Data that is loaded or stored again.

/// Share of a load's requests in which all lanes read one address, at least, for broadcasts. Policy.
pub const LEAST_UNIFORM_SHARE: f64 = 0.9;
/// Least share of a kernel's requests that the broadcasts of an array are. Policy.
pub const LEAST_BROADCAST_SHARE: f64 = 0.3;
/// Iterations of a warp, on average, at least, for what it repeats to count. Policy: the points of a curve are fewer.
pub const LEAST_ITERATIONS: u64 = 4;
/// Least gain by constant memory that is worth a change. Policy.
pub const LEAST_BROADCAST_GAIN: f64 = 1.25;
/// Least share of the time of all kernels that broadcasts keep L1 busy. Policy: less is hidden behind something else.
pub const LEAST_BROADCAST_WASTE: f64 = 0.1;
/// Bytes of constant memory. Physical.
pub const CONSTANT_BYTES: u64 = 64 << 10;

/// Mean active lanes of a store, at most, that may be a thread's own once. Calibrated on flags that threads raise.
pub const FEW_STORING_LANES: u64 = 4;
/// Least share of a kernel's requests that a value in memory takes. Policy.
pub const LEAST_ACCUMULATOR_SHARE: f64 = 0.1;
/// Bytes from L2 in a launch for each byte that is touched, at least. Policy.
pub const LEAST_RELOADS: f64 = 8.0;
/// Hit rate in L1 of loads that come from L2 again, at most. Policy.
pub const MOST_RELOAD_HITS: f64 = 0.75;
/// Bytes from L1 in a launch for each byte that is touched, at least, where L1 limits the kernel. Calibrated on matrix products
/// without tiles.
pub const LEAST_L1_RELOADS: f64 = 64.0;
/// Least share of the requests of such a kernel that are loads from global memory. Calibrated likewise.
pub const LEAST_LOAD_SHARE: f64 = 0.8;
/// Share of the sectors of such a load that its bytes do not need, at most. Policy.
pub const MOST_L1_EXCESS: f64 = 0.6;
/// The same of a load from L2: wasted sectors have findings of their own. Policy.
pub const MOST_EXCESS: f64 = 0.25;
/// Irregular share of the requests of a load from L2, at most: with more the load is a gather. Policy.
pub const MOST_IRREGULAR: f64 = 0.5;
/// Times that a block loads data, at least, to load it again: borders and fills are a little more than once. Policy.
pub const MORE_THAN_ONCE: f64 = 1.1;
/// Bytes of data, at least: L1 keeps less. Physical, about.
pub const LEAST_RELOADED_BYTES: u64 = 64 << 10;
/// Part of the L1-limited time that blocking saves: tiles of two results per thread halve the loads. Policy.
pub const SAVED_BY_BLOCKING: f64 = 0.5;
/// Least share of the uses of lines that are repeated: fewer are not reuse. Policy.
pub const LEAST_REPEATED_USES: f64 = 0.3;
/// Least share of the repeated uses of lines whose reuse distance is beyond L1. Policy.
pub const LEAST_BEYOND_L1: f64 = 0.3;
/// Hit rate in L1 of loads whose data is evicted, at most. Policy.
pub const MOST_EVICTED_HITS: f64 = 0.5;
/// Requested bytes for each touched byte of data that is read once, at most. Policy.
pub const READ_ONCE: f64 = 1.1;
/// Least share of such data in the sectors of all loads, for it to evict others. Policy.
pub const LEAST_STREAM_SHARE: f64 = 0.2;
/// Bytes read from DRAM for each touched byte, at least, for data to be swept again. Policy.
pub const LEAST_SWEEPS: f64 = 2.5;
/// Least share of all traffic of DRAM that an allocation has. Policy.
pub const LEAST_TRAFFIC_SHARE: f64 = 0.1;
/// Bytes of data, at least: less does not leave L2 for its own size. Physical, about.
pub const LEAST_SWEPT_BYTES: u64 = 256 << 10;
/// Share of the sectors of a swept access that its bytes do not need, at most: wasted sectors evict first. Policy.
pub const MOST_SWEPT_EXCESS: f64 = 0.5;
/// Launches for each sweep, at least, for launches to sweep one after the other. Policy.
pub const LAUNCHES_PER_SWEEP: f64 = 0.7;
/// Copies and fills for each sweep, at most: with more, each launch has other data. Policy.
pub const MOST_RENEWED: f64 = 0.5;
/// Share of the launches that find the data gone, at least: else L2 keeps it for most of them. Policy.
pub const LEAST_GONE_LAUNCHES: f64 = 0.25;
/// Bytes that the second kernel loads for each byte that the first has stored, where both access each byte once. Policy.
pub const EACH_ONCE: std::ops::RangeInclusive<f64> = 0.9..=1.02;
/// Share of the bytes that a kernel hands over which the next one reads from DRAM, at least. Policy.
pub const LEAST_GONE: f64 = 0.4;
/// Least share of the second kernel's traffic of DRAM. Policy.
pub const LEAST_HANDED_SHARE: f64 = 0.15;
/// Bytes of an allocation of a few scalars, as those of a solver's step, at most. Calibrated on conjugate gradients.
pub const MOST_SCALAR_BYTES: u64 = 256;
/// Bytes of other data that kernels make against those that are handed over, at least, for it to have an element for each thread.
/// Policy.
pub const AS_LARGE: f64 = 0.25;
/// Share of an array that is all of it, about. Policy.
pub const WHOLE_ARRAY: f64 = 0.95;
/// Share of the bytes of a kernel's loads of an array that contiguous requests bring, where threads need neighbours at fixed
/// distances. Policy: single lanes load the ends of a tile's rows.
pub const NEIGHBOUR_SHARE: f64 = 0.9;
/// Bytes of values that all threads read, as the length of a step, at most. Policy.
pub const FEW_VALUES_BYTES: u64 = 256;
