//! Launches from one source position that could be merged into one launch.

use super::super::super::prelude::*;
use super::super::super::thresholds::launches::*;
use super::launch_line;
use std::collections::BTreeSet;

/// Returns whether all launches of a kernel come from one source position.
pub(super) fn from_one_place(kernel: &Kernel) -> bool {
    let paths = kernel.launches.iter().map(|launch| &launch.path);
    let mut lines = paths
        .chain(kernel.launch_groups.iter().map(|group| &group.path))
        .map(|path| path.last().map(|frame| (&frame.file, frame.line, frame.column)));
    lines.next().flatten().is_some_and(|first| lines.all(|line| line == Some(first)))
}

/// Returns the number of blocks of all launches of a kernel, if the launches could be one: they are many, come from one
/// source position, and each of them writes different memory.
pub(super) fn blocks_of_all(facts: &Facts<'_>, kernel: &Kernel) -> Option<u64> {
    if kernel.launch_count() < MANY_LAUNCHES || !from_one_place(kernel) {
        return None;
    }
    let stores = || facts.accesses_of(kernel.id, "global").filter(|access| !access.is_load());
    let written: BTreeSet<u64> = stores().filter_map(|access| access.allocation).collect();
    let touched =
        written.iter().filter_map(|&id| facts.profile.allocation(id)).map(|allocation| allocation.touched_bytes);
    // Counts bytes, because a launch may store less than a sector.
    let stored = stores().map(|access| access.sums.bytes).total();
    let apart = !written.is_empty()
        && stores().all(|access| access.op == "store" && access.allocation.is_some())
        && stored <= touched.total();
    // If another kernel writes the loaded data between the launches, as in each step of an elimination, the launches
    // cannot be merged.
    let loaded: BTreeSet<u64> = facts.loads_of(kernel.id).filter_map(|access| access.allocation).collect();
    let is_fed = facts.accesses.iter().any(|other| {
        other.kernel.id != kernel.id
            && other.kernel.launch_count() > 1
            && !other.is_load()
            && other.allocation.is_some_and(|id| loaded.contains(&id))
    });
    (apart && !is_fed && is_named(facts, kernel, launch_line(kernel))).then(|| blocks(kernel))
}

/// Returns whether the launching line contains the kernel's name. It contains a different name if that kernel launched
/// this kernel.
fn is_named(facts: &Facts<'_>, kernel: &Kernel, frame: Option<&Frame>) -> bool {
    let text = frame.and_then(|frame| facts.profile.sources.get(&frame.file)?.get(&frame.line));
    let plain = kernel.name.split(['(', '<']).next().unwrap_or_default();
    let name = plain.rsplit([':', ' ']).next().unwrap_or_default();
    text.is_none_or(|text| !text.contains("<<<") || text.contains(name))
}

/// Returns whether the kernel loads from an allocation that it stores to, at addresses different from those of the
/// stores.
pub(super) fn loads_what_it_stores(facts: &Facts<'_>, kernel: &Kernel) -> bool {
    let address = |access: &Access<'_>| {
        let sites = kernel.addresses.as_ref().map_or(&[][..], |addresses| &addresses.sites);
        sites.iter().find(|site| Some(site.site) == access.site).map(|site| &site.address)
    };
    let stores: Vec<&Access<'_>> = facts.accesses_of(kernel.id, "global").filter(|access| !access.is_load()).collect();
    let mut loads = facts.loads_of(kernel.id);
    loads.any(|load| {
        let mut there = stores.iter().filter(|store| store.allocation == load.allocation).peekable();
        there.peek().is_some() && !there.any(|store| address(store).is_some() && address(store) == address(load))
    })
}
