//! Loads from global memory of one address by all lanes of a warp.

use super::super::prelude::*;
use super::super::thresholds::reuse::*;
use std::collections::BTreeSet;

/// All lanes read one address in nearly every request.
pub fn is_broadcast(access: &Access<'_>) -> bool {
    share(access.pattern.uniform, access.sums.requests) >= LEAST_UNIFORM_SHARE
}

/// Each warp makes the access in several iterations, on average.
pub fn is_iterated(access: &Access<'_>) -> bool {
    access.sums.requests >= LEAST_ITERATIONS.saturating_mul(warps(access.kernel))
}

/// Constant memory could hold the data: it is small, no kernel writes it, and all its loads are broadcasts.
pub fn fits_constant_memory(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let Some(allocation) = facts.memory(access) else { return false };
    let mut there = facts.accesses.iter().filter(|other| other.allocation == access.allocation);
    allocation.bytes <= CONSTANT_BYTES && there.all(|other| other.is_load() && is_broadcast(other))
}

/// Bytes of the allocations that accesses lead to.
pub fn bytes_together(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> u64 {
    let allocations: BTreeSet<u64> = accesses.iter().filter_map(|access| access.allocation).collect();
    let bytes = allocations.iter().filter_map(|&id| facts.profile.allocation(id)).map(|one| one.bytes);
    bytes.total()
}
