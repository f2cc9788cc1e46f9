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

/// Why constant memory does not suit data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotConstant {
    /// It is larger than constant memory, or its size is not known.
    Large,
    /// A kernel writes it.
    Written,
    /// Lanes read different elements of it elsewhere.
    Divergent,
}

/// Returns why constant memory does not suit the data of a load; `None` if it does.
pub fn not_constant(facts: &Facts<'_>, access: &Access<'_>) -> Option<NotConstant> {
    let mut there = facts.accesses.iter().filter(|other| other.allocation == access.allocation);
    if facts.memory(access).is_none_or(|allocation| allocation.bytes > CONSTANT_BYTES) {
        Some(NotConstant::Large)
    } else if there.clone().any(|other| !other.is_load()) {
        Some(NotConstant::Written)
    } else {
        there.any(|other| !is_broadcast(other)).then_some(NotConstant::Divergent)
    }
}

/// Bytes of the allocations that accesses lead to.
pub fn bytes_together(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> u64 {
    let allocations: BTreeSet<u64> = accesses.iter().filter_map(|access| access.allocation).collect();
    let bytes = allocations.iter().filter_map(|&id| facts.profile.allocation(id)).map(|one| one.bytes);
    bytes.total()
}
