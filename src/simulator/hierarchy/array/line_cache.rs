//! What every form of cache array does.

use super::partial::Partial;
use super::policy::Replacement;

/// What left the cache to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// The line's key.
    pub key: u32,
    /// Its sectors that have to be written back.
    pub dirty: u8,
}

/// An array of sectored lines: sets, ways, replacement. A sector is 32 bytes; caches without sectors fill all sectors
/// of a line at once. Lines are found by key, and used by entry, which stays valid until the next allocation.
pub(crate) trait LineCache {
    /// An empty cache.
    fn new(sets: u32, ways: u32, replacement: &Replacement) -> Self;
    /// Finds a line and notes the use.
    fn touch(&mut self, set: u32, key: u32) -> Option<usize>;
    /// Prefetches the memory of a set.
    fn prefetch(&self, set: u32);
    /// Sectors of an entry that can be read.
    fn valid(&self, entry: usize) -> u8;
    /// Makes room for a line that is not present, and notes the use.
    fn allocate(&mut self, set: u32, key: u32) -> (usize, Option<Evicted>);
    /// Adds readable sectors to an entry.
    fn fill(&mut self, entry: usize, sectors: u8);
    /// Marks sectors as written; returns those that were not so before.
    fn mark_dirty(&mut self, entry: usize, sectors: u8) -> u8;
    /// Notes bytes written to a sector; the sector becomes readable when all 32 are known. Returns whether some of them
    /// were known before.
    fn write_bytes(&mut self, set: u32, entry: usize, sector: u32, bytes: u32) -> bool;
    /// Takes out what is known of the partly written sectors among `sectors` of a line of a set that is being completed
    /// or has left: which, and calls `f` with each one's bytes.
    fn take_partial(&mut self, set: u32, key: u32, sectors: u8, f: impl FnMut(u32, u32)) -> u8;
    /// Returns whether any sector is partly written.
    fn is_partial(&self) -> bool;
    /// Drops sectors of a line; the whole line where none is left. Dirty data is lost.
    fn invalidate(&mut self, set: u32, key: u32, sectors: u8);
    /// Empties the cache; nothing is written back.
    fn clear(&mut self);
}

/// A line as L2 works on it.
pub(crate) struct ResidentLine<'a> {
    /// In the low four bits the sectors that can be read, in the high ones those that are dirty.
    pub(crate) state: &'a mut u8,
    /// Sectors of the whole cache that are not whole.
    pub(crate) partial: &'a mut Partial,
    /// The line that left to make room, or [`EMPTY`](super::EMPTY).
    pub(crate) evicted: u32,
}

/// An array without shared data sectors, for L2.
pub(crate) trait LookupOrAllocate: LineCache {
    /// Finds a line, or makes room for it where it is not there, and notes the use.
    fn lookup_or_allocate(&mut self, set: u32, key: u32) -> ResidentLine<'_>;
}
