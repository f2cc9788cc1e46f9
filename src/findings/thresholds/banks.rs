//! Banks of shared memory, and the addresses of constant memory.

/// Passes of a request to constant memory against those that it needs, at least. Policy.
pub(in super::super) const LEAST_CONSTANT_PASSES: f64 = 1.5;
/// Least share of the kernel's requests that divergent reads of constant memory are. Policy.
pub(in super::super) const LEAST_CONSTANT_SHARE: f64 = 0.02;
