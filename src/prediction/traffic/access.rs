//! Accesses to global memory, in the form in which the cache models read them.

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

/// An access whose address is either affine or computed for each lane.
#[derive(Clone, Debug)]
pub struct MemoryAccess {
    /// The affine address.
    pub form: Form,
    /// The address if it is computed for each lane; `form` has no meaning then.
    pub by_lane: Option<LaneAddress>,
    /// The condition under which a thread makes the access.
    pub condition: Truth,
    /// Bytes per lane.
    pub bytes: u32,
    /// Number of the access's site, in program order.
    pub site: usize,
    /// Number of the access's item in the trace. A warp's issue slot never ends within an item.
    pub item: usize,
    /// Number of the accessed allocation.
    pub allocation: usize,
    /// The access loads.
    pub loads: bool,
    /// The access stores.
    pub stores: bool,
    /// The access is an atomic operation.
    pub atomic: bool,
    /// The access is a load that bypasses L1.
    pub past_l1: bool,
    /// Counters of the loops around the access, outermost first.
    pub counters: Vec<Index>,
    /// The counters of the loops as a warp executes them. All points of a thread share these counters.
    pub shared_counters: Vec<Index>,
    /// Sectors of the access's requests in the launch.
    pub sectors: f64,
}

impl MemoryAccess {
    /// Returns a load of allocation 0, outside loops.
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

    /// Returns whether the address is affine.
    pub fn is_affine(&self) -> bool {
        self.by_lane.is_none()
    }

    /// Returns whether the access needs the data in L2, as loads and atomic operations do.
    pub fn reads(&self) -> bool {
        self.loads || self.atomic
    }
}
