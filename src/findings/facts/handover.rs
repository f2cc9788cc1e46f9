//! Data that one kernel writes and another kernel reads, each byte once, after L2 has evicted the data.

use super::super::gain::total;
use super::super::prelude::*;
use super::super::thresholds::coalescing::LEAST_CONTIGUOUS_SHARE;
use super::super::thresholds::reuse::*;
use super::sweep::traffic_share;

/// A producer and a consumer of data.
pub struct Handover<'f, 'a> {
    pub writer: &'a Kernel,
    /// Load of the consumer with the most reads from DRAM.
    pub worst: &'f Access<'a>,
    pub loaded_bytes: u64,
    /// Number of bytes that the consumer reads from DRAM.
    pub read_bytes: u64,
    /// Number of bytes that are written to DRAM although no other kernel or copy reads them.
    pub written_bytes: u64,
}

/// Returns the producer and the consumer of an allocation.
pub fn handover<'f, 'a>(facts: &'f Facts<'a>, allocation: &Allocation) -> Option<Handover<'f, 'a>> {
    if allocation.touched_bytes < LEAST_SWEPT_BYTES || traffic_share(facts, allocation) < LEAST_TRAFFIC_SHARE {
        return None;
    }
    let makes = |kernel: &&'a Kernel| facts.accesses_of(kernel.id, "global").any(|access| is_of(access, allocation));
    let mut users: Vec<&'a Kernel> = facts.profile.kernels.iter().filter(makes).collect();
    users.sort_by_key(|kernel| first_launch(kernel));
    let [writer, reader] = users[..] else { return None };
    let is_meant = !is_system(&writer.file)
        && !is_system(&reader.file)
        && comes_first(facts, allocation, writer, reader)
        && needs_own_elements(facts, allocation, writer, reader);
    if !is_meant {
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
        && stores.iter().chain(&loads).chain(&changes).all(|access| goes_along(access))
        && !facts.accesses.iter().any(is_atomic);
    let gone = total(&loads, |sums| sums.dram_reads);
    let traffic = facts.accesses_of(reader.id, "global").map(|one| one.sums.dram()).total();
    let is_gone = gone.saturating_mul(SECTOR_BYTES) as f64 >= LEAST_GONE * loaded as f64;
    let worst = worst(loads.iter().copied(), |access| access.sums.dram_reads)?;
    let is_kept = changes.is_empty()
        && (allocation.copies.iter().any(|copy| copy.direction == "device_to_host")
            || !accesses(facts, writer, allocation, "load").is_empty());
    let written = if is_kept { 0 } else { total(&stores, |sums| sums.dram_writes) };
    (is_once && is_gone && share(gone, traffic) >= LEAST_HANDED_SHARE).then(|| Handover {
        writer,
        worst,
        loaded_bytes: loaded,
        read_bytes: gone.saturating_mul(SECTOR_BYTES),
        written_bytes: written.saturating_mul(SECTOR_BYTES),
    })
}

/// Returns whether the consumer's first launch comes after the producer's first launch, and the host supplies no data
/// in between: neither other data, nor results that it computes from the producer's other stores.
fn comes_first(facts: &Facts<'_>, allocation: &Allocation, writer: &Kernel, reader: &Kernel) -> bool {
    let (Some(wrote), Some(read)) = (first_launch(writer), first_launch(reader)) else { return false };
    let between =
        |copy: &CopyRow| copy.last_launch.is_none_or(|at| at > wrote) && copy.first_launch.is_none_or(|at| at <= read);
    let renews = |copy: &CopyRow| matches!(&copy.direction[..], "host_to_device" | "set") && between(copy);
    let returns = |copy: &CopyRow| copy.direction == "device_to_host" && between(copy);
    let is_stored = |one: &&Allocation| {
        let mut of_writer = facts.accesses_of(writer.id, "global");
        one.id != allocation.id && of_writer.any(|access| !access.is_load() && access.allocation == Some(one.id))
    };
    let mut others = facts.profile.allocations.iter().filter(is_stored);
    wrote < read && !allocation.copies.iter().any(renews) && !others.any(|one| one.copies.iter().any(returns))
}

/// Returns whether an element of the consumer needs at most one element of the producer. The consumer must not write
/// data that the producer loads, such as the next step's input, whose neighbours other threads still need; sums of all
/// threads and private data of each thread are allowed. From other kernels, the consumer may load only arrays of the
/// same size, one element per thread.
fn needs_own_elements(facts: &Facts<'_>, handed: &Allocation, writer: &Kernel, reader: &Kernel) -> bool {
    facts.accesses_of(reader.id, "global").filter(|access| access.allocation != Some(handed.id)).all(|access| {
        let Some(one) = facts.memory(access) else { return true };
        if !access.is_load() {
            let is_sum = access.op == "atomic" && one.bytes <= MOST_SCALAR_BYTES;
            let is_own = || [writer, reader].into_iter().all(|kernel| has_own_elements(facts, kernel, one));
            return is_sum || accesses(facts, writer, one, "load").is_empty() || is_own();
        }
        let is_made =
            facts.accesses.iter().any(|other| !other.is_load() && other.kernel.id != reader.id && is_of(other, one));
        let is_large = one.touched_bytes as f64 >= AS_LARGE * handed.touched_bytes as f64;
        !is_made || is_large && goes_along(access)
    })
}

/// Returns whether each thread of the kernel accesses a separate element, once per launch.
fn has_own_elements(facts: &Facts<'_>, kernel: &Kernel, one: &Allocation) -> bool {
    let most = EACH_ONCE.end() * one.touched_bytes.saturating_mul(kernel.launch_count()) as f64;
    let is_once = |op| {
        let all = accesses(facts, kernel, one, op);
        all.iter().all(|access| goes_along(access)) && bytes(&all) as f64 <= most
    };
    is_once("load") && is_once("store") && accesses(facts, kernel, one, "atomic").is_empty()
}

/// Returns whether lanes access consecutive elements, independent of the position of the first element.
fn goes_along(access: &Access<'_>) -> bool {
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
    total(accesses, |sums| sums.bytes)
}

/// Returns the index of a kernel's first launch.
fn first_launch(kernel: &Kernel) -> Option<u64> {
    kernel.launches.iter().map(|launch| launch.id).chain(kernel.launch_groups.iter().map(|group| group.first)).min()
}
