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
    /// Lines of all.
    pub lines: f64,
    /// Share of the warps that make none.
    pub idle: f64,
}

/// Bytes that accesses move between levels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Distinct 32-byte sectors that a block loads, on average.
    pub block_load_sectors: f64,
    /// Loaded from L2.
    pub l2_loads: f64,
    /// Stored to L2, atomic operations among them.
    pub l2_stores: f64,
    /// Read from DRAM.
    pub dram_loads: f64,
    /// Written to DRAM.
    pub dram_stores: f64,
    /// Relative standard error of `l2_loads`, over the SMs that were replayed.
    pub l2_load_error: f64,
    /// Relative standard error of `dram_loads`; `None` where no sample of L2 was run.
    pub dram_load_error: Option<f64>,
    /// Pages of 2 MiB that a wave touches.
    pub wave_pages: f64,
    /// Distinct pieces that a wave in the middle touches, and that the launch does.
    pub distinct: Distinct,
    /// Sectors that the requests of a block load again, of all blocks.
    pub repeated_sectors: f64,
    /// What the blocks of an SM load, over what L1 holds.
    pub l1_oversubscription: f64,
    /// What a wave of blocks touches, over what L2 holds.
    pub l2_oversubscription: f64,
    /// Lines touched between two uses of a line, over what L2 holds, averaged over what is used again.
    pub l2_reuse_oversubscription: f64,
    /// Share of what is used again that comes from DRAM. It rises where a layer condition breaks.
    pub l2_reuse_lost: f64,
    /// The part of the launch that was run through L1.
    pub replayed: Replayed,
    /// The part of the launch that was run through L2; `None` where none was.
    pub sampled: Option<Sampled>,
    /// Some edge was not cut, or the addresses of an allocation form no lattice.
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

/// The part of a launch that was run through L1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Blocks, 0 where none was needed.
    pub blocks: u64,
    /// Share of their outermost loops' iterations that was left out.
    pub left_out: f64,
}

/// The part of a launch that was run through L2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// Share of L2's sets.
    pub sets: f64,
    /// Share of the blocks.
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

/// Returns the bytes of distinct sectors of an allocation that a launch reads, and stores, by accesses with affine addresses.
pub fn touched(accesses: &[MemoryAccess], allocation: usize, launch: &Launch, bounds: &Bounds) -> [f64; 2] {
    let is_own = |access: &&MemoryAccess| access.is_affine() && access.allocation == allocation;
    let own: Vec<MemoryAccess> = accesses.iter().filter(is_own).cloned().collect();
    let footprints = Footprints::new(&own, bounds);
    let all = boxes(0, launch.blocks(), launch.grid);
    let of = |wanted: fn(&Family) -> bool| SECTOR as f64 * footprints.union(wanted, &all, SECTOR).sectors;
    [of(|family| family.reads), of(|family| family.stores)]
}
