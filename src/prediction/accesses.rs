//! Collects the accesses of a launch for the cache models: those with affine addresses, those with addresses computed
//! lane by lane, and figures taken from the recorded run.

use std::collections::{BTreeMap, BTreeSet};

use warpline_format::site_table::Op;

use super::count::{Basis, SiteRequests};
use super::evaluated::Evaluated;
use super::form::{Form, Index, Truth, counter};
use super::guards::{affine_part, condition, is_settled, settled};
use super::launch::Launch;
use super::model::Model;
use super::subject::Subject;
use super::sums::{Sums, dram_bytes};
use super::traffic::access::{LaneAddress, MemoryAccess};
use super::trip_counts::TripCounts;
use super::value::{Lost, Value};

/// Maximum number of alternatives that a condition is divided into.
const MOST_ALTERNATIVES: usize = 8;

/// A launch's accesses, with sums over them.
#[derive(Default)]
pub struct Gathered {
    /// Sums of requests and of measured traffic.
    pub sums: Sums,
    /// Accesses in program order.
    pub accesses: Vec<MemoryAccess>,
    /// DRAM traffic of the recorded run for allocations that accesses with unknown addresses reach, by allocation.
    pub lost: BTreeMap<usize, LostArray>,
    /// Source lines with unknown accesses, and the reasons.
    pub reasons: BTreeSet<(String, Lost)>,
}

/// Bytes that the run read from DRAM and wrote to DRAM for an array, scaled to the number of threads that reach it in
/// this launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LostArray {
    /// Traffic of the accesses with unknown addresses.
    pub own: [f64; 2],
    /// Traffic of all accesses.
    pub together: [f64; 2],
}

/// Collects a launch's accesses, whose requests are `counted`.
pub fn gathered(
    subject: &Subject<'_>,
    launch: &Launch,
    evaluated: &Evaluated,
    counted: &[SiteRequests],
    model: &Model<'_>,
) -> Gathered {
    let mut gathering =
        Gathering { subject, launch, evaluated, counted, model, items: items(subject), found: Gathered::default() };
    (0..counted.len()).for_each(|number| gathering.add(number));
    gathering.finished()
}

/// The inputs, and the accesses collected so far.
struct Gathering<'g, 's> {
    subject: &'g Subject<'s>,
    launch: &'g Launch,
    evaluated: &'g Evaluated,
    counted: &'g [SiteRequests],
    model: &'g Model<'g>,
    /// Indexed by site: the first site of its item.
    items: Vec<usize>,
    found: Gathered,
}

impl Gathering<'_, '_> {
    /// Adds a site.
    fn add(&mut self, number: usize) {
        let (subject, site) = (self.subject, &self.counted[number]);
        let is_shared = subject.accesses[number].shared;
        let own = subject.accesses[number];
        let loads = own.loads();
        let sums = &mut self.found.sums;
        match site.basis {
            Basis::Lost(lost) => return self.add_recorded(number, lost),
            // The operation of the site is unknown, so its traffic is not estimated.
            _ if own.op.is_none() => return,
            // If several points of a thread load the same element, the thread loads it once and keeps it in a register.
            _ if loads && !is_shared && in_register(subject, self.evaluated, number) => return,
            Basis::Affine => sums.affine += site.requests.sectors * global(is_shared),
            Basis::Threads | Basis::Sample => sums.computed += site.requests.sectors * global(is_shared),
        }
        if is_shared {
            sums.shared.add(&site.requests, 1.0);
            return;
        }
        sums.global.add(&site.requests, 1.0);
        if site.requests.requests == 0.0 {
            return;
        }
        sums.known.lines += site.requests.lines;
        match footprint(subject, self.evaluated, number) {
            Some(cases) => self.add_affine(number, cases),
            None => self.add_by_lane(number),
        }
    }

    /// Adds the measured figures of a site whose address is unknown.
    fn add_recorded(&mut self, number: usize, lost: Lost) {
        let subject = self.subject;
        // A site that was never executed has no cost.
        let Some(row) = subject.rows[number] else { return };
        self.found.reasons.insert((format!("line {}", row.line), lost));
        let share = of_run(subject, number, self.counted, self.launch);
        self.found.sums.add_recorded(row, share, self.model);
        let all = self.found.lost.entry(subject.allocations[number]).or_default();
        all.own = plus(all.own, dram_bytes(row, self.model), share);
    }

    /// Adds an access with a known footprint, once for each of its cases.
    fn add_affine(&mut self, number: usize, cases: Vec<(Truth, Form)>) {
        let requested = self.counted[number].requests.sectors;
        let each = cases.into_iter().flat_map(|(condition, form)| {
            let apart = condition.alternatives(MOST_ALTERNATIVES).unwrap_or_else(|| vec![condition]);
            apart.into_iter().map(move |condition| (condition, form.clone()))
        });
        let cases: Vec<(Truth, Form)> = each.collect();
        let access = MemoryAccess { sectors: requested / cases.len() as f64, ..self.access(number) };
        let known = &mut self.found.sums.known;
        *(if access.loads { &mut known.loaded } else { &mut known.stored }) += requested;
        let each = cases.into_iter().map(|(condition, form)| MemoryAccess { form, condition, ..access.clone() });
        self.found.accesses.extend(each);
    }

    /// Adds an access whose address or guard is computed for each lane.
    fn add_by_lane(&mut self, number: usize) {
        let (subject, evaluated) = (self.subject, self.evaluated);
        let own = &subject.addresses.sites[number];
        // If the guard is a condition on forms, it becomes the access's condition.
        let guard = match condition(subject.addresses, evaluated, own) {
            Ok(None) => own.guard,
            _ => None,
        };
        let wanted = std::iter::once(own.address).chain(guard);
        let loops = TripCounts::lane_loops(subject.addresses, evaluated, wanted, &own.loops);
        let access = MemoryAccess {
            by_lane: Some(LaneAddress { address: own.address, guard, loops }),
            condition: sure_condition(subject, evaluated, number).unwrap_or(Truth::Known(true)),
            sectors: self.counted[number].requests.sectors,
            ..self.access(number)
        };
        self.found.accesses.push(access);
    }

    fn finished(mut self) -> Gathered {
        for row in &self.subject.others {
            let share = self.subject.share * as_many_threads(self.subject, None, self.counted, self.launch);
            self.found.sums.add_recorded(row, share, self.model);
            let [reads, writes] = dram_bytes(row, self.model);
            self.found.sums.measured.dram_loads += share * reads;
            self.found.sums.measured.dram_stores += share * writes;
        }
        for (allocation, all) in &mut self.found.lost {
            let own = (0..self.counted.len()).filter(|&number| self.subject.allocations[number] == *allocation);
            for (number, row) in own.filter_map(|number| Some((number, self.subject.rows[number]?))) {
                let share = match self.counted[number].basis {
                    Basis::Lost(_) => of_run(self.subject, number, self.counted, self.launch),
                    _ if row.metrics.lanes == 0 => continue,
                    _ => self.counted[number].requests.lanes / row.metrics.lanes as f64,
                };
                all.together = plus(all.together, dram_bytes(row, self.model), share);
            }
        }
        self.found
    }

    /// Returns a site's access without its address.
    fn access(&self, number: usize) -> MemoryAccess {
        let (subject, own) = (self.subject, self.subject.accesses[number]);
        MemoryAccess {
            form: Form::number(0),
            by_lane: None,
            condition: Truth::Known(true),
            bytes: own.bytes,
            site: number,
            item: self.items[number],
            allocation: subject.allocations[number],
            loads: own.loads(),
            stores: own.stores(),
            atomic: own.op == Some(Op::Atomic),
            past_l1: own.past_l1,
            counters: counters(subject, number),
            shared_counters: counters(subject, first_point(subject, number)),
            sectors: 0.0,
        }
    }
}

fn plus(sum: [f64; 2], more: [f64; 2], times: f64) -> [f64; 2] {
    [sum[0] + times * more[0], sum[1] + times * more[1]]
}

/// Returns the share of a row's figures that a site with an unknown address gets, scaled to the number of threads that
/// reach it now.
fn of_run(subject: &Subject<'_>, number: usize, counted: &[SiteRequests], launch: &Launch) -> f64 {
    let threads = as_many_threads(subject, Some(number), counted, launch);
    subject.share / copies(subject, number) * threads
}

/// Returns the number of threads that reach a site with an unknown address, relative to the recorded launch. The ratio
/// is that of a known site under the same guard in the same loops; otherwise, of a known site in the same loops or
/// outside loops; otherwise, of the whole launch.
fn as_many_threads(subject: &Subject<'_>, number: Option<usize>, counted: &[SiteRequests], launch: &Launch) -> f64 {
    let sites = &subject.addresses.sites;
    let own = number.map(|number| &sites[number]);
    let known = |other: usize| {
        let row = subject.rows[other].filter(|row| row.metrics.lanes > 0)?;
        let before = row.metrics.lanes as f64 * subject.share / copies(subject, other);
        (!matches!(counted[other].basis, Basis::Lost(_)) && before > 0.0)
            .then(|| (before, counted[other].requests.lanes))
    };
    let of = |is_meant: &dyn Fn(usize) -> bool| {
        let all = (0..sites.len()).filter(|&other| is_meant(other)).filter_map(known);
        all.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(before, now)| now / before)
    };
    let in_loops = |other: usize| own.is_some_and(|own| own.loops == sites[other].loops);
    of(&|other| in_loops(other) && own.is_some_and(|own| own.guard == sites[other].guard))
        .or_else(|| of(&in_loops))
        .or_else(|| of(&|other| sites[other].loops.is_empty()))
        .unwrap_or_else(|| {
            let threads = |launch: &Launch| launch.blocks() as f64 * f64::from(launch.threads());
            threads(launch) / threads(&subject.launch)
        })
}

/// Returns the counters of the loops around a site.
fn counters(subject: &Subject<'_>, number: usize) -> Vec<Index> {
    subject.addresses.sites[number].loops.iter().map(|&loop_id| counter(loop_id)).collect()
}

/// Returns the site of the thread's first point from which a site was copied.
fn first_point(subject: &Subject<'_>, number: usize) -> usize {
    let sites = &subject.addresses.sites;
    let is_first = |other: &usize| {
        let one = &sites[*other];
        (subject.copies[*other], one.site, one.loops.len()) == (0, sites[number].site, sites[number].loops.len())
    };
    if subject.copies[number] == 0 { number } else { (0..number).find(is_first).unwrap_or(number) }
}

/// Returns the number of a thread's points whose sites share one row.
fn copies(subject: &Subject<'_>, number: usize) -> f64 {
    let site = subject.addresses.sites[number].site;
    subject.addresses.sites.iter().filter(|one| one.site == site).count() as f64
}

/// Returns the affine part of a site's condition.
fn sure_condition(subject: &Subject<'_>, evaluated: &Evaluated, number: usize) -> Option<Truth> {
    let site = &subject.addresses.sites[number];
    match condition(subject.addresses, evaluated, site).ok()? {
        Some(condition) => Some(condition),
        None => affine_part(subject.addresses, evaluated, site).ok(),
    }
}

/// Returns, indexed by site, the first site that belongs to the same item in the trace.
fn items(subject: &Subject<'_>) -> Vec<usize> {
    let sites = &subject.addresses.sites;
    let bundle_of = |site: u32| subject.addresses.bundles.iter().position(|bundle| bundle.contains(&site));
    let bundles: Vec<Option<usize>> = sites.iter().map(|site| bundle_of(site.site)).collect();
    let alike = |one: usize, other: usize| {
        bundles[one].is_some() && bundles[one] == bundles[other] && subject.copies[one] == subject.copies[other]
    };
    (0..sites.len()).map(|number| (0..number).find(|&other| alike(number, other)).unwrap_or(number)).collect()
}

/// Returns whether another point of the thread already loads the same address.
fn in_register(subject: &Subject<'_>, evaluated: &Evaluated, number: usize) -> bool {
    let copy = subject.copies[number];
    let site = &subject.addresses.sites[number];
    let Value::Form(form) = evaluated.value(site.address) else { return false };
    (0..number).any(|other| {
        let before = &subject.addresses.sites[other];
        subject.copies[other] < copy
            && subject.accesses[other] == subject.accesses[number]
            && before.loops == site.loops
            && subject.accesses[other].loads()
            && matches!(evaluated.value(before.address), Value::Form(known) if known == form)
    })
}

fn global(shared: bool) -> f64 {
    f64::from(u8::from(!shared))
}

/// Returns the affine forms of a site's address, each with the condition under which it applies; `None` if the address
/// or the guard is not affine.
fn footprint(subject: &Subject<'_>, evaluated: &Evaluated, number: usize) -> Option<Vec<(Truth, Form)>> {
    let site = &subject.addresses.sites[number];
    let settle = |form: &Form| {
        is_settled(evaluated, form, site).then(|| settled(subject.addresses, evaluated, form, site).ok()).flatten()
    };
    let condition = condition(subject.addresses, evaluated, site).ok()??;
    match evaluated.value(site.address) {
        Value::Form(form) => Some(vec![(condition, settle(form)?)]),
        Value::Cases(cases) => {
            let each = cases.iter().map(|(case, form)| {
                let both = Truth::All(vec![condition.clone(), case.map(&settle)?]);
                Some((both.within(&evaluated.bounds), settle(form)?))
            });
            each.collect()
        }
        _ => None,
    }
}
