//! Values that accesses move, together with these accesses.

use super::super::prelude::*;
use super::super::thresholds::values::*;
use warpline_profile::model::{AccessValues, AllocationValues};

/// A store that mostly does not change memory.
pub struct Silent<'f, 'a> {
    pub row: &'f AccessValues,
    pub access: &'f Access<'a>,
    /// Share of the store's lanes that do not change memory.
    pub share: f64,
}

impl Silent<'_, '_> {
    /// Returns whether each launch except the first stores values that are already in memory.
    pub fn is_in_every_launch(&self) -> bool {
        self.row.launches > 1 && self.row.silent_launches.saturating_add(1) >= self.row.launches
    }

    /// Returns the share of requests in which no lane changes memory.
    pub fn request_share(&self) -> f64 {
        share(self.row.silent_requests, self.row.requests)
    }
}

/// Returns the stores to global memory that mostly do not change memory.
pub fn silent_stores<'f, 'a>(facts: &'f Facts<'a>) -> Vec<Silent<'f, 'a>> {
    let stores = facts.profile.access_values.iter().filter(|row| row.op == "store" && row.lanes >= LEAST_LANES);
    let silent = stores.filter_map(|row| {
        let share = share(row.silent_lanes, row.lanes);
        let access = (share >= LEAST_SILENT_SHARE).then(|| access_of(facts, row)).flatten()?;
        Some(Silent { row, access, share })
    });
    silent.collect()
}

fn access_of<'f, 'a>(facts: &'f Facts<'a>, row: &AccessValues) -> Option<&'f Access<'a>> {
    let place = (row.kernel, &row.frame.file[..], row.frame.line, row.frame.column);
    facts.accesses.iter().find(|access| {
        (access.kernel.id, access.file, access.line, access.column) == place
            && (access.op, access.allocation) == (&row.op[..], row.allocation)
            && access.space != "shared"
    })
}

/// An allocation whose values use more memory than they need.
pub struct Wide<'f, 'a> {
    pub row: &'f AllocationValues,
    pub allocation: &'a Allocation,
    /// Accesses of the kernel that moves most of the allocation's data.
    pub accesses: Vec<&'f Access<'a>>,
    /// The most expensive load of these accesses.
    pub load: &'f Access<'a>,
}

/// Returns the allocations from which kernels load values.
pub fn loaded<'f, 'a>(facts: &'f Facts<'a>) -> Vec<Wide<'f, 'a>> {
    let many = facts.profile.allocation_values.iter().filter(|row| row.values.count >= LEAST_LANES);
    many.filter_map(|row| wide(facts, row)).collect()
}

fn wide<'f, 'a>(facts: &'f Facts<'a>, row: &'f AllocationValues) -> Option<Wide<'f, 'a>> {
    let allocation = facts.profile.allocation(row.allocation)?;
    let of_memory = || accesses_to(facts, row.allocation);
    let load = worst(of_memory().filter(|access| access.is_load()), |access| access.sums.sectors)?;
    let accesses = of_memory().filter(|access| access.kernel.id == load.kernel.id).collect();
    Some(Wide { row, allocation, accesses, load })
}

fn accesses_to<'f, 'a>(facts: &'f Facts<'a>, id: u64) -> impl Iterator<Item = &'f Access<'a>> {
    facts.accesses.iter().filter(move |access| access.allocation == Some(id))
}

/// Returns the allocations to which kernels store and that are never read, each with the most expensive stores.
pub fn never_read<'f, 'a>(facts: &'f Facts<'a>) -> Vec<(&'a Allocation, Vec<&'f Access<'a>>)> {
    if !facts.is_whole_run() || !facts.profile.run.memory_values || !facts.profile.not_seen.is_empty() {
        return Vec::new();
    }
    let on_device = |row: &&Allocation| matches!(&row.kind[..], "cudaMalloc" | "cudaMallocAsync" | "cudaMallocPitch");
    let unread = facts.profile.allocations.iter().filter(on_device).filter(|row| {
        let is_copied = |copy: &CopyRow| matches!(&copy.direction[..], "device_to_host" | "device_to_device");
        !row.copies.iter().any(is_copied)
    });
    unread.filter_map(|row| Some((row, stores_alone(facts, row.id)?))).collect()
}

/// Returns the accesses to an allocation, if all of them are stores. Every site is checked, even if most of its sectors
/// are in other allocations.
fn stores_alone<'f, 'a>(facts: &'f Facts<'a>, id: u64) -> Option<Vec<&'f Access<'a>>> {
    let parts =
        facts.profile.sites.iter().filter(|site| site.by_allocation.iter().any(|row| row.allocation == Some(id)));
    let stores: Vec<&Access<'a>> = accesses_to(facts, id).collect();
    (!stores.is_empty() && parts.into_iter().all(|site| site.op == "store")).then_some(stores)
}
