//! A launch's footprints beside the caches that they meet: what both levels are worked out from.

use super::capacity::Capacity;
use super::replay::golden;
use super::volumes::{Affine, Blocks, Family, Footprints, Union};
use crate::form::Bounds;
use crate::launch::Launch;
use warpline_profile::model::Addresses;
use warpline_simulator::hierarchy::HierarchyConfig;

/// Bytes of the pieces that unions are counted in: sectors, and lines, of which caches hold whole ones.
pub(super) const SECTOR: i64 = 32;
pub(super) const LINE: i64 = 128;
/// Blocks that stand for all.
const SAMPLES: u64 = 4;

/// A launch and its caches.
pub(super) struct Flow<'a> {
    /// Those with footprints.
    pub(super) accesses: &'a [Affine],
    /// Ranges of their indices.
    pub(super) bounds: &'a Bounds,
    /// All accesses with their iterations as counters, those whose addresses are worked out thread by thread among them, in the order of the code.
    pub(super) all: (&'a [Affine], &'a Bounds),
    pub(super) addresses: &'a Addresses,
    pub(super) footprints: Footprints<'a>,
    pub(super) launch: &'a Launch,
    pub(super) capacity: &'a Capacity,
    pub(super) hierarchy: &'a HierarchyConfig,
}

impl Flow<'_> {
    /// Distinct pieces that wanted accesses touch in some blocks.
    pub(super) fn union(&self, wanted: impl Fn(&Family) -> bool, boxes: &[Blocks], grain: i64) -> Union {
        self.footprints.union(wanted, boxes, grain)
    }

    /// The same of loads.
    pub(super) fn loads(&self, boxes: &[Blocks], grain: i64) -> Union {
        self.union(|family| family.loads, boxes, grain)
    }

    /// Whether blocks and threads are numbered along one axis.
    pub(super) fn is_linear(&self) -> bool {
        let [_, height, depth] = self.launch.grid;
        let [_, rows, planes] = self.launch.block;
        (height, depth, rows, planes) == (1, 1, 1, 1)
    }

    /// Whether some access is in a loop.
    pub(super) fn loops(&self) -> bool {
        self.accesses.iter().any(|access| !access.counters.is_empty())
    }

    /// Blocks that stand for all, evenly spread but not in step with rows of blocks: multiples of the golden section.
    pub(super) fn samples(&self) -> impl Iterator<Item = u64> {
        let blocks = self.launch.blocks();
        let count = blocks.min(SAMPLES);
        (1..=count).map(move |number| ((golden(number) * blocks as f64) as u64).min(blocks - 1))
    }
}
