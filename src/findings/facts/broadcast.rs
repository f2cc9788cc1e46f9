//! Loads from global memory in which all lanes of a warp read one address.

use super::super::prelude::*;
use super::super::thresholds::reuse::*;
use std::collections::BTreeSet;

/// Returns whether all lanes read one address in nearly every request.
pub fn is_broadcast(access: &Access<'_>) -> bool {
    share(access.pattern.uniform, access.sums.requests) >= LEAST_UNIFORM_SHARE
}

/// Returns whether each warp executes the access several times on average.
pub fn is_iterated(access: &Access<'_>) -> bool {
    access.sums.requests >= LEAST_ITERATIONS.saturating_mul(warps(access.kernel))
}

/// Reasons why data is unsuitable for constant memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotConstant {
    /// The data is larger than constant memory, or its size is unknown.
    Large,
    /// A kernel writes the data.
    Written,
    /// Lanes read different elements of the data in another access.
    Divergent,
}

/// Returns why the data of a load is unsuitable for constant memory; `None` if it is suitable.
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

/// Returns the number of bytes of the accessed allocations together.
pub fn bytes_together(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> u64 {
    let allocations: BTreeSet<u64> = accesses.iter().filter_map(|access| access.allocation).collect();
    let bytes = allocations.iter().filter_map(|&id| facts.profile.allocation(id)).map(|one| one.bytes);
    bytes.total()
}
