//! Launches of a time loop: each changes the same memory in place, a thread its own elements alone.

use std::collections::BTreeSet;

use super::super::super::thresholds::launches::MANY_LAUNCHES;
use super::super::access::Access;
use super::super::index;
use super::super::profile::Facts;
use super::merging::from_one_place;
use warpline_profile::model::Kernel;

/// Returns whether one launch could perform the steps of all. The launches come from one call site, each thread loads only those
/// of the stored elements that it stores itself, and no copy or other kernel accesses the memory between the first launch and the
/// last.
pub(super) fn are_in_place(facts: &Facts<'_>, kernel: &Kernel) -> bool {
    if kernel.launch_count() < MANY_LAUNCHES || !from_one_place(kernel) {
        return false;
    }
    let of_kernel: Vec<&Access<'_>> = facts.accesses_of(kernel.id, "global").collect();
    let touched: Option<BTreeSet<u64>> = of_kernel.iter().map(|access| access.allocation).collect();
    let Some(touched) = touched else { return false };
    let stored: BTreeSet<u64> =
        of_kernel.iter().filter(|access| access.op != "load").filter_map(|access| access.allocation).collect();
    let places = |is_meant: fn(&Access<'_>) -> bool| {
        of_kernel
            .iter()
            .copied()
            .filter(move |access| is_meant(access))
            .map(|access| (access.allocation, index::place(access)))
    };
    let stores: Vec<_> = places(|access| access.op == "store").collect();
    let is_own = |access: &Access<'_>| {
        let place = index::place(access);
        place.is_some() && index::is_made_of_thread(access) && stores.contains(&(access.allocation, place))
    };
    let loads_of_stored = || {
        of_kernel
            .iter()
            .filter(|access| access.op == "load" && access.allocation.is_some_and(|id| stored.contains(&id)))
    };
    let is_alone =
        of_kernel.iter().all(|access| access.op != "atomic") && loads_of_stored().all(|access| is_own(access));
    let is_left_alone = !facts.accesses.iter().any(|other| {
        other.kernel.id != kernel.id
            && other.kernel.launch_count() > 1
            && other.allocation.is_some_and(|id| touched.contains(&id))
    });
    loads_of_stored().next().is_some() && is_alone && is_left_alone && !is_copied_between(facts, kernel, &touched)
}

/// Returns whether copies come to the memory, or from it, between the kernel's first launch and its last.
fn is_copied_between(facts: &Facts<'_>, kernel: &Kernel, touched: &BTreeSet<u64>) -> bool {
    let numbers = || {
        let alone = kernel.launches.iter().map(|launch| launch.id);
        alone.chain(kernel.launch_groups.iter().flat_map(|group| [group.first, group.last]))
    };
    let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else { return true };
    let copies =
        touched.iter().filter_map(|&id| facts.profile.allocation(id)).flat_map(|allocation| &allocation.copies);
    copies.into_iter().any(|copy| {
        let span = copy.first_launch.zip(copy.last_launch);
        span.is_none_or(|(from, to)| to > first && from <= last)
    })
}

/// Returns whether something that the launches are given differs from one to the next, as the number of a step: those of a benchmark are alike.
pub(in super::super::super) fn have_steps(kernel: &Kernel) -> bool {
    let mut launches = kernel.launches.iter().map(|launch| &launch.arguments);
    launches.next().is_some_and(|first| launches.any(|arguments| arguments != first))
}
