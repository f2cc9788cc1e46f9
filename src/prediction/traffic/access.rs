//! Accesses to global memory, as the caches see them.

use warpline_format::expression::ExpressionId;

use crate::form::{Form, Index, Truth};
use crate::trip_counts::LaneLoops;

/// Bytes of a sector, the unit of transfers.
pub const SECTOR: i64 = 32;
/// Bytes of a line, the unit of placement in caches.
pub const LINE: i64 = 128;

/// An address, or a guard, that is computed for each lane because it is not affine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneAddress {
    /// The address.
    pub address: ExpressionId,
    /// The part of the guard that is not in the access's condition.
    pub guard: Option<ExpressionId>,
    /// Loops whose trip count is computed for each lane, on which both depend.
    pub loops: LaneLoops,
}

/// An access whose address is affine, or is computed for each lane.
#[derive(Clone, Debug)]
pub struct MemoryAccess {
    /// Its address.
    pub form: Form,
    /// Its address, where it is computed for each lane; `form` has no meaning then.
    pub by_lane: Option<LaneAddress>,
    /// The condition under which it is made.
    pub condition: Truth,
    /// Bytes per lane.
    pub bytes: u32,
    /// Number of its site, in the order of the code.
    pub site: usize,
    /// Number of its item in the trace: a warp's turn does not end within an item.
    pub item: usize,
    /// Number of its allocation.
    pub allocation: usize,
    /// It loads.
    pub loads: bool,
    /// It stores.
    pub stores: bool,
    /// It is an atomic operation.
    pub atomic: bool,
    /// A load that bypasses L1.
    pub past_l1: bool,
    /// Counters of the loops around it, outermost first.
    pub counters: Vec<Index>,
    /// Those of the loops as a warp runs them, which points of a thread share.
    pub shared_counters: Vec<Index>,
    /// Sectors of its requests in the launch.
    pub sectors: f64,
}

impl MemoryAccess {
    /// Returns a load of the first allocation, outside loops.
    #[cfg(test)]
    pub(super) fn load(form: Form, condition: Truth, bytes: u32) -> MemoryAccess {
        MemoryAccess {
            form,
            by_lane: None,
            condition,
            bytes,
            site: 0,
            item: 0,
            allocation: 0,
            loads: true,
            stores: false,
            atomic: false,
            past_l1: false,
            counters: Vec::new(),
            shared_counters: Vec::new(),
            sectors: 0.0,
        }
    }

    /// Returns whether its address is affine.
    pub fn is_affine(&self) -> bool {
        self.by_lane.is_none()
    }

    /// Returns whether L2 has to have what it touches.
    pub fn reads(&self) -> bool {
        self.loads || self.atomic
    }
}
