//! The time of atomic operations on one address, and the time that remains with a remedy.

use super::super::prelude::*;
use super::super::thresholds::atomics::*;
use super::atomics::Contention;
use std::collections::{BTreeMap, BTreeSet};
use warpline_format::condition::AtomicKind;
use warpline_profile::model::{HotPlace, Limit};

/// Number of operations that remain serialised after a remedy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// One operation per request: the lanes of a warp combine their values first.
    Warp,
    /// One operation per block and address.
    Block,
    /// One operation per block and address, after the operations in global memory are moved to shared memory.
    BlockAfterShared,
}

impl Left {
    /// Returns the maximum number of operations that remain in global memory; `None` if the number of requests stays
    /// the same. Each block updates each address once.
    fn lanes(self, found: &Contention<'_, '_>) -> Option<u64> {
        let blocks = blocks(found.access.kernel).max(1);
        let addresses = match self {
            Left::Warp => return None,
            Left::Block => (found.atomics.addresses / found.atomics.requests.max(1)).max(1),
            Left::BlockAfterShared => found.touched_bytes()? / u64::from(found.access.bytes.max(1)),
        };
        Some(blocks.saturating_mul(addresses))
    }

    /// Returns the number of operations that remain on one address of global memory.
    pub fn at(self, found: &Contention<'_, '_>, hot: &HotPlace) -> u64 {
        match self {
            Left::Warp => hot.lanes.min(hot.requests),
            Left::Block | Left::BlockAfterShared => hot.lanes.min(found.blocks_at(hot).max(1)),
        }
    }
}

impl Contention<'_, '_> {
    /// Returns the name of the limit that counts the operations.
    pub fn limit(&self) -> &'static str {
        if self.is_shared() { "shared_atomics" } else { "atomic_address" }
    }

    fn limits(&self) -> &[Limit] {
        self.access.kernel.estimates.first().map(|estimate| &estimate.limits[..]).unwrap_or_default()
    }

    fn clock(&self) -> f64 {
        self.facts.rates.and_then(|rates| rates.clock_hz).unwrap_or(USUAL_CLOCK_HZ)
    }

    /// Returns the time in seconds of the operations in shared memory, which are serialised on each SM that has a
    /// block.
    pub fn shared_seconds(&self) -> f64 {
        let operations = self.atomics.deepest;
        // The estimate accounts for the blocks of each launch.
        let known = self.limits().iter().find(|limit| limit.name == "shared_atomics" && limit.amount >= operations);
        if let Some(limit) = known {
            return limit.seconds * share(operations, limit.amount);
        }
        let blocks = blocks(self.access.kernel).clamp(1, u64::from(u32::MAX)) as u32;
        let sms = self.facts.rates.map_or(1, |rates| rates.sms.max(1)).min(blocks);
        operations as f64 / f64::from(sms) / self.clock()
    }

    /// Returns the time in seconds of the serialised operations: those on the hottest address of global memory, or
    /// those on the most frequent address of each request to shared memory.
    pub fn serial_seconds(&self) -> f64 {
        if self.is_shared() {
            return self.shared_seconds();
        }
        let hot_lanes = self.atomics.hottest.first().map_or(0, |hot| hot.lanes);
        hot_lanes.max(self.atomics.deepest / self.atomics.requests.max(1)) as f64 / self.clock()
    }

    /// Returns the kernel's saving with the remedy. Operations on different addresses run in parallel, so the cost is
    /// determined by the hottest address that remains.
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

    /// Returns the kernel's saving with the remedies of all its accesses for which `remedied` returns a value.
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
        // The limit sums the hottest address of each launch, and launches can have different hottest addresses.
        let amount = self.limits().iter().find(|known| known.name == self.limit()).map_or(before, |known| known.amount);
        Saving::new(self.limit(), amount as f64 * share(before.saturating_sub(after), before))
    }

    /// Returns the joint saving of all contended accesses of the kernel, and the lines of the other accesses. With
    /// several equally hot addresses, the remedy of one access alone gains nothing. Returns `None` if there are no
    /// other accesses.
    pub fn saving_together(&self, left: impl Fn(&Contention<'_, '_>) -> Left) -> Option<(Saving, BTreeSet<u32>)> {
        let left_of = |other: &Access<'_>| Contention::for_access(self.facts, other).map(|other| left(&other));
        let others = self.facts.accesses_of(self.access.kernel.id, "global");
        let others = others.filter(|other| !self.access.is_at(other) && left_of(other).is_some());
        let lines: BTreeSet<u32> = others.map(|other| other.line).collect();
        let is_alone = self.is_shared() || lines.is_empty();
        (!is_alone).then(|| (self.saving_of_kernel(left_of), lines))
    }

    /// Returns the L1 and L2 traffic of the operations.
    fn traffic(&self) -> Saving {
        let sums = &self.access.sums;
        Saving::new("l2", sums.l2_lookups.saturating_mul(self.facts.l2_lookup_bytes()) as f64)
            .and(Saving::new("l1_tag", sums.stages.tag as f64))
    }

    /// Returns the saving that already exists if the compiler or the GPU merges the operations of colliding lanes of a
    /// warp, as both do for some operations.
    pub fn merged(&self) -> Option<Saving> {
        let can_merge = !matches!(self.kind(), AtomicKind::Attempt | AtomicKind::Exchange | AtomicKind::Lock);
        (can_merge && self.is_deep() && !self.is_shared()).then(|| self.saving(Left::Warp))
    }
}
