//! Cache arrays: sets, ways, sector bits, replacement. L1 and L2 are both built on them.

mod finder;
mod full_cache;
mod indexed_cache;
mod line_cache;
mod order;
mod partial;
mod placement;
mod plru;
mod policy;
mod recency;
mod row_cache;
mod sector_cache;

pub(super) use finder::{EMPTY, MOST_HASHED, MOST_SCANNED};
pub(super) use full_cache::{FullCache, One};
pub(super) use indexed_cache::IndexedCache;
pub use line_cache::Evicted;
pub(super) use line_cache::{LineCache, LookupOrAllocate, ResidentLine};
pub(super) use order::WAYS;
pub use placement::{Index, Placement, Shares};
pub use plru::TreePlru;
pub use policy::Replacement;
pub(super) use recency::{OneRecency, Recency, Tree};
pub(super) use row_cache::RowCache;
pub use sector_cache::SectorCache;
