//! Counters by site, space, context and allocation of requests.

use rustc_hash::FxHashMap;
use warpline_format::access::Space;
use warpline_format::event::AllocationId;

use crate::attribution::ContextId;
use warpline_simulator::metrics::Counters;

/// The owner of the memory that a request accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// The space has no allocations: it is the block's shared memory or the lanes' stacks.
    Space,
    /// One allocation.
    Allocation(AllocationId),
    /// No live allocation.
    Unknown,
    /// Several allocations. The counts of each are in the separate parts below.
    Several,
    /// The part of requests with several owners that belongs to this allocation.
    PartOf(AllocationId),
    /// The part of requests with several owners that belongs to no allocation.
    PartUnknown,
    /// The requests were counted without their addresses.
    NotTold,
}

impl Owner {
    /// Returns whether the owner counts whole requests instead of parts. The counts of these owners add up to a site's
    /// total.
    pub fn whole(self) -> bool {
        !matches!(self, Owner::PartOf(_) | Owner::PartUnknown)
    }
}

/// The key of a cell within its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    /// Number of the site in the kernel's module.
    pub site: u32,
    /// The resolved space.
    pub space: Space,
    /// Device call context.
    pub context: ContextId,
    /// Owner of the memory.
    pub owner: Owner,
}

/// Index of a cell; indices are consecutive from 0.
pub type CellId = u32;

/// Counters by cell.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    ids: FxHashMap<CellKey, CellId>,
    keys: Vec<CellKey>,
    counters: Vec<Counters>,
}

impl Cells {
    /// Returns the cell of a key, which is created if it is new.
    pub fn id(&mut self, key: CellKey) -> CellId {
        *self.ids.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.counters.push(Counters::default());
            self.keys.len() as CellId - 1
        })
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the counters of a cell.
    #[inline]
    pub fn counters(&mut self, cell: CellId) -> &mut Counters {
        &mut self.counters[cell as usize]
    }

    /// Returns all cells in the order of their first uses.
    pub fn iter(&self) -> impl Iterator<Item = (&CellKey, &Counters)> {
        self.keys.iter().zip(&self.counters)
    }

    /// Adds the cells of another set. `context` translates their contexts.
    pub fn add(&mut self, other: &Cells, mut context: impl FnMut(ContextId) -> ContextId) {
        for (key, counters) in other.iter() {
            let cell = self.id(CellKey { context: context(key.context), ..*key });
            self.counters(cell).add(counters);
        }
    }
}
