//! Data dependences between successive launches that sweep over the same data.

use super::super::gain::total;
use super::super::prelude::*;
use super::super::thresholds::reuse::*;
use super::staging::is_staged;
use std::collections::BTreeSet;

/// The results of the previous step that an element needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// No results: the host supplies the data of each step, or no step uses the results of another step.
    Nothing,
    /// The element's own value.
    Itself,
    /// Values of neighbouring elements at fixed distances.
    Neighbours,
    /// Values of arbitrary elements.
    Everything,
}

/// Returns the data that the kernels of these accesses need from stores of kernels between their launches.
pub fn needs(facts: &Facts<'_>, sweeping: &[&Access<'_>]) -> Needs {
    let kernels: BTreeSet<u32> = sweeping.iter().map(|access| access.kernel.id).collect();
    let is_store =
        |access: &&Access<'_>| !access.is_load() && access.space == "global" && access.kernel.launch_count() > 1;
    let each = facts.accesses.iter().filter(is_store);
    let stored: Vec<(&Kernel, u64)> =
        each.flat_map(|access| allocations(facts, access).map(|id| (access.kernel, id))).collect();
    let made = stored.iter().filter(|(kernel, id)| !is_renewed(facts, *id, kernel.launch_count()));
    let made: BTreeSet<u64> = made.map(|(_, id)| *id).collect();
    let are_left = |ids: &BTreeSet<u64>| !ids.is_empty() && ids.iter().all(|&id| is_left(facts, id));
    let own = stored.iter().filter(|(kernel, _)| kernels.contains(&kernel.id)).map(|(_, id)| *id).collect();
    if made.is_empty() && !stored.is_empty() || are_left(&made) || are_left(&own) {
        return Needs::Nothing;
    }
    let of_kernel = |kernel: u32, id: u64| {
        let loads = facts.loads_of(kernel).filter(|load| allocations(facts, load).any(|one| one == id));
        of_loads(facts, id, &loads.collect::<Vec<_>>())
    };
    let each = kernels.iter().flat_map(|&kernel| made.iter().filter_map(move |&id| of_kernel(kernel, id)));
    // Launches that load no data stored by kernels do not depend on each other.
    each.max().unwrap_or(if stored.is_empty() { Needs::Itself } else { Needs::Nothing })
}

/// Returns the allocations that an access touches in any launch, because buffers may be exchanged between launches.
fn allocations<'f>(facts: &'f Facts<'_>, access: &'f Access<'_>) -> impl Iterator<Item = u64> + use<'f> {
    let is_its = |site: &&Site| Some(site.id) == access.site && site.kernel == access.kernel.id;
    let others = facts.profile.sites.iter().filter(is_its).flat_map(|site| &site.by_allocation);
    access.allocation.into_iter().chain(others.filter_map(|row| row.allocation))
}

/// Returns whether the kernels that write the allocation differ from the kernels that load it. Such data is passed on
/// once, and is not updated in steps.
pub fn is_handed_over(facts: &Facts<'_>, allocation: &Allocation) -> bool {
    let of_it = |access: &&Access<'_>| access.space == "global" && access.allocation == Some(allocation.id);
    let kernels = |is_load: bool| -> BTreeSet<u32> {
        let those = facts.accesses.iter().filter(of_it).filter(|access| access.is_load() == is_load);
        those.map(|access| access.kernel.id).collect()
    };
    let (readers, writers) = (kernels(true), kernels(false));
    !readers.is_empty() && !writers.is_empty() && readers.is_disjoint(&writers)
}

/// Returns whether launches store to all of an allocation repeatedly, no kernel loads it, and the host reads it for at
/// most half of them. Kernels of benchmarks leave such results.
fn is_left(facts: &Facts<'_>, id: u64) -> bool {
    let Some(allocation) = facts.profile.allocation(id) else { return false };
    let rows = || {
        facts.profile.sites.iter().filter(|site| site.space == "global").flat_map(|site| {
            let of_it = site.by_allocation.iter().filter(|row| row.allocation == Some(id));
            of_it.map(|row| (&site.op[..], row.metrics.bytes))
        })
    };
    let times = share(rows().map(|(_, bytes)| bytes).total(), allocation.touched_bytes);
    let reads = allocation.copies.iter().filter(|copy| copy.direction != "set").map(|copy| copy.count).total();
    rows().all(|(op, _)| op == "store") && times >= 2.0 * WHOLE_ARRAY && reads as f64 <= times / 2.0
}

/// Returns whether the host supplies new data for about each launch that uses the allocation.
fn is_renewed(facts: &Facts<'_>, id: u64, launches: u64) -> bool {
    facts.profile.allocation(id).is_some_and(|one| renewals(one).saturating_add(1) >= launches)
}

/// Returns the number of copies from the host and of fills.
pub fn renewals(allocation: &Allocation) -> u64 {
    let renewed = allocation.copies.iter().filter(|copy| matches!(&copy.direction[..], "host_to_device" | "set"));
    renewed.map(|copy| copy.count).total()
}

/// Returns the data that one kernel's loads of an allocation need; `None` if there are no loads.
fn of_loads(facts: &Facts<'_>, id: u64, loads: &[&Access<'_>]) -> Option<Needs> {
    let first = loads.first()?;
    let touched = facts.profile.allocation(id).map_or(0, |allocation| allocation.touched_bytes);
    let all = total(loads, |sums| sums.bytes);
    let each = all as f64 / first.kernel.launch_count().max(1) as f64;
    // A tile in shared memory contains elements for the neighbouring threads.
    let is_once = each <= MORE_THAN_ONCE * touched as f64 && !loads.iter().any(|load| is_staged(facts, load, 0));
    if is_once || touched < FEW_VALUES_BYTES {
        return Some(Needs::Itself);
    }
    let along: Vec<&Access<'_>> = loads.iter().copied().filter(|access| is_contiguous(access)).collect();
    let is_along = share(total(&along, |sums| sums.bytes), all) >= NEIGHBOUR_SHARE;
    Some(if is_along { Needs::Neighbours } else { Needs::Everything })
}
