//! How accesses to global memory are combined into sectors.

/// Bytes per lane of a narrow access. Physical: the smallest access.
pub(in super::super) const NARROW_BYTES: u32 = 1;
/// Bytes per lane that could take its place. Physical: `uchar4`, a word.
pub(in super::super) const WIDE_BYTES: u32 = 4;
/// Least share of requests whose lanes access consecutive bytes. Policy.
pub(in super::super) const LEAST_CONTIGUOUS_SHARE: f64 = 0.9;
/// Least mean number of active lanes, of 32: fewer leave nothing to combine. Policy.
pub(in super::super) const LEAST_NARROW_LANES: u64 = 24;
/// Least share of a kernel's requests that narrow accesses are. Policy.
pub(in super::super) const LEAST_NARROW_SHARE: f64 = 0.1;
/// Least mean number of active lanes of a strided request: two threads that load a halo have no stride. Policy.
pub(in super::super) const LEAST_LANES: u64 = 4;
/// Least share of a strided access's sectors that its bytes do not need. Policy.
pub(in super::super) const LEAST_STRIDED_EXCESS: f64 = 0.25;
/// The same of a scattered access. Policy.
pub(in super::super) const LEAST_SCATTERED_EXCESS: f64 = 0.4;
/// Bytes from the first lane to the last against those of the lanes' structures, at most, where these follow each other. Policy.
pub(in super::super) const PACKED_STRUCTURES: f64 = 1.05;
/// The same, at least, where each lane has a structure of its own. Policy.
pub(in super::super) const ALL_STRUCTURES: f64 = 0.9;
/// Bytes from the first lane to the last against those of its lanes, at most, where a computed index is dense. Calibrated on images
/// scaled by two and three.
pub(in super::super) const DENSE_SPAN: f64 = 4.0;
/// The same of loaded indices, which are then in order. Calibrated on lists of what a search found.
pub(in super::super) const ORDERED_SPAN: f64 = 16.0;
/// Bytes of the data against those from the first lane to the last, at least, for loaded indices to be in order. Calibrated likewise.
pub(in super::super) const MUCH_LONGER: f64 = 64.0;
/// Bytes from the first lane to the last that a library's own compaction leaves, at most. Calibrated on Thrust and CUB.
pub(in super::super) const LIBRARY_SPAN_BYTES: f64 = 1024.0;
/// Mean bytes between the lists of neighbouring lanes, at most. Calibrated on sparse matrices.
pub(in super::super) const NEAR_LISTS_BYTES: f64 = 128.0;
/// Bytes of a table that a block can copy into shared memory beside other data. Policy.
pub(in super::super) const SMALL_TABLE_BYTES: u64 = 8 << 10;
/// Consecutive elements that an unrolled iteration takes, at most. Calibrated on LLVM's unrolling.
pub(in super::super) const MOST_UNROLLED: i64 = 16;
/// Bytes of the widest access of a thread. Physical.
pub(in super::super) const WIDEST_BYTES: u64 = 16;
/// Consecutive items that a kernel gives a thread, at most; more are a row. Calibrated on CUB's tuning.
pub(in super::super) const MOST_LIBRARY_ITEMS: u64 = 32;
