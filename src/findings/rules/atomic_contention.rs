//! Atomic operations that meet on an address: they are done one after the other, wherever in the GPU that is.
//!
//! Modelled: one operation per clock and address, which is what the units at the L2 cache do at best; the estimate has it as the limits
//! `atomic_address` and `shared_atomics`.

use std::collections::{BTreeMap, BTreeSet};

use super::super::access::{Access, share};
use super::super::context::{Context, blocks, warps};
use super::super::draft::{Draft, WORTH_A_CHANGE};
use super::super::gain::Saving;
use super::super::words;
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::{Atomics, Gain, HotPlace, Severity, Site};
use warpline_format::condition::AtomicKind;

/// Lanes of a warp that meet on one address, on average, at least.
const DEEP: f64 = 1.5;
/// The same where they are worth a word though the model has no cost for them.
const VERY_DEEP: f64 = 8.0;
/// Share of the time that these are ranked by, at most.
const MOST_UNKNOWN: f64 = 0.04;
/// Lanes on the hottest address for each block of the kernel, at least: fewer are what a block's one atomic brings.
const LANES_PER_BLOCK: u64 = 4;
/// Operations of each block, at least, where it comes again and again for its share of the work.
const TURNS: u64 = 4;
/// Addresses of a request, on average, up to which its lanes combine their values one address after the other.
const FEW_ADDRESSES: f64 = 4.0;
/// Bytes of shared memory that a block may have without asking for more.
const MOST_OF_BLOCK: u64 = 48 << 10;
/// Clock that is assumed where the model's is not known.
const USUAL_CLOCK: f64 = 1.5e9;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    context.accesses.iter().filter_map(|access| draft(context, access, access.pattern.atomics.as_ref()?)).collect()
}

/// Operations of a cured access that are still done one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// One for each request: a warp's lanes agree first.
    Warp,
    /// One for each block and address.
    Block,
    /// The same, and what was done in global memory is done in shared memory.
    BlockAfterShared,
}

impl Left {
    fn assumption(self) -> &'static str {
        match self {
            Left::Warp => "one atomic operation per clock and address, and one for each request left",
            Left::Block | Left::BlockAfterShared => {
                "one atomic operation per clock and address, and one for each block and address left"
            }
        }
    }

    /// Of all in global memory, at most; `None` where the cure leaves as many requests. Each block comes once to each address.
    fn lanes(self, context: &Context<'_>, access: &Access<'_>, atomics: &Atomics) -> Option<u64> {
        let blocks = blocks(access.kernel).max(1);
        match self {
            Left::Warp => None,
            Left::Block => Some(blocks.saturating_mul((atomics.addresses / atomics.requests.max(1)).max(1))),
            Left::BlockAfterShared => {
                Some(blocks.saturating_mul(touched_bytes(context, access)? / u64::from(access.bytes.max(1))))
            }
        }
    }

    /// Of those on one address of global memory.
    fn of(self, context: &Context<'_>, access: &Access<'_>, hot: &HotPlace) -> u64 {
        match self {
            Left::Warp => hot.lanes.min(hot.requests),
            Left::Block | Left::BlockAfterShared => hot.lanes.min(blocks_at(context, access, hot).max(1)),
        }
    }
}

/// Name of the limit that an access's operations count for.
fn limit(access: &Access<'_>) -> &'static str {
    if access.space == "shared" { "shared_atomics" } else { "atomic_address" }
}

/// Seconds of operations that are done one after the other on shared memory, on all SMs that have a block.
fn shared_seconds(context: &Context<'_>, access: &Access<'_>, operations: u64) -> f64 {
    // The estimate knows the blocks of each launch.
    let limits = access.kernel.estimates.first().map(|estimate| &estimate.limits[..]).unwrap_or_default();
    let known = limits.iter().find(|limit| limit.name == "shared_atomics" && limit.amount >= operations);
    if let Some(limit) = known {
        return limit.seconds * share(operations, limit.amount);
    }
    let clock = context.rates.and_then(|rates| rates.clock_hz).unwrap_or(USUAL_CLOCK);
    let blocks = blocks(access.kernel).clamp(1, u64::from(u32::MAX)) as u32;
    let sms = context.rates.map_or(1, |rates| rates.sms.max(1)).min(blocks);
    operations as f64 / f64::from(sms) / clock
}

/// What is serial: on the hottest address of the program; of shared memory what each request's deepest address takes.
fn serial_seconds(context: &Context<'_>, access: &Access<'_>, atomics: &Atomics) -> f64 {
    if access.space == "shared" {
        return shared_seconds(context, access, atomics.deepest);
    }
    let clock = context.rates.and_then(|rates| rates.clock_hz).unwrap_or(USUAL_CLOCK);
    let hot_lanes = atomics.hottest.first().map_or(0, |hot| hot.lanes);
    hot_lanes.max(atomics.deepest / atomics.requests.max(1)) as f64 / clock
}

/// What the kernel's limit asks less once the access is cured. Operations on different addresses run side by side, so that those on the
/// hottest that is left count.
fn saving(context: &Context<'_>, access: &Access<'_>, atomics: &Atomics, left: Left) -> Saving {
    if access.space == "shared" {
        return Saving::of(limit(access), atomics.deepest.saturating_sub(atomics.requests) as f64);
    }
    let saving = saving_of(context, access, |other| is_of_statement(other, access).then_some(left));
    match left.lanes(context, access, atomics) {
        Some(left) => saving.and(traffic(context, access).times(1.0 - share(left.min(atomics.lanes), atomics.lanes))),
        None => saving,
    }
}

/// The same once all of the kernel's accesses are cured of which `cured` says what is left.
fn saving_of(context: &Context<'_>, access: &Access<'_>, cured: impl Fn(&Access<'_>) -> Option<Left>) -> Saving {
    let mut each: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
    for other in context.accesses_of(access.kernel.id, "global") {
        let left = cured(other);
        for hot in other.pattern.atomics.iter().flat_map(|atomics| &atomics.hottest) {
            let (before, after) = each.entry((hot.allocation, hot.offset)).or_default();
            *before = before.saturating_add(hot.lanes);
            *after = after.saturating_add(left.map_or(hot.lanes, |left| left.of(context, other, hot)));
        }
    }
    let before = each.values().map(|(before, _)| *before).max().unwrap_or(0);
    let after = each.values().map(|(_, after)| *after).max().unwrap_or(0);
    // The limit has the hottest address of each launch, which need not be the same one.
    let limits = access.kernel.estimates.first().map(|estimate| &estimate.limits[..]).unwrap_or_default();
    let amount = limits.iter().find(|known| known.name == limit(access)).map_or(before, |known| known.amount);
    Saving::of(limit(access), amount as f64 * share(before.saturating_sub(after), before))
}

/// Whether an access is one of the same operation in the source.
fn is_of_statement(other: &Access<'_>, access: &Access<'_>) -> bool {
    (other.file, other.line, other.column) == (access.file, access.line, access.column)
}

/// The gain of all such findings of the kernel together: of addresses that are as hot as each other, no cure of one brings anything.
fn gain_together(context: &Context<'_>, access: &Access<'_>, left: Left, instead: f64) -> Option<Gain> {
    if access.space == "shared" {
        return None;
    }
    let left_of = |other: &Access<'_>| {
        let atomics = other.pattern.atomics.as_ref().filter(|atomics| is_contended(context, other, atomics))?;
        Some(cure(context, other, atomics).1)
    };
    let others = context.accesses_of(access.kernel.id, "global").filter(|other| !is_of_statement(other, access));
    let lines: BTreeSet<u32> = others.filter(|other| left_of(other).is_some()).map(|other| other.line).collect();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    let with = match &lines[..] {
        [] => return None,
        [line] => format!("line {line}"),
        [first @ .., last] => format!("lines {} and {last}", first.join(", ")),
    };
    let assumption = format!("{}, here and on {with}: none of them brings anything alone", left.assumption());
    context.gain_for(access.kernel, &saving_of(context, access, left_of), instead, &assumption)
}

/// What the access asks of the parts that it goes through on its way to the addresses.
fn traffic(context: &Context<'_>, access: &Access<'_>) -> Saving {
    let sums = &access.sums;
    let sector = context.profile.run.lookup_bytes.values().next().map_or(SECTOR_BYTES, |bytes| bytes.l2.max(1));
    Saving::of("l2", sums.l2_lookups.saturating_mul(sector) as f64).and(Saving::of("l1_tag", sums.stages.tag as f64))
}

/// Bytes of the allocation that anybody touches.
fn touched_bytes(context: &Context<'_>, access: &Access<'_>) -> Option<u64> {
    let hottest = access.pattern.atomics.as_ref().and_then(|atomics| atomics.hottest.first());
    let id = access.allocation.or(hottest.map(|hot| hot.allocation))?;
    context.profile.allocation(id).map(|allocation| allocation.touched_bytes)
}

/// What is less where the compiler or the GPU makes one operation of those of a warp's lanes that meet, as they do for some of them: nobody
/// says of which.
fn merged(context: &Context<'_>, access: &Access<'_>, atomics: &Atomics) -> Option<Saving> {
    let can_merge = !matches!(access.atomic, Some(AtomicKind::Attempt | AtomicKind::Exchange | AtomicKind::Lock));
    let meets = atomics.deepest as f64 >= DEEP * atomics.requests as f64;
    (can_merge && meets && access.space != "shared").then(|| saving(context, access, atomics, Left::Warp))
}

fn of_merged(low: f64) -> String {
    if low <= 1.05 {
        return "nothing where the GPU merges those of a warp anyway".to_owned();
    }
    format!("{low:.1} x where the GPU merges those of a warp anyway")
}

/// Lanes of a request at the address that most of them meet, on average.
fn depth(atomics: &Atomics) -> f64 {
    atomics.deepest as f64 / atomics.requests.max(1) as f64
}

/// Whether lanes of a warp meet at an address, so that there is a finding of it unless there are few operations.
pub(super) fn meet(access: &Access<'_>) -> bool {
    access.pattern.atomics.as_ref().is_some_and(|atomics| depth(atomics) >= DEEP && are_many(access, atomics))
}

/// Whether there are more than a block's few.
fn are_many(access: &Access<'_>, atomics: &Atomics) -> bool {
    atomics.lanes > LANES_PER_BLOCK * blocks(access.kernel).max(1)
}

/// Blocks that come to a hot address: launches may update an allocation each, and come to the others never.
fn blocks_at(context: &Context<'_>, access: &Access<'_>, hot: &HotPlace) -> u64 {
    let all = blocks(access.kernel);
    let is_own = |site: &&Site| {
        (site.kernel, site.line, site.column, &site.op[..]) == (access.kernel.id, access.line, access.column, access.op)
            && site.file == access.file
    };
    let rows = || context.profile.sites.iter().filter(is_own).flat_map(|site| &site.by_allocation);
    // Blocks make as many requests, of more or fewer lanes.
    let requests = |only: Option<u64>| {
        let there = rows().filter(|row| only.is_none() || row.allocation == only);
        there.map(|row| row.metrics.requests).fold(0, u64::saturating_add)
    };
    match requests(None) {
        0 => all,
        sum => (all as f64 * share(requests(Some(hot.allocation)), sum)).ceil() as u64,
    }
}

/// Whether they meet on an address so often that there is a finding of it.
fn is_contended(context: &Context<'_>, access: &Access<'_>, atomics: &Atomics) -> bool {
    let hot_lanes = atomics.hottest.first().map_or(0, |hot| hot.lanes);
    let blocks = atomics.hottest.first().map_or(0, |hot| blocks_at(context, access, hot));
    let is_crowded = hot_lanes > LANES_PER_BLOCK * blocks.max(1) && share(hot_lanes, atomics.lanes) >= 0.01;
    is_crowded || depth(atomics) >= DEEP && are_many(access, atomics)
}

fn draft(context: &Context<'_>, access: &Access<'_>, atomics: &Atomics) -> Option<Draft> {
    if !is_contended(context, access, atomics) {
        return None;
    }
    let kernel = access.kernel;
    let depth = depth(atomics);
    let hottest = atomics.hottest.first();
    let hot_lanes = hottest.map_or(0, |hot| hot.lanes);
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
    // Of a launch that did not end nobody counted the hottest address.
    let is_counted = is_shared || hottest.is_some();
    let takes =
        if is_counted { format!(", {} at one per clock (modelled)", words::time(seconds)) } else { String::new() };
    let reason = format!(
        "{meet}, in {}{place}: they are done one after the other{takes}",
        words::several(atomics.requests, "request", "requests"),
    );
    let (cure, left) = cure(context, access, atomics);
    let saving = saving(context, access, atomics, left);
    let instead = match left {
        Left::BlockAfterShared => shared_seconds(context, access, atomics.deepest),
        Left::Warp | Left::Block => 0.0,
    };
    let gain = match merged(context, access, atomics) {
        Some(merged) => {
            let low = context.gain_besides(kernel, &merged, &saving, instead);
            context.gain_for(kernel, &saving, instead, &format!("{}; {}", left.assumption(), of_merged(low)))
        }
        None => context.gain_for(kernel, &saving, instead, left.assumption()),
    };
    let gain = gain.or_else(|| gain_together(context, access, left, instead));
    // One operation per warp or block in global memory runs beside what else the kernel does, and costs what it takes longer.
    let waste = if depth < DEEP && !is_shared && !kernel.estimates.is_empty() && context.kernel_seconds > 0.0 {
        gain.as_ref().map_or(0.0, |gain| gain.seconds) / context.kernel_seconds
    } else {
        // Where several addresses are as hot as each other, no cure of one brings anything, and each of them costs as much.
        let own = hottest.map_or(0, |hot| hot.lanes.saturating_sub(left.of(context, access, hot)));
        let own = if is_shared { saving } else { Saving::of(limit(access), own as f64) };
        context.waste(kernel, &own, share(atomics.lanes, context.requests(kernel).saturating_mul(32)))
    };
    // What so many lanes of one address cost on their way there, and where they meet others of its sector, no model knows.
    let is_unknown = !is_shared && depth >= VERY_DEEP && waste < WORTH_A_CHANGE;
    let requests = share(atomics.requests, context.requests(kernel)) * context.kernel_share(kernel);
    let waste = if is_unknown { waste.max(requests.min(MOST_UNKNOWN)) } else { waste };
    let draft = Draft::new(reason, cure)
        .at_access(access)
        .evidence("requests", atomics.requests as f64)
        .evidence("lanes", atomics.lanes as f64)
        .evidence("lanes_on_one_address", depth)
        .evidence("hottest_lanes", hot_lanes as f64)
        .evidence("hottest_offset", hottest.map_or(f64::NAN, |hot| hot.offset as f64))
        .evidence("serial_seconds", if is_counted { seconds } else { f64::NAN })
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

/// What to do, and what is left then.
fn cure(context: &Context<'_>, access: &Access<'_>, atomics: &Atomics) -> (&'static str, Left) {
    let depth = depth(atomics);
    let distinct_per_request = atomics.addresses as f64 / atomics.requests.max(1) as f64;
    let one_address = distinct_per_request < 1.5;
    match access.atomic.unwrap_or_default() {
        AtomicKind::Attempt if !access.result_used => (
            "nobody uses what it returns, so that nobody tries again: of the lanes that meet one at most can find the value that it compares with; look at it \
             with a plain load first, and let only lanes whose comparison can succeed make the operation",
            Left::Warp,
        ),
        AtomicKind::Attempt => (
            "lanes that meet try again until each of them was first: use the operation itself where the GPU has it (atomicAdd of doubles, \
             atomicMin and atomicMax of 64 bits), else combine the values within the warp and the block first, where they can be, and let one \
             lane try",
            Left::Warp,
        ),
        AtomicKind::Exchange if !access.result_used => (
            "nobody uses what it returns, so that an exchange is a store, whichever comes last: where all threads store the same value, as a flag, let a plain store or \
             one lane do it (`if (__any_sync(..))`), before a barrier; what counts up to a limit (atomicInc, atomicDec) is no sum: spread it over several addresses, or \
             count with atomicAdd and take the remainder afterwards",
            Left::Warp,
        ),
        AtomicKind::Exchange | AtomicKind::Lock => (
            "such operations cannot be combined: let one lane of a warp or block make them for the others, spread them over several addresses (a \
             lock or slot per block), or see whether an atomicAdd whose result is used does the same",
            Left::Warp,
        ),
        AtomicKind::Subtract if access.result_used && depth >= DEEP && one_address => (
            "give back places for a whole warp at once: with m = __activemask(), let the lowest active lane (__ffs(m) - 1) subtract __popc(m), hand \
             what it gets to the others with __shfl_sync, and let each lane subtract the number of active lanes below it (__popc(m & ((1u << lane) \
             - 1)))",
            Left::Warp,
        ),
        _ if access.result_used && depth >= DEEP && one_address => (
            "take places for a whole warp at once: with m = __activemask(), let the lowest active lane (__ffs(m) - 1) add __popc(m), hand what it \
             gets to the others with __shfl_sync, and let each lane add the number of active lanes below it (__popc(m & ((1u << lane) - 1)))",
            Left::Warp,
        ),
        // A ticket that each block draws once is no share of the work.
        _ if access.result_used
            && one_address
            && atomics.lanes <= atomics.requests
            && atomics.requests >= TURNS * blocks(access.kernel) =>
        {
            (
                "what it returns is used, and one lane takes what the others need already: let it take more at a time (what several turns need), or give each block a fixed share, so that fewer operations meet",
                Left::Block,
            )
        }
        _ if access.result_used && one_address => (
            "what it returns is used, as a place in a list or the number of a ticket: take several at a time (one thread of a block adds as many as \
             its warps need, and hands them out), so that fewer operations meet",
            Left::Block,
        ),
        _ if access.space == "shared" && access.result_used => (
            "what it returns is used, as a place in one of several lists, which copies of the array would give twice: let the lanes of a warp that go to one address take theirs at once (with m = \
             __match_any_sync(__activemask(), index), the lowest lane of m adds __popc(m) and hands what it gets to the others with __shfl_sync(m, ..), and each lane adds the \
             number of lanes of m below it), or leave it where few lanes meet",
            Left::Warp,
        ),
        _ if access.space == "shared" => (
            "let the lanes of a warp combine what goes to one address first (shuffles; __reduce_add_sync and its kin for integers; __match_any_sync tells \
             which lanes share an address), or keep several copies of the array, of which neighbouring lanes take different ones (copy threadIdx.x % 4), \
             and combine these at the end",
            Left::Warp,
        ),
        _ if access.result_used => (
            "what it returns is used, as a place in one of several lists: let each block count in shared memory how many places it needs of each list (what that returns is the place within \
             the block's), take them with one atomic operation for each block and list, and add the two",
            Left::Block,
        ),
        _ if one_address && depth < DEEP => (
            "combine the values of the block's warps in shared memory or by a block-wide reduction, and let one thread of a block make the \
             atomic operation",
            Left::Block,
        ),
        _ if one_address => (
            "combine the values within the warp (shuffles; for integers __reduce_add_sync and its kin, or __popc(__ballot_sync(..))) and the block first, and \
             let one thread of a block make the atomic operation",
            Left::Block,
        ),
        // One update of each thread: what a copy of the array saves is what lanes and warps have in common.
        _ if depth >= DEEP && distinct_per_request <= FEW_ADDRESSES && atomics.requests <= warps(access.kernel) => (
            "each thread does this once: let the lanes of a warp that go to one address combine their values first (shuffles; __match_any_sync tells which share \
             one), and where the warps of a block go to the same few addresses, keep a copy of the array in shared memory per block, so that one operation for \
             each block and address is left",
            Left::Block,
        ),
        _ if touched_bytes(context, access).is_some_and(|bytes| bytes > MOST_OF_BLOCK) => (
            "the array is too large for a copy of it in each block's shared memory: let the lanes of a warp that go to one address combine their values first (__match_any_sync tells \
             which share one), or order the updates by address, so that a block has a part of the array to itself, or the sum of each address is made before it is stored",
            Left::Warp,
        ),
        _ => (
            "privatise: keep a copy of the array in shared memory per block, update that, and combine it with the one in global memory once at the end",
            Left::BlockAfterShared,
        ),
    }
}
