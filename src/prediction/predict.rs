//! One configuration of a kernel on one model: requests, traffic, limits.

use std::collections::BTreeSet;

use warpline_format::device::Device;
use warpline_format::matrix::Product;
use warpline_format::occupancy::{Kernel, Stated};

use super::count::{Basis, SiteRequests, condition, count, settled};
use super::digits::taken_apart;
use super::evaluate::{Evaluated, Lost, Value};
use super::form::{Form, Truth, block, counter};
use super::launch::Launch;
use super::request::{Costs, Requests};
use super::shared_memory::{Outside, outside};
use super::subject::Subject;
use super::traffic::caches::{Levels, Replayed, Requested, traffic};
use super::traffic::capacity::Capacity;
use super::traffic::volumes::Affine;
use crate::hierarchy::HierarchyConfig;
use crate::models::Rates;
use crate::profile::model::{Bytes, Site};
use crate::profile::{Work, of_work};

/// Share of an L2 of two partitions that copies take, beside what they are copies of, of what the blocks of an SM come back to in loops (fitted).
const COPIED: f64 = 0.75;
/// Conditions that a case of an access is taken apart into, at most.
const MOST_ALTERNATIVES: usize = 8;
/// Share of the requested sectors of which something has to be known.
const LEAST_KNOWN: f64 = 0.01;

/// A GPU model.
#[derive(Clone, Debug)]
pub struct Model<'a> {
    /// Name on the command line.
    pub key: &'a str,
    /// What occupancy needs.
    pub device: &'a Device,
    /// Its caches.
    pub hierarchy: &'a HierarchyConfig,
    /// Its rates.
    pub rates: &'a Rates,
    /// What the user says of occupancy.
    pub stated: Stated,
}

/// What is predicted of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Threads per block.
    pub block: [u32; 3],
    /// Blocks.
    pub grid: [u32; 3],
    /// Blocks that share an SM.
    pub blocks_per_sm: u32,
    /// Requests to global memory.
    pub global: Requests,
    /// Requests to shared memory.
    pub shared: Requests,
    /// Distinct 32-byte sectors that a block loads, in the mean.
    pub block_load_sectors: f64,
    /// Bytes.
    pub l2_loads: f64,
    /// Bytes.
    pub l2_stores: f64,
    /// Bytes.
    pub dram_loads: f64,
    /// Bytes.
    pub dram_stores: f64,
    /// Pages of 2 MiB that a wave of blocks touches.
    pub wave_pages: f64,
    /// Sectors that the requests of a block load again, of all blocks.
    pub repeated_sectors: f64,
    /// What the blocks of an SM load, over what L1 holds.
    pub l1_oversubscription: f64,
    /// What a wave of blocks touches, over what L2 holds.
    pub l2_oversubscription: f64,
    /// What lies between two uses of what earlier waves touched, over what L2 holds.
    pub l2_reuse_oversubscription: f64,
    /// Share of what blocks load that earlier ones touched, as far as it comes from DRAM again.
    pub l2_reuse_lost: f64,
    /// Threads that make requests, as far as an access outside loops tells; else all.
    pub active_threads: f64,
    /// The model has rules for the passes through the stages of L1.
    pub has_wavefronts: bool,
    /// Name of the slowest part; empty where no rate is known.
    pub limiter: String,
    /// Seconds at least; `None` where no rate is known.
    pub seconds: Option<f64>,
    /// Share of the requested sectors whose addresses were affine.
    pub affine_share: f64,
    /// Of the others: those that were counted thread by thread.
    pub computed_share: f64,
    /// By site of the addresses: its requests and what they rest on.
    pub sites: Vec<(Requests, Basis)>,
    /// What L1's figures were taken from.
    pub replayed: Replayed,
    /// What L2 and DRAM move for some addresses was taken from the run, though their requests were counted.
    pub recorded_traffic: bool,
    /// Footprints left edges or overlaps out of account.
    pub rough: bool,
}

/// Why a configuration cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No block fits on an SM.
    #[error(
        "a block of {threads} threads with {registers} registers and {shared} bytes of shared memory does not fit on an SM of {model}"
    )]
    DoesNotFit {
        /// Threads.
        threads: u32,
        /// Registers per thread.
        registers: u32,
        /// Bytes.
        shared: u32,
        /// Model.
        model: String,
    },
    /// The code has shared memory for smaller blocks.
    #[error(
        "line {} reaches byte {} of shared memory, of which the code has {} bytes", .0.line, .0.end, .0.size
    )]
    SharedMemory(Outside),
    /// Its conditions leave nothing to do, as where an array has no elements.
    #[error("no thread of the launch makes a request")]
    NoRequests,
    /// Nothing of its traffic follows from the launch.
    #[error("nothing of this kernel's traffic follows from its launch: {}", reasons.join("; "))]
    NothingKnown {
        /// Of its sites, each once.
        reasons: Vec<String>,
    },
}

/// Predicts a configuration.
///
/// # Errors
/// [`Refusal`].
pub fn predict(subject: &Subject<'_>, launch: &Launch, model: &Model<'_>) -> Result<Prediction, Refusal> {
    let evaluated = Evaluated::new(subject.addresses, launch);
    let Some(apart) = taken_apart(subject.addresses, launch, &evaluated) else {
        return of_forms(subject, launch, &evaluated, model);
    };
    let subject = Subject { addresses: &apart.addresses, ..subject.clone() };
    let found = of_forms(&subject, &apart.launch, &apart.evaluated, model)?;
    Ok(Prediction { grid: launch.grid, ..found })
}

/// Predicts a launch whose expressions are forms already.
fn of_forms(
    subject: &Subject<'_>,
    launch: &Launch,
    evaluated: &Evaluated,
    model: &Model<'_>,
) -> Result<Prediction, Refusal> {
    let addresses = subject.addresses;
    let mut costs = Costs::new(model.hierarchy);
    let counted = count(addresses, &subject.accesses, launch, evaluated, &mut costs);
    let (resident, shared_bytes) = resident(subject, launch, model)?;
    if let Some(outside) = outside(subject, launch, evaluated) {
        return Err(Refusal::SharedMemory(outside));
    }

    let items = items(subject);
    let mut sums = Sums::default();
    let mut accesses = Vec::new();
    let mut reasons: BTreeSet<(String, Lost)> = BTreeSet::new();
    let (mut rough, mut recorded_traffic) = (false, false);
    for (number, site) in counted.iter().enumerate() {
        let row = subject.rows[number];
        let op = row.map_or("load", |row| row.op.as_str());
        let (loads, stores) = (op == "load", op != "load");
        match site.basis {
            Basis::Lost(lost) => {
                // What was never executed costs nothing.
                let Some(row) = row else { continue };
                reasons.insert((format!("line {}", row.line), lost));
                sums.add_recorded(row, subject.share, model);
                continue;
            }
            // Points of a thread load what they have in common once, and keep it in registers.
            _ if loads && !subject.accesses[number].shared && in_register(subject, evaluated, number) => continue,
            Basis::Affine => sums.affine += site.requests.sectors * global(subject.accesses[number].shared),
            Basis::Threads | Basis::Sample => {
                sums.computed += site.requests.sectors * global(subject.accesses[number].shared)
            }
        }
        if subject.accesses[number].shared {
            sums.shared.add(&site.requests, 1.0);
            continue;
        }
        sums.global.add(&site.requests, 1.0);
        if site.requests.requests == 0.0 {
            continue;
        }
        match footprint(subject, launch, evaluated, number) {
            Some((cases, unsure)) => {
                rough |= unsure;
                sums.known.unsure |= unsure;
                let each = cases.into_iter().flat_map(|(condition, form)| {
                    let apart = condition.alternatives(MOST_ALTERNATIVES).unwrap_or_else(|| vec![condition]);
                    apart.into_iter().map(move |condition| (condition, form.clone()))
                });
                let cases: Vec<(Truth, Form)> = each.collect();
                *(if loads { &mut sums.known.loaded } else { &mut sums.known.stored }) += site.requests.sectors;
                if op == "atomic" {
                    sums.known.atomics += site.requests.sectors;
                }
                sums.known.lines += site.requests.lines;
                let sectors = site.requests.sectors / cases.len() as f64;
                accesses.extend(cases.into_iter().map(|(condition, form)| Affine {
                    form,
                    condition,
                    bytes: subject.accesses[number].bytes,
                    site: number,
                    item: items[number],
                    allocation: subject.allocations[number],
                    loads,
                    stores,
                    atomic: op == "atomic",
                    past_l1: subject.accesses[number].past_l1,
                    counters: subject.addresses.sites[number].loops.iter().map(|&lap| counter(lap)).collect(),
                    sectors,
                }));
            }
            None => {
                (rough, recorded_traffic) = (true, true);
                if let Some(row) = row {
                    sums.add_recorded_traffic(row, subject.share, model);
                }
            }
        }
    }
    for row in &subject.others {
        sums.add_recorded(row, subject.share, model);
    }
    if sums.global.requests + sums.shared.requests == 0.0 {
        return Err(Refusal::NoRequests);
    }
    if sums.affine + sums.computed < LEAST_KNOWN * sums.recorded {
        let reasons = reasons.into_iter().map(|(place, lost)| format!("{place}: {lost}"));
        return Err(Refusal::NothingKnown { reasons: reasons.take(3).collect() });
    }
    let l1 = model.hierarchy.l1.lines(u64::from(shared_bytes) * u64::from(resident));
    let l2_bytes = model.hierarchy.l2.bytes() as f64;
    let more_parts = f64::from(model.hierarchy.l2.partitions.max(1) - 1);
    let capacity = Capacity {
        l1: f64::from(l1) * f64::from(model.hierarchy.l1.line_bytes),
        // Two parts that keep copies of each other's lines hold less that differs.
        l2: l2_bytes / (1.0 + COPIED * more_parts),
        l2_all: l2_bytes,
        l2_partitions: model.hierarchy.l2.partitions.max(1),
        in_step: model.device.drift() == 0,
        l2_ways: model.hierarchy.l2.ways,
        sms: u64::from(model.rates.sms.max(1)),
        resident: u64::from(resident),
        caches_loads: model.hierarchy.l1.caches_global_loads,
        l1_lines: l1,
        turn: model.device.turn,
    };
    let traffic_model = Levels { hierarchy: model.hierarchy, capacity: &capacity };
    let moved = traffic(&accesses, launch, &evaluated.bounds, &traffic_model, sums.known);
    let mut found = Prediction {
        block: launch.block,
        grid: launch.grid,
        blocks_per_sm: resident,
        global: sums.global,
        shared: sums.shared,
        block_load_sectors: moved.block_load_sectors,
        l2_loads: moved.l2_loads + sums.recorded_bytes[0],
        l2_stores: moved.l2_stores + sums.recorded_bytes[1],
        dram_loads: moved.dram_loads + sums.recorded_bytes[2],
        dram_stores: moved.dram_stores + sums.recorded_bytes[3],
        wave_pages: moved.wave_pages,
        repeated_sectors: moved.repeated_sectors,
        l1_oversubscription: moved.l1_oversubscription,
        l2_oversubscription: moved.l2_oversubscription,
        l2_reuse_oversubscription: moved.l2_reuse_oversubscription,
        l2_reuse_lost: moved.l2_reuse_lost,
        active_threads: active_threads(subject, launch, &counted),
        has_wavefronts: model.hierarchy.stages.is_some(),
        limiter: String::new(),
        seconds: None,
        affine_share: share(sums.affine, &sums),
        computed_share: share(sums.computed, &sums),
        sites: counted.iter().map(|site| (site.requests, site.basis)).collect(),
        replayed: moved.replayed,
        recorded_traffic,
        rough: rough || moved.rough,
    };
    if let Some(estimate) = of_work(model.key, model.rates, &work(subject, launch, &found)) {
        found.limiter = estimate.limiter;
        found.seconds = Some(estimate.seconds);
    }
    Ok(found)
}

/// Threads that make requests: the most lanes of an access outside loops, of all threads where there is none.
fn active_threads(subject: &Subject<'_>, launch: &Launch, counted: &[SiteRequests]) -> f64 {
    let sites = subject.addresses.sites.iter().zip(counted);
    let outside = sites.filter(|(site, one)| site.loops.is_empty() && !matches!(one.basis, Basis::Lost(_)));
    let most = outside.map(|(_, one)| one.requests.lanes).fold(0.0, f64::max);
    let all = launch.blocks() as f64 * f64::from(launch.threads());
    if most > 0.0 { most.min(all) } else { all }
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
            && subject.rows[other].is_none_or(|row| row.op == "load")
            && matches!(evaluated.value(before.address), Value::Form(known) if known == form)
    })
}

fn global(shared: bool) -> f64 {
    f64::from(u8::from(!shared))
}

fn share(part: f64, sums: &Sums) -> f64 {
    let all = sums.affine + sums.computed + sums.recorded;
    if all == 0.0 { 1.0 } else { part / all }
}

/// Sums over a kernel's sites.
#[derive(Default)]
struct Sums {
    global: Requests,
    shared: Requests,
    /// Of requests whose footprint is known.
    known: Requested,
    /// Sectors requested, by what is known of them.
    affine: f64,
    computed: f64,
    recorded: f64,
    /// As measured: loads and stores of L2, reads and writes of DRAM.
    recorded_bytes: [f64; 4],
}

impl Sums {
    /// What was measured of a site.
    fn add_recorded(&mut self, row: &Site, share: f64, model: &Model<'_>) {
        let metrics = &row.metrics;
        let passes = metrics.l1_wavefronts.unwrap_or_default();
        let shared = metrics.shared.clone().unwrap_or_default();
        let requests = Requests {
            requests: metrics.requests as f64,
            lanes: metrics.lanes as f64,
            sectors: metrics.sectors as f64,
            lines: 0.0,
            ideal_sectors: metrics.ideal_sectors as f64,
            wavefronts: (passes.data + shared.wavefronts) as f64,
            ideal_wavefronts: (passes.ideal_data + shared.ideal_wavefronts) as f64,
            tags: passes.tag as f64,
            words: passes.words as f64,
        };
        match row.space.as_str() {
            "shared" => self.shared.add(&requests, share),
            "constant" => {}
            _ => {
                self.global.add(&requests, share);
                self.recorded += requests.sectors * share;
                self.add_recorded_traffic(row, share, model);
            }
        }
    }

    fn add_recorded_traffic(&mut self, row: &Site, share: f64, model: &Model<'_>) {
        let other = row.metrics.other_models.get(model.key);
        let l2 = other.map(|other| other.l2).or(row.metrics.l2).unwrap_or_default();
        let dram = other.map(|other| other.dram).or(row.metrics.dram).unwrap_or_default();
        let lookup = model.rates.lookup_bytes.1;
        let bytes = [
            l2.load_lookups * lookup,
            (l2.lookups - l2.load_lookups.min(l2.lookups)) * lookup,
            dram.read_sectors * 32,
            dram.write_sectors * 32,
        ];
        for (sum, bytes) in self.recorded_bytes.iter_mut().zip(bytes) {
            *sum += bytes as f64 * share;
        }
    }
}

/// The affine forms of a site's address and where each holds; in doubt that of the launch's inner blocks, which it says.
fn footprint(
    subject: &Subject<'_>,
    launch: &Launch,
    evaluated: &Evaluated,
    number: usize,
) -> Option<(Vec<(Truth, Form)>, bool)> {
    let site = &subject.addresses.sites[number];
    let settle = |form: &Form| settled(subject.addresses, evaluated, form, site).ok();
    let condition = condition(subject.addresses, evaluated, site).ok()?;
    let unsure = condition.is_none();
    let condition = condition.unwrap_or(Truth::Known(true));
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

/// Blocks that share an SM, and the shared memory of one.
fn resident(subject: &Subject<'_>, launch: &Launch, model: &Model<'_>) -> Result<(u32, u32), Refusal> {
    let shared = subject.recorded.static_shared_bytes.saturating_add(subject.recorded.dynamic_shared_bytes);
    let known = &subject.addresses.resources;
    let wanted = if known.is_empty() && model.stated.registers.is_none() {
        warpline_format::occupancy::Registers { count: subject.recorded.registers.max(1), assumed: true }
    } else {
        model.device.registers(Kernel { known, max_threads: 0, min_blocks: 0 }, model.stated)
    };
    let registers = model.device.fitting(wanted, launch.threads());
    match model.device.blocks_on_sm(launch.threads(), registers.count, shared, model.stated) {
        0 => Err(Refusal::DoesNotFit {
            threads: launch.threads(),
            registers: registers.count,
            shared,
            model: model.key.to_owned(),
        }),
        blocks => Ok((blocks, shared)),
    }
}

/// What the launch asks of the GPU. Instructions are those of the recorded launch, as many to a request.
fn work(subject: &Subject<'_>, launch: &Launch, found: &Prediction) -> Work {
    let recorded: u64 = subject.recorded.metrics.values().map(|metrics| metrics.requests).sum();
    let requests = found.global.requests + found.shared.requests;
    let scale = if recorded == 0 { 0.0 } else { subject.share * requests / recorded as f64 };
    let whole = |count: f64| count.round().max(0.0) as u64;
    let instructions = &subject.kernel.instructions;
    let all: u64 = instructions.values().map(|count| count.warps).sum();
    let results = |class: &str| whole(instructions.get(class).map_or(0, |count| count.warps) as f64 * 32.0 * scale);
    // The profile has what tensor cores did, and which atomic operations meet, in its estimate only.
    let limits = subject.kernel.estimates.first().map(|estimate| &estimate.limits[..]).unwrap_or_default();
    let of_limit = |name: &str| {
        let amount = limits.iter().find(|limit| limit.name == name).map_or(0, |limit| limit.amount);
        whole(amount as f64 * scale)
    };
    Work {
        blocks: launch.blocks() as f64,
        instructions: whole(all as f64 * scale),
        fp32: results("fp32"),
        fp64: results("fp64"),
        special: results("special"),
        products: Product::ALL.map(|kind| of_limit(kind.name())),
        atomic_address: of_limit("atomic_address"),
        shared_atomics: of_limit("shared_atomics"),
        data: whole(found.global.wavefronts),
        ideal_data: whole(found.global.ideal_wavefronts),
        tag: whole(found.global.tags),
        ideal_tag: whole(found.global.tags.min(found.global.requests)),
        words: whole(found.global.words * 32.0),
        shared: whole(found.shared.wavefronts),
        ideal_shared: whole(found.shared.ideal_wavefronts),
        bytes: Bytes {
            l1: whole(found.global.sectors * 32.0),
            l2: whole(found.l2_loads + found.l2_stores),
            dram: whole(found.dram_loads + found.dram_stores),
            bus: 0,
        },
    }
}
