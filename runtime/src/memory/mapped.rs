//! Mapped memory in the registry of allocations: each continuous range of accessible addresses is one allocation.

use super::DeviceMemory;
use super::mappings::{Access, GRANULARITY};
use super::registry::Live;
use crate::cuda::error::{self, Error};
use warpline_format::event::{AllocationKind, PathId};

/// The changes of the allocations that a change of mappings causes.
#[derive(Debug, Default)]
pub struct Change {
    /// Allocations that no longer exist.
    pub gone: Vec<Live>,
    /// The first addresses of new allocations.
    pub new: Vec<u64>,
}

impl DeviceMemory {
    /// Reserves addresses.
    pub fn reserve_addresses(&mut self, bytes: u64, alignment: u64, name: Option<String>) -> Result<u64, Error> {
        let usual = alignment == 0 || alignment.is_power_of_two();
        if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) || !usual {
            return Err(error::INVALID_VALUE);
        }
        let slack = alignment.saturating_sub(GRANULARITY);
        let requested = bytes.checked_add(slack).ok_or(error::MEMORY_ALLOCATION)?;
        let place = self.allocator.allocate(requested).ok_or(error::MEMORY_ALLOCATION)?;
        let start = place.address.next_multiple_of(alignment.max(GRANULARITY));
        self.mappings.reserve(start, bytes, place, name);
        Ok(start)
    }

    /// Frees reserved addresses.
    pub fn free_addresses(&mut self, start: u64, bytes: u64) -> Result<(), Error> {
        let place = self.mappings.unreserve(start, bytes)?;
        self.allocator.free(place);
        Ok(())
    }

    /// Creates memory that has no address yet.
    pub fn create(&mut self, bytes: u64) -> Result<u64, Error> {
        if bytes > self.info().0 {
            return Err(error::MEMORY_ALLOCATION);
        }
        let handle = self.mappings.create(bytes)?;
        self.used += bytes;
        Ok(handle)
    }

    /// Releases a handle of memory.
    pub fn release(&mut self, handle: u64) -> Result<(), Error> {
        self.used = self.used.saturating_sub(self.mappings.release(handle)?);
        Ok(())
    }

    /// Maps memory at addresses.
    pub fn map(&mut self, start: u64, bytes: u64, handle: u64, offset: u64) -> Result<(), Error> {
        self.mappings.map(&self.window, start, bytes, handle, offset)
    }

    /// Unmaps memory from addresses.
    pub fn unmap(&mut self, start: u64, bytes: u64, path: PathId) -> Result<Change, Error> {
        self.used = self.used.saturating_sub(self.mappings.unmap(&self.window, start, bytes)?);
        Ok(self.follow(start, path))
    }

    /// Sets the permitted accesses to mapped memory.
    pub fn allow(&mut self, start: u64, bytes: u64, access: Access, path: PathId) -> Result<Change, Error> {
        self.mappings.allow(&self.window, start, bytes, access)?;
        Ok(self.follow(start, path))
    }

    /// Updates the allocations in the reserved range around an address, so that they are the currently accessible
    /// ranges. A range that has grown becomes a new allocation, because the recorded properties of an allocation do not
    /// change.
    fn follow(&mut self, address: u64, path: PathId) -> Change {
        let Some((first, end, name)) = self.mappings.bounds(address) else { return Change::default() };
        let stretches = self.mappings.usable(address);
        let known: Vec<(u64, u64)> = self.registry.within(first, end).map(|live| (live.start(), live.bytes)).collect();
        let mut change = Change::default();
        for (start, _) in known.iter().filter(|one| !stretches.contains(one)) {
            change.gone.extend(self.free(*start));
        }
        for &(start, bytes) in stretches.iter().filter(|one| !known.contains(one)) {
            let id = self.registry.next_id();
            let (kind, name) = (AllocationKind::Mapped, name.clone());
            let live = Live { id, kind, address: start, bytes, name, path, place: None, host: None, elements: None };
            self.registry.insert(live);
            change.new.push(start);
        }
        change
    }
}
