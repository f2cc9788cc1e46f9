//! What else of the memory a kernel takes, and how others go through it.

use std::collections::BTreeSet;

use super::super::thresholds::coalescing::{
    ALL_OF_DATA, FILLED_SECTORS, MOST_LIBRARY_ITEMS, WHOLE_RECORD, WIDEST_BYTES,
};
use super::access::{Access, share};
use super::gather::iterates_within_sectors;
use super::pattern::is_strided;
use super::terms::terms_of;
use super::{Facts, block_of, index, warps};
use warpline_simulator::geometry::SECTOR_BYTES;

/// The kernel's accesses of this stride to the same memory together take most of what lies between neighbouring threads.
pub(in super::super) fn takes_whole_records(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let Some(stride) = access.pattern.stride_bytes.map(i64::unsigned_abs) else { return false };
    let alike = |one: &&Access<'_>| {
        one.allocation.is_some()
            && one.allocation == access.allocation
            && one.op == access.op
            && one.pattern.stride_bytes.map(i64::unsigned_abs) == Some(stride)
    };
    let of_kernel = facts.accesses_of(access.kernel.id, "global").filter(alike);
    // An element that several lines take counts several times. Of what is not made equally often the most frequent access counts once.
    let often = |one: &Access<'_>| one.sums.requests.div_ceil(one.most_requests.max(1));
    let bytes = |one: &Access<'_>| one.bytes_together.unwrap_or_else(|| often(one).saturating_mul(one.bytes.into()));
    let taken = of_kernel.map(bytes).fold(0, u64::saturating_add);
    taken as f64 >= WHOLE_RECORD * stride as f64
}

/// Elements that a thread takes side by side, each with an access of its own, where all of them together fill the sectors that each of them touches: two or four, as many as one wide
/// access can take.
pub(in super::super) fn side_by_side(facts: &Facts<'_>, access: &Access<'_>) -> Option<u64> {
    let bytes = i64::from(access.bytes.max(1));
    let (place, number) = index::place(access)?;
    let alike = facts.accesses_of(access.kernel.id, "global").filter(|one| {
        (one.op, one.bytes, one.most_requests) == (access.op, access.bytes, access.most_requests)
            && one.allocation.is_some()
            && one.allocation == access.allocation
    });
    let apart: BTreeSet<i64> = alike
        .filter_map(|one| index::place(one).filter(|(other, _)| *other == place))
        .map(|(_, other)| other - number)
        .filter(|apart| apart % bytes == 0)
        .map(|apart| apart / bytes)
        .collect();
    let are_there =
        |elements: i64| (1 - elements..=0).any(|first| (first..first + elements).all(|at| apart.contains(&at)));
    let fills = |elements: i64| {
        let taken = access.sums.lanes as f64 * (bytes * elements) as f64;
        (access.sums.sectors * SECTOR_BYTES) as f64 <= FILLED_SECTORS * taken
    };
    [2, 4]
        .into_iter()
        .find(|&elements| bytes * elements <= WIDEST_BYTES as i64 && are_there(elements) && fills(elements))
        .map(|elements| elements as u64)
}

/// This one access takes all that lies between neighbouring threads, element by element in a loop.
pub(in super::super) fn goes_through_its_part(access: &Access<'_>) -> bool {
    let stride = access.pattern.stride_bytes.map(i64::unsigned_abs);
    let is_unrolled = stride.is_some() && access.bytes_together >= stride;
    is_unrolled || iterates_within_sectors(access)
}

/// A thread's own part has at most so many elements as a library's kernel would give it.
pub(in super::super) fn has_few_items(access: &Access<'_>) -> bool {
    let structure = access.operand.map_or(0, |operand| operand.structure_bytes);
    let item = u64::from(structure.max(access.bytes).max(1));
    access.pattern.stride_bytes.is_some_and(|stride| {
        let stride = stride.unsigned_abs();
        stride.is_multiple_of(item) && (2..=MOST_LIBRARY_ITEMS).contains(&(stride / item))
    })
}

/// The accesses leave no gaps in their allocation, all threads of a launch together, and no other access would suffer if
/// another index took the place of the threads'.
pub(in super::super) fn is_dense(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let coalesced = |one: &Access<'_>| share(one.pattern.contiguous, one.pattern.requests) >= 0.5;
    takes_all(facts, access) && !facts.accesses_of(access.kernel.id, "global").any(coalesced)
}

/// A launch takes as many bytes as anybody touches of the allocation.
pub(in super::super) fn takes_all(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let Some(allocation) = access.allocation.and_then(|id| facts.profile.allocation(id)) else { return false };
    let of_launch = access.sums.bytes / access.kernel.recorded_launches().max(1);
    of_launch as f64 >= ALL_OF_DATA * allocation.touched_bytes as f64
}

/// A launch takes as many bytes as the allocation has, and not a column or a border of it.
pub(in super::super) fn covers(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let Some(allocation) = access.allocation.and_then(|id| facts.profile.allocation(id)) else { return false };
    let of_launch = access.sums.bytes / access.kernel.recorded_launches().max(1);
    of_launch as f64 >= ALL_OF_DATA * share(allocation.bytes, allocation.count)
}

/// The kernel goes through the same memory in loops, its threads far apart, so that its layout is what matters.
pub(in super::super) fn goes_on_apart(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let same = |one: &&Access<'_>| access.allocation.is_some() && one.allocation == access.allocation;
    let apart = |one: &Access<'_>| is_strided(one) && one.sums.requests > warps(one.kernel);
    facts.accesses_of(access.kernel.id, "global").filter(same).any(apart)
}

/// Other kernels move more of the same memory, and their neighbouring threads have neighbouring elements.
pub(in super::super) fn others_go_along(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let (mut along, mut all) = (0u64, 0u64);
    let others = facts.accesses.iter().filter(|one| {
        one.kernel.id != access.kernel.id && access.allocation.is_some() && one.allocation == access.allocation
    });
    for one in others {
        all = all.saturating_add(one.sums.bytes);
        // Blocks may be narrower than a warp, and have parts of rows.
        if share(one.pattern.contiguous.saturating_add(one.pattern.rows), one.pattern.requests) >= 0.5 {
            along = along.saturating_add(one.sums.bytes);
        }
    }
    along >= access.sums.bytes && share(along, all) >= 0.5
}

/// The index that alone runs along a dimension of the grid in which blocks have one thread.
pub(in super::super) fn index_of_grid(access: &Access<'_>) -> Option<&'static str> {
    let block = block_of(access.kernel)?;
    let grid = access.kernel.launches.first()?.grid;
    let mut alone = (0..3).filter(|&axis| grid[axis] > 1 && block[axis] == 1);
    let axis = alone.next().filter(|_| alone.next().is_none())?;
    Some(["blockIdx.x", "blockIdx.y", "blockIdx.z"][axis])
}

/// Loaded data gives a start that is no multiple of so many bytes.
pub(in super::super) fn begins_anywhere(access: &Access<'_>, bytes: u64) -> bool {
    let is_off = |scale: i64| bytes > 0 && !scale.unsigned_abs().is_multiple_of(bytes);
    terms_of(access).iter().any(|term| term.loaded && !term.of_thread && (term.times_unknown || is_off(term.scale)))
}
