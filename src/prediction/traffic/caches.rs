//! Traffic between the levels of the memory hierarchy, from footprints.
//!
//! L1 is in [`super::first_level`], L2 and DRAM in [`super::second_level`].
//!
//! After Ernst et al. (Warpspeed), section 2.4, with runs of block numbers in place of boxes, and windows in place of sets of layers.

use std::borrow::Cow;

use super::capacity::Capacity;
use super::flow::Flow;
use super::overlaps::without_overlaps;
use super::skewed::skewed;
use super::volumes::{Affine, Footprints};
use crate::form::Bounds;
use crate::launch::Launch;
use warpline_profile::model::Addresses;
use warpline_simulator::hierarchy::HierarchyConfig;

/// Sums over the requests of a launch whose footprints are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Requested {
    /// Sectors of loads.
    pub loaded: f64,
    /// Sectors of stores and atomics.
    pub stored: f64,
    /// Sectors of atomics, which read what is there before they store.
    pub atomics: f64,
    /// Lines of all.
    pub lines: f64,
    /// Some of them are made under a condition that is not known: their footprints are those of all threads.
    pub unsure: bool,
    /// Share of the warps that make none.
    pub idle: f64,
}

/// A model's caches.
#[derive(Clone, Copy)]
pub struct Levels<'a> {
    /// Their rules.
    pub hierarchy: &'a HierarchyConfig,
    /// What a launch has of them.
    pub capacity: &'a Capacity,
}

/// Bytes that sites move between levels, apart from those whose addresses are not affine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Distinct 32-byte sectors that a block loads, in the mean.
    pub block_load_sectors: f64,
    /// Loaded from L2.
    pub l2_loads: f64,
    /// Stored to L2, atomic operations among them.
    pub l2_stores: f64,
    /// Read from DRAM.
    pub dram_loads: f64,
    /// Written to it.
    pub dram_stores: f64,
    /// Of what is loaded from L2: by accesses whose addresses are worked out thread by thread.
    pub by_thread_loads: f64,
    /// Pages of 2 MiB that a wave touches.
    pub wave_pages: f64,
    /// Distinct sectors and lines that a wave in the middle touches, and that the launch does.
    pub distinct: Distinct,
    /// Sectors that the requests of a block load again, of all blocks.
    pub repeated_sectors: f64,
    /// What the blocks of an SM load, over what L1 holds.
    pub l1_oversubscription: f64,
    /// What a wave of blocks touches, over what L2 holds.
    pub l2_oversubscription: f64,
    /// Lines touched between two uses of what earlier waves touched, over what L2 holds, in the mean over what is used again.
    pub l2_reuse_oversubscription: f64,
    /// Share of what blocks load that earlier ones touched, as far as it comes from DRAM again. It rises where a layer condition breaks.
    pub l2_reuse_lost: f64,
    /// What L1's figures were taken from.
    pub replayed: Replayed,
    /// What L2's and DRAM's figures were taken from; `None` where they were estimated from what is touched between uses.
    pub sampled: Option<Sampled>,
    /// Some edge was not cut, or the addresses of an allocation do not form one lattice.
    pub rough: bool,
}

/// Distinct pieces that accesses with footprints touch.
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

/// What a replay looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Blocks that were run, 0 where none was needed.
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

/// Traffic of a launch's accesses, of those whose addresses are worked out thread by thread between L1 and L2 only. `requested` are the others'.
pub fn traffic(
    accesses: &[Affine],
    (addresses, launch): (&Addresses, &Launch),
    bounds: &Bounds,
    levels: &Levels<'_>,
    requested: Requested,
) -> Traffic {
    let Levels { capacity, hierarchy } = *levels;
    let accesses = &without_overlaps(accesses, bounds)[..];
    let affine = match accesses.iter().all(Affine::has_footprint) {
        true => Cow::Borrowed(accesses),
        false => accesses.iter().filter(|access| access.has_footprint()).cloned().collect(),
    };
    let (affine, ranges) = match skewed(&affine, bounds) {
        Some((affine, ranges)) => (Cow::Owned(affine), Cow::Owned(ranges)),
        None => (affine, Cow::Borrowed(bounds)),
    };
    let footprints = Footprints::new(&affine, &ranges);
    let (all, accesses, bounds) = ((accesses, bounds), &affine[..], &*ranges);
    let flow = Flow { accesses, bounds, all, addresses, footprints, launch, capacity, hierarchy };
    let mut found = Traffic { l2_stores: 32.0 * requested.stored, ..Traffic::default() };
    let replay = flow.replay(requested.lines / launch.blocks() as f64);
    flow.first_level(&replay, requested, &mut found);
    flow.second_level(&replay, requested, &mut found);
    let (loads, stores) = flow.by_thread(&replay);
    found.by_thread_loads = 32.0 * loads;
    found.l2_loads += found.by_thread_loads;
    found.l2_stores += 32.0 * stores;
    found
}
