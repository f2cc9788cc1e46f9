//! A kernel as the warps of one launch run it.

use std::rc::Rc;

use super::program::{Step, counters_of, steps};
use crate::classes::lanes;
use crate::form::{Bounds, FIXED, Index, Truth};
use crate::launch::Launch;
use crate::traffic::access::MemoryAccess;
use warpline_profile::model::Addresses;
use warpline_simulator::hierarchy::Route;

/// The kernel, as the warps of one launch run it.
pub struct Code<'a> {
    /// In the order of the code.
    pub accesses: &'a [MemoryAccess],
    /// What they are made of.
    pub addresses: &'a Addresses,
    /// The launch.
    pub launch: &'a Launch,
    /// Ranges of its indices.
    pub bounds: &'a Bounds,
    /// Different conditions.
    pub conditions: Vec<&'a Truth>,
    /// Indexed by access.
    pub condition_of: Vec<usize>,
    /// Lanes that exist, by warp.
    pub lanes: Rc<Vec<u32>>,
    /// Share of the outermost loops' iterations that is left out, the most of any loop.
    pub left_out: f64,
    /// In the order in which a warp makes them.
    pub steps: Vec<Step>,
    /// Loops' counters.
    pub counters: usize,
    /// Indexed by counter of a loop: those that count its iterations for a thread's points.
    pub counters_of: Vec<Vec<Index>>,
    /// Some of these end before others.
    pub uneven: bool,
}

impl<'a> Code<'a> {
    /// Of loops about the share `share` of the iterations is run.
    pub fn new(
        accesses: &'a [MemoryAccess],
        (addresses, launch): (&'a Addresses, &'a Launch),
        bounds: &'a Bounds,
        share: f64,
    ) -> Code<'a> {
        let mut conditions: Vec<&Truth> = Vec::new();
        let mut condition_of = Vec::new();
        for access in accesses {
            let known = conditions.iter().position(|known| **known == access.condition);
            condition_of.push(known.unwrap_or_else(|| {
                conditions.push(&access.condition);
                conditions.len() - 1
            }));
        }
        let counters_of: Vec<Vec<Index>> =
            (FIXED..bounds.0.len()).map(|counter| counters_of(accesses, counter)).collect();
        let differ = |own: &Vec<Index>| own.iter().any(|&one| bounds.range(one) != bounds.range(own[0]));
        let uneven = counters_of.iter().any(differ);
        let (steps, left_out) = steps(accesses, bounds, share);
        Code {
            accesses,
            addresses,
            launch,
            bounds,
            left_out,
            steps,
            conditions,
            condition_of,
            counters: bounds.0.len().saturating_sub(FIXED),
            counters_of,
            uneven,
            lanes: Rc::new(lanes(launch)),
        }
    }

    /// Sets the counters of a loop of which some iterations have ended.
    #[inline(always)]
    pub fn set(&self, counters: &mut [i64], counter: Index, before: i64) {
        for &own in &self.counters_of[counter - FIXED] {
            counters[own - FIXED] = self.bounds.range(own).0 + before;
        }
    }
}

/// Returns whether a condition depends on a loop's counter.
pub fn changes_in_loops(truth: &Truth) -> bool {
    let mut found = false;
    truth.forms(&mut |form| found |= form.terms.iter().any(|(index, _)| *index >= FIXED));
    found
}

/// Returns the way of an access through L1.
pub fn route(access: &MemoryAccess) -> Route {
    match (access.atomic, access.loads) {
        (true, _) => Route::Atomic,
        (_, true) if access.past_l1 => Route::LoadPast,
        (_, true) => Route::Load,
        _ => Route::Store,
    }
}
