//! Copies between host and device, within the device, and what kernels move over the bus.

/// Least number of copies of a few bytes from one place. Policy: 50 starts take half a millisecond.
pub const LEAST_SMALL_COPIES: u64 = 50;
/// Most bytes of a small copy. Physical: at 12 GB/s and 10 µs per copy, the start is nine tenths of its time.
pub const MOST_SMALL_COPY_BYTES: u64 = 16 << 10;

/// Least copies that brought nothing new. Policy: one may be the first iteration's.
pub const LEAST_UNCHANGED: u64 = 2;
/// Least share of copies that brought nothing new, in general. Calibrated on public programs.
pub const LEAST_UNCHANGED_SHARE: f64 = 0.1;
/// The same of single values and of results that kernels write, which are often equal by chance. Policy.
pub const LEAST_UNCHANGED_OF_VALUES: f64 = 0.5;
/// Most bytes of a single value. Physical: the widest access.
pub const VALUE_BYTES: u64 = 16;
/// Most bytes of a copy whose contents may be equal by chance. Policy: a page.
pub const PAGE_BYTES: u64 = 4096;

/// Least bytes of copies that are more than a note, or than a flag or a sum. Policy.
pub const LEAST_COPIED_BYTES: u64 = 64 << 10;
/// Least share of the time of kernels and copies that results take which only come back. Policy: results have to come back.
pub const LEAST_RESULT_SHARE: f64 = 0.2;
/// The same for more than a note. Policy.
pub const DOMINANT_SHARE: f64 = 0.5;
/// Bytes that go to the device over those that come back, from which on launches have inputs of their own. Policy.
pub const INPUT_SHARE: f64 = 0.1;
/// Most bytes of host memory over those of a copy where each copy overwrites the one before. Policy.
pub const SAME_MEMORY: f64 = 1.5;

/// Most of the copied bytes that kernels touch. Policy.
pub const MOST_TOUCHED: f64 = 0.5;
/// Least bytes that are copied and not touched. Policy.
pub const LEAST_UNTOUCHED_BYTES: u64 = 256 << 10;
/// Least share of requests to consecutive elements where kernels access whole pieces. Policy.
pub const LEAST_PIECES_SHARE: f64 = 0.9;

/// Least bytes of synchronous copies of pageable memory. Policy.
pub const LEAST_PAGEABLE_BYTES: u64 = 64 << 20;
/// The same of asynchronous copies, which are meant to overlap. Policy.
pub const LEAST_ASYNCHRONOUS_BYTES: u64 = 1 << 20;
/// Share of a copy's time that pinned memory saves. Physical, an assumption: 12 instead of 6 GB/s.
pub const SAVED_BY_PINNING: f64 = 0.5;

/// Least bytes over the bus for each byte of host memory that kernels touch, for more than a note. Policy.
pub const LEAST_BUS_PER_BYTE: f64 = 1.5;
/// Least uses of each byte of host memory from which on a copy to the device pays. Physical: the second use is from DRAM.
pub const LEAST_USES: f64 = 2.0;
/// Least bytes over the bus, or that lanes request where they use each byte several times. Policy.
pub const LEAST_MAPPED_BYTES: u64 = 1 << 20;
/// Least bytes over the bus in any case. Policy.
pub const LEAST_BUS_BYTES: u64 = 1 << 16;
/// Least copies to the host that show a loop, where only their sizes connect them with what goes to the device. Policy.
pub const LEAST_REPEATED_COPIES: u64 = 3;
