//! A value that a loop stores at one address in every turn, loaded from there before or not: it belongs in a register until the
//! loop is over (CUDA C++ Best Practices Guide, "Memory Optimizations"; the compiler may not keep it there where another pointer
//! could lead to it).

use std::collections::{BTreeMap, BTreeSet};

use super::super::draft::{Draft, Saved};
use super::super::facts::access::{Access, share};
use super::super::facts::index;
use super::super::facts::{Facts, warps};
use super::super::gain::Saving;
use super::super::words;
use crate::profile::model::{Kernel, Site};

/// Turns of the loop for each warp, on average, at least.
const LEAST_TURNS: f64 = 4.0;
/// Lanes of a request that are few.
const FEW_LANES: u64 = 4;
/// Least share of the kernel's requests that load and store are.
const LEAST_OF_KERNEL: f64 = 0.1;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().flat_map(|kernel| of_kernel(facts, kernel)).collect()
}

fn of_kernel(facts: &Facts<'_>, kernel: &Kernel) -> Vec<Draft> {
    let Some(addresses) = &kernel.addresses else { return Vec::new() };
    // Behind a barrier another thread may want the value.
    if kernel.instructions.get("barrier").is_some_and(|count| count.warps > 0) {
        return Vec::new();
    }
    let sites: BTreeMap<u32, &Site> = facts
        .profile
        .sites
        .iter()
        .filter(|site| site.kernel == kernel.id && site.space == "global" && !site.library)
        .map(|site| (site.id, site))
        .collect();
    let mut places: BTreeSet<(&str, u32, u32)> = BTreeSet::new();
    for address in addresses.sites.iter().filter(|address| index::stays(&addresses.expressions, address)) {
        if let Some(site) = sites.get(&address.site).filter(|site| site.op == "store") {
            places.insert((&site.file, site.line, site.column));
        }
    }
    let stores = facts.accesses_of(kernel.id, "global").filter(|access| access.op == "store");
    stores
        .filter(|access| places.contains(&(access.file, access.line, access.column)))
        .filter_map(|access| draft(facts, kernel, access))
        .collect()
}

/// Whether a few lanes of each request store, and all of them together each element about once: a condition lets each thread store in an
/// iteration of its own.
fn stores_once(facts: &Facts<'_>, store: &Access<'_>) -> bool {
    let touched = store.allocation.and_then(|id| facts.profile.allocation(id)).map_or(0, |one| one.touched_bytes);
    store.sums.lanes <= FEW_LANES.saturating_mul(store.sums.requests)
        && (store.sums.bytes as f64) < LEAST_TURNS * touched as f64
}

fn draft(facts: &Facts<'_>, kernel: &Kernel, store: &Access<'_>) -> Option<Draft> {
    let turns = store.sums.requests as f64 / warps(kernel).max(1) as f64;
    let loads = facts.accesses_of(kernel.id, "global").filter(|access| {
        access.op == "load"
            && (access.file, access.line) == (store.file, store.line)
            && access.allocation == store.allocation
            && access.variable() == store.variable()
    });
    let both: Vec<&Access<'_>> = loads.chain([store]).collect();
    let requests = both.iter().map(|access| access.sums.requests).fold(0, u64::saturating_add);
    let of_kernel = share(requests, facts.requests(kernel));
    if turns < LEAST_TURNS || of_kernel < LEAST_OF_KERNEL || stores_once(facts, store) {
        return None;
    }
    let name = store.variable().map_or_else(|| "the value".to_owned(), |name| format!("`{name}`"));
    let does = if both.len() > 1 { "loads an element of {} and stores it again" } else { "stores an element of {}" };
    let reason = format!(
        "each iteration of the loop {} at the same address, about {turns:.0} times a warp: {} of the kernel's requests; the compiler may not \
         keep it in a register, as another pointer could lead to it, or another index of the same array",
        does.replace("{}", &facts.target(store)),
        words::percent(of_kernel),
    );
    let keep = if both.len() > 1 { "add up in" } else { "keep the value in" };
    let cure = format!(
        "{keep} a local variable and store it to {name} once after the loop; where only another pointer could lead to it, declaring the pointers __restrict__ lets the compiler \
         do so"
    );
    let once = 1.0 / turns;
    let saving = both.iter().fold(Saving::default(), |sum, access| {
        let sums = &access.sums;
        sum.and(Saving::of("l1_tag", sums.stages.tag as f64))
            .and(Saving::of("l1_data", sums.stages.data as f64))
            .and(Saving::of("l1_lanes", (sums.stages.words * 32) as f64))
            .and(Saving::of("l2", (sums.l2_lookups * 32) as f64))
    });
    let saving = saving.times(1.0 - once);
    Some(
        Draft::new(reason, cure)
            .at_access(store)
            .evidence("requests", requests as f64)
            .evidence("turns", turns)
            .evidence("share_of_requests", of_kernel)
            .saves(
                facts,
                Saved {
                    saving,
                    otherwise: of_kernel,
                    assumption: "one store for each thread and element",
                    ..Saved::default()
                },
            ),
    )
}
