//! The bottleneck estimate of a kernel: its work on each hardware unit divided by the rate of the unit.
//!
//! The estimate follows the limiter model of Ernst et al. (Warpspeed, sections 2 and 4). It considers each of these
//! separately: bytes from DRAM and from L2, passes through the stages of L1, issued instructions, products of tensor
//! cores, and atomic operations on one address. It assumes that all of them overlap and that no latency is exposed. The
//! time is therefore a lower bound, and the slowest unit is the limiter. Units whose rate is not in the model are
//! omitted and listed.

use std::collections::BTreeMap;

use warpline_format::access::Space;
use warpline_format::event::LaunchId;
use warpline_format::matrix::Product;

use crate::model::{Bytes, Estimate, IdealEstimate, Limit, nine_digits};
use warpline_analyzer::analysis::{KernelData, LaunchData};
use warpline_simulator::geometry::SECTOR_BYTES;
use warpline_simulator::metrics::Counters;
use warpline_simulator::models::Rates;

/// A launch, or the sums of several launches of one shape, with their number.
type Launches<'a> = (&'a LaunchData, u64);

/// Work of a launch on one hardware unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    pub(super) amount: u64,
    /// The amount of work if all requests were ideal.
    pub(super) ideal: u64,
}

impl Demand {
    fn same(amount: u64) -> Demand {
        Demand { amount, ideal: amount }
    }
}

/// A hardware unit of the GPU: name, unit of the amounts, amount per second, and whether each SM has one.
struct HardwareUnit {
    name: &'static str,
    unit: &'static str,
    rate: Option<f64>,
    per_sm: bool,
}

/// Returns the estimates of a kernel for each model. `models` contains names and rates in the order of the traffic.
/// `left_out` returns whether a model's figures lack a launch.
pub(super) fn estimates<'a>(
    kernel: &KernelData,
    models: impl Iterator<Item = (&'a String, &'a Rates)>,
    left_out: &dyn Fn(usize, LaunchId) -> bool,
) -> Vec<Estimate> {
    let launches = whole(kernel);
    let mut first_banks = None;
    let mut all = Vec::new();
    for (number, (name, rates)) in models.enumerate() {
        let banks = *first_banks.get_or_insert(rates.shared_banks);
        let launches: Vec<Launches<'_>> =
            launches.iter().copied().filter(|(launch, _)| !left_out(number, launch.event.id)).collect();
        all.extend(estimate(name, number, rates, banks == rates.shared_banks, &launches));
    }
    all
}

/// Returns the seconds of each launch on the first model, which has these rates. Launches that [`estimates`] omits have
/// none.
pub(super) fn seconds(
    kernel: &KernelData,
    rates: &Rates,
    left_out: &dyn Fn(usize, LaunchId) -> bool,
) -> BTreeMap<LaunchId, f64> {
    let alone = kernel.launches.iter().filter(|launch| is_whole(launch) && !left_out(0, launch.event.id));
    alone.filter_map(|launch| Some((launch.event.id, estimate("", 0, rates, true, &[(launch, 1)])?.seconds))).collect()
}

/// Returns the launches that were completely recorded and ended without an error, in order.
///
/// A group of launches is treated as one launch with the summed work. Its time is exact if the same unit is the slowest
/// in all launches; otherwise, it is too low.
fn whole(kernel: &KernelData) -> Vec<Launches<'_>> {
    let groups = kernel.groups.values().map(|group| (&group.sum, group.launches));
    let all = kernel.launches.iter().map(|launch| (launch, 1)).chain(groups);
    let mut launches: Vec<Launches<'_>> = all.filter(|(launch, _)| is_whole(launch)).collect();
    launches.sort_by_key(|(launch, _)| launch.event.id);
    launches
}

/// Returns whether a launch is complete. A stopped kernel has done only a part of its work.
fn is_whole(launch: &LaunchData) -> bool {
    launch.event.block_share == 1 && launch.error == Some(0)
}

/// Estimates a kernel on one model; returns `None` if nothing is known about it. `same_banks` states that shared memory
/// was counted for this model's banks.
fn estimate(name: &str, number: usize, rates: &Rates, same_banks: bool, launches: &[Launches<'_>]) -> Option<Estimate> {
    let mut bytes = Bytes::default();
    let work: Vec<_> = launches
        .iter()
        .map(|(launch, _)| {
            let blocks = launch.event.grid.iter().map(|&size| f64::from(size)).product::<f64>();
            (demands(launch, number, rates, &mut bytes), blocks)
        })
        .collect();
    let count = launches.iter().map(|(_, count)| count).sum();
    slowest(name, rates, same_banks, &work, bytes, count)
}

/// Work of a launch that was not run; `predict` computes it from address expressions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Number of blocks.
    pub blocks: f64,
    /// Warp instructions.
    pub instructions: u64,
    /// Single-precision results, including those of inactive lanes.
    pub fp32: u64,
    /// Double-precision results.
    pub fp64: u64,
    /// Results of the special function units.
    pub special: u64,
    /// Multiply-adds of tensor cores.
    pub products: [u64; Product::ALL.len()],
    /// Passes of global requests through the stages of L1.
    pub data: u64,
    /// Passes through the data stage with ideal requests.
    pub ideal_data: u64,
    /// Passes of global requests through the tag stage of L1.
    pub tag: u64,
    /// Passes through the tag stage with ideal requests.
    pub ideal_tag: u64,
    /// Words that the load/store units move.
    pub words: u64,
    /// Passes through the banks of shared memory.
    pub shared: u64,
    /// Passes through the banks of shared memory without bank conflicts.
    pub ideal_shared: u64,
    /// Atomic operations on the most frequent address of global memory.
    pub atomic_address: u64,
    /// Atomic operations on shared memory that run one after the other.
    pub shared_atomics: u64,
    /// Bytes moved.
    pub bytes: Bytes,
}

/// Returns the estimate of a launch that was not run, with the same limits as for recorded launches.
pub fn of_work(name: &str, rates: &Rates, work: &Work) -> Option<Estimate> {
    let (mut data, mut shared) = (
        Demand { amount: work.data, ideal: work.ideal_data },
        Demand { amount: work.shared, ideal: work.ideal_shared },
    );
    share_data_stage(rates, &mut data, &mut shared);
    let demands = [
        Demand::same(work.instructions),
        Demand::same(work.fp32),
        Demand::same(work.fp64),
        Demand::same(work.special),
        data,
        Demand { amount: work.tag, ideal: work.ideal_tag },
        Demand::same(work.words),
        shared,
        // Address expressions do not show the addresses of requests to constant memory.
        Demand::default(),
        Demand::same(work.bytes.l2),
        Demand::same(work.bytes.dram),
        Demand::same(work.bytes.bus),
        Demand::same(work.atomic_address),
        Demand::same(work.shared_atomics),
        Demand::same(work.products[0]),
        Demand::same(work.products[1]),
        Demand::same(work.products[2]),
        Demand::same(work.products[3]),
        Demand::same(work.products[4]),
        Demand::same(work.products[5]),
    ];
    slowest(name, rates, true, &[(demands, work.blocks)], work.bytes, 1)
}

/// Returns the limits of launches, given each launch's demands in the order of [`hardware_units`] and its number of
/// blocks.
pub(super) fn slowest(
    name: &str,
    rates: &Rates,
    same_banks: bool,
    launches: &[([Demand; UNITS], f64)],
    bytes: Bytes,
    count: u64,
) -> Option<Estimate> {
    let units = hardware_units(rates, same_banks);
    let mut sums = vec![(Demand::default(), 0.0f64, 0.0f64); units.len()];
    let mut total = (0.0f64, 0.0f64);
    for (demands, blocks) in launches {
        let active = (blocks / f64::from(rates.sms.max(1))).min(1.0);
        let mut longest = (0.0f64, 0.0f64);
        for ((unit, demand), (sum, seconds, ideal)) in units.iter().zip(demands).zip(&mut sums) {
            sum.amount = sum.amount.saturating_add(demand.amount);
            sum.ideal = sum.ideal.saturating_add(demand.ideal);
            let Some(rate) = unit.rate else { continue };
            let rate = if unit.per_sm { rate * active } else { rate };
            let (now, then) = (demand.amount as f64 / rate, demand.ideal as f64 / rate);
            *seconds += now;
            *ideal += then;
            longest = (longest.0.max(now), longest.1.max(then));
        }
        total = (total.0 + longest.0, total.1 + longest.1);
    }
    let mut limits = Vec::new();
    let mut unknown = Vec::new();
    let mut ideal_limiter = ("", 0.0f64);
    for (unit, (sum, seconds, ideal)) in units.iter().zip(&sums) {
        match unit.rate {
            _ if sum.amount == 0 => {}
            None => unknown.push(unit.name.to_owned()),
            Some(rate) => {
                limits.push(Limit {
                    name: unit.name.to_owned(),
                    amount: sum.amount,
                    unit: unit.unit.to_owned(),
                    rate: nine_digits(rate),
                    seconds: nine_digits(*seconds),
                });
                if *ideal > ideal_limiter.1 {
                    ideal_limiter = (unit.name, *ideal);
                }
            }
        }
    }
    limits.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    let limiter = limits.first()?.name.clone();
    Some(Estimate {
        model: name.to_owned(),
        launches: count,
        limiter,
        exact: None,
        seconds: nine_digits(total.0),
        bytes,
        limits,
        unknown,
        ideal: IdealEstimate {
            limiter: ideal_limiter.0.to_owned(),
            seconds: nine_digits(total.1),
            gain: nine_digits(if total.1 > 0.0 { total.0 / total.1 } else { 1.0 }),
        },
    })
}

/// Returns the hardware units, in the order of [`demands`].
fn hardware_units(rates: &Rates, same_banks: bool) -> [HardwareUnit; UNITS] {
    // The rate is per cycle and SM, and there are `sms` SMs.
    let per_cycle = |rate: Option<f64>| Some(rate? * rates.clock_hz? * f64::from(rates.sms));
    let per_sm = |name, unit, rate| HardwareUnit { name, unit, rate: per_cycle(rate), per_sm: true };
    let products = |kind: Product| per_sm(kind.name(), "multiply-adds", rates.products[kind as usize]);
    let shared = rates.shared_passes.filter(|_| same_banks);
    [
        per_sm("instructions", "warp instructions", rates.issue),
        per_sm("fp32", "results", rates.fp32),
        per_sm("fp64", "results", rates.fp64),
        per_sm("special", "results", rates.special),
        per_sm("l1_data", "passes", rates.stage_passes.filter(|_| same_banks || !rates.unified)),
        per_sm("l1_tag", "passes", rates.stage_passes),
        per_sm("l1_lanes", "words", rates.lane_words),
        per_sm("shared", "passes", shared),
        // Requests to one address of constant memory are as fast as registers. Each further address takes a pass. No
        // model contains the rate of passes, so one per cycle is assumed.
        per_sm("constant", "passes", Some(1.0)),
        HardwareUnit { name: "l2", unit: "bytes", rate: rates.l2, per_sm: false },
        HardwareUnit { name: "dram", unit: "bytes", rate: rates.dram, per_sm: false },
        // The rate of host memory depends on the machine, so no model contains it.
        HardwareUnit { name: "bus", unit: "bytes", rate: None, per_sm: false },
        // Atomic operations on one address run one after the other. No model contains the rate, so one per clock is
        // assumed in any part of L2. Atomic operations on shared memory delay only their SM.
        HardwareUnit { name: "atomic_address", unit: "operations", rate: rates.clock_hz, per_sm: false },
        per_sm("shared_atomics", "operations", Some(1.0)),
        products(Product::Half),
        products(Product::HalfSums),
        products(Product::Tensor32),
        products(Product::Eighth),
        products(Product::Integer),
        products(Product::Double),
    ]
}

/// Number of hardware units.
pub(super) const UNITS: usize = 14 + Product::ALL.len();

/// Index of device memory in [`demands`].
pub(super) const DRAM: usize = 10;

/// Returns the work of a launch on each hardware unit, and adds its bytes to `bytes`.
pub(super) fn demands(launch: &LaunchData, number: usize, rates: &Rates, bytes: &mut Bytes) -> [Demand; UNITS] {
    // An instruction occupies its unit's lanes for the whole warp, including inactive lanes.
    let lanes = |class| Demand::same(launch.instructions.warps(class).saturating_mul(32));
    let (mut data, mut tag, mut words) = (Demand::default(), Demand::default(), 0u64);
    let (mut l2, mut dram) = (Demand::default(), Demand::default());
    for counters in [Space::Global, Space::Local].iter().filter_map(|space| launch.spaces.get(space)) {
        let Some(traffic) = counters.traffic.get(number) else { continue };
        data.amount = data.amount.saturating_add(traffic.stages.data);
        data.ideal = data.ideal.saturating_add(traffic.stages.ideal_data);
        tag.amount = tag.amount.saturating_add(traffic.stages.tag);
        tag.ideal = tag.ideal.saturating_add(traffic.stages.tag.min(counters.requests));
        words = words.saturating_add(traffic.stages.words.saturating_mul(32));
        let l2_bytes = traffic.l2.lookups.saturating_mul(rates.lookup_bytes.1);
        let sectors = traffic.dram_reads.saturating_add(traffic.dram_writes);
        let dram_bytes = sectors.saturating_mul(SECTOR_BYTES);
        // Even with ideal sectors, a level cannot pass on more than it receives.
        let ideal = l2_bytes.min(counters.ideal_sectors.saturating_mul(SECTOR_BYTES));
        l2.amount = l2.amount.saturating_add(l2_bytes);
        l2.ideal = l2.ideal.saturating_add(ideal);
        dram.amount = dram.amount.saturating_add(dram_bytes);
        dram.ideal = dram.ideal.saturating_add(dram_bytes.min(ideal));
        bytes.l1 = bytes.l1.saturating_add(traffic.l1.lookups.saturating_mul(rates.lookup_bytes.0));
    }
    let host = launch.host_memory.get(number).copied().unwrap_or_default();
    let bus = host.reads.saturating_add(host.writes).saturating_mul(SECTOR_BYTES);
    dram.amount = dram.amount.saturating_sub(bus);
    dram.ideal = dram.ideal.min(dram.amount);
    bytes.l2 = bytes.l2.saturating_add(l2.amount);
    bytes.dram = bytes.dram.saturating_add(dram.amount);
    bytes.bus = bytes.bus.saturating_add(bus);
    let none = Counters::default();
    let shared = launch.spaces.get(&Space::Shared).unwrap_or(&none);
    let mut shared = Demand { amount: shared.wavefronts, ideal: shared.ideal_wavefronts };
    share_data_stage(rates, &mut data, &mut shared);
    let constant = launch.spaces.get(&Space::Constant).unwrap_or(&none);
    let issued = Demand::same(launch.instructions.all_warps());
    let products = |kind: Product| Demand::same(launch.instructions.products()[kind as usize]);
    [
        issued,
        lanes("fp32"),
        lanes("fp64"),
        lanes("special"),
        data,
        tag,
        Demand::same(words),
        shared,
        Demand { amount: constant.wavefronts.saturating_sub(constant.ideal_wavefronts), ideal: 0 },
        l2,
        dram,
        Demand::same(bus),
        Demand::same(launch.atomics.hottest),
        Demand::same(launch.atomics.shared),
        products(Product::Half),
        products(Product::HalfSums),
        products(Product::Tensor32),
        products(Product::Eighth),
        products(Product::Integer),
        products(Product::Double),
    ]
}

/// Adds the passes of shared memory to the data stage if shared memory and L1 share one array.
fn share_data_stage(rates: &Rates, data: &mut Demand, shared: &mut Demand) {
    if rates.unified {
        data.amount = data.amount.saturating_add(shared.amount);
        data.ideal = data.ideal.saturating_add(shared.ideal);
        *shared = Demand::default();
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
