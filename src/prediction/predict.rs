//! One configuration of a kernel on one model: requests, traffic, limits.

use warpline_format::device::Device;
use warpline_format::matrix::Product;
use warpline_format::occupancy::{Kernel, Stated};

use super::accesses::{Gathered, gathered};
use super::configurations::is_grid;
use super::count::{Basis, SiteRequests, count};
use super::digits::taken_apart;
use super::evaluate::Evaluated;
use super::launch::Launch;
use super::request::{Costs, Requests};
use super::shared_memory::{Outside, outside};
use super::subject::Subject;
use super::traffic::by_thread::first_touches;
use super::traffic::caches::{Distinct, Levels, Replayed, Sampled, traffic};
use super::traffic::capacity::Capacity;
use super::traffic::volumes::{Affine, touched};
use warpline_profile::model::Bytes;
use warpline_profile::{Work, of_work};
use warpline_simulator::hierarchy::HierarchyConfig;
use warpline_simulator::models::Rates;

/// Share of an L2 of two partitions that copies take, beside what they are copies of, of what the blocks of an SM come back to in loops (fitted).
const COPIED: f64 = 0.75;
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
    /// Distinct sectors and lines of a wave and of the launch.
    pub distinct: Distinct,
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
    pub sites: Vec<SiteRequests>,
    /// What L1's figures were taken from.
    pub replayed: Replayed,
    /// What L2's and DRAM's figures were taken from; `None` where they were estimated.
    pub sampled: Option<Sampled>,
    /// What DRAM moves for some addresses was taken from the run, though their requests were counted.
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
    /// No GPU takes a grid of so many blocks along an axis.
    #[error("a grid of {}x{}x{} blocks: 2147483647 along x, 65535 along y and z at most", grid[0], grid[1], grid[2])]
    Grid {
        /// Blocks.
        grid: [u32; 3],
    },
    /// Its conditions leave nothing to do, as where an array has no elements.
    #[error("no thread of the launch makes a request")]
    NoRequests,
    /// All that it does is code that the run did not reach, and of which it is not known what it does.
    #[error(
        "line {line} and all else that the launch comes to was not reached by the run, and what is done there is not known: run the program \
         with sizes at which it is"
    )]
    Unreached {
        /// Of the first access.
        line: u32,
    },
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
    if !is_grid(launch.grid) {
        return Err(Refusal::Grid { grid: launch.grid });
    }
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
    if let Some(outside) = outside(subject, launch, evaluated, &counted) {
        return Err(Refusal::SharedMemory(outside));
    }

    let Gathered { mut sums, accesses, unmeasured, measured, by_thread, reasons, rough } =
        gathered(subject, launch, evaluated, &counted, model);
    if sums.global.requests + sums.shared.requests == 0.0 {
        let unreached = counted.iter().enumerate().find(|(number, site)| subject.is_untold(*number, site));
        return Err(match unreached {
            Some((number, _)) => Refusal::Unreached { line: subject.line(number) },
            None => Refusal::NoRequests,
        });
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
        drift: model.device.order.drift(),
        l2_ways: model.hierarchy.l2.ways,
        sms: u64::from(model.rates.sms.max(1)),
        resident: u64::from(resident),
        caches_loads: model.hierarchy.l1.caches_global_loads,
        l1_lines: l1,
        turn: model.device.turn,
    };
    let traffic_model = Levels { hierarchy: model.hierarchy, capacity: &capacity };
    sums.known.idle = idle_warps(subject, launch, &counted);
    let moved = traffic(&accesses, (addresses, launch), &evaluated.bounds, &traffic_model, sums.known);
    let mut dram = [0.0; 2];
    for (allocation, measured) in measured {
        // What other accesses of the array touch by their footprints has been counted.
        let touched = touched(&accesses, allocation, launch, &evaluated.bounds);
        let kinds = measured.own.into_iter().zip(measured.together).zip(touched);
        for (sum, ((own, together), touched)) in dram.iter_mut().zip(kinds) {
            *sum += own.min((together - 32.0 * touched).max(0.0));
        }
    }
    // However many more threads come to them: what L2 is not asked for DRAM is not, but for sectors that stores leave incomplete.
    let stored = accesses.iter().filter(|access| !access.has_footprint() && access.stores);
    let stored = 32.0 * stored.map(|access| access.sectors).sum::<f64>();
    sums.other_bytes[2] += dram[0].min(moved.by_thread_loads + sums.other_bytes[0] + stored + sums.other_bytes[1]);
    sums.other_bytes[3] += dram[1].min(stored + sums.other_bytes[1]);
    if !unmeasured.is_empty() {
        // Once, or each time where that is too much to look at.
        let each_time = |wanted: fn(&Affine) -> bool| -> f64 {
            unmeasured.iter().filter(|access| wanted(access)).map(|access| access.sectors).sum()
        };
        let once = first_touches(&unmeasured, (addresses, launch), &evaluated.bounds);
        let (reads, writes) = once.unwrap_or_else(|| (each_time(Affine::reads), each_time(|access| access.stores)));
        sums.other_bytes[2] += 32.0 * reads;
        sums.other_bytes[3] += 32.0 * writes;
    }
    let mut found = Prediction {
        block: launch.block,
        grid: launch.grid,
        blocks_per_sm: resident,
        global: sums.global,
        shared: sums.shared,
        block_load_sectors: moved.block_load_sectors,
        l2_loads: moved.l2_loads + sums.other_bytes[0],
        l2_stores: moved.l2_stores + sums.other_bytes[1],
        dram_loads: moved.dram_loads + sums.other_bytes[2],
        dram_stores: moved.dram_stores + sums.other_bytes[3],
        wave_pages: moved.wave_pages,
        distinct: moved.distinct,
        repeated_sectors: moved.repeated_sectors,
        l1_oversubscription: moved.l1_oversubscription,
        l2_oversubscription: moved.l2_oversubscription,
        l2_reuse_oversubscription: moved.l2_reuse_oversubscription,
        l2_reuse_lost: moved.l2_reuse_lost,
        active_threads: active_threads(subject, launch, &counted),
        has_wavefronts: model.hierarchy.stages.is_some(),
        limiter: String::new(),
        seconds: None,
        affine_share: sums.share(sums.affine),
        computed_share: sums.share(sums.computed),
        sites: counted,
        replayed: moved.replayed,
        sampled: moved.sampled,
        recorded_traffic: by_thread,
        rough: rough || moved.rough,
    };
    if let Some(estimate) = of_work(model.key, model.rates, &work(subject, launch, &found)) {
        found.limiter = estimate.limiter;
        found.seconds = Some(estimate.seconds);
    }
    Ok(found)
}

/// The share of the warps that make no requests, as far as an access outside loops tells.
fn idle_warps(subject: &Subject<'_>, launch: &Launch, counted: &[SiteRequests]) -> f64 {
    let outside = subject.addresses.sites.iter().zip(counted).filter(|(site, _)| site.loops.is_empty());
    let most = outside.map(|(_, one)| one.requests.requests).fold(0.0, f64::max);
    let all = launch.blocks() as f64 * f64::from(launch.warps());
    if most > 0.0 { (1.0 - most / all).clamp(0.0, 1.0) } else { 0.0 }
}

/// Threads that make requests: the most lanes of an access outside loops, of all threads where there is none.
fn active_threads(subject: &Subject<'_>, launch: &Launch, counted: &[SiteRequests]) -> f64 {
    let sites = subject.addresses.sites.iter().zip(counted);
    let outside = sites.filter(|(site, one)| site.loops.is_empty() && !matches!(one.basis, Basis::Lost(_)));
    let most = outside.map(|(_, one)| one.requests.lanes).fold(0.0, f64::max);
    let all = launch.blocks() as f64 * f64::from(launch.threads());
    if most > 0.0 { most.min(all) } else { all }
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
