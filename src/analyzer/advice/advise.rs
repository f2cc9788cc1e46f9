//! Who should use L1: by an equation, and by trying.
//!
//! The equation is CUDAAdvisor's (Shen et al., CGO 2018, equation 1). Trying simulates the same trace again, each time
//! with other loads going past L1: all but the first *n* warps of each block, or the loads of some sites.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use warpline_format::access::Space;
use warpline_format::site_table::{CacheOp, Op};

use crate::analysis::{Analysis, KernelData, LaunchData};
use crate::attribution::Module;
use crate::simulation::Bypass;
use warpline_simulator::hierarchy::{HierarchyConfig, Traffic};
use warpline_simulator::metrics::Counters;

/// Warps per block that are tried, in addition to the equation's result.
const WARPS: [u32; 12] = [0, 1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28];
/// Most sites of a kernel that are tried.
const MOST_SITES: usize = 8;

/// CUDAAdvisor's equation 1 and what it was fed with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equation {
    /// Mean finite reuse distance of loads, in elements; stores restart it unless the settings change that.
    pub reuse_distance: f64,
    /// Mean number of cache lines that a load touches.
    pub divergence_degree: f64,
    /// Bytes of such a line: 128 up to Kepler, 32 from Maxwell on, as in the paper.
    pub line_bytes: u32,
    /// Bytes of L1 in the kernel's first launch.
    pub l1_bytes: u64,
    /// Blocks that share an SM in that launch.
    pub blocks_per_sm: u32,
    /// Warps of a block in it.
    pub warps_per_block: u32,
    /// Warps of each block that should use L1: what the equation gives, at most all.
    pub warps: u32,
}

/// What a choice gives for the kernel's requests to global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<T> {
    /// The choice.
    pub what: T,
    /// Traffic.
    pub traffic: Traffic,
}

/// Which kind of choice is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Best {
    /// All loads that may use L1 do.
    AsItIs,
    /// A number of warps.
    Warps,
    /// Some sites go past it.
    Sites,
}

/// Advice for a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advice {
    /// By the equation; `None` where nothing is used twice, or where that is unknown.
    pub equation: Option<Equation>,
    /// Reuse distances were not computed.
    pub without_reuse: bool,
    /// Tried: this many warps of each block use L1, the others go past it. The last is all of them.
    pub warps: Vec<Choice<u32>>,
    /// Tried: the loads of these sites go past L1. The first is none of them.
    pub sites: Vec<Choice<Vec<u32>>>,
}

impl Advice {
    /// Returns the number of warps with the least traffic to L2; of equals the largest.
    pub fn best_warps(&self) -> Option<u32> {
        let best = self.warps.iter().min_by_key(|choice| (choice.traffic.l2.lookups, std::cmp::Reverse(choice.what)));
        best.map(|choice| choice.what)
    }

    /// What sends the least to L2, of everything that was tried; of equals what changes less. `None` where nothing was
    /// tried.
    pub fn best(&self) -> Option<Best> {
        let least = |traffic: Vec<u64>| traffic.into_iter().min();
        let as_it_is = self.warps.last()?.traffic.l2.lookups;
        let warps = least(self.warps.iter().map(|choice| choice.traffic.l2.lookups).collect())?;
        let sites = least(self.sites.iter().map(|choice| choice.traffic.l2.lookups).collect()).unwrap_or(u64::MAX);
        Some(match as_it_is {
            _ if as_it_is <= warps && as_it_is <= sites => Best::AsItIs,
            _ if warps <= sites => Best::Warps,
            _ => Best::Sites,
        })
    }

    /// Returns the sites with the least traffic to L2; of equals the fewest.
    pub fn best_sites(&self) -> Option<&[u32]> {
        let best = self.sites.iter().min_by_key(|choice| (choice.traffic.l2.lookups, choice.what.len()));
        best.map(|choice| &choice.what[..])
    }
}

/// Advice for every kernel of an analysis, by number. `run` analyses the same trace again with another bypass;
/// `kepler` states that the GPU is of compute capability 4 or less.
///
/// # Errors
/// Those of `run`.
pub fn advise<E>(
    base: &Analysis,
    config: &HierarchyConfig,
    kepler: bool,
    mut run: impl FnMut(Bypass) -> Result<Analysis, E>,
) -> Result<BTreeMap<u32, Advice>, E> {
    let mut all: BTreeMap<u32, Advice> = BTreeMap::new();
    for (id, kernel) in (0u32..).zip(&base.kernels) {
        let Some(module) = base.modules.get(&kernel.module) else { continue };
        // Where nothing is loaded that L1 may cache, there is nothing to choose.
        let loads = loads(kernel, module);
        if loads.is_empty() {
            continue;
        }
        let without_reuse = loads.values().all(|counters| counters.reuse.is_none());
        let equation = equation(kernel, module, config, kepler);
        all.insert(id, Advice { equation, without_reuse, ..Advice::default() });
    }
    if !config.l1.caches_global_loads {
        return Ok(all);
    }
    try_warps(base, &mut all, &mut run)?;
    try_sites(base, &mut all, &mut run)?;
    Ok(all)
}

fn try_warps<E>(
    base: &Analysis,
    all: &mut BTreeMap<u32, Advice>,
    run: &mut impl FnMut(Bypass) -> Result<Analysis, E>,
) -> Result<(), E> {
    let mut wanted: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (&id, advice) in &*all {
        let most = base.kernels[id as usize].all().map(warps_per_block).max().unwrap_or(0);
        let tried = WARPS.into_iter().chain(advice.equation.map(|equation| equation.warps));
        wanted.insert(id, tried.filter(|&warps| warps < most).collect());
    }
    let passes: BTreeSet<u32> = wanted.values().flatten().copied().collect();
    for warps in passes {
        let tried = run(Bypass { warps: Some(warps), ..Bypass::default() })?;
        for (id, advice) in all.iter_mut().filter(|(id, _)| wanted[id].contains(&warps)) {
            let Some(kernel) = tried.kernels.get(*id as usize) else { continue };
            advice.warps.push(Choice { what: warps, traffic: traffic(kernel) });
        }
    }
    for (&id, advice) in all {
        let kernel = &base.kernels[id as usize];
        let most = kernel.all().map(warps_per_block).max().unwrap_or(0);
        advice.warps.push(Choice { what: most, traffic: traffic(kernel) });
    }
    Ok(())
}

/// Tries the loads that most often read what their block did not use before, then these and the next, and so on.
fn try_sites<E>(
    base: &Analysis,
    all: &mut BTreeMap<u32, Advice>,
    run: &mut impl FnMut(Bypass) -> Result<Analysis, E>,
) -> Result<(), E> {
    let mut order: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&id, advice) in all.iter_mut() {
        let kernel = &base.kernels[id as usize];
        let Some(module) = base.modules.get(&kernel.module) else { continue };
        let mut sites: Vec<(u32, Counters)> = loads(kernel, module)
            .into_iter()
            .filter(|(_, counters)| counters.traffic.first().is_some_and(|traffic| traffic.l1.load_lookups > 0))
            .collect();
        sites.sort_by(|one, other| {
            let (new, all) = (first_uses(&one.1), first_uses(&other.1));
            // Ratios are compared as products, so that no rounding decides.
            let (left, right) = (u128::from(new.0) * u128::from(all.1), u128::from(all.0) * u128::from(new.1));
            right.cmp(&left).then(one.0.cmp(&other.0))
        });
        order.insert(id, sites.into_iter().map(|(site, _)| site).take(MOST_SITES).collect());
        advice.sites.push(Choice { what: Vec::new(), traffic: traffic(kernel) });
    }
    let most = order.values().map(Vec::len).max().unwrap_or(0);
    for count in 1..=most {
        let sites = order.iter().flat_map(|(&id, sites)| sites.iter().take(count).map(move |&site| (id, site)));
        let tried = run(Bypass { sites: sites.collect(), ..Bypass::default() })?;
        for (id, advice) in all.iter_mut() {
            let Some(first) = order.get(id).and_then(|sites| sites.get(..count)) else { continue };
            let Some(kernel) = tried.kernels.get(*id as usize) else { continue };
            advice.sites.push(Choice { what: first.to_vec(), traffic: traffic(kernel) });
        }
    }
    Ok(())
}

/// Uses of elements that the block did not use before, and all uses.
fn first_uses(counters: &Counters) -> (u64, u64) {
    let Some(reuse) = &counters.reuse else { return (0, 0) };
    let finite: u64 = reuse.element.buckets().iter().map(|(_, count)| count).sum();
    (reuse.element.infinite, reuse.element.infinite + finite)
}

fn equation(kernel: &KernelData, module: &Module, config: &HierarchyConfig, kepler: bool) -> Option<Equation> {
    let mut sum = Counters::default();
    loads(kernel, module).values().for_each(|counters| sum.add(counters));
    let reuse_distance = sum.reuse.as_ref()?.element.mean()?;
    let pieces = if kepler { &sum.by_lines } else { &sum.by_sectors };
    let touched: u64 = (0u64..).zip(pieces.to_vec()).map(|(pieces, requests)| pieces * requests).sum();
    let divergence_degree = touched as f64 / sum.requests.max(1) as f64;
    let line_bytes = if kepler { 128 } else { 32 };
    let launch = kernel.all().min_by_key(|launch| launch.event.id)?;
    let blocks_per_sm = launch.event.resident_blocks.max(1);
    let shared = u64::from(launch.event.static_shared) + u64::from(launch.event.dynamic_shared);
    let lines = config.l1.lines(shared.saturating_mul(blocks_per_sm.into()));
    let l1_bytes = u64::from(lines) * u64::from(config.l1.line_bytes);
    let need = reuse_distance * f64::from(line_bytes) * divergence_degree * f64::from(blocks_per_sm);
    let warps_per_block = warps_per_block(launch);
    // Everything is used again at once: the equation divides by nothing, all warps fit.
    let warps = if need > 0.0 { (l1_bytes as f64 / need).floor() } else { f64::INFINITY };
    Some(Equation {
        reuse_distance,
        divergence_degree,
        line_bytes,
        l1_bytes,
        blocks_per_sm,
        warps_per_block,
        warps: warps.min(f64::from(warps_per_block)) as u32,
    })
}

fn warps_per_block(launch: &LaunchData) -> u32 {
    launch.event.block.iter().product::<u32>().div_ceil(32)
}

/// Sums of the loads from global memory that the program lets L1 cache, by site.
fn loads(kernel: &KernelData, module: &Module) -> BTreeMap<u32, Counters> {
    let mut sums: BTreeMap<u32, Counters> = BTreeMap::new();
    for (key, counters) in kernel.cells.iter().filter(|(key, _)| key.owner.whole() && key.space == Space::Global) {
        let site = &module.table.sites[key.site as usize];
        if site.op == Op::Load && !matches!(site.cache, CacheOp::Global | CacheOp::Volatile) {
            sums.entry(key.site).or_default().add(counters);
        }
    }
    sums
}

/// What all requests to global memory cost.
fn traffic(kernel: &KernelData) -> Traffic {
    let mut sum = Traffic::default();
    let global = kernel.cells.iter().filter(|(key, _)| key.owner.whole() && key.space == Space::Global);
    global.filter_map(|(_, counters)| counters.traffic.first()).for_each(|traffic| sum.add(traffic));
    sum
}
