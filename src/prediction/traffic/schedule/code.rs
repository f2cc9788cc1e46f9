//! A kernel in the form in which the warps of one launch execute it.

use std::rc::Rc;

use super::program::{Step, counters_of, steps};
use crate::classes::lanes;
use crate::form::{Bounds, FIXED, Index, Truth};
use crate::launch::Launch;
use crate::traffic::access::MemoryAccess;
use warpline_profile::model::Addresses;
use warpline_simulator::hierarchy::Route;

/// The steps, conditions and lanes with which the warps of one launch execute a kernel.
pub struct Code<'a> {
    /// Accesses in program order.
    pub accesses: &'a [MemoryAccess],
    /// Expressions of the accesses.
    pub addresses: &'a Addresses,
    /// The launch.
    pub launch: &'a Launch,
    /// Ranges of the launch's indices.
    pub bounds: &'a Bounds,
    /// The distinct conditions of the accesses.
    pub conditions: Vec<&'a Truth>,
    /// Number of each access's condition.
    pub condition_of: Vec<usize>,
    /// Existing lanes of each warp.
    pub lanes: Rc<Vec<u32>>,
    /// Largest share of iterations that is skipped in any outermost loop.
    pub left_out: f64,
    /// Steps in the order in which a warp executes them.
    pub steps: Vec<Step>,
    /// Number of loop counters.
    pub counters: usize,
    /// Indexed by a loop's counter: the counters that count its iterations for one of a thread's points.
    pub counters_of: Vec<Vec<Index>>,
    /// Some points of a thread have fewer iterations than others.
    pub uneven: bool,
}

impl<'a> Code<'a> {
    /// Prepares a kernel. About the share `share` of the iterations of outermost loops is run.
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

    /// Sets the counters of a loop in which `before` iterations have ended.
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

/// Returns the route of an access through L1.
pub fn route(access: &MemoryAccess) -> Route {
    match (access.atomic, access.loads) {
        (true, _) => Route::Atomic,
        (_, true) if access.past_l1 => Route::LoadPast,
        (_, true) => Route::Load,
        _ => Route::Store,
    }
}
