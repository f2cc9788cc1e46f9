//! A launch's footprints beside the caches that they meet: what both levels are worked out from.

use super::capacity::Capacity;
use super::volumes::{Affine, Blocks, Family, Footprints, Union};
use crate::hierarchy::HierarchyConfig;
use crate::prediction::form::Bounds;
use crate::prediction::launch::Launch;
use crate::profile::model::Addresses;

/// Bytes of the pieces that unions are counted in: sectors, and lines, of which caches hold whole ones.
pub(super) const SECTOR: i64 = 32;
pub(super) const LINE: i64 = 128;

/// A launch and its caches.
pub(super) struct Flow<'a> {
    /// Those with footprints.
    pub(super) accesses: &'a [Affine],
    /// These and those whose addresses are worked out thread by thread, in the order of the code.
    pub(super) all: &'a [Affine],
    pub(super) addresses: &'a Addresses,
    pub(super) footprints: Footprints<'a>,
    pub(super) launch: &'a Launch,
    pub(super) bounds: &'a Bounds,
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
}
