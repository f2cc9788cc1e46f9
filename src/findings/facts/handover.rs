//! Data that one kernel writes and another one reads, each byte once, after it has left L2.

use std::cmp::Reverse;

use super::super::thresholds::coalescing::LEAST_CONTIGUOUS_SHARE;
use super::super::thresholds::reuse::{
    AS_LARGE, EACH_ONCE, LEAST_GONE, LEAST_HANDED_SHARE, LEAST_SWEPT_BYTES, LEAST_TRAFFIC_SHARE, MOST_SCALAR_BYTES,
};
use super::Facts;
use super::access::{Access, share};
use super::sweep::traffic_share;
use warpline_profile::is_system;
use warpline_profile::model::{Allocation, CopyRow, Kernel};
use warpline_simulator::geometry::SECTOR_BYTES;

/// A producer and a consumer of data.
pub(in super::super) struct Handover<'f, 'a> {
    pub writer: &'a Kernel,
    /// The consumer's load with most reads from DRAM.
    pub worst: &'f Access<'a>,
    pub loaded_bytes: u64,
    /// Bytes that come back from DRAM.
    pub read_bytes: u64,
    /// Bytes that go to DRAM though no one else reads them.
    pub written_bytes: u64,
}

/// The kernels that hand an allocation over.
pub(in super::super) fn handover<'f, 'a>(facts: &'f Facts<'a>, allocation: &Allocation) -> Option<Handover<'f, 'a>> {
    if allocation.touched_bytes < LEAST_SWEPT_BYTES || traffic_share(facts, allocation) < LEAST_TRAFFIC_SHARE {
        return None;
    }
    let makes = |kernel: &&'a Kernel| facts.accesses_of(kernel.id, "global").any(|access| is_of(access, allocation));
    let mut users: Vec<&'a Kernel> = facts.profile.kernels.iter().filter(makes).collect();
    users.sort_by_key(|kernel| first_launch(kernel));
    let [writer, reader] = users[..] else { return None };
    if is_system(&writer.file)
        || is_system(&reader.file)
        || !comes_first(facts, allocation, writer, reader)
        || !needs_own_elements(facts, allocation, writer, reader)
    {
        return None;
    }
    let stores = accesses(facts, writer, allocation, "store");
    let loads = accesses(facts, reader, allocation, "load");
    // The consumer may change the data in place.
    let changes = accesses(facts, reader, allocation, "store");
    let is_atomic = |access: &Access<'_>| access.op == "atomic" && is_of(access, allocation);
    let (stored, loaded) = (bytes(&stores), bytes(&loads));
    let is_once = EACH_ONCE.contains(&share(loaded, stored))
        && stored as f64 <= EACH_ONCE.end() * allocation.touched_bytes.saturating_mul(writer.launch_count()) as f64
        && (changes.is_empty() || EACH_ONCE.contains(&share(bytes(&changes), loaded)))
        && stores.iter().chain(&loads).chain(&changes).all(is_contiguous)
        && !facts.accesses.iter().any(is_atomic);
    let gone = loads.iter().map(|access| access.sums.dram_reads).fold(0, u64::saturating_add);
    if !is_once
        || (gone.saturating_mul(SECTOR_BYTES) as f64) < LEAST_GONE * loaded as f64
        || share(gone, traffic(facts, reader)) < LEAST_HANDED_SHARE
    {
        return None;
    }
    let worst = *loads.iter().max_by_key(|access| (access.sums.dram_reads, Reverse(access.line)))?;
    let is_kept = changes.is_empty()
        && (allocation.copies.iter().any(|copy| copy.direction == "device_to_host")
            || !accesses(facts, writer, allocation, "load").is_empty());
    let written = stores.iter().map(|access| access.sums.dram_writes).fold(0, u64::saturating_add);
    Some(Handover {
        writer,
        worst,
        loaded_bytes: loaded,
        read_bytes: gone.saturating_mul(SECTOR_BYTES),
        written_bytes: if is_kept { 0 } else { written.saturating_mul(SECTOR_BYTES) },
    })
}

/// The consumer's first launch comes after the producer's, and nothing from the host comes between: neither other data, nor, from what
/// the producer has stored elsewhere, what the host computes of it.
fn comes_first(facts: &Facts<'_>, allocation: &Allocation, writer: &Kernel, reader: &Kernel) -> bool {
    let (Some(wrote), Some(read)) = (first_launch(writer), first_launch(reader)) else { return false };
    let between =
        |copy: &CopyRow| copy.last_launch.is_none_or(|at| at > wrote) && copy.first_launch.is_none_or(|at| at <= read);
    let renews = |copy: &CopyRow| matches!(&copy.direction[..], "host_to_device" | "set") && between(copy);
    let returns = |copy: &CopyRow| copy.direction == "device_to_host" && between(copy);
    let is_stored = |one: &&Allocation| {
        let mut of_writer = facts.accesses_of(writer.id, "global");
        one.id != allocation.id && of_writer.any(|access| access.op != "load" && access.allocation == Some(one.id))
    };
    let mut others = facts.profile.allocations.iter().filter(is_stored);
    wrote < read && !allocation.copies.iter().any(renews) && !others.any(|one| one.copies.iter().any(returns))
}

/// An element of the consumer needs no more than one of the producer. It writes nothing that the producer loads, as the next step's
/// input whose neighbours others still need, but sums that all add to and what each thread has for itself. It loads nothing else of
/// other kernels but arrays as large, of which each thread has its own element.
fn needs_own_elements(facts: &Facts<'_>, handed: &Allocation, writer: &Kernel, reader: &Kernel) -> bool {
    facts.accesses_of(reader.id, "global").filter(|access| access.allocation != Some(handed.id)).all(|access| {
        let Some(one) = access.allocation.and_then(|id| facts.profile.allocation(id)) else { return true };
        if access.op != "load" {
            let is_sum = access.op == "atomic" && one.bytes <= MOST_SCALAR_BYTES;
            let is_own = || [writer, reader].into_iter().all(|kernel| has_own_elements(facts, kernel, one));
            return is_sum || accesses(facts, writer, one, "load").is_empty() || is_own();
        }
        let is_made =
            facts.accesses.iter().any(|other| other.op != "load" && other.kernel.id != reader.id && is_of(other, one));
        let is_large = one.touched_bytes as f64 >= AS_LARGE * handed.touched_bytes as f64;
        !is_made || is_large && is_contiguous(&access)
    })
}

/// Each thread of the kernel accesses an element of its own, once a launch.
fn has_own_elements(facts: &Facts<'_>, kernel: &Kernel, one: &Allocation) -> bool {
    let most = EACH_ONCE.end() * one.touched_bytes.saturating_mul(kernel.launch_count()) as f64;
    let is_once = |op| {
        let all = accesses(facts, kernel, one, op);
        all.iter().all(is_contiguous) && bytes(&all) as f64 <= most
    };
    is_once("load") && is_once("store") && accesses(facts, kernel, one, "atomic").is_empty()
}

/// Lanes access consecutive elements, wherever the first one is.
fn is_contiguous(access: &&Access<'_>) -> bool {
    share(access.pattern.contiguous, access.pattern.requests) >= LEAST_CONTIGUOUS_SHARE
}

fn is_of(access: &Access<'_>, allocation: &Allocation) -> bool {
    access.space == "global" && access.allocation == Some(allocation.id)
}

fn accesses<'f, 'a>(facts: &'f Facts<'a>, kernel: &Kernel, one: &Allocation, op: &str) -> Vec<&'f Access<'a>> {
    let all = facts.accesses.iter().filter(|access| access.kernel.id == kernel.id && access.op == op);
    all.filter(|access| is_of(access, one)).collect()
}

fn bytes(accesses: &[&Access<'_>]) -> u64 {
    accesses.iter().map(|access| access.sums.bytes).fold(0, u64::saturating_add)
}

/// Sectors that a kernel's accesses move from and to DRAM.
fn traffic(facts: &Facts<'_>, kernel: &Kernel) -> u64 {
    let all = facts.accesses_of(kernel.id, "global");
    all.map(|one| one.sums.dram_reads.saturating_add(one.sums.dram_writes)).fold(0, u64::saturating_add)
}

/// Number of a kernel's first launch.
fn first_launch(kernel: &Kernel) -> Option<u64> {
    kernel.launches.iter().map(|launch| launch.id).chain(kernel.launch_groups.iter().map(|group| group.first)).min()
}
