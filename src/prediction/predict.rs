//! Predicts one configuration of a kernel on one model: requests, traffic, limits.

use warpline_format::matrix::Product;
use warpline_format::occupancy::Kernel;

use super::accesses::{Gathered, gathered};
use super::configurations::is_grid;
use super::count::{Basis, SiteRequests, count};
use super::digits::split_digits;
use super::evaluated::Evaluated;
use super::launch::Launch;
use super::model::Model;
use super::outcome::{INSTRUCTION_ERROR, INTERVAL_ERRORS, Prediction, Refusal};
use super::request::Costs;
use super::shared_memory::outside;
use super::subject::Subject;
use super::sums::Sums;
use super::traffic::capacity::Capacity;
use super::traffic::moved::{Requested, Traffic, touched, traffic};
use warpline_profile::model::Bytes;
use warpline_profile::{Work, of_work};

/// Minimum share of the requested sectors that must be known.
const LEAST_KNOWN: f64 = 0.01;

/// Predicts a configuration.
///
/// # Errors
/// [`Refusal`].
pub fn predict(subject: &Subject<'_>, launch: &Launch, model: &Model<'_>) -> Result<Prediction, Refusal> {
    if !is_grid(launch.grid) {
        return Err(Refusal::Grid { grid: launch.grid });
    }
    let evaluated = Evaluated::new(subject.addresses, launch);
    let Some(apart) = split_digits(subject.addresses, launch, &evaluated) else {
        return predict_forms(subject, launch, &evaluated, model);
    };
    let subject = Subject { addresses: &apart.addresses, ..subject.clone() };
    let found = predict_forms(&subject, &apart.launch, &apart.evaluated, model)?;
    Ok(Prediction { grid: launch.grid, ..found })
}

/// Predicts a launch whose expressions are already evaluated.
fn predict_forms(
    subject: &Subject<'_>,
    launch: &Launch,
    evaluated: &Evaluated,
    model: &Model<'_>,
) -> Result<Prediction, Refusal> {
    let addresses = subject.addresses;
    let mut costs = Costs::new(model.hierarchy);
    let counted = count(addresses, &subject.accesses, launch, evaluated, &mut costs);
    let (resident, shared_bytes) = resident(subject, launch, model)?;
    if let Some(outside) = outside(subject, launch, evaluated, &counted) {
        return Err(Refusal::SharedMemory(outside));
    }

    let mut gathered = gathered(subject, launch, evaluated, &counted, model);
    refuse_unknown(subject, &counted, &gathered)?;
    let capacity = Capacity {
        hierarchy: model.hierarchy,
        l1_lines: model.hierarchy.l1.lines(u64::from(shared_bytes) * u64::from(resident)),
        sms: u64::from(model.rates.sms.max(1)),
        resident: u64::from(resident),
        turn: model.device.turn,
        drift: model.device.order.drift(),
    };
    let requested = Requested { idle: idle_warps(subject, launch, &counted), ..gathered.sums.known };
    let moved = traffic(&gathered.accesses, (addresses, launch), &evaluated.bounds, &capacity, requested);
    for (allocation, lost) in &gathered.lost {
        // Sectors that other accesses of the array touch are already counted.
        let touched = touched(&gathered.accesses, *allocation, launch, &evaluated.bounds);
        let [reads, writes] = [0, 1].map(|kind| lost.own[kind].min((lost.together[kind] - touched[kind]).max(0.0)));
        gathered.sums.measured.dram_loads += reads;
        gathered.sums.measured.dram_stores += writes;
    }
    let mut found = assemble(launch, &gathered.sums, moved);
    found.blocks_per_sm = resident;
    found.active_threads = active_threads(subject, launch, &counted);
    found.has_wavefronts = model.hierarchy.stages.is_some();
    found.sites = counted;
    let work = work(subject, launch, &found);
    if let Some(estimate) = of_work(model.key, model.rates, &work) {
        found.limiter = estimate.limiter;
        found.seconds = Some(estimate.seconds);
        let is_recorded = (launch.block, launch.grid) == (subject.recorded.block, subject.recorded.grid);
        let error = if is_recorded { 0.0 } else { INSTRUCTION_ERROR };
        found.seconds_interval = seconds_interval(model, &work, &found, error);
    }
    Ok(found)
}

/// Refuses a launch that makes no requests, or whose requests are largely unknown.
fn refuse_unknown(subject: &Subject<'_>, counted: &[SiteRequests], gathered: &Gathered) -> Result<(), Refusal> {
    let sums = &gathered.sums;
    if sums.global.requests + sums.shared.requests == 0.0 {
        let unreached = counted.iter().enumerate().find(|(number, site)| subject.is_unknown(*number, site));
        return Err(match unreached {
            Some((number, _)) => Refusal::Unreached { line: subject.line(number) },
            None => Refusal::NoRequests,
        });
    }
    if sums.affine + sums.computed < LEAST_KNOWN * sums.recorded {
        let reasons = gathered.reasons.iter().map(|(place, lost)| format!("{place}: {lost}"));
        return Err(Refusal::NothingKnown { reasons: reasons.take(3).collect() });
    }
    Ok(())
}

/// Combines sums and traffic. Figures that depend on the model's rates or on sites are added later.
fn assemble(launch: &Launch, sums: &Sums, moved: Traffic) -> Prediction {
    let measured = sums.measured;
    Prediction {
        block: launch.block,
        grid: launch.grid,
        blocks_per_sm: 0,
        global: sums.global,
        shared: sums.shared,
        block_load_sectors: moved.block_load_sectors,
        l2_loads: moved.l2_loads + measured.l2_loads,
        l2_stores: moved.l2_stores + measured.l2_stores,
        dram_loads: moved.dram_loads + measured.dram_loads,
        dram_stores: moved.dram_stores + measured.dram_stores,
        wave_pages: moved.wave_pages,
        distinct: moved.distinct,
        repeated_sectors: moved.repeated_sectors,
        l1_oversubscription: moved.l1_oversubscription,
        l2_oversubscription: moved.l2_oversubscription,
        l2_reuse_oversubscription: moved.l2_reuse_oversubscription,
        l2_reuse_lost: moved.l2_reuse_lost,
        active_threads: 0.0,
        has_wavefronts: false,
        limiter: String::new(),
        seconds: None,
        seconds_interval: None,
        affine_share: sums.share(sums.affine),
        computed_share: sums.share(sums.computed),
        sites: Vec::new(),
        replayed: moved.replayed,
        sampled: moved.sampled,
        l2_load_error: moved.l2_load_error,
        dram_load_error: moved.dram_load_error,
        rough: moved.rough,
    }
}

/// Returns the share of the warps that make no requests, estimated from an access outside loops.
fn idle_warps(subject: &Subject<'_>, launch: &Launch, counted: &[SiteRequests]) -> f64 {
    let outside = subject.addresses.sites.iter().zip(counted).filter(|(site, _)| site.loops.is_empty());
    let most = outside.map(|(_, one)| one.requests.requests).fold(0.0, f64::max);
    let all = launch.blocks() as f64 * f64::from(launch.warps());
    if most > 0.0 { (1.0 - most / all).clamp(0.0, 1.0) } else { 0.0 }
}

/// Returns the number of threads that make requests: the largest number of lanes of an access outside loops, or all
/// threads if there is none.
fn active_threads(subject: &Subject<'_>, launch: &Launch, counted: &[SiteRequests]) -> f64 {
    let sites = subject.addresses.sites.iter().zip(counted);
    let outside = sites.filter(|(site, one)| site.loops.is_empty() && !matches!(one.basis, Basis::Lost(_)));
    let most = outside.map(|(_, one)| one.requests.lanes).fold(0.0, f64::max);
    let all = launch.blocks() as f64 * f64::from(launch.threads());
    if most > 0.0 { most.min(all) } else { all }
}

/// Returns the number of resident blocks per SM, and the shared memory of one block.
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

/// Returns the times at both ends of the interval of the traffic and of the instructions, given the relative standard
/// error of the instructions.
fn seconds_interval(model: &Model<'_>, work: &Work, found: &Prediction, error: f64) -> Option<[f64; 2]> {
    let seconds = |errors: f64, [l2, dram]: [f64; 2]| {
        let scaled = |count: u64| (count as f64 * (1.0 + errors * error).max(0.0)).round() as u64;
        let work = Work {
            instructions: scaled(work.instructions),
            fp32: scaled(work.fp32),
            fp64: scaled(work.fp64),
            special: scaled(work.special),
            bytes: Bytes { l2: l2.round() as u64, dram: dram.round() as u64, ..work.bytes },
            ..*work
        };
        of_work(model.key, model.rates, &work).map(|estimate| estimate.seconds)
    };
    let [low, high] = found.traffic_interval();
    Some([seconds(-INTERVAL_ERRORS, low)?, seconds(INTERVAL_ERRORS, high)?])
}

/// Returns the work of the launch. The number of instructions per request is that of the recorded launch.
fn work(subject: &Subject<'_>, launch: &Launch, found: &Prediction) -> Work {
    let recorded: u64 = subject.recorded.metrics.values().map(|metrics| metrics.requests).sum();
    let requests = found.global.requests + found.shared.requests;
    let scale = if recorded == 0 { 0.0 } else { subject.share * requests / recorded as f64 };
    let whole = |count: f64| count.round().max(0.0) as u64;
    let instructions = &subject.kernel.instructions;
    let all: u64 = instructions.values().map(|count| count.warps).sum();
    let results = |class: &str| whole(instructions.get(class).map_or(0, |count| count.warps) as f64 * 32.0 * scale);
    // Only the profile's estimate contains the work of tensor cores and the conflicts of atomic operations.
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
