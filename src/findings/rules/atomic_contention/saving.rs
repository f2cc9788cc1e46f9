//! What operations on one address cost, and what is left of them once they are cured.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::facts::access::{Access, share};
use super::super::super::facts::{Facts, blocks};
use super::super::super::gain::Saving;
use super::cure::cure;
use super::{DEEP, blocks_at, is_contended};
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::{Atomics, Gain, HotPlace};
use warpline_format::condition::AtomicKind;

/// Clock that is assumed where the model's is not known.
const USUAL_CLOCK: f64 = 1.5e9;

/// Operations of a cured access that are still done one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// One for each request: a warp's lanes agree first.
    Warp,
    /// One for each block and address.
    Block,
    /// The same, and what was done in global memory is done in shared memory.
    BlockAfterShared,
}

impl Left {
    pub(super) fn assumption(self) -> &'static str {
        match self {
            Left::Warp => "one atomic operation per clock and address, and one for each request left",
            Left::Block | Left::BlockAfterShared => {
                "one atomic operation per clock and address, and one for each block and address left"
            }
        }
    }

    /// Of all in global memory, at most; `None` where the cure leaves as many requests. Each block comes once to each address.
    pub(super) fn lanes(self, facts: &Facts<'_>, access: &Access<'_>, atomics: &Atomics) -> Option<u64> {
        let blocks = blocks(access.kernel).max(1);
        match self {
            Left::Warp => None,
            Left::Block => Some(blocks.saturating_mul((atomics.addresses / atomics.requests.max(1)).max(1))),
            Left::BlockAfterShared => {
                Some(blocks.saturating_mul(touched_bytes(facts, access)? / u64::from(access.bytes.max(1))))
            }
        }
    }

    /// Of those on one address of global memory.
    pub(super) fn of(self, facts: &Facts<'_>, access: &Access<'_>, hot: &HotPlace) -> u64 {
        match self {
            Left::Warp => hot.lanes.min(hot.requests),
            Left::Block | Left::BlockAfterShared => hot.lanes.min(blocks_at(facts, access, hot).max(1)),
        }
    }
}

/// Name of the limit that an access's operations count for.
pub(super) fn limit(access: &Access<'_>) -> &'static str {
    if access.space == "shared" { "shared_atomics" } else { "atomic_address" }
}

/// Seconds of operations that are done one after the other on shared memory, on all SMs that have a block.
pub(super) fn shared_seconds(facts: &Facts<'_>, access: &Access<'_>, operations: u64) -> f64 {
    // The estimate knows the blocks of each launch.
    let limits = access.kernel.estimates.first().map(|estimate| &estimate.limits[..]).unwrap_or_default();
    let known = limits.iter().find(|limit| limit.name == "shared_atomics" && limit.amount >= operations);
    if let Some(limit) = known {
        return limit.seconds * share(operations, limit.amount);
    }
    let clock = facts.rates.and_then(|rates| rates.clock_hz).unwrap_or(USUAL_CLOCK);
    let blocks = blocks(access.kernel).clamp(1, u64::from(u32::MAX)) as u32;
    let sms = facts.rates.map_or(1, |rates| rates.sms.max(1)).min(blocks);
    operations as f64 / f64::from(sms) / clock
}

/// What is serial: on the hottest address of the program; of shared memory what each request's deepest address takes.
pub(super) fn serial_seconds(facts: &Facts<'_>, access: &Access<'_>, atomics: &Atomics) -> f64 {
    if access.space == "shared" {
        return shared_seconds(facts, access, atomics.deepest);
    }
    let clock = facts.rates.and_then(|rates| rates.clock_hz).unwrap_or(USUAL_CLOCK);
    let hot_lanes = atomics.hottest.first().map_or(0, |hot| hot.lanes);
    hot_lanes.max(atomics.deepest / atomics.requests.max(1)) as f64 / clock
}

/// What the kernel's limit asks less once the access is cured. Operations on different addresses run side by side, so that those on the
/// hottest that is left count.
pub(super) fn saving(facts: &Facts<'_>, access: &Access<'_>, atomics: &Atomics, left: Left) -> Saving {
    if access.space == "shared" {
        return Saving::of(limit(access), atomics.deepest.saturating_sub(atomics.requests) as f64);
    }
    let saving = saving_of(facts, access, |other| is_of_statement(other, access).then_some(left));
    match left.lanes(facts, access, atomics) {
        Some(left) => saving.and(traffic(facts, access).times(1.0 - share(left.min(atomics.lanes), atomics.lanes))),
        None => saving,
    }
}

/// The same once all of the kernel's accesses are cured of which `cured` says what is left.
pub(super) fn saving_of(facts: &Facts<'_>, access: &Access<'_>, cured: impl Fn(&Access<'_>) -> Option<Left>) -> Saving {
    let mut each: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
    for other in facts.accesses_of(access.kernel.id, "global") {
        let left = cured(other);
        for hot in other.pattern.atomics.iter().flat_map(|atomics| &atomics.hottest) {
            let (before, after) = each.entry((hot.allocation, hot.offset)).or_default();
            *before = before.saturating_add(hot.lanes);
            *after = after.saturating_add(left.map_or(hot.lanes, |left| left.of(facts, other, hot)));
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
pub(super) fn is_of_statement(other: &Access<'_>, access: &Access<'_>) -> bool {
    (other.file, other.line, other.column) == (access.file, access.line, access.column)
}

/// The gain of all such findings of the kernel together: of addresses that are as hot as each other, no cure of one brings anything.
pub(super) fn gain_together(facts: &Facts<'_>, access: &Access<'_>, left: Left, instead: f64) -> Option<Gain> {
    if access.space == "shared" {
        return None;
    }
    let left_of = |other: &Access<'_>| {
        let atomics = other.pattern.atomics.as_ref().filter(|atomics| is_contended(facts, other, atomics))?;
        Some(cure(facts, other, atomics).1)
    };
    let others = facts.accesses_of(access.kernel.id, "global").filter(|other| !is_of_statement(other, access));
    let lines: BTreeSet<u32> = others.filter(|other| left_of(other).is_some()).map(|other| other.line).collect();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    let with = match &lines[..] {
        [] => return None,
        [line] => format!("line {line}"),
        [first @ .., last] => format!("lines {} and {last}", first.join(", ")),
    };
    let assumption = format!("{}, here and on {with}: none of them brings anything alone", left.assumption());
    facts.gain_for(access.kernel, &saving_of(facts, access, left_of), instead, &assumption)
}

/// What the access asks of the parts that it goes through on its way to the addresses.
pub(super) fn traffic(facts: &Facts<'_>, access: &Access<'_>) -> Saving {
    let sums = &access.sums;
    let sector = facts.profile.run.lookup_bytes.values().next().map_or(SECTOR_BYTES, |bytes| bytes.l2.max(1));
    Saving::of("l2", sums.l2_lookups.saturating_mul(sector) as f64).and(Saving::of("l1_tag", sums.stages.tag as f64))
}

/// Bytes of the allocation that anybody touches.
pub(super) fn touched_bytes(facts: &Facts<'_>, access: &Access<'_>) -> Option<u64> {
    let hottest = access.pattern.atomics.as_ref().and_then(|atomics| atomics.hottest.first());
    let id = access.allocation.or(hottest.map(|hot| hot.allocation))?;
    facts.profile.allocation(id).map(|allocation| allocation.touched_bytes)
}

/// What is less where the compiler or the GPU makes one operation of those of a warp's lanes that meet, as they do for some of them: nobody
/// says of which.
pub(super) fn merged(facts: &Facts<'_>, access: &Access<'_>, atomics: &Atomics) -> Option<Saving> {
    let can_merge = !matches!(access.atomic, Some(AtomicKind::Attempt | AtomicKind::Exchange | AtomicKind::Lock));
    let meets = atomics.deepest as f64 >= DEEP * atomics.requests as f64;
    (can_merge && meets && access.space != "shared").then(|| saving(facts, access, atomics, Left::Warp))
}

pub(super) fn of_merged(low: f64) -> String {
    if low <= 1.05 {
        return "nothing where the GPU merges those of a warp anyway".to_owned();
    }
    format!("{low:.1} x where the GPU merges those of a warp anyway")
}
