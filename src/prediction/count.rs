//! Requests of a whole launch, site by site.
//!
//! Where guard and address are affine, the warps of one class differ in where their addresses start alone, so each kind of
//! request is counted once and multiplied by how often its start lies so in a line. What the indices give in another way is
//! counted thread by thread, for some of the blocks where there are many.

use std::collections::HashMap;

use warpline_format::expression::{AddressExpression, Binary, ExpressionId, ExpressionKind};
use warpline_format::site_table::Op;

use super::classes::{Class, classes, lanes};
use super::evaluate::{Evaluated, Lost, Value};
use super::form::{Bounds, FIXED, Form, Index, THREADS, Truth, block, counter, gcd, one_of, thread};
use super::lanes::{Guard, Lanes, Request};
use super::laps::Laps;
use super::launch::Launch;
use super::request::{Costs, Kind, PERIOD, Pattern, Requests};
use super::stepped;
use warpline_profile::model::Addresses;

/// Threads times iterations that are looked at one by one for the sites of a group, about.
const MOST_THREADS: f64 = (1 << 20) as f64;
/// Iterations that are told apart, at most, of loops whose variable is shifted in each.
const MOST_ITERATIONS: i64 = 1 << 8;

/// What is known of a site beside its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Bytes per lane.
    pub bytes: u32,
    /// In shared memory.
    pub shared: bool,
    /// A load that goes past L1.
    pub past_l1: bool,
    /// What it does; `None` where neither a row nor the profile's addresses tell, as in profiles of earlier releases.
    pub op: Option<Op>,
}

impl Access {
    /// Whether it loads and does nothing else.
    pub fn loads(&self) -> bool {
        self.op == Some(Op::Load)
    }

    /// What its requests cost depends on, beside their addresses.
    pub fn kind(&self) -> Kind {
        Kind { bytes: self.bytes, shared: self.shared, loads: self.loads() }
    }

    /// Whether it changes what is in memory.
    pub fn stores(&self) -> bool {
        matches!(self.op, Some(Op::Store | Op::Atomic))
    }
}

/// What a site's figures rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Its affine address: exact.
    Affine,
    /// Every thread was looked at: exact.
    Threads,
    /// Threads of some of the blocks.
    Sample,
    /// Not known before it runs.
    Lost(Lost),
}

/// Requests of a site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteRequests {
    /// Sums; nothing where the site is [`Basis::Lost`].
    pub requests: Requests,
    /// What they rest on.
    pub basis: Basis,
}

/// Counts the requests of each of a kernel's sites; `accesses` are in the same order.
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

/// The condition under which a site is executed, in iterations of its loops that are reached; `None` where it is computed in
/// a way that is not affine.
pub fn condition(
    addresses: &Addresses,
    evaluated: &Evaluated,
    site: &AddressExpression,
) -> Result<Option<Truth>, Lost> {
    // Of a loop without iterations their number is not known, and where a guard never holds it does not matter.
    if let Some(Value::Truth(truth)) = site.guard.map(|guard| evaluated.value(guard))
        && truth.over(&evaluated.bounds) == Some(false)
    {
        return Ok(Some(Truth::Known(false)));
    }
    let mut parts = laps_reached(addresses, evaluated, site)?;
    if site.loops.iter().any(|&lap| evaluated.by_thread[lap as usize]) {
        return Ok(None);
    }
    let guard = match site.guard.map(|guard| evaluated.value(guard)) {
        None => None,
        Some(Value::Truth(truth)) if differs(evaluated, truth, site) => return Ok(None),
        Some(Value::Truth(truth)) => {
            let settled = truth.map(&|form| settled(addresses, evaluated, form, site).ok());
            Some(settled.ok_or(Lost::Loop(0))?)
        }
        Some(Value::Lost(lost)) => return Err(of_guard(*lost)),
        Some(_) => return Ok(None),
    };
    for reached in &mut parts {
        without_first(reached, guard.as_ref().unwrap_or(&Truth::Known(true)), &evaluated.bounds);
    }
    parts.extend(guard);
    Ok(Some(one_of(parts, Truth::All)))
}

/// "In the first iteration, or where it goes on" is "where it goes on" if all threads do in the first one, or a guard says so, as that of a loop
/// which may have no iteration does. That is a condition which footprints can be cut by.
fn without_first(reached: &mut Truth, guard: &Truth, bounds: &Bounds) {
    let Truth::Any(parts) = &*reached else { return };
    let [Truth::Zero(first), goes_on @ Truth::AtLeast(form)] = &parts[..] else { return };
    let &[(index, 1)] = &first.terms[..] else { return };
    let Some(at_first) = form.at(index, 0).filter(|_| index >= FIXED && first.constant == 0) else { return };
    let says_so = |part: &Truth| matches!(part, Truth::AtLeast(own) if own.terms == at_first.terms && own.constant <= at_first.constant);
    let said = match guard {
        Truth::All(parts) => parts.iter().any(says_so),
        one => says_so(one),
    };
    if said || at_first.range(bounds).0 >= 0 {
        *reached = goes_on.clone();
    }
}

/// What of a site's condition is affine, where not all of it is: the iterations of its loops that each thread comes to, and parts of its guard.
pub fn affine_part(addresses: &Addresses, evaluated: &Evaluated, site: &AddressExpression) -> Result<Truth, Lost> {
    let mut parts = laps_reached(addresses, evaluated, site)?;
    let mut open: Vec<ExpressionId> = site.guard.into_iter().collect();
    while let Some(id) = open.pop() {
        match (evaluated.value(id), addresses.expressions[id as usize].kind) {
            (Value::Truth(truth), _) if !differs(evaluated, truth, site) => {
                parts.extend(truth.map(&|form| settled(addresses, evaluated, form, site).ok()));
            }
            (_, ExpressionKind::Binary(Binary::And, one, other)) => open.extend([other, one]),
            _ => {}
        }
    }
    Ok(one_of(parts, Truth::All))
}

fn laps_reached(addresses: &Addresses, evaluated: &Evaluated, site: &AddressExpression) -> Result<Vec<Truth>, Lost> {
    let mut parts = Vec::new();
    for &lap in &site.loops {
        match &evaluated.loops[lap as usize] {
            Ok(Some(truth)) => {
                // Where it begins where another loop has ended, that one has come to its last iteration.
                let settled = truth.map(&|form| settled(addresses, evaluated, form, site).ok());
                parts.push(settled.ok_or(Lost::Loop(addresses.loops[lap as usize].line))?);
            }
            Ok(None) => {}
            Err(lost) => return Err(of_guard(*lost)),
        }
    }
    Ok(parts)
}

fn of_guard(lost: Lost) -> Lost {
    match lost {
        Lost::Code(reason, line) => Lost::Guard(reason, line),
        other => other,
    }
}

/// Whether a condition depends on the last iteration of a loop that is over at the site, which differs from thread to thread.
fn differs(evaluated: &Evaluated, truth: &Truth, site: &AddressExpression) -> bool {
    let mut found = false;
    truth.forms(&mut |form| found |= !is_settled(evaluated, form, site));
    found
}

/// Whether all threads have come to the same iteration of the loops that are over at the site, as far as a form depends on them.
pub fn is_settled(evaluated: &Evaluated, form: &Form, site: &AddressExpression) -> bool {
    let over = form.terms.iter().filter(|(index, _)| *index >= FIXED).map(|(index, _)| (*index - FIXED) as u32);
    over.filter(|lap| !site.loops.contains(lap)).all(|lap| !evaluated.differs(lap))
}

/// The form with the counters of loops that are over at the site: they have the value of their last iteration.
pub fn settled(
    addresses: &Addresses,
    evaluated: &Evaluated,
    form: &Form,
    site: &AddressExpression,
) -> Result<Form, Lost> {
    let mut form = form.clone();
    while let Some(&(index, _)) =
        form.terms.iter().find(|(index, _)| *index >= FIXED && !site.loops.contains(&((*index - FIXED) as u32)))
    {
        let lap = index - FIXED;
        match &evaluated.loops[lap] {
            Ok(None) => form = form.at(index, evaluated.bounds.of(index).1).ok_or(Lost::Range)?,
            Ok(Some(_)) => return Err(Lost::Loop(addresses.loops[lap].line)),
            Err(lost) => return Err(*lost),
        }
    }
    Ok(form)
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
        // A site that is never reached makes no requests, whatever its address.
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
        let counters: Vec<Index> = first.loops.iter().map(|&lap| counter(lap)).collect();
        let mut splits = Vec::new();
        for (site, _) in known.iter().filter(|(_, form)| form.is_none()) {
            self.splits(self.addresses.sites[*site].address, &mut splits);
        }
        let computed =
            known.iter().filter(|(_, form)| form.is_none()).map(|(site, _)| self.addresses.sites[*site].address);
        let shifting = stepped::shifting(self.addresses, computed.chain(first.guard));
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

    /// The classes of each iteration of some loops by itself, where guards are conditions that no form has over all of them.
    fn iteration_by_iteration(
        &self,
        first: &AddressExpression,
        loops: &[Index],
        splits: &[Truth],
        counters: &[Index],
    ) -> Option<Vec<Class>> {
        // Loops that are over at the site have come to their last iteration.
        let (loops, over): (Vec<Index>, Vec<Index>) = loops.iter().partition(|index| counters.contains(index));
        let mut bounds = self.evaluated.bounds.clone();
        for index in over {
            bounds.0[index].0 = bounds.of(index).1;
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

    /// Conditions inside an expression, on either side of which it may be affine.
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

    /// Counts up to `most` points of a class thread by thread, for the others too.
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

    /// Counts some blocks in some iterations thread by thread, guard and all, for the others too.
    fn sample(&self, sites: &[usize], counters: &[Index], costs: &mut Costs<'_>, found: &mut [SiteRequests]) {
        let Some(first) = sites.first().map(|&site| &self.addresses.sites[site]) else { return };
        let bounds = &self.evaluated.bounds;
        let affordable = MOST_THREADS / f64::from(self.launch.threads());
        let iterations: f64 = counters.iter().map(|&index| bounds.extent(index) as f64).product();
        let laps = spread(bounds, counters, affordable.max(1.0) as i64);
        let chosen = spread(bounds, &[block(0), block(1), block(2)], (affordable / laps.len() as f64).max(1.0) as i64);
        let points = self.launch.blocks() as f64 * iterations;
        let times = points / (chosen.len() * laps.len()).max(1) as f64;
        let exact = (chosen.len() * laps.len()) as f64 == points;
        let reached: Vec<Truth> =
            first.loops.iter().filter_map(|&lap| self.evaluated.loops[lap as usize].clone().ok().flatten()).collect();
        let wanted = sites.iter().map(|&site| self.addresses.sites[site].address).chain(first.guard);
        let mut interpreter = self.lanes(wanted.collect(), sites);
        let whole = lanes(self.launch);
        let outer: Vec<Index> = (THREADS..FIXED).chain(counters.iter().copied()).collect();
        for block in &chosen {
            for lap in &laps {
                let point: Vec<i64> = block.iter().chain(lap).copied().collect();
                let guard = Some((first.guard, &reached[..]));
                self.threads(&mut interpreter, &point, &outer, &whole, guard, sites, times, costs, found);
            }
        }
        for &site in sites {
            found[site].basis = if exact { Basis::Threads } else { Basis::Sample };
        }
    }

    /// What works out addresses of sites thread by thread.
    fn lanes(&self, wanted: Vec<ExpressionId>, sites: &[usize]) -> Lanes<'_> {
        let own = &self.addresses.sites[sites[0]];
        let decided = sites.iter().map(|&site| self.addresses.sites[site].address).chain(own.guard);
        let deciding = Laps::deciding(self.addresses, self.evaluated, decided, &own.loops);
        Lanes::new((self.addresses, self.launch), wanted, &deciding)
    }

    /// Counts the requests of a block in one iteration of its loops. `guard` is looked at where it is given.
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
        // Loops that are over have come to their last iteration.
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

/// Points of a box, all of them or about `most`, evenly spread, the first and the last among them.
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
                    let at = bounds.of(index).0 + linear % extent;
                    linear /= extent;
                    at
                })
                .collect()
        })
        .collect()
}

/// Patterns of warps whose addresses change with the thread in one way.
struct Warps {
    threads: Vec<[i64; THREADS]>,
    /// By the factors of the threads' indices: pattern of each warp, and bytes to its first lane.
    known: HashMap<[i64; THREADS], Vec<(Pattern, i64)>>,
}

impl Warps {
    fn new(launch: &Launch) -> Warps {
        let threads = (0..launch.warps() * 32).map(|number| launch.thread(number)).collect();
        Warps { threads, known: HashMap::new() }
    }

    /// The requests of one site in a class. Sites that differ by whole lines cost the same.
    fn requests(
        &mut self,
        form: &Form,
        within: &mut Within<'_>,
        counters: &[Index],
        access: Access,
        costs: &mut Costs<'_>,
    ) -> Requests {
        let place = match within.ways.iter().position(|way| way.terms == form.terms) {
            Some(place) => place,
            None => {
                let alike = self.alike(form, within.class, costs);
                let outer = (THREADS..FIXED).chain(counters.iter().copied());
                let starts = Starts::of(&Form { constant: 0, ..form.clone() }, &within.class.bounds, outer);
                within.ways.push(Way { terms: form.terms.clone(), alike, starts, known: Vec::new() });
                within.ways.len() - 1
            }
        };
        let way = &mut within.ways[place];
        let key = (form.constant as u64 % PERIOD, access);
        if let Some((_, sum)) = way.known.iter().find(|(known, _)| *known == key) {
            return *sum;
        }
        let mut sum = Requests::default();
        for &((pattern, mask, first), times) in &way.alike {
            for &(start, often) in &way.starts.0 {
                let at = start.wrapping_add(first).wrapping_add(form.constant as u64);
                sum.add(&costs.alike(pattern, mask, at, access.kind()), often * times);
            }
        }
        way.known.push((key, sum));
        sum
    }

    /// The warps of a class, those with the same lanes, pattern and place in the line together: they cost the same.
    fn alike(&mut self, form: &Form, class: &Class, costs: &mut Costs<'_>) -> Vec<((Pattern, u32, u64), f64)> {
        let factors = std::array::from_fn(|axis| form.factor(thread(axis)));
        let threads = &self.threads;
        let patterns = self.known.entry(factors).or_insert_with(|| {
            let offset = |thread: &[i64; THREADS]| {
                let terms = thread.iter().zip(factors).map(|(at, factor)| at.wrapping_mul(factor));
                terms.fold(0i64, i64::wrapping_add)
            };
            let warps = threads.chunks(32).map(|warp| {
                let offsets: Vec<i64> = warp.iter().map(offset).collect();
                let distances = std::array::from_fn(|lane| offsets[lane].wrapping_sub(offsets[0]));
                (costs.pattern(distances), offsets[0])
            });
            warps.collect()
        });
        let mut alike: Vec<((Pattern, u32, u64), f64)> = Vec::new();
        for (&(pattern, first), &mask) in patterns.iter().zip(&class.masks).filter(|(_, mask)| **mask != 0) {
            let key = (pattern, mask, (first as u64) % PERIOD);
            match alike.iter_mut().find(|(known, _)| *known == key) {
                Some((_, times)) => *times += 1.0,
                None => alike.push((key, 1.0)),
            }
        }
        alike
    }
}

/// What is known of a class.
struct Within<'a> {
    class: &'a Class,
    ways: Vec<Way>,
}

/// How the addresses of some sites go through a class, apart from their constants.
struct Way {
    terms: Vec<(Index, i64)>,
    alike: Vec<((Pattern, u32, u64), f64)>,
    /// With a constant of 0.
    starts: Starts,
    /// By the constant's place in a line and the access.
    known: Vec<((u64, Access), Requests)>,
}

/// Where in a line the addresses of a form start, over a box of some indices, and how often; the first address of each kind.
#[derive(Debug, PartialEq)]
struct Starts(Vec<(u64, f64)>);

impl Starts {
    fn of(form: &Form, bounds: &Bounds, indices: impl Iterator<Item = Index>) -> Starts {
        let mut starts = vec![(form.constant as u64, 1.0)];
        for index in indices {
            let (factor, (low, _)) = (form.factor(index), bounds.of(index));
            let extent = bounds.extent(index);
            let base = factor.wrapping_mul(low) as u64;
            let step = factor as u64 % PERIOD;
            if factor == 0 || step == 0 {
                starts.iter_mut().for_each(|(start, often)| {
                    *start = start.wrapping_add(base);
                    *often *= extent as f64;
                });
                continue;
            }
            // Multiples of the factor come back to where they were after so many.
            let round = (PERIOD / gcd(step, PERIOD)) as i64;
            let mut next: Vec<(u64, f64)> = Vec::new();
            for number in 0..round.min(extent) {
                let times = extent / round + i64::from(number < extent % round);
                let moved = base.wrapping_add(factor.wrapping_mul(number) as u64);
                for &(start, often) in &starts {
                    let at = start.wrapping_add(moved);
                    match next.iter_mut().find(|(known, _)| *known % PERIOD == at % PERIOD) {
                        Some((_, sum)) => *sum += often * times as f64,
                        None => next.push((at, often * times as f64)),
                    }
                }
            }
            starts = next;
        }
        Starts(starts)
    }
}
