//! Counts the requests of a whole launch, site by site.
//!
//! If guard and address are affine, the warps of one class differ only in their start addresses. Each kind of request
//! is then counted once and multiplied by the number of requests with the same start offset in a line. Other accesses
//! are counted thread by thread, for a sample of the blocks if there are many.

use std::collections::HashMap;

use warpline_format::expression::{AddressExpression, Binary, ExpressionId, ExpressionKind};

use super::classes::{Class, classes, lanes};
use super::evaluated::Evaluated;
use super::form::{Bounds, FIXED, Index, THREADS, Truth, block, counter};
use super::guards::{condition, is_settled, settled};
use super::lanes::{Guard, Lanes, Request};
use super::launch::Launch;
use super::request::{Costs, Requests};
use super::site_access::Access;
use super::trip_counts::{TripCounts, shifting};
use super::value::{Lost, Value};
use super::warp_requests::{Warps, Within};
use warpline_profile::model::Addresses;

/// Approximate maximum of threads times iterations that are evaluated one by one for a group of sites.
const MOST_THREADS: f64 = (1 << 20) as f64;
/// Maximum number of iterations that are counted separately for a loop whose variable is shifted in each iteration.
const MOST_ITERATIONS: i64 = 1 << 8;

/// The method by which a site's figures were obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// From its affine address; exact.
    Affine,
    /// From every thread; exact.
    Threads,
    /// From the threads of some blocks.
    Sample,
    /// The requests cannot be determined before the kernel runs.
    Lost(Lost),
}

/// Requests of a site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteRequests {
    /// Sums over the requests; 0 if the site is [`Basis::Lost`].
    pub requests: Requests,
    /// The method by which they were obtained.
    pub basis: Basis,
}

/// Counts the requests of each site of a kernel. `accesses` are in the same order.
pub fn count(
    addresses: &Addresses,
    accesses: &[Access],
    launch: &Launch,
    evaluated: &Evaluated,
    costs: &mut Costs<'_>,
) -> Vec<SiteRequests> {
    let none = SiteRequests { requests: Requests::default(), basis: Basis::Affine };
    let mut found = vec![none; addresses.sites.len()];
    let mut groups: HashMap<(Option<ExpressionId>, &[u32]), Vec<usize>> = HashMap::new();
    for (number, site) in addresses.sites.iter().enumerate() {
        groups.entry((site.guard, &site.loops)).or_default().push(number);
    }
    let mut warps = Warps::new(launch);
    for sites in groups.values() {
        let group = Group { addresses, accesses, launch, evaluated, sites };
        group.count(&mut warps, costs, &mut found);
    }
    found
}

/// Sites that are executed together.
struct Group<'a> {
    addresses: &'a Addresses,
    accesses: &'a [Access],
    launch: &'a Launch,
    evaluated: &'a Evaluated,
    sites: &'a [usize],
}

impl Group<'_> {
    fn count(&self, warps: &mut Warps, costs: &mut Costs<'_>, found: &mut [SiteRequests]) {
        let Some(&first) = self.sites.first() else { return };
        let first = &self.addresses.sites[first];
        let condition = match condition(self.addresses, self.evaluated, first) {
            Ok(condition) => condition,
            Err(lost) => {
                for &site in self.sites {
                    found[site].basis = Basis::Lost(lost);
                }
                return;
            }
        };
        // A site that is never reached makes no requests, regardless of its address.
        let never = condition.as_ref().is_some_and(|truth| truth.over(&self.evaluated.bounds) == Some(false));
        let mut known = Vec::new();
        for &site in self.sites.iter().filter(|_| !never) {
            match self.evaluated.value(self.addresses.sites[site].address) {
                Value::Lost(lost) => found[site].basis = Basis::Lost(*lost),
                Value::Form(form) if !is_settled(self.evaluated, form, first) => known.push((site, None)),
                Value::Form(form) => match settled(self.addresses, self.evaluated, form, first) {
                    Ok(form) => known.push((site, Some(form))),
                    Err(lost) => found[site].basis = Basis::Lost(lost),
                },
                Value::Computed | Value::Cases(_) | Value::Truth(_) => known.push((site, None)),
            }
        }
        if known.is_empty() {
            return;
        }
        let counters: Vec<Index> = first.loops.iter().map(|&loop_id| counter(loop_id)).collect();
        let mut splits = Vec::new();
        for (site, _) in known.iter().filter(|(_, form)| form.is_none()) {
            self.splits(self.addresses.sites[*site].address, &mut splits);
        }
        let computed =
            known.iter().filter(|(_, form)| form.is_none()).map(|(site, _)| self.addresses.sites[*site].address);
        let shifting = shifting(self.addresses, computed.chain(first.guard));
        let bounds = &self.evaluated.bounds;
        let pieces = match shifting.is_empty() {
            true => condition.and_then(|truth| classes(&truth, &splits, self.launch, bounds, &counters)),
            false => self.iteration_by_iteration(first, &shifting, &splits, &counters),
        };
        let Some(pieces) = pieces else {
            let sites: Vec<usize> = known.iter().map(|(site, _)| *site).collect();
            self.sample(&sites, &counters, costs, found);
            return;
        };
        let all: f64 = pieces.iter().map(|class| class.points(&counters)).sum();
        let affordable = MOST_THREADS / f64::from(self.launch.threads());
        let most = match all <= affordable {
            true => i64::MAX,
            false => (affordable / pieces.len() as f64).max(1.0) as i64,
        };
        for class in &pieces {
            let mut one_by_one = Vec::new();
            let mut within = Within { class, ways: Vec::new() };
            for (site, form) in &known {
                let own;
                let form = match form {
                    Some(form) => form,
                    None => {
                        let id = self.addresses.sites[*site].address;
                        own = Evaluated::within(self.addresses, self.launch, &class.bounds, id);
                        match &own {
                            Value::Form(form) if is_settled(self.evaluated, form, first) => form,
                            _ => {
                                one_by_one.push(*site);
                                continue;
                            }
                        }
                    }
                };
                let sum = warps.requests(form, &mut within, &counters, self.accesses[*site], costs);
                found[*site].requests.add(&sum, 1.0);
            }
            if !one_by_one.is_empty() {
                self.points(class, most, &one_by_one, &counters, costs, found);
            }
        }
    }

    /// Returns separate classes for each iteration of some loops. They are needed if a guard is a condition that no
    /// single form describes over all iterations.
    fn iteration_by_iteration(
        &self,
        first: &AddressExpression,
        loops: &[Index],
        splits: &[Truth],
        counters: &[Index],
    ) -> Option<Vec<Class>> {
        // The counters of loops that have ended at the site have their last values.
        let (loops, over): (Vec<Index>, Vec<Index>) = loops.iter().partition(|index| counters.contains(index));
        let mut bounds = self.evaluated.bounds.clone();
        for index in over {
            bounds.0[index].0 = bounds.range(index).1;
        }
        let count = loops.iter().fold(1i64, |all, &index| all.saturating_mul(bounds.extent(index)));
        if count > MOST_ITERATIONS {
            return None;
        }
        let mut found = Vec::new();
        for point in spread(&bounds, &loops, i64::MAX) {
            let mut here = bounds.clone();
            for (&index, &at) in loops.iter().zip(&point) {
                here.0[index] = (at, at);
            }
            let evaluated = self.evaluated.narrowed(self.addresses, self.launch, here);
            let truth = condition(self.addresses, &evaluated, first).ok()??;
            found.extend(classes(&truth, splits, self.launch, &evaluated.bounds, counters)?);
        }
        Some(found)
    }

    /// Collects the conditions inside an expression on each side of which it may be affine.
    fn splits(&self, id: ExpressionId, found: &mut Vec<Truth>) {
        let mut seen = vec![false; id as usize + 1];
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            if std::mem::replace(&mut seen[id as usize], true) {
                continue;
            }
            match self.addresses.expressions[id as usize].kind {
                ExpressionKind::Choice(condition, one, other) => {
                    if let Value::Truth(truth) = self.evaluated.value(condition) {
                        found.push(truth.clone());
                    }
                    work.extend([one, other]);
                }
                ExpressionKind::Binary(operation, left, right) => {
                    let least = matches!(
                        operation,
                        Binary::SignedLeast | Binary::SignedGreatest | Binary::UnsignedLeast | Binary::UnsignedGreatest
                    );
                    if let (true, Value::Form(left), Value::Form(right)) =
                        (least, self.evaluated.value(left), self.evaluated.value(right))
                        && let Some(distance) = right.plus(left, -1)
                    {
                        found.push(Truth::AtLeast(distance));
                    }
                    work.extend([left, right]);
                }
                ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => work.push(of),
                _ => {}
            }
        }
    }

    /// Counts up to `most` points of a class thread by thread, and extrapolates to the others.
    fn points(
        &self,
        class: &Class,
        most: i64,
        sites: &[usize],
        counters: &[Index],
        costs: &mut Costs<'_>,
        found: &mut [SiteRequests],
    ) {
        let outer: Vec<Index> = (THREADS..FIXED).chain(counters.iter().copied()).collect();
        let all = class.points(counters);
        let points = spread(&class.bounds, &outer, most);
        let times = all / points.len().max(1) as f64;
        let exact = points.len() as f64 == all;
        let wanted: Vec<ExpressionId> = sites.iter().map(|&site| self.addresses.sites[site].address).collect();
        let mut interpreter = self.lanes(wanted, sites);
        for point in &points {
            self.threads(&mut interpreter, point, &outer, &class.masks, None, sites, times, costs, found);
        }
        for &site in sites {
            let basis = &mut found[site].basis;
            if *basis != Basis::Sample {
                *basis = if exact { Basis::Threads } else { Basis::Sample };
            }
        }
    }

    /// Counts some blocks in some iterations thread by thread, including the guard, and extrapolates to the others.
    fn sample(&self, sites: &[usize], counters: &[Index], costs: &mut Costs<'_>, found: &mut [SiteRequests]) {
        let Some(first) = sites.first().map(|&site| &self.addresses.sites[site]) else { return };
        let bounds = &self.evaluated.bounds;
        let affordable = MOST_THREADS / f64::from(self.launch.threads());
        let trips: f64 = counters.iter().map(|&index| bounds.extent(index) as f64).product();
        let iterations = spread(bounds, counters, affordable.max(1.0) as i64);
        let chosen =
            spread(bounds, &[block(0), block(1), block(2)], (affordable / iterations.len() as f64).max(1.0) as i64);
        let points = self.launch.blocks() as f64 * trips;
        let times = points / (chosen.len() * iterations.len()).max(1) as f64;
        let exact = (chosen.len() * iterations.len()) as f64 == points;
        let reached: Vec<Truth> = first
            .loops
            .iter()
            .filter_map(|&loop_id| self.evaluated.loops[loop_id as usize].clone().ok().flatten())
            .collect();
        let wanted = sites.iter().map(|&site| self.addresses.sites[site].address).chain(first.guard);
        let mut interpreter = self.lanes(wanted.collect(), sites);
        let whole = lanes(self.launch);
        let outer: Vec<Index> = (THREADS..FIXED).chain(counters.iter().copied()).collect();
        for block in &chosen {
            for iteration in &iterations {
                let point: Vec<i64> = block.iter().chain(iteration).copied().collect();
                let guard = Some((first.guard, &reached[..]));
                self.threads(&mut interpreter, &point, &outer, &whole, guard, sites, times, costs, found);
            }
        }
        for &site in sites {
            found[site].basis = if exact { Basis::Threads } else { Basis::Sample };
        }
    }

    /// Creates the interpreter that computes addresses of sites lane by lane.
    fn lanes(&self, wanted: Vec<ExpressionId>, sites: &[usize]) -> Lanes<'_> {
        let own = &self.addresses.sites[sites[0]];
        let decided = sites.iter().map(|&site| self.addresses.sites[site].address).chain(own.guard);
        let deciding = TripCounts::lane_loops(self.addresses, self.evaluated, decided, &own.loops);
        Lanes::new((self.addresses, self.launch), wanted, &deciding)
    }

    /// Counts the requests of a block in one iteration of its loops. `guard` is evaluated if it is given.
    #[expect(clippy::too_many_arguments, reason = "one inner loop that two callers share")]
    fn threads(
        &self,
        lanes: &mut Lanes<'_>,
        point: &[i64],
        outer: &[Index],
        masks: &[u32],
        guard: Option<(Option<ExpressionId>, &[Truth])>,
        sites: &[usize],
        times: f64,
        costs: &mut Costs<'_>,
        found: &mut [SiteRequests],
    ) {
        let mut at = vec![0; FIXED + self.addresses.loops.len()];
        // The counters of loops that have ended have their last values.
        for (at, range) in at.iter_mut().zip(&self.evaluated.bounds.0).skip(FIXED) {
            *at = range.1;
        }
        for (&index, &value) in outer.iter().zip(point) {
            at[index] = value;
        }
        let (condition, reached) = guard.unwrap_or_default();
        let reaches = |at: &[i64]| {
            let here = Bounds(at.iter().map(|&at| (at, at)).collect());
            reached.iter().all(|truth| truth.over(&here) == Some(true))
        };
        let guard = Guard { condition, also: if reached.is_empty() { None } else { Some(&reaches) } };
        let addresses = sites.iter().map(|&site| self.addresses.sites[site].address);
        let mut warp: Vec<Request> = vec![Request::default(); sites.len()];
        for (number, &mask) in masks.iter().enumerate().filter(|(_, mask)| **mask != 0) {
            lanes.requests((number, mask), &mut at, guard, addresses.clone(), &mut warp);
            for (&site, (mask, list)) in sites.iter().zip(&warp) {
                found[site].requests.add(&costs.remembered(*mask, list, self.accesses[site].kind()), times);
            }
        }
    }
}

/// Returns all points of a box, or about `most` evenly spread points that include the first and the last.
pub(super) fn spread(bounds: &Bounds, indices: &[Index], most: i64) -> Vec<Vec<i64>> {
    let total = indices.iter().fold(1i64, |all, &index| all.saturating_mul(bounds.extent(index)));
    let taken = total.min(most.max(1));
    (0..taken)
        .map(|number| {
            let mut linear = if taken == 1 {
                0
            } else {
                (i128::from(number) * i128::from(total - 1) / i128::from(taken - 1)) as i64
            };
            indices
                .iter()
                .map(|&index| {
                    let extent = bounds.extent(index).max(1);
                    let at = bounds.range(index).0 + linear % extent;
                    linear /= extent;
                    at
                })
                .collect()
        })
        .collect()
}
