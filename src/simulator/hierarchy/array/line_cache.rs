//! Operations that every form of cache array supports.

use super::partial::Partial;
use super::policy::Replacement;

/// A line that was evicted to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// The line's key.
    pub key: u32,
    /// Sectors of the line that must be written back.
    pub dirty: u8,
}

/// A set-associative array of sectored lines with a replacement policy. A sector is 32 bytes; caches without sectors
/// fill all sectors of a line at once. Lines are found by key. The resulting entry number is valid until the next
/// allocation.
pub(crate) trait LineCache {
    /// Creates an empty cache.
    fn new(sets: u32, ways: u32, replacement: &Replacement) -> Self;
    /// Finds a line and marks it as used.
    fn touch(&mut self, set: u32, key: u32) -> Option<usize>;
    /// Prefetches the memory of a set.
    fn prefetch(&self, set: u32);
    /// Returns the valid sectors of an entry.
    fn valid(&self, entry: usize) -> u8;
    /// Allocates a line that is not present, and marks it as used.
    fn allocate(&mut self, set: u32, key: u32) -> (usize, Option<Evicted>);
    /// Makes sectors of an entry valid.
    fn fill(&mut self, entry: usize, sectors: u8);
    /// Marks sectors as dirty; returns those that were clean before.
    fn mark_dirty(&mut self, entry: usize, sectors: u8) -> u8;
    /// Records bytes written to a sector. The sector becomes valid when all 32 bytes are known. Returns whether some of
    /// these bytes were known before.
    fn write_bytes(&mut self, set: u32, entry: usize, sector: u32, bytes: u32) -> bool;
    /// Removes the records of partly written sectors among `sectors` of a line that is being completed or was evicted.
    /// Calls `f` with each removed sector and its bytes.
    fn take_partial(&mut self, set: u32, key: u32, sectors: u8, f: impl FnMut(u32, u32)) -> u8;
    /// Returns whether any sector may be partly written.
    fn is_partial(&self) -> bool;
    /// Invalidates sectors of a line, and removes the line if no sector is left. Dirty data is lost.
    fn invalidate(&mut self, set: u32, key: u32, sectors: u8);
    /// Empties the cache without write-backs.
    fn clear(&mut self);
}

/// A line in the form in which L2 accesses it.
pub(crate) struct ResidentLine<'a> {
    /// Valid sectors in the low four bits, dirty sectors in the high four bits.
    pub(crate) state: &'a mut u8,
    /// Partly written sectors of the whole cache.
    pub(crate) partial: &'a mut Partial,
    /// The evicted line, or [`EMPTY`](super::EMPTY).
    pub(crate) evicted: u32,
}

/// An array without shared data sectors, as L2 needs it.
pub(crate) trait LookupOrAllocate: LineCache {
    /// Finds a line, or allocates it if it is absent, and marks it as used.
    fn lookup_or_allocate(&mut self, set: u32, key: u32) -> ResidentLine<'_>;
}
