//! Determines which loads should use L1, by an equation and by simulation.
//!
//! The equation is CUDAAdvisor's (Shen et al., CGO 2018, equation 1). The simulation repeats the trace with other loads
//! bypassing L1 each time: those of all but the first *n* warps of each block, or those of some sites.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use warpline_format::access::Space;
use warpline_format::site_table::{CacheOp, Op};

use crate::analysis::{Analysis, KernelData, LaunchData};
use crate::attribution::Module;
use crate::simulation::Bypass;
use warpline_simulator::hierarchy::{HierarchyConfig, Traffic};
use warpline_simulator::metrics::Counters;

/// Numbers of warps per block that are simulated, in addition to the equation's result.
const WARPS: [u32; 12] = [0, 1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28];
/// Maximum number of sites per kernel that are simulated.
const MOST_SITES: usize = 8;

/// The result of CUDAAdvisor's equation 1, with its inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equation {
    /// Mean finite reuse distance of loads in elements. Stores restart it unless the settings change that.
    pub reuse_distance: f64,
    /// Mean number of cache lines that a load touches.
    pub divergence_degree: f64,
    /// Bytes of these cache lines: 128 up to Kepler, 32 from Maxwell on, as in the paper.
    pub line_bytes: u32,
    /// Bytes of L1 in the kernel's first launch.
    pub l1_bytes: u64,
    /// Number of resident blocks per SM in that launch.
    pub blocks_per_sm: u32,
    /// Number of warps per block in that launch.
    pub warps_per_block: u32,
    /// Number of warps per block that should use L1: the equation's result, at most all warps.
    pub warps: u32,
}

/// The effect of a choice on the kernel's requests to global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<T> {
    /// The choice.
    pub what: T,
    /// Traffic.
    pub traffic: Traffic,
}

/// The best kind of choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Best {
    /// No load bypasses L1 additionally.
    AsItIs,
    /// Only a number of warps per block uses L1.
    Warps,
    /// The loads of some sites bypass L1.
    Sites,
}

/// Advice for a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advice {
    /// The equation's result; `None` if no element is used twice, or if reuse is unknown.
    pub equation: Option<Equation>,
    /// Reuse distances were not computed.
    pub without_reuse: bool,
    /// Simulated choices in which this many warps of each block use L1 and the others bypass it. The last choice is all
    /// warps.
    pub warps: Vec<Choice<u32>>,
    /// Simulated choices in which the loads of these sites bypass L1. The first choice is no site.
    pub sites: Vec<Choice<Vec<u32>>>,
}

impl Advice {
    /// Returns the number of warps with the least traffic to L2; among equal results, the largest number.
    pub fn best_warps(&self) -> Option<u32> {
        let best = self.warps.iter().min_by_key(|choice| (choice.traffic.l2.lookups, std::cmp::Reverse(choice.what)));
        best.map(|choice| choice.what)
    }

    /// Returns the choice with the least traffic to L2; among equal results, the smallest change. Returns `None` if
    /// nothing was simulated.
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

    /// Returns the sites with the least traffic to L2; among equal results, the fewest sites.
    pub fn best_sites(&self) -> Option<&[u32]> {
        let best = self.sites.iter().min_by_key(|choice| (choice.traffic.l2.lookups, choice.what.len()));
        best.map(|choice| &choice.what[..])
    }
}

/// Returns advice for every kernel of an analysis, in the order of their numbers. `run` analyses the same trace again
/// with another bypass; `kepler` states that the GPU has compute capability 4 or less.
///
/// # Errors
/// Returns the errors of `run`.
pub fn advise<E>(
    base: &Analysis,
    config: &HierarchyConfig,
    kepler: bool,
    mut run: impl FnMut(Bypass) -> Result<Analysis, E>,
) -> Result<BTreeMap<u32, Advice>, E> {
    let mut all: BTreeMap<u32, Advice> = BTreeMap::new();
    for (id, kernel) in (0u32..).zip(&base.kernels) {
        let Some(module) = base.modules.get(&kernel.module) else { continue };
        // If no load may use L1, there is no choice.
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

/// Simulates the bypass of the site that most often reads elements that its block has not used before, then of this
/// site and the next one, and so on.
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
            // Ratios are compared as products to avoid rounding.
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

/// Returns the number of first uses of elements by the block, and of all uses.
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
    // If every element is reused immediately, the equation would divide by zero, and all warps fit.
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

/// Returns the sums of the loads from global memory that may use L1, by site.
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

/// Returns the traffic of all requests to global memory.
fn traffic(kernel: &KernelData) -> Traffic {
    let mut sum = Traffic::default();
    let global = kernel.cells.iter().filter(|(key, _)| key.owner.whole() && key.space == Space::Global);
    global.filter_map(|(_, counters)| counters.traffic.first()).for_each(|traffic| sum.add(traffic));
    sum
}
