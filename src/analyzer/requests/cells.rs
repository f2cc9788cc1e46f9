//! Counters by what a request belongs to.

use rustc_hash::FxHashMap;
use warpline_format::access::Space;
use warpline_format::event::AllocationId;

use crate::attribution::ContextId;
use warpline_simulator::metrics::Counters;

/// Whose memory a request touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// The space alone: the block's shared memory, the lanes' stacks.
    Space,
    /// One allocation.
    Allocation(AllocationId),
    /// No live allocation.
    Unknown,
    /// Several of them. What each gets is counted apart, in the parts below.
    Several,
    /// The part of requests with several owners that falls to this allocation.
    PartOf(AllocationId),
    /// The part of requests with several owners that falls to none.
    PartUnknown,
    /// The requests were counted without their addresses.
    NotTold,
}

impl Owner {
    /// Counts requests, not only a part of them: these owners add up to a site's total.
    pub fn whole(self) -> bool {
        !matches!(self, Owner::PartOf(_) | Owner::PartUnknown)
    }
}

/// What a request belongs to, within its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    /// Site in the kernel's module.
    pub site: u32,
    /// Resolved space.
    pub space: Space,
    /// Device call context.
    pub context: ContextId,
    /// Allocation.
    pub owner: Owner,
}

/// Index of a cell; dense, from 0.
pub type CellId = u32;

/// Counters by cell.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    ids: FxHashMap<CellKey, CellId>,
    keys: Vec<CellKey>,
    counters: Vec<Counters>,
}

impl Cells {
    /// Returns the cell of a key, made when it is new.
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

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Counters of a cell.
    #[inline]
    pub fn counters(&mut self, cell: CellId) -> &mut Counters {
        &mut self.counters[cell as usize]
    }

    /// All cells, in order of first use.
    pub fn iter(&self) -> impl Iterator<Item = (&CellKey, &Counters)> {
        self.keys.iter().zip(&self.counters)
    }

    /// Adds the cells of another set, whose contexts `context` translates.
    pub fn add(&mut self, other: &Cells, mut context: impl FnMut(ContextId) -> ContextId) {
        for (key, counters) in other.iter() {
            let cell = self.id(CellKey { context: context(key.context), ..*key });
            self.counters(cell).add(counters);
        }
    }
}
