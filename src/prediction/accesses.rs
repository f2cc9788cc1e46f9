//! What a kernel's sites are to the caches: accesses with footprints, others that are worked out thread by thread, and what is taken from the run.

use std::collections::{BTreeMap, BTreeSet};

use warpline_format::expression::ExpressionId;
use warpline_format::site_table::Op;

use super::count::{Basis, SiteRequests, affine_part, condition, is_settled, settled};
use super::evaluate::{Evaluated, Lost, Value};
use super::form::{Form, Index, Truth, block, counter};
use super::laps::Laps;
use super::launch::Launch;
use super::predict::Model;
use super::subject::Subject;
use super::sums::{Sums, recorded_bytes};
use super::traffic::volumes::{Affine, ByThread};

/// Conditions that a case of an access is taken apart into, at most.
const MOST_ALTERNATIVES: usize = 8;

/// A launch's accesses, and what was added up of them.
#[derive(Default)]
pub struct Gathered {
    /// Requests and what was measured.
    pub sums: Sums,
    /// In the order of the code.
    pub accesses: Vec<Affine>,
    /// Of these: no footprint and no run tells what they load from DRAM.
    pub unmeasured: Vec<Affine>,
    /// Lines of which nothing is known, and why.
    pub reasons: BTreeSet<(String, Lost)>,
    /// By allocation that accesses without footprints lead into: what DRAM moved for it in the run.
    pub measured: BTreeMap<usize, Measured>,
    /// Some of these accesses are counted thread by thread.
    pub by_thread: bool,
    /// Some footprint is not exact.
    pub rough: bool,
}

/// Bytes that were read from DRAM and written to it in the run, for as many threads as come to it now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// For accesses without footprints.
    pub own: [f64; 2],
    /// For all accesses of the allocation.
    pub together: [f64; 2],
}

/// Gathers a launch's accesses, whose requests are `counted`.
pub fn gathered(
    subject: &Subject<'_>,
    launch: &Launch,
    evaluated: &Evaluated,
    counted: &[SiteRequests],
    model: &Model<'_>,
) -> Gathered {
    let mut gathering = Gathering {
        subject,
        launch,
        evaluated,
        counted,
        model,
        items: items(subject),
        found: Gathered::default(),
        worked_out: Vec::new(),
    };
    (0..counted.len()).for_each(|number| gathering.add(number));
    gathering.finished()
}

/// What a launch's accesses are gathered from, and to.
struct Gathering<'g, 's> {
    subject: &'g Subject<'s>,
    launch: &'g Launch,
    evaluated: &'g Evaluated,
    counted: &'g [SiteRequests],
    model: &'g Model<'g>,
    /// By site: the first one of its item.
    items: Vec<usize>,
    found: Gathered,
    /// Sites that are counted thread by thread and of which a run tells what DRAM moved.
    worked_out: Vec<usize>,
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
            // Whether it loads or stores, and where, is not known: it would be a guess.
            _ if own.op.is_none() => return,
            // Points of a thread load what they have in common once, and keep it in registers.
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
        // Under a condition that is not affine a footprint would have what all threads touch.
        let (is_sure, guard) = guard_by_thread(subject, self.evaluated, number);
        match footprint(subject, self.launch, self.evaluated, number).filter(|_| is_sure) {
            Some(cases) => self.add_affine(number, cases),
            None => self.add_by_thread(number, guard),
        }
    }

    /// Adds what was measured of a site of which nothing is known.
    fn add_recorded(&mut self, number: usize, lost: Lost) {
        let subject = self.subject;
        // What was never executed costs nothing.
        let Some(row) = subject.rows[number] else { return };
        self.found.reasons.insert((format!("line {}", row.line), lost));
        let share = of_run(subject, number, self.counted, self.launch);
        let moved = self.found.sums.add_recorded(row, share, self.model);
        self.add_measured(number, moved);
    }

    /// Adds an access of which the footprint is known, in cases, some of which may not be exact.
    fn add_affine(&mut self, number: usize, (cases, unsure): (Vec<(Truth, Form)>, bool)) {
        let requested = self.counted[number].requests.sectors;
        let each = cases.into_iter().flat_map(|(condition, form)| {
            let apart = condition.alternatives(MOST_ALTERNATIVES).unwrap_or_else(|| vec![condition]);
            apart.into_iter().map(move |condition| (condition, form.clone()))
        });
        let cases: Vec<(Truth, Form)> = each.collect();
        let access = Affine { sectors: requested / cases.len() as f64, ..self.access(number) };
        let known = &mut self.found.sums.known;
        *(if access.loads { &mut known.loaded } else { &mut known.stored }) += requested;
        if access.atomic {
            known.atomics += requested;
        }
        known.unsure |= unsure;
        self.found.rough |= unsure;
        let each = cases.into_iter().map(|(condition, form)| Affine { form, condition, ..access.clone() });
        self.found.accesses.extend(each);
    }

    /// Adds an access that each thread is asked for.
    fn add_by_thread(&mut self, number: usize, guard: Option<ExpressionId>) {
        let (subject, evaluated) = (self.subject, self.evaluated);
        let own = &subject.addresses.sites[number];
        let wanted = std::iter::once(own.address).chain(guard);
        let laps = Laps::deciding(subject.addresses, evaluated, wanted, &own.loops);
        let access = Affine {
            by_thread: Some(ByThread { address: own.address, guard, laps }),
            condition: sure_condition(subject, evaluated, number).unwrap_or(Truth::Known(true)),
            sectors: self.counted[number].requests.sectors,
            ..self.access(number)
        };
        match subject.rows[number].filter(|row| row.metrics.lanes > 0) {
            Some(_) => self.worked_out.push(number),
            None => self.found.unmeasured.push(access.clone()),
        }
        self.found.accesses.push(access);
        self.found.rough = true;
    }

    /// Adds what DRAM moved in the run for an access without a footprint.
    fn add_measured(&mut self, number: usize, moved: [f64; 2]) {
        let all = self.found.measured.entry(self.subject.allocations[number]).or_default();
        all.own = plus(all.own, moved);
    }

    fn finished(mut self) -> Gathered {
        let (subject, model) = (self.subject, self.model);
        for row in &subject.others {
            let share = subject.share * as_many_threads(subject, None, self.counted, self.launch);
            let [reads, writes] = self.found.sums.add_recorded(row, share, model);
            self.found.sums.other_bytes[2] += reads;
            self.found.sums.other_bytes[3] += writes;
        }
        self.found.by_thread = !self.worked_out.is_empty();
        for number in std::mem::take(&mut self.worked_out) {
            self.add_measured(number, dram(subject, number, (self.counted, self.launch), model));
        }
        for (allocation, all) in &mut self.found.measured {
            let own = (0..self.counted.len()).filter(|&number| subject.allocations[number] == *allocation);
            all.together =
                own.fold([0.0; 2], |sum, number| plus(sum, dram(subject, number, (self.counted, self.launch), model)));
        }
        self.found
    }

    /// A site's access but for its address.
    fn access(&self, number: usize) -> Affine {
        let (subject, own) = (self.subject, self.subject.accesses[number]);
        Affine {
            form: Form::number(0),
            by_thread: None,
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

fn plus(one: [f64; 2], other: [f64; 2]) -> [f64; 2] {
    [one[0] + other[0], one[1] + other[1]]
}

/// Bytes that a site read from DRAM and wrote to it in the run, for as many threads as come to it now.
fn dram(
    subject: &Subject<'_>,
    number: usize,
    (counted, launch): (&[SiteRequests], &Launch),
    model: &Model<'_>,
) -> [f64; 2] {
    let Some(row) = subject.rows[number].filter(|row| row.metrics.lanes > 0) else { return [0.0; 2] };
    let share = match counted[number].basis {
        Basis::Lost(_) => of_run(subject, number, counted, launch),
        _ => counted[number].requests.lanes / row.metrics.lanes as f64,
    };
    let [.., reads, writes] = recorded_bytes(row, model);
    [reads as f64 * share, writes as f64 * share]
}

/// What of a row's figures falls to a site of which nothing is known, for as many threads as come to it now.
fn of_run(subject: &Subject<'_>, number: usize, counted: &[SiteRequests], launch: &Launch) -> f64 {
    let threads = as_many_threads(subject, Some(number), counted, launch);
    subject.share / copies(subject, number) * threads
}

/// How many times as many threads as in the recorded launch come to a site of which nothing is known: as to one that is known under the same guard in the same
/// loops, else in the same loops, else outside loops; else as there are threads.
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

/// Counters of the loops around a site.
fn counters(subject: &Subject<'_>, number: usize) -> Vec<Index> {
    subject.addresses.sites[number].loops.iter().map(|&lap| counter(lap)).collect()
}

/// The site of a thread's first point that a site is a copy of.
fn first_point(subject: &Subject<'_>, number: usize) -> usize {
    let sites = &subject.addresses.sites;
    let is_first = |other: &usize| {
        let one = &sites[*other];
        (subject.copies[*other], one.site, one.loops.len()) == (0, sites[number].site, sites[number].loops.len())
    };
    if subject.copies[number] == 0 { number } else { (0..number).find(is_first).unwrap_or(number) }
}

/// Points of a thread whose sites have one row.
fn copies(subject: &Subject<'_>, number: usize) -> f64 {
    let site = subject.addresses.sites[number].site;
    subject.addresses.sites.iter().filter(|one| one.site == site).count() as f64
}

/// Whether a site's condition is affine, and its guard where not.
fn guard_by_thread(subject: &Subject<'_>, evaluated: &Evaluated, number: usize) -> (bool, Option<ExpressionId>) {
    let site = &subject.addresses.sites[number];
    match condition(subject.addresses, evaluated, site) {
        Ok(None) => (false, site.guard),
        _ => (true, None),
    }
}

/// The condition of a site as far as it is affine.
fn sure_condition(subject: &Subject<'_>, evaluated: &Evaluated, number: usize) -> Option<Truth> {
    let site = &subject.addresses.sites[number];
    match condition(subject.addresses, evaluated, site).ok()? {
        Some(condition) => Some(condition),
        None => affine_part(subject.addresses, evaluated, site).ok(),
    }
}

/// By site: the first one of those that the trace has as one item with it.
fn items(subject: &Subject<'_>) -> Vec<usize> {
    let sites = &subject.addresses.sites;
    let bundle_of = |site: u32| subject.addresses.bundles.iter().position(|bundle| bundle.contains(&site));
    let bundles: Vec<Option<usize>> = sites.iter().map(|site| bundle_of(site.site)).collect();
    let alike = |one: usize, other: usize| {
        bundles[one].is_some() && bundles[one] == bundles[other] && subject.copies[one] == subject.copies[other]
    };
    (0..sites.len()).map(|number| (0..number).find(|&other| alike(number, other)).unwrap_or(number)).collect()
}

/// Whether another point of the thread loads the same already.
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

/// The affine forms of a site's address and where each holds; in doubt that of the launch's inner blocks, which it says.
fn footprint(
    subject: &Subject<'_>,
    launch: &Launch,
    evaluated: &Evaluated,
    number: usize,
) -> Option<(Vec<(Truth, Form)>, bool)> {
    let site = &subject.addresses.sites[number];
    let settle = |form: &Form| {
        is_settled(evaluated, form, site).then(|| settled(subject.addresses, evaluated, form, site).ok()).flatten()
    };
    let unsure = condition(subject.addresses, evaluated, site).ok()?.is_none();
    let condition = sure_condition(subject, evaluated, number)?;
    match evaluated.value(site.address) {
        Value::Form(form) => return Some((vec![(condition, settle(form)?)], unsure)),
        Value::Cases(cases) => {
            let each = cases.iter().map(|(case, form)| {
                let both = Truth::All(vec![condition.clone(), case.map(&settle)?]);
                Some((both.within(&evaluated.bounds), settle(form)?))
            });
            return Some((each.collect::<Option<_>>()?, unsure));
        }
        _ => {}
    }
    let mut inner = evaluated.bounds.clone();
    for axis in 0..3 {
        let range = &mut inner.0[block(axis)];
        if range.1 >= 2 {
            *range = (1, range.1 - 1);
        }
    }
    match Evaluated::within(subject.addresses, launch, &inner, site.address) {
        Value::Form(form) => Some((vec![(condition, settle(&form)?)], true)),
        _ => None,
    }
}
