//! The time that operations on one address take, and what is left of it with a remedy.

use super::super::prelude::*;
use super::super::thresholds::atomics::*;
use super::atomics::Contention;
use std::collections::{BTreeMap, BTreeSet};
use warpline_format::condition::AtomicKind;
use warpline_profile::model::{HotPlace, Limit};

/// Operations that a remedy leaves one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// One for each request: the lanes of a warp combine first.
    Warp,
    /// One for each block and address.
    Block,
    /// The same, and what was done in global memory is done in shared memory.
    BlockAfterShared,
}

impl Left {
    /// Those of all in global memory, at most; `None` where as many requests are left. Each block updates each address
    /// once.
    fn lanes(self, found: &Contention<'_, '_>) -> Option<u64> {
        let blocks = blocks(found.access.kernel).max(1);
        let addresses = match self {
            Left::Warp => return None,
            Left::Block => (found.atomics.addresses / found.atomics.requests.max(1)).max(1),
            Left::BlockAfterShared => found.touched_bytes()? / u64::from(found.access.bytes.max(1)),
        };
        Some(blocks.saturating_mul(addresses))
    }

    /// Those on one address of global memory.
    pub fn at(self, found: &Contention<'_, '_>, hot: &HotPlace) -> u64 {
        match self {
            Left::Warp => hot.lanes.min(hot.requests),
            Left::Block | Left::BlockAfterShared => hot.lanes.min(found.blocks_at(hot).max(1)),
        }
    }
}

impl Contention<'_, '_> {
    /// Name of the limit that the operations count for.
    pub fn limit(&self) -> &'static str {
        if self.is_shared() { "shared_atomics" } else { "atomic_address" }
    }

    fn limits(&self) -> &[Limit] {
        self.access.kernel.estimates.first().map(|estimate| &estimate.limits[..]).unwrap_or_default()
    }

    fn clock(&self) -> f64 {
        self.facts.rates.and_then(|rates| rates.clock_hz).unwrap_or(USUAL_CLOCK_HZ)
    }

    /// Seconds of the operations in shared memory, one after the other on all SMs that have a block.
    pub fn shared_seconds(&self) -> f64 {
        let operations = self.atomics.deepest;
        // The estimate has the blocks of each launch.
        let known = self.limits().iter().find(|limit| limit.name == "shared_atomics" && limit.amount >= operations);
        if let Some(limit) = known {
            return limit.seconds * share(operations, limit.amount);
        }
        let blocks = blocks(self.access.kernel).clamp(1, u64::from(u32::MAX)) as u32;
        let sms = self.facts.rates.map_or(1, |rates| rates.sms.max(1)).min(blocks);
        operations as f64 / f64::from(sms) / self.clock()
    }

    /// Seconds of what is serial: the hottest address of global memory, or each request's deepest one of shared memory.
    pub fn serial_seconds(&self) -> f64 {
        if self.is_shared() {
            return self.shared_seconds();
        }
        let hot_lanes = self.atomics.hottest.first().map_or(0, |hot| hot.lanes);
        hot_lanes.max(self.atomics.deepest / self.atomics.requests.max(1)) as f64 / self.clock()
    }

    /// Returns the saving of the kernel with the remedy. Operations on different addresses run in parallel: the cost is
    /// that of the hottest address that remains.
    pub fn saving(&self, left: Left) -> Saving {
        if self.is_shared() {
            return Saving::new(self.limit(), self.atomics.deepest.saturating_sub(self.atomics.requests) as f64);
        }
        let saving = self.saving_of_kernel(|other| self.access.is_at(other).then_some(left));
        match left.lanes(self) {
            Some(left) => {
                saving.and(self.traffic().times(1.0 - share(left.min(self.atomics.lanes), self.atomics.lanes)))
            }
            None => saving,
        }
    }

    /// Returns the same with the remedies of all of the kernel's accesses for which `remedied` returns what is left.
    fn saving_of_kernel(&self, remedied: impl Fn(&Access<'_>) -> Option<Left>) -> Saving {
        let mut each: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
        for access in self.facts.accesses_of(self.access.kernel.id, "global") {
            let Some(atomics) = &access.pattern.atomics else { continue };
            let other = Contention { facts: self.facts, access, atomics };
            let left = remedied(access);
            for hot in &atomics.hottest {
                let (before, after) = each.entry((hot.allocation, hot.offset)).or_default();
                *before = before.saturating_add(hot.lanes);
                *after = after.saturating_add(left.map_or(hot.lanes, |left| left.at(&other, hot)));
            }
        }
        let before = each.values().map(|(before, _)| *before).max().unwrap_or(0);
        let after = each.values().map(|(_, after)| *after).max().unwrap_or(0);
        // The limit has the hottest address of each launch, which need not be the same one.
        let amount = self.limits().iter().find(|known| known.name == self.limit()).map_or(before, |known| known.amount);
        Saving::new(self.limit(), amount as f64 * share(before.saturating_sub(after), before))
    }

    /// What all contended accesses of the kernel save together, and the lines of the others: with several equally hot
    /// addresses, the remedy of one alone gains nothing. `None` where there are no others.
    pub fn saving_together(&self, left: impl Fn(&Contention<'_, '_>) -> Left) -> Option<(Saving, BTreeSet<u32>)> {
        let left_of = |other: &Access<'_>| Contention::for_access(self.facts, other).map(|other| left(&other));
        let others = self.facts.accesses_of(self.access.kernel.id, "global");
        let others = others.filter(|other| !self.access.is_at(other) && left_of(other).is_some());
        let lines: BTreeSet<u32> = others.map(|other| other.line).collect();
        let is_alone = self.is_shared() || lines.is_empty();
        (!is_alone).then(|| (self.saving_of_kernel(left_of), lines))
    }

    /// What the operations need of L1 and L2 on their way to the addresses.
    fn traffic(&self) -> Saving {
        let sums = &self.access.sums;
        Saving::new("l2", sums.l2_lookups.saturating_mul(self.facts.l2_lookup_bytes()) as f64)
            .and(Saving::new("l1_tag", sums.stages.tag as f64))
    }

    /// What is saved already where the compiler or the GPU merges those of a warp's lanes that collide, as they do with
    /// some.
    pub fn merged(&self) -> Option<Saving> {
        let can_merge = !matches!(self.kind(), AtomicKind::Attempt | AtomicKind::Exchange | AtomicKind::Lock);
        (can_merge && self.is_deep() && !self.is_shared()).then(|| self.saving(Left::Warp))
    }
}
