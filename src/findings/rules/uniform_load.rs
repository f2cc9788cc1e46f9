//! Loads from global memory of one address by all lanes: broadcasts, which constant memory, shared memory or a register serve
//! better where they are many.

use std::collections::{BTreeMap, BTreeSet};

use super::super::draft::{About, Draft};
use super::super::facts::access::{Access, share};
use super::super::facts::index;
use super::super::facts::{Facts, warps};
use super::super::gain::Saving;
use super::super::words;
use crate::profile::model::{FindingLine, Severity, also_on};

/// Least share of its requests.
const LEAST: f64 = 0.9;
/// Least share of the kernel's requests.
const LEAST_OF_KERNEL: f64 = 0.3;

/// Loads of a warp, at least.
const LEAST_TURNS: u64 = 4;

/// Least gain by constant memory that is worth a change.
const LEAST_GAIN: f64 = 1.25;
/// Least share of the time of all kernels that it saves: below, a change of where data lies is not worth its code.
const LEAST_OF_PROGRAM: f64 = 0.05;

/// The same of their passes through L1, for a word at all.
const LEAST_WASTE: f64 = 0.1;

/// Size of constant memory.
const CONSTANT_BYTES: u64 = 64 << 10;

/// Whether constant memory could hold what is read: it is small, no kernel writes it, and none reads it with lanes at different
/// elements, which constant memory serves one after the other.
fn fits_constant(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let Some(allocation) = access.allocation.and_then(|id| facts.profile.allocation(id)) else { return false };
    let mut there = facts.accesses.iter().filter(|other| other.allocation == access.allocation);
    allocation.bytes <= CONSTANT_BYTES && there.all(|other| other.op == "load" && is_broadcast(other))
}

/// Whether all lanes read one address in nearly every request.
fn is_broadcast(access: &Access<'_>) -> bool {
    share(access.pattern.uniform, access.sums.requests) >= LEAST
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let broadcast = |access: &&Access<'_>| {
        access.space == "global" && !access.in_library && access.op == "load" && is_broadcast(access)
    };
    type Key<'a> = (u32, Option<u64>, Option<&'a str>);
    let mut groups: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    for access in facts.accesses.iter().filter(broadcast).filter(|access| is_repeated(access)) {
        groups.entry((access.kernel.id, access.allocation, access.variable())).or_default().push(access);
    }
    // The members of a structure are accesses of their own, and one array to move.
    let groups = groups.into_values().filter(|accesses| {
        let requests = accesses.iter().map(|access| access.sums.requests).fold(0, u64::saturating_add);
        accesses.first().is_some_and(|one| share(requests, facts.requests(one.kernel)) >= LEAST_OF_KERNEL)
    });
    together(facts, groups).into_iter().filter_map(|accesses| draft(facts, &accesses)).collect()
}

/// Small arrays of one kernel that constant memory could hold together are one thing to change.
fn together<'b, 'a>(facts: &Facts<'a>, groups: impl Iterator<Item = Vec<&'b Access<'a>>>) -> Vec<Vec<&'b Access<'a>>> {
    let (small, mut all): (Vec<_>, Vec<_>) =
        groups.partition(|accesses| accesses.iter().all(|access| fits_constant(facts, access)));
    let mut kernels: BTreeMap<u32, Vec<Vec<&Access<'_>>>> = BTreeMap::new();
    for accesses in small {
        if let Some(one) = accesses.first() {
            kernels.entry(one.kernel.id).or_default().push(accesses);
        }
    }
    for arrays in kernels.into_values() {
        let allocations: BTreeSet<Option<u64>> = arrays.iter().flatten().map(|access| access.allocation).collect();
        let bytes = allocations.iter().filter_map(|id| facts.profile.allocation((*id)?)).map(|one| one.bytes);
        if bytes.fold(0, u64::saturating_add) <= CONSTANT_BYTES {
            all.push(arrays.concat());
        } else {
            all.extend(arrays);
        }
    }
    all
}

/// Whether a warp makes it again and again. What each thread loads once, or a few of, as the three points of a curve, is not loaded
/// again in vain.
fn is_repeated(access: &Access<'_>) -> bool {
    access.sums.requests >= LEAST_TURNS.saturating_mul(warps(access.kernel))
}

/// The finding of one array in a kernel.
fn draft(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> Option<Draft> {
    let worst = *accesses.iter().max_by_key(|one| (one.sums.requests, std::cmp::Reverse((one.line, one.column))))?;
    let requests = accesses.iter().map(|access| access.sums.requests).fold(0, u64::saturating_add);
    let of_kernel = share(requests, facts.requests(worst.kernel));
    let mut lines: Vec<FindingLine> = accesses
        .iter()
        .filter(|access| access.line != worst.line)
        .map(|access| FindingLine { line: access.line, column: access.column })
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let others = if lines.is_empty() { String::new() } else { also_on(&lines) };
    let names: BTreeSet<&str> = accesses.iter().filter_map(|access| access.variable()).collect();
    let names: Vec<String> =
        names.into_iter().filter(|name| Some(*name) != worst.variable()).map(str::to_owned).collect();
    let others = match &names[..] {
        [] => others,
        names => format!("; {}{others}", About::Lanes.of_others(&words::list(names))),
    };
    let reason = format!(
        "all lanes of a warp load one address of {} from global memory, in {} of the kernel's requests: each takes a pass through L1 \
         to bring {}{others}",
        facts.target(worst),
        words::percent(of_kernel),
        words::bytes(worst.bytes.into()),
    );
    let fits = accesses.iter().all(|access| fits_constant(facts, access));
    // A warp that walks a tree or a list together: the next address is known once the last one is loaded, so that there is nothing to
    // load before, and one address for all lanes is as good as it gets.
    if !fits && index::is_followed(worst) {
        return None;
    }
    let cure = if fits {
        "kernels never write it, and at this size it fits into constant memory (64 KiB): keep it there if it never grows beyond that; otherwise let \
         the block load it, or a tile of it, into shared memory, or each thread what it needs into registers"
    } else {
        "let the block load a tile of it into shared memory; where it does not change within the loop, load it before into a register"
    };
    let saving = accesses.iter().fold(Saving::default(), |sum, access| {
        let stages = &access.sums.stages;
        sum.and(Saving::of("l1_lanes", (stages.words * 32) as f64))
            .and(Saving::of("l1_data", stages.data as f64))
            .and(Saving::of("l1_tag", stages.tag as f64))
    });
    // Where something else takes far longer, these passes are hidden behind it.
    if facts.waste(worst.kernel, &saving, of_kernel) < LEAST_WASTE {
        return None;
    }
    let assumption = "constant memory serves them as fast as registers";
    let gain = facts.gain(worst.kernel, &saving, assumption).filter(|_| fits);
    // Shared memory and registers take instructions of their own.
    let worth = gain
        .as_ref()
        .is_some_and(|gain| gain.factor >= LEAST_GAIN && gain.seconds >= LEAST_OF_PROGRAM * facts.kernel_seconds);
    let draft = Draft::new(reason, cure)
        .at_access(worst)
        .evidence("requests", requests as f64)
        .evidence("share_of_requests", of_kernel)
        .gain(gain)
        .score(of_kernel * facts.kernel_share(worst.kernel));
    let draft = Draft { lines, ..draft };
    Some(if worth { draft } else { draft.severity(Severity::Note) })
}
