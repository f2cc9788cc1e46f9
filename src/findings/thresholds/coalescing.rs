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
