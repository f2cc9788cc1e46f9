//! Requests of accesses whose address or guard is not affine. The interpreter computes both for each lane.

use super::access::{LaneAddress, MemoryAccess};
use crate::classes::masks;
use crate::form::{Bounds, FIXED, Index, THREADS, block};
use crate::lanes::{Guard, Lanes, Request};
use crate::launch::Launch;
use warpline_profile::model::Addresses;

/// Interpreters of a kernel's accesses, indexed by access; present where lanes are computed.
pub struct LaneAddresses<'a> {
    accesses: &'a [MemoryAccess],
    bounds: &'a Bounds,
    lanes: Vec<Option<Lanes<'a>>>,
    /// Values of all indices of the current thread.
    at: Vec<i64>,
    /// The last request.
    found: [Request; 1],
}

/// A request of a warp.
pub struct LaneRequest<'r> {
    /// Number of the iteration, counted over all loops around the access together.
    pub iteration: u32,
    /// Number of the warp in its block.
    pub warp: u32,
    /// Addresses of the active lanes, in order.
    pub addresses: &'r [u64],
}

impl<'a> LaneAddresses<'a> {
    /// Prepares a kernel's accesses in a launch.
    pub fn new(
        accesses: &'a [MemoryAccess],
        (addresses, launch): (&'a Addresses, &'a Launch),
        bounds: &'a Bounds,
    ) -> LaneAddresses<'a> {
        let of = |access: &MemoryAccess| {
            let LaneAddress { address, guard, loops } = access.by_lane.as_ref()?;
            Some(Lanes::new((addresses, launch), std::iter::once(*address).chain(*guard), loops))
        };
        let lanes = accesses.iter().map(of).collect();
        LaneAddresses { accesses, bounds, lanes, at: Vec::new(), found: Default::default() }
    }

    /// Returns whether an access is computed for each lane.
    #[inline(always)]
    pub fn has(&self, access: usize) -> bool {
        self.lanes[access].is_some()
    }

    /// Returns the addresses of the active lanes of the last request, in order.
    pub fn addresses(&self) -> &[u64] {
        &self.found[0].1
    }

    /// Returns the lanes of `mask` that take part in a warp's request of an access; [`LaneAddresses::addresses`]
    /// returns their addresses. `place` is the block, and `counter` returns the counters of the loops around the
    /// access.
    pub fn request(
        &mut self,
        (access, warp): (usize, usize),
        mask: u32,
        place: [i64; 3],
        counter: impl Fn(Index) -> i64,
    ) -> u32 {
        let own = &self.accesses[access];
        let (Some(lanes), Some(by_lane)) = (&mut self.lanes[access], &own.by_lane) else { return mask };
        self.at.clear();
        self.at.extend([0; THREADS]);
        self.at.extend(place);
        // Loops that have ended have the counter of their last iteration.
        self.at.extend(self.bounds.0.iter().skip(FIXED).map(|range| range.1));
        for &index in &own.counters {
            self.at[index] = counter(index);
        }
        let guard = Guard { condition: by_lane.guard, also: None };
        lanes.requests((warp, mask), &mut self.at, guard, std::iter::once(by_lane.address), &mut self.found);
        self.found[0].0
    }

    /// Calls `visit` for each request of a block by an access, in order of iterations.
    pub fn each_request(
        &mut self,
        number: usize,
        launch: &Launch,
        linear: u64,
        visit: &mut impl FnMut(LaneRequest<'_>),
    ) {
        let access = &self.accesses[number];
        let place = launch.place(linear);
        let mut here = self.bounds.clone();
        for (axis, &at) in place.iter().enumerate() {
            here.0[block(axis)] = (at, at);
        }
        if access.counters.iter().any(|&counter| here.extent(counter) <= 0) {
            return;
        }
        let first: Vec<i64> = access.counters.iter().map(|&counter| here.range(counter).0).collect();
        let mut counters = first.clone();
        for iteration in 0.. {
            for (&counter, &at) in access.counters.iter().zip(&counters) {
                here.0[counter] = (at, at);
            }
            let active = masks(&access.condition.within(&here), launch, &here);
            for (warp, &mask) in (0..).zip(&active).filter(|(_, mask)| **mask != 0) {
                self.request((number, warp as usize), mask, place, |counter| here.range(counter).0);
                visit(LaneRequest { iteration, warp, addresses: self.addresses() });
            }
            // Advances the innermost loop that has another iteration.
            let has_next = |&at: &usize| counters[at] < self.bounds.range(access.counters[at]).1;
            let Some(next) = (0..counters.len()).rev().find(has_next) else { return };
            counters[next] += 1;
            counters[next + 1..].copy_from_slice(&first[next + 1..]);
        }
    }
}
