//! Layout of the accessed memory: which other elements the kernel accesses, and in which order.

use super::super::prelude::*;
use super::super::thresholds::coalescing::*;
use super::address::{terms_and_offset, terms_of};
use std::collections::BTreeSet;

/// Returns whether the kernel's accesses with this stride to the same memory together cover most of the bytes between
/// neighbouring threads.
pub fn takes_whole_records(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let stride_of = |one: &Access<'_>| one.pattern.stride_bytes.map(i64::unsigned_abs);
    let Some(stride) = stride_of(access) else { return false };
    let of_kernel = same_memory(facts, access).filter(|one| one.op == access.op && stride_of(one) == Some(stride));
    // An element that several lines access counts several times. If accesses have different numbers of requests, the
    // most frequent access counts once.
    let often = |one: &Access<'_>| one.sums.requests.div_ceil(one.most_requests.max(1));
    let bytes = |one: &Access<'_>| one.bytes_together.unwrap_or_else(|| often(one).saturating_mul(one.bytes.into()));
    of_kernel.map(bytes).total() as f64 >= WHOLE_RECORD * stride as f64
}

/// Returns the kernel's accesses to the same allocation.
fn same_memory<'f, 'a>(facts: &'f Facts<'a>, access: &Access<'_>) -> impl Iterator<Item = &'f Access<'a>> {
    let id = access.allocation;
    facts.accesses_of(access.kernel.id, "global").filter(move |one| id.is_some() && one.allocation == id)
}

/// Returns the number of consecutive elements that a thread accesses separately, if these accesses together fill the
/// touched sectors. The number is two or four, so that one wide access can replace them.
pub fn side_by_side(facts: &Facts<'_>, access: &Access<'_>) -> Option<u64> {
    let bytes = i64::from(access.bytes.max(1));
    let (terms, number) = terms_and_offset(access)?;
    let kind = |one: &Access<'_>| (one.op.to_owned(), one.bytes, one.most_requests);
    let alike = same_memory(facts, access).filter(|one| kind(one) == kind(access));
    let distances =
        alike.filter_map(terms_and_offset).filter(|(other, _)| *other == terms).map(|(_, other)| other - number);
    let apart: BTreeSet<i64> = distances.filter(|apart| apart % bytes == 0).map(|apart| apart / bytes).collect();
    let are_there = |group: i64| (1 - group..=0).any(|first| (first..first + group).all(|at| apart.contains(&at)));
    let fills = |group: i64| {
        let taken = access.sums.lanes as f64 * (bytes * group) as f64;
        (access.sums.sectors * SECTOR_BYTES) as f64 <= FILLED_SECTORS * taken
    };
    let is_access = |group: &i64| bytes * group <= WIDEST_BYTES as i64 && are_there(*group) && fills(*group);
    [2, 4].into_iter().find(is_access).map(|group| group as u64)
}

/// Returns whether this access alone covers all bytes between neighbouring threads, element by element, in a loop that
/// moves the address by less than a sector.
pub fn goes_through_its_part(access: &Access<'_>) -> bool {
    let stride = access.pattern.stride_bytes.map(i64::unsigned_abs);
    let is_unrolled = stride.is_some() && access.bytes_together >= stride;
    let is_off = |scale: i64| scale % SECTOR_BYTES as i64 != 0;
    is_unrolled
        || terms_of(access).iter().any(|term| term.counts && !(term.loaded || term.times_unknown) && is_off(term.scale))
}

/// Returns whether the accesses of all threads of a launch leave no gaps in the allocation, and exchanging the thread
/// index with another index would harm no other access.
pub fn is_dense(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    takes_all(facts, access) && !facts.accesses_of(access.kernel.id, "global").any(is_contiguous)
}

/// Returns the grid index that is the only index along a dimension in which blocks have one thread.
pub fn index_of_grid(access: &Access<'_>) -> Option<&'static str> {
    let block = block_of(access.kernel)?;
    let grid = access.kernel.launches.first()?.grid;
    let mut alone = (0..3).filter(|&axis| grid[axis] > 1 && block[axis] == 1);
    let axis = alone.next().filter(|_| alone.next().is_none())?;
    Some(["blockIdx.x", "blockIdx.y", "blockIdx.z"][axis])
}

/// Returns whether a launch accesses as many bytes of the allocation as all kernels touch.
pub fn takes_all(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    facts.memory(access).is_some_and(|memory| bytes_of_launch(access) >= ALL_OF_DATA * memory.touched_bytes as f64)
}

/// Returns whether a launch accesses as many bytes as the allocation has, and not only a column or a border.
pub fn covers(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let memory = facts.memory(access);
    memory.is_some_and(|memory| bytes_of_launch(access) >= ALL_OF_DATA * share(memory.bytes, memory.count))
}

fn bytes_of_launch(access: &Access<'_>) -> f64 {
    access.sums.bytes as f64 / access.kernel.recorded_launches().max(1) as f64
}

/// Returns whether the kernel iterates over the same memory in loops with a large distance between threads, so that the
/// layout of the data determines the cost.
pub fn goes_on_apart(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    same_memory(facts, access).any(|one| is_strided(one) && one.sums.requests > warps(one.kernel))
}

/// Returns whether other kernels move more of the same memory with coalesced accesses.
pub fn others_go_along(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let is_other = |one: &&Access<'_>| one.kernel.id != access.kernel.id && one.allocation == access.allocation;
    let others: Vec<&Access<'_>> = facts.accesses.iter().filter(is_other).collect();
    // Blocks may be narrower than a warp, so that they access parts of rows.
    let is_along = |one: &&&Access<'_>| {
        share(one.pattern.contiguous.saturating_add(one.pattern.rows), one.pattern.requests) >= 0.5
    };
    let along = others.iter().filter(is_along).map(|one| one.sums.bytes).total();
    let all = others.iter().map(|one| one.sums.bytes).total();
    access.allocation.is_some() && along >= access.sums.bytes && share(along, all) >= 0.5
}

/// Returns whether loaded data determines a start that is not a multiple of `bytes`.
pub fn starts_anywhere(access: &Access<'_>, bytes: u64) -> bool {
    let is_off = |scale: i64| bytes > 0 && !scale.unsigned_abs().is_multiple_of(bytes);
    terms_of(access).iter().any(|term| term.loaded && !term.of_thread && (term.times_unknown || is_off(term.scale)))
}
