//! A launch's accesses and the caches that serve them.

use super::access::{LINE, MemoryAccess, SECTOR};
use super::capacity::Capacity;
use super::footprint::{Blocks, Family, Footprints, Union, boxes};
use crate::form::Bounds;
use crate::launch::Launch;
use warpline_profile::model::Addresses;

/// A launch and its caches.
pub struct Flow<'a> {
    /// Accesses with affine addresses, prepared for footprints.
    pub accesses: &'a [MemoryAccess],
    /// Ranges of the indices in `accesses`.
    pub bounds: &'a Bounds,
    /// All accesses in program order, with the ranges of their indices.
    pub all: (&'a [MemoryAccess], &'a Bounds),
    /// The kernel's expressions.
    pub addresses: &'a Addresses,
    /// Footprints of `accesses`.
    pub footprints: Footprints<'a>,
    /// The launch.
    pub launch: &'a Launch,
    /// The caches.
    pub capacity: &'a Capacity<'a>,
}

impl Flow<'_> {
    /// Returns the number of distinct pieces of `grain` bytes that the wanted accesses touch in some blocks.
    pub fn union(&self, wanted: impl Fn(&Family) -> bool, boxes: &[Blocks], grain: i64) -> Union {
        self.footprints.union(wanted, boxes, grain)
    }

    /// Returns the distinct sectors that a block loads.
    pub fn block_loads(&self, block: u64) -> Union {
        self.union(|family| family.loads, &boxes(block, block + 1, self.launch.grid), SECTOR)
    }

    /// Returns the number of lines that a range of blocks touches. For accesses with addresses computed for each lane,
    /// every request counts separately.
    pub fn lines(&self, first: u64, end: u64) -> f64 {
        let affine = self.union(|_| true, &boxes(first, end, self.launch.grid), LINE).sectors;
        let others = self.all.0.iter().filter(|access| !access.is_affine());
        let sectors: f64 = others.map(|access| access.sectors).sum();
        affine + sectors * (SECTOR as f64 / LINE as f64) * (end - first) as f64 / self.launch.blocks() as f64
    }
}
