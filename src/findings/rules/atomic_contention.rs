//! Atomic operations that meet on an address: they are done one after the other, wherever in the GPU that is.
//!
//! Modelled: one operation per clock and address, which is what the units at the L2 cache do at best.

use std::collections::BTreeMap;

use super::super::access::{Access, share};
use super::super::context::{Context, blocks};
use super::super::draft::Draft;
use super::super::gain::gain_of;
use super::super::words;
use crate::profile::model::{Atomics, Severity};
use warpline_format::condition::AtomicKind;

/// Lanes of a warp that meet on one address, on average, at least.
const DEEP: f64 = 1.5;
/// Lanes on the hottest address for each block of the kernel, at least: fewer are what a block's one atomic brings.
const LANES_PER_BLOCK: u64 = 4;
/// Clock that is assumed where the model's is not known.
const USUAL_CLOCK: f64 = 1.5e9;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    context.accesses.iter().filter_map(|access| draft(context, access, access.pattern.atomics.as_ref()?)).collect()
}

/// What is serial: on the hottest address of the program; of shared memory what each request's deepest address takes.
fn serial_seconds(context: &Context<'_>, access: &Access<'_>, atomics: &Atomics) -> f64 {
    let clock = context.rates.and_then(|rates| rates.clock_hz).unwrap_or(USUAL_CLOCK);
    if access.space == "shared" {
        let blocks = blocks(access.kernel).clamp(1, u64::from(u32::MAX)) as u32;
        let sms = context.rates.map_or(1, |rates| rates.sms.max(1)).min(blocks);
        return atomics.deepest as f64 / f64::from(sms) / clock;
    }
    let hot_lanes = atomics.hottest.first().map_or(0, |hot| hot.lanes);
    hot_lanes.max(atomics.deepest / atomics.requests.max(1)) as f64 / clock
}

/// Serial seconds of the kernel's atomic operations with and without this access: those on one address are done one after the
/// other, those on different ones side by side, so that the longest counts.
fn serial_of_kernel(context: &Context<'_>, access: &Access<'_>) -> (f64, f64) {
    type Address<'a> = (&'a str, Option<(u64, u64)>, Option<&'a str>);
    fn address<'a>(access: &'a Access<'_>) -> Address<'a> {
        let hottest = access.pattern.atomics.as_ref().and_then(|atomics| atomics.hottest.first());
        (access.space, hottest.map(|hot| (hot.allocation, hot.offset)), access.variable().filter(|_| hottest.is_none()))
    }
    let mut each: BTreeMap<Address<'_>, f64> = BTreeMap::new();
    for other in context.accesses.iter().filter(|other| other.kernel.id == access.kernel.id) {
        if let Some(atomics) = &other.pattern.atomics {
            *each.entry(address(other)).or_default() += serial_seconds(context, other, atomics);
        }
    }
    let longest = |each: &BTreeMap<Address<'_>, f64>| each.values().copied().fold(0.0, f64::max);
    let with = longest(&each);
    if let (Some(own), Some(atomics)) = (each.get_mut(&address(access)), &access.pattern.atomics) {
        *own = (*own - serial_seconds(context, access, atomics)).max(0.0);
    }
    (with, longest(&each))
}

fn draft(context: &Context<'_>, access: &Access<'_>, atomics: &Atomics) -> Option<Draft> {
    let kernel = access.kernel;
    let depth = atomics.deepest as f64 / atomics.requests.max(1) as f64;
    let hottest = atomics.hottest.first();
    let hot_lanes = hottest.map_or(0, |hot| hot.lanes);
    let crowded = hot_lanes > LANES_PER_BLOCK * blocks(kernel).max(1) && share(hot_lanes, atomics.lanes) >= 0.01;
    let deep = depth >= DEEP && atomics.lanes > LANES_PER_BLOCK * blocks(kernel).max(1);
    if !crowded && !deep {
        return None;
    }
    let is_shared = access.space == "shared";
    let seconds = serial_seconds(context, access, atomics);
    let name = context.target(access);
    let place = match hottest {
        Some(hot) => {
            let offset = if hot.offset == 0 { "the first bytes".to_owned() } else { format!("byte {}", hot.offset) };
            let whose = context.allocation_name(Some(hot.allocation)).unwrap_or_default();
            format!(
                "; {} of the {} operations go to {offset} of {whose}",
                words::count(hot.lanes),
                words::count(atomics.lanes)
            )
        }
        None => String::new(),
    };
    let meet = if depth >= DEEP {
        format!("on average {depth:.1} lanes of a warp update the same address of {name}")
    } else {
        format!("the warps of all blocks update the same addresses of {name}")
    };
    let reason = format!(
        "{meet}, in {}{place}: they are done one after the other, {} at one per clock (modelled)",
        words::several(atomics.requests, "request", "requests"),
        words::time(seconds),
    );
    let distinct_per_request = atomics.addresses as f64 / atomics.requests.max(1) as f64;
    let kind = access.atomic.unwrap_or_default();
    let cure = if kind == AtomicKind::Attempt {
        "lanes that meet try again until each of them was first: use the operation itself where the GPU has it (atomicAdd of doubles, atomicMin and \
         atomicMax of 64 bits), else combine the values within the warp and the block first, where they can be, and let one lane try"
    } else if matches!(kind, AtomicKind::Exchange | AtomicKind::Lock) {
        "such operations cannot be combined: let one lane of a warp or block make them for the others, spread them over several addresses (a \
         lock or slot per block), or see whether an atomicAdd whose result is used does the same"
    } else if access.result_used && depth >= DEEP && distinct_per_request < 1.5 && kind == AtomicKind::Subtract {
        "give back places for a whole warp at once: with m = __activemask(), let the lowest active lane (__ffs(m) - 1) subtract __popc(m), hand what it \
         gets to the others with __shfl_sync, and let each lane subtract the number of active lanes below it (__popc(m & ((1u << lane) - 1)))"
    } else if access.result_used && depth >= DEEP && distinct_per_request < 1.5 {
        "take places for a whole warp at once: with m = __activemask(), let the lowest active lane (__ffs(m) - 1) add __popc(m), hand what it gets to \
         the others with __shfl_sync, and let each lane add the number of active lanes below it (__popc(m & ((1u << lane) - 1)))"
    } else if access.result_used && depth < DEEP && distinct_per_request < 1.5 {
        "what it returns is used, as a place in a list or the number of a ticket: take several at a time (one thread of a block adds as many as its warps \
         need, and hands them out), so that fewer operations meet"
    } else if is_shared {
        "let the lanes of a warp combine what goes to one address first (shuffles; __reduce_add_sync for integers; __match_any_sync tells which lanes \
         share an address), or keep several copies of the array, of which neighbouring lanes take different ones (copy threadIdx.x % 4), and add \
         them up at the end"
    } else if depth < DEEP && distinct_per_request < 1.5 {
        "combine the values of the block's warps in shared memory or by a block-wide reduction, and let one thread of a block make the \
         atomic operation"
    } else if distinct_per_request < 1.5 {
        "combine the values within the warp (shuffles; for integers __reduce_add_sync or __popc(__ballot_sync(..))) and the block first, and \
         let one thread of a block make the atomic operation"
    } else {
        "privatise: keep a copy of the array in shared memory per block, update that, and add it to global memory once at the end"
    };
    let total = kernel.estimates.first().map(|estimate| estimate.seconds);
    // One operation per warp or block in global memory runs beside what else the kernel does, and costs what it takes longer.
    let beside = !is_shared && depth < DEEP;
    let waste = match total {
        Some(total) if context.kernel_seconds > 0.0 => {
            let more = if beside { (seconds - total).max(0.0) } else { seconds };
            more / (context.kernel_seconds + more)
        }
        _ => share(atomics.lanes, context.requests(kernel).saturating_mul(32)),
    };
    let assumption =
        "one atomic operation per clock and address, which the bottleneck estimate leaves out; none of these left";
    let (with, without) = serial_of_kernel(context, access);
    let gain = total.and_then(|total| match beside {
        true => gain_of(total.max(with), total.max(without), total.max(with), assumption),
        false => gain_of(total + with, total + without, total + with, assumption),
    });
    let draft = Draft::new(reason, cure)
        .at_access(access)
        .evidence("requests", atomics.requests as f64)
        .evidence("lanes", atomics.lanes as f64)
        .evidence("lanes_on_one_address", depth)
        .evidence("hottest_lanes", hot_lanes as f64)
        .evidence("hottest_offset", hottest.map_or(f64::NAN, |hot| hot.offset as f64))
        .evidence("serial_seconds", seconds)
        .gain(gain)
        .score(waste);
    let object = draft.object.clone();
    let draft = if draft.allocation.is_none() {
        Draft { allocation: hottest.map(|hot| hot.allocation), ..draft }
    } else {
        draft
    };
    Some(Draft { severity: if depth < DEEP && waste < 0.1 { Severity::Note } else { draft.severity }, object, ..draft })
}
