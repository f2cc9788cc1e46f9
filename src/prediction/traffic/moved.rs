//! Bytes that a launch moves between the levels of the memory hierarchy.

use std::borrow::Cow;

use super::access::{MemoryAccess, SECTOR};
use super::capacity::Capacity;
use super::flow::Flow;
use super::footprint::{Family, Footprints, boxes, skewed};
use super::overlaps::without_overlaps;
use crate::form::Bounds;
use crate::launch::Launch;
use warpline_profile::model::Addresses;

/// Sums over the requests of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Requested {
    /// Sectors of loads with affine addresses.
    pub loaded: f64,
    /// Sectors of stores and atomics with affine addresses.
    pub stored: f64,
    /// Lines of all requests.
    pub lines: f64,
    /// Share of the warps that make no requests.
    pub idle: f64,
}

/// Bytes that accesses move between levels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Distinct 32-byte sectors that a block loads, on average.
    pub block_load_sectors: f64,
    /// Sectors loaded from L2.
    pub l2_loads: f64,
    /// Sectors stored to L2, including atomic operations.
    pub l2_stores: f64,
    /// Sectors read from DRAM.
    pub dram_loads: f64,
    /// Sectors written to DRAM.
    pub dram_stores: f64,
    /// Relative standard error of `l2_loads`, over the replayed SMs.
    pub l2_load_error: f64,
    /// Relative standard error of `dram_loads`; `None` if no sample of L2 was simulated.
    pub dram_load_error: Option<f64>,
    /// Pages of 2 MiB that a wave touches.
    pub wave_pages: f64,
    /// Distinct pieces that a wave in the middle of the launch touches, and that the whole launch touches.
    pub distinct: Distinct,
    /// Sectors that requests load again within their block, summed over all blocks.
    pub repeated_sectors: f64,
    /// Footprint of the blocks of an SM, divided by the capacity of L1.
    pub l1_oversubscription: f64,
    /// Footprint of a wave of blocks, divided by the capacity of L2.
    pub l2_oversubscription: f64,
    /// Lines touched between two uses of a line, divided by the capacity of L2, averaged over all reuses.
    pub l2_reuse_oversubscription: f64,
    /// Share of reused sectors that come from DRAM. The share rises if a layer condition breaks.
    pub l2_reuse_lost: f64,
    /// The part of the launch that was replayed through L1.
    pub replayed: Replayed,
    /// The part of the launch that was simulated in L2; `None` if there is none.
    pub sampled: Option<Sampled>,
    /// The figures are approximate: an edge was not cut, or the addresses of an allocation form no lattice.
    pub rough: bool,
}

/// Distinct pieces that accesses with affine addresses touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distinct {
    /// 32-byte sectors of a wave.
    pub wave_sectors: f64,
    /// 128-byte lines of a wave.
    pub wave_lines: f64,
    /// 32-byte sectors of the launch.
    pub launch_sectors: f64,
    /// 128-byte lines of the launch.
    pub launch_lines: f64,
}

/// The part of a launch that was replayed through L1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Number of blocks; 0 if no replay was necessary.
    pub blocks: u64,
    /// Share of the iterations of the blocks' outermost loops that was skipped.
    pub left_out: f64,
}

/// The part of a launch that was simulated in L2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// Simulated share of L2's sets.
    pub sets: f64,
    /// Simulated share of the blocks.
    pub blocks: f64,
}

/// Computes the traffic of a launch's accesses.
pub fn traffic(
    accesses: &[MemoryAccess],
    (addresses, launch): (&Addresses, &Launch),
    bounds: &Bounds,
    capacity: &Capacity<'_>,
    requested: Requested,
) -> Traffic {
    let accesses = &without_overlaps(accesses, bounds)[..];
    let affine = match accesses.iter().all(MemoryAccess::is_affine) {
        true => Cow::Borrowed(accesses),
        false => accesses.iter().filter(|access| access.is_affine()).cloned().collect(),
    };
    let (affine, ranges) = match skewed(&affine, bounds) {
        Some((affine, ranges)) => (Cow::Owned(affine), Cow::Owned(ranges)),
        None => (affine, Cow::Borrowed(bounds)),
    };
    let footprints = Footprints::new(&affine, &ranges);
    let (all, accesses, bounds) = ((accesses, bounds), &affine[..], &*ranges);
    let flow = Flow { accesses, bounds, all, addresses, footprints, launch, capacity };
    let mut found = Traffic::default();
    let simulated = flow.choose_blocks(requested);
    let timeline = simulated.as_ref().map(|simulated| &simulated.timeline);
    let replay = flow.replay(requested.lines / launch.blocks() as f64, timeline);
    flow.first_level(&replay, requested, &mut found);
    flow.second_level(&replay, (requested, simulated), &mut found);
    found
}

/// Returns the bytes of the distinct sectors of an allocation that accesses with affine addresses read, and those that
/// they store, in a launch.
pub fn touched(accesses: &[MemoryAccess], allocation: usize, launch: &Launch, bounds: &Bounds) -> [f64; 2] {
    let is_own = |access: &&MemoryAccess| access.is_affine() && access.allocation == allocation;
    let own: Vec<MemoryAccess> = accesses.iter().filter(is_own).cloned().collect();
    let footprints = Footprints::new(&own, bounds);
    let all = boxes(0, launch.blocks(), launch.grid);
    let of = |wanted: fn(&Family) -> bool| SECTOR as f64 * footprints.union(wanted, &all, SECTOR).sectors;
    [of(|family| family.reads), of(|family| family.stores)]
}
