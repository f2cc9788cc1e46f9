//! What a step of launches that sweep over data needs of the step before.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::facts::Facts;
use super::super::super::facts::access::{Access, share};
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::{Allocation, Site};

/// Bytes that a kernel loads for each byte of an array that others have made, up to which each thread takes its own element alone.
const ONCE: f64 = 1.1;
/// Share of an array that a launch stores all of, about.
const WHOLE: f64 = 0.95;
/// Share of requests that go along an array.
const ALONG: f64 = 0.5;

/// Share of the bytes of an array that such requests bring.
const MOST_ALONG: f64 = 0.9;

/// What an element needs of what the step before has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing: the host gives each step its data.
    Nothing,
    /// Its own value.
    Itself,
    /// Those of elements beside it, at fixed distances.
    Neighbours,
    /// Those of elements anywhere.
    Everything,
}

/// What the kernels of these accesses need of what kernels store between their launches.
pub(super) fn needs(facts: &Facts<'_>, sweeping: &[&Access<'_>]) -> Needs {
    let kernels: BTreeSet<u32> = sweeping.iter().map(|access| access.kernel.id).collect();
    let stored: Vec<(u64, u64)> = facts
        .accesses
        .iter()
        .filter(|access| access.op != "load" && access.space == "global" && access.kernel.launch_count() > 1)
        .flat_map(|access| allocations(facts, access).map(|id| (id, access.kernel.launch_count())))
        .collect();
    let made = stored.iter().filter(|&&(id, launches)| !is_renewed(facts, id, launches));
    let made: BTreeSet<u64> = made.map(|&(id, _)| id).collect();
    if made.is_empty() && !stored.is_empty() {
        return Needs::Nothing;
    }
    if kernels.iter().all(|&kernel| repeats_itself(facts, kernel))
        || !made.is_empty() && made.iter().all(|&id| is_left(facts, id))
    {
        return Needs::Nothing;
    }
    let mut found = Needs::Itself;
    for &kernel in &kernels {
        for &id in &made {
            let loads: Vec<&Access<'_>> = facts
                .accesses_of(kernel, "global")
                .filter(|access| access.op == "load" && allocations(facts, access).any(|one| one == id))
                .collect();
            found = match of_loads(facts, id, &loads) {
                Needs::Everything => return Needs::Everything,
                Needs::Neighbours => Needs::Neighbours,
                Needs::Itself | Needs::Nothing => found,
            };
        }
    }
    found
}

/// Allocations that an access leads to, in some launch or other: buffers change places.
fn allocations<'a>(facts: &'a Facts<'_>, access: &'a Access<'_>) -> impl Iterator<Item = u64> + 'a {
    let is_its = |site: &&Site| Some(site.id) == access.site && site.kernel == access.kernel.id;
    let others = facts.profile.sites.iter().filter(is_its).flat_map(|site| &site.by_allocation);
    access.allocation.into_iter().chain(others.filter_map(|row| row.allocation))
}

/// Whether other kernels than those that load it write all of it anew in each launch, and each thread loads its own element: it is handed on, and is
/// no data on which steps are made.
pub(super) fn is_made_anew(facts: &Facts<'_>, allocation: &Allocation) -> bool {
    let of_it = |access: &&Access<'_>| access.space == "global" && access.allocation == Some(allocation.id);
    let (loads, stores): (Vec<&Access<'_>>, Vec<&Access<'_>>) =
        facts.accesses.iter().filter(of_it).partition(|access| access.op == "load");
    let kernels = |accesses: &[&Access<'_>]| accesses.iter().map(|access| access.kernel.id).collect::<BTreeSet<u32>>();
    let (readers, writers) = (kernels(&loads), kernels(&stores));
    let is_whole = |id: &u32| {
        let own = || stores.iter().filter(|access| access.kernel.id == *id);
        let launches = own().next().map_or(0, |access| access.kernel.launch_count());
        let bytes = own().map(|access| access.sums.bytes).fold(0, u64::saturating_add);
        bytes as f64 >= WHOLE * allocation.touched_bytes.saturating_mul(launches) as f64
    };
    let is_own = |id: &u32| {
        let own: Vec<&Access<'_>> = loads.iter().copied().filter(|access| access.kernel.id == *id).collect();
        of_loads(facts, allocation.id, &own) == Needs::Itself
    };
    !readers.is_empty()
        && !writers.is_empty()
        && readers.is_disjoint(&writers)
        && stores.iter().all(|access| access.op == "store")
        && writers.iter().all(is_whole)
        && readers.iter().all(is_own)
}

/// Whether each launch of a kernel overwrites what the one before has stored, and nobody has looked at, as in a benchmark.
fn repeats_itself(facts: &Facts<'_>, kernel: u32) -> bool {
    let mut stores = facts.accesses_of(kernel, "global").filter(|access| access.op != "load").peekable();
    let is_overwritten = |store: &Access<'_>| {
        let Some(allocation) = store.allocation.and_then(|id| facts.profile.allocation(id)) else { return false };
        let launches = store.kernel.launch_count();
        // A benchmark may let several kernels write there, one after the other, and look at what each has left.
        let writers: BTreeMap<u32, u64> = facts
            .accesses
            .iter()
            .filter(|one| one.op != "load" && one.space == "global" && one.allocation == store.allocation)
            .map(|one| (one.kernel.id, one.kernel.launch_count()))
            .collect();
        let of_all = writers.values().copied().fold(0, u64::saturating_add);
        let copies = allocation.copies.iter().filter(|copy| copy.direction != "set").map(|copy| copy.count);
        let leads_there = |one: &Access<'_>| allocations(facts, one).any(|id| Some(id) == store.allocation);
        let is_loaded = facts.accesses.iter().any(|one| one.op == "load" && leads_there(one));
        let of_launch = store.sums.bytes as f64 / launches.max(1) as f64;
        store.op == "store"
            && launches > 1
            && !is_loaded
            && copies.fold(0, u64::saturating_add) <= of_all / 2
            && of_launch >= WHOLE * allocation.touched_bytes as f64
    };
    stores.peek().is_some() && stores.all(is_overwritten)
}

/// Whether launches store all of an allocation again and again, no kernel loads it, and the host looks at it now and then at most, as at what each kernel of a benchmark leaves.
fn is_left(facts: &Facts<'_>, id: u64) -> bool {
    let Some(allocation) = facts.profile.allocation(id) else { return false };
    let rows = facts.profile.sites.iter().filter(|site| site.space == "global").flat_map(|site| {
        let of_it = site.by_allocation.iter().filter(|row| row.allocation == Some(id));
        of_it.map(|row| (&site.op[..], row.metrics.bytes))
    });
    let (mut stored, mut is_stored_alone) = (0u64, true);
    for (op, bytes) in rows {
        stored = stored.saturating_add(bytes);
        is_stored_alone &= op == "store";
    }
    let times = share(stored, allocation.touched_bytes);
    let looks = allocation.copies.iter().filter(|copy| copy.direction != "set").map(|copy| copy.count);
    is_stored_alone && times >= 2.0 * WHOLE && looks.fold(0, u64::saturating_add) as f64 <= times / 2.0
}

/// Whether the loads bring tiles into shared memory, for the neighbours of those that load them.
fn is_staged(facts: &Facts<'_>, loads: &[&Access<'_>]) -> bool {
    loads.iter().any(|load| {
        facts
            .accesses_of(load.kernel.id, "shared")
            .any(|store| store.op == "store" && (store.file, store.line) == (load.file, load.line))
    })
}

/// Whether the host gives the allocation other data for each launch of those that use it, about.
fn is_renewed(facts: &Facts<'_>, id: u64, launches: u64) -> bool {
    let Some(allocation) = facts.profile.allocation(id) else { return false };
    let renewed = allocation.copies.iter().filter(|copy| matches!(&copy.direction[..], "host_to_device" | "set"));
    renewed.map(|copy| copy.count).fold(0, u64::saturating_add).saturating_add(1) >= launches
}

/// The same of one kernel's loads of one allocation.
fn of_loads(facts: &Facts<'_>, id: u64, loads: &[&Access<'_>]) -> Needs {
    let Some(first) = loads.first() else { return Needs::Itself };
    let touched = facts.profile.allocation(id).map_or(0, |allocation| allocation.touched_bytes);
    let bytes = loads.iter().map(|access| access.sums.bytes).fold(0, u64::saturating_add);
    let each = bytes as f64 / first.kernel.launch_count().max(1) as f64;
    // A few values that all threads read, as a step's length, come from wherever the host or another kernel has them.
    let is_once = each <= ONCE * touched as f64 && !is_staged(facts, loads);
    if is_once || touched < SECTOR_BYTES * 8 {
        return Needs::Itself;
    }
    // Single lanes that bring the ends of a tile's rows go along nothing.
    let along = loads.iter().filter(|access| share(access.pattern.contiguous, access.pattern.requests) >= ALONG);
    let along = along.map(|access| access.sums.bytes).fold(0, u64::saturating_add);
    if share(along, bytes) >= MOST_ALONG { Needs::Neighbours } else { Needs::Everything }
}
