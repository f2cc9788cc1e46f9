//! Accesses of which the indices give the address, or whether they are made at all, in a way that is not affine: both are worked out for each lane
//! by the interpreter.

use rustc_hash::FxHashSet;

use super::flow::SECTOR;
use super::volumes::{Affine, ByThread};
use crate::classes::masks;
use crate::form::{Bounds, FIXED, Index, THREADS, block};
use crate::lanes::{Guard, Lanes, Request};
use crate::launch::Launch;
use warpline_profile::model::Addresses;

/// Lanes whose addresses are worked out for what a launch touches, at most about.
const MOST_LANES: f64 = (1 << 20) as f64;

/// By access of a kernel: what works it out, where that is needed.
pub struct ByLane<'a> {
    accesses: &'a [Affine],
    bounds: &'a Bounds,
    lanes: Vec<Option<Lanes<'a>>>,
    /// All indices of the thread that is looked at.
    at: Vec<i64>,
    /// The last request.
    found: [Request; 1],
}

impl<'a> ByLane<'a> {
    /// Of a kernel's accesses in a launch.
    pub fn new(
        accesses: &'a [Affine],
        (addresses, launch): (&'a Addresses, &'a Launch),
        bounds: &'a Bounds,
    ) -> ByLane<'a> {
        let of = |access: &Affine| {
            let ByThread { address, guard, laps } = access.by_thread.as_ref()?;
            Some(Lanes::new((addresses, launch), std::iter::once(*address).chain(*guard), laps))
        };
        ByLane { accesses, bounds, lanes: accesses.iter().map(of).collect(), at: Vec::new(), found: Default::default() }
    }

    /// Whether an access is worked out so.
    #[inline(always)]
    pub fn has(&self, access: usize) -> bool {
        self.lanes[access].is_some()
    }

    /// Addresses of the active lanes of the last request, in order.
    pub fn addresses(&self) -> &[u64] {
        &self.found[0].1
    }

    /// The lanes of `mask` that make a warp's request of an access, and [`ByLane::addresses`]. `place` is the block,
    /// `counter` gives the counters of the loops around the access.
    pub fn of(
        &mut self,
        (access, warp): (usize, usize),
        mask: u32,
        place: [i64; 3],
        counter: impl Fn(Index) -> i64,
    ) -> u32 {
        let own = &self.accesses[access];
        let (Some(lanes), Some(by_thread)) = (&mut self.lanes[access], &own.by_thread) else {
            return mask;
        };
        self.at.clear();
        self.at.extend([0; THREADS]);
        self.at.extend(place);
        // Loops that are over have come to their last iteration.
        self.at.extend(self.bounds.0.iter().skip(FIXED).map(|range| range.1));
        for &index in &own.counters {
            self.at[index] = counter(index);
        }
        let guard = Guard { condition: by_thread.guard, also: None };
        let wanted = std::iter::once(by_thread.address);
        lanes.requests((warp, mask), &mut self.at, guard, wanted, &mut self.found);
        self.found[0].0
    }
}

/// Distinct sectors that a launch reads and stores where addresses are worked out. Where a launch is large, those of neighbouring blocks tell how many
/// each further one adds. `None` where a block alone is too large.
pub fn first_touches(
    accesses: &[Affine],
    (addresses, launch): (&Addresses, &Launch),
    bounds: &Bounds,
) -> Option<(f64, f64)> {
    let own: Vec<usize> = (0..accesses.len()).filter(|&number| !accesses[number].has_footprint()).collect();
    let laps = |number: usize| -> f64 {
        accesses[number].counters.iter().map(|&counter| bounds.extent(counter).max(0) as f64).product()
    };
    let of_block = own.iter().map(|&number| laps(number)).sum::<f64>() * f64::from(launch.threads());
    if of_block > MOST_LANES {
        return None;
    }
    let blocks = launch.blocks();
    let run = ((MOST_LANES / of_block.max(1.0)) as u64).clamp(1, blocks);
    let first = (blocks - run) / 2;
    let mut lanes = ByLane::new(accesses, (addresses, launch), bounds);
    let mut touched: [FxHashSet<(usize, u64)>; 2] = Default::default();
    let mut half = [0, 0];
    for linear in first..first + run {
        if linear - first == run / 2 {
            half = [0, 1].map(|kind: usize| touched[kind].len());
        }
        for &number in &own {
            touch(&mut lanes, launch, number, launch.place(linear), &mut touched);
        }
    }
    let all = |kind: usize| {
        let found = touched[kind].len() as f64;
        let each_more = (found - half[kind] as f64) / (run - run / 2) as f64;
        found + each_more * (blocks - run) as f64
    };
    Some((all(0), all(1)))
}

/// Adds what a block reads and stores by an access, in all iterations of its loops.
fn touch(
    lanes: &mut ByLane<'_>,
    launch: &Launch,
    number: usize,
    place: [i64; 3],
    touched: &mut [FxHashSet<(usize, u64)>; 2],
) {
    let access = &lanes.accesses[number];
    let mut here = lanes.bounds.clone();
    for (axis, &at) in place.iter().enumerate() {
        here.0[block(axis)] = (at, at);
    }
    if access.counters.iter().any(|&counter| here.extent(counter) <= 0) {
        return;
    }
    let first: Vec<i64> = access.counters.iter().map(|&counter| here.of(counter).0).collect();
    let mut laps = first.clone();
    loop {
        for (&counter, &at) in access.counters.iter().zip(&laps) {
            here.0[counter] = (at, at);
        }
        let active = masks(&access.condition.within(&here), launch, &here);
        for (warp, &mask) in active.iter().enumerate().filter(|(_, mask)| **mask != 0) {
            lanes.of((number, warp), mask, place, |counter| here.of(counter).0);
            let sectors = lanes.addresses().iter().flat_map(|address| {
                let sector = |byte: u64| address.wrapping_add(byte) / SECTOR as u64;
                sector(0)..=sector(u64::from(access.bytes.max(1)) - 1)
            });
            for sector in sectors {
                for (kind, set) in touched.iter_mut().enumerate() {
                    if [access.reads(), access.stores][kind] {
                        set.insert((access.allocation, sector));
                    }
                }
            }
        }
        // The innermost loop's next iteration, or that of the first one around it that has another.
        let Some(next) = (0..laps.len()).rev().find(|&at| laps[at] < lanes.bounds.of(access.counters[at]).1) else {
            return;
        };
        laps[next] += 1;
        laps[next + 1..].copy_from_slice(&first[next + 1..]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use warpline_format::expression::{Binary, Expression, ExpressionKind};

    use super::*;
    use crate::form::{Form, Truth};
    use crate::interpret::bounds_of;

    /// Every thread loads element `i % 100`, of 4 bytes, and stores `i / 2`: 13 and half as many sectors as a whole array has.
    #[test]
    fn first_touches_are_counted_once() {
        let constant = |number| Expression { bits: 64, exact: true, kind: ExpressionKind::Constant(number) };
        let of = |operation, one, other| Expression {
            bits: 64,
            exact: true,
            kind: ExpressionKind::Binary(operation, one, other),
        };
        let thread = Expression { bits: 64, exact: true, kind: ExpressionKind::Thread(0) };
        let place = Expression { bits: 64, exact: true, kind: ExpressionKind::Block(0) };
        let expressions = vec![
            thread,
            place,
            constant(256),
            of(Binary::Product, 1, 2),
            of(Binary::Sum, 0, 3),
            constant(100),
            of(Binary::UnsignedRemainder, 4, 5),
            constant(4),
            of(Binary::Product, 6, 7),
            constant(2),
            of(Binary::UnsignedQuotient, 4, 9),
            of(Binary::Product, 10, 7),
        ];
        let addresses = Addresses { expressions, ..Addresses::default() };
        let access = |address, loads: bool| Affine {
            by_thread: Some(ByThread { address, guard: None, laps: Vec::new() }),
            loads,
            stores: !loads,
            ..Affine::load(Form::number(0), Truth::Known(true), 4)
        };
        let accesses = [access(8, true), access(11, false)];
        // The second launch has more threads than are looked at.
        for blocks in [64, 16_384] {
            let launch = Launch::new([256, 1, 1], [blocks, 1, 1], BTreeMap::new());
            let bounds = bounds_of(&launch, 0);
            let found = first_touches(&accesses, (&addresses, &launch), &bounds);
            assert_eq!(found, Some((13.0, f64::from(blocks) * 16.0)));
        }
    }
}
