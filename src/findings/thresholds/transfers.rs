//! Thresholds for copies between host and device, for copies within the device, and for accesses of kernels over the
//! bus.

/// Minimum number of copies of a few bytes from one source position. Policy: 50 starts take half a millisecond.
pub const LEAST_SMALL_COPIES: u64 = 50;
/// Maximum bytes of a small copy. Physical: at 12 GB/s and 10 µs per copy, the start takes nine tenths of the time.
pub const MOST_SMALL_COPY_BYTES: u64 = 16 << 10;

/// Minimum number of copies that transferred no new data. Policy: a single one may be from the first iteration.
pub const LEAST_UNCHANGED: u64 = 2;
/// Minimum share of copies that transferred no new data, in general. Calibrated on public programs.
pub const LEAST_UNCHANGED_SHARE: f64 = 0.1;
/// Minimum share of such copies for single values and for results of kernels, which are often equal by chance. Policy.
pub const LEAST_UNCHANGED_OF_VALUES: f64 = 0.5;
/// Maximum bytes of a single value. Physical: the widest access.
pub const VALUE_BYTES: u64 = 16;
/// Maximum bytes of a copy whose contents may be equal by chance. Policy: a page.
pub const PAGE_BYTES: u64 = 4096;

/// Minimum bytes of copies for a severity above a note, and for data larger than a flag or a sum. Policy.
pub const LEAST_COPIED_BYTES: u64 = 64 << 10;
/// Minimum share of results that are only copied to the host in the time of kernels and copies. Policy: results must be
/// copied.
pub const LEAST_RESULT_SHARE: f64 = 0.2;
/// Minimum of this share for a severity above a note. Policy.
pub const DOMINANT_SHARE: f64 = 0.5;
/// Minimum ratio of bytes to the device to bytes to the host, for launches with separate inputs. Policy.
pub const INPUT_SHARE: f64 = 0.1;
/// Maximum ratio of the bytes of host memory to those of a copy, if each copy overwrites the previous one. Policy.
pub const SAME_MEMORY: f64 = 1.5;

/// Maximum share of the copied bytes that kernels touch. Policy.
pub const MOST_TOUCHED: f64 = 0.5;
/// Minimum bytes that are copied and not touched. Policy.
pub const LEAST_UNTOUCHED_BYTES: u64 = 256 << 10;
/// Minimum share of requests to consecutive elements if kernels access whole pieces. Policy.
pub const LEAST_PIECES_SHARE: f64 = 0.9;

/// Minimum bytes of synchronous copies of pageable memory. Policy.
pub const LEAST_PAGEABLE_BYTES: u64 = 64 << 20;
/// Minimum bytes of asynchronous copies, which are intended to overlap. Policy.
pub const LEAST_ASYNCHRONOUS_BYTES: u64 = 1 << 20;
/// Share of a copy's time that pinned memory saves. Physical, assumed: 12 instead of 6 GB/s.
pub const SAVED_BY_PINNING: f64 = 0.5;

/// Minimum number of bytes over the bus per touched byte of host memory, for a severity above a note. Policy.
pub const LEAST_BUS_PER_BYTE: f64 = 1.5;
/// Minimum number of uses of each byte of host memory for which a copy to the device is faster. Physical: the second
/// use reads DRAM.
pub const LEAST_USES: f64 = 2.0;
/// Minimum bytes over the bus, or minimum requested bytes if lanes use each byte several times. Policy.
pub const LEAST_MAPPED_BYTES: u64 = 1 << 20;
/// Minimum bytes over the bus in all cases. Policy.
pub const LEAST_BUS_BYTES: u64 = 1 << 16;
/// Minimum number of copies to the host for a loop, if only the sizes of the copies connect them with copies to the
/// device. Policy.
pub const LEAST_REPEATED_COPIES: u64 = 3;
