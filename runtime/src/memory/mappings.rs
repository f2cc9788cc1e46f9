//! Virtual memory management: address ranges, memory, and the mapping of memory to addresses. Memory is an anonymous
//! file, so that it can be mapped at several addresses at once.

use super::allocator::AddressRange;
use super::windows::{PAGE, Window};
use crate::cuda::error::{self, Error};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Sizes and addresses are multiples of this number of bytes, as on a GPU.
pub const GRANULARITY: u64 = 2 << 20;

/// The first handle; handles have the form of pointers.
const HANDLES: u64 = 0x57d0_0000_0000;

/// The access that kernels and copies have to mapped memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// No access; the memory is only mapped.
    #[default]
    None,
    /// Read access.
    Read,
    /// Read and write access.
    ReadWrite,
}

/// Memory that is independent of an address.
#[derive(Debug)]
struct Physical {
    file: OwnedFd,
    bytes: u64,
    /// The number of handles and mappings that use the memory.
    holders: usize,
    /// The number of handles that the program has not released.
    handles: usize,
}

/// Memory that is mapped at an address.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    bytes: u64,
    handle: u64,
    access: Access,
}

/// A reserved range of addresses.
#[derive(Debug)]
struct Reservation {
    place: AddressRange,
    bytes: u64,
    /// The variable's name, if known.
    name: Option<String>,
    mapped: BTreeMap<u64, Mapping>,
}

/// All reservations and all memory of the process.
#[derive(Debug, Default)]
pub struct Mappings {
    reserved: BTreeMap<u64, Reservation>,
    memory: BTreeMap<u64, Physical>,
    made: u64,
}

fn whole(size: u64) -> Result<u64, Error> {
    if size != 0 && size.is_multiple_of(GRANULARITY) { Ok(size) } else { Err(error::INVALID_VALUE) }
}

impl Mappings {
    /// Adds a reserved range of addresses.
    pub fn reserve(&mut self, start: u64, bytes: u64, place: AddressRange, name: Option<String>) {
        self.reserved.insert(start, Reservation { place, bytes, name, mapped: BTreeMap::new() });
    }

    /// Removes a range without mappings, and returns its address range.
    pub fn unreserve(&mut self, start: u64, bytes: u64) -> Result<AddressRange, Error> {
        let found = self.reserved.get(&start).ok_or(error::INVALID_VALUE)?;
        if found.bytes != bytes || !found.mapped.is_empty() {
            return Err(error::INVALID_VALUE);
        }
        self.reserved.remove(&start).map(|gone| gone.place).ok_or(error::INVALID_VALUE)
    }

    /// Creates memory, and returns its handle.
    pub fn create(&mut self, bytes: u64) -> Result<u64, Error> {
        let bytes = whole(bytes)?;
        // SAFETY: the name ends with a zero.
        let made = unsafe { libc::memfd_create(c"warpline-memory".as_ptr(), libc::MFD_CLOEXEC) };
        if made < 0 {
            return Err(error::MEMORY_ALLOCATION);
        }
        // SAFETY: the descriptor was just created.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(made) });
        file.set_len(bytes).map_err(|_| error::MEMORY_ALLOCATION)?;
        Ok(self.enter(file.into(), bytes))
    }

    /// Imports memory that a process exported, and returns its handle and its size in bytes.
    pub fn import(&mut self, file: OwnedFd) -> Result<(u64, u64), Error> {
        let file = File::from(file);
        let bytes = whole(file.metadata().map_err(|_| error::INVALID_VALUE)?.len())?;
        Ok((self.enter(file.into(), bytes), bytes))
    }

    fn enter(&mut self, file: OwnedFd, bytes: u64) -> u64 {
        self.made += 1;
        let handle = HANDLES + self.made * 64;
        self.memory.insert(handle, Physical { file, bytes, holders: 1, handles: 1 });
        handle
    }

    /// Returns a file descriptor for the memory of a handle.
    pub fn export(&self, handle: u64) -> Result<OwnedFd, Error> {
        self.live(handle)?.file.try_clone().map_err(|_| error::INVALID_VALUE)
    }

    fn live(&self, handle: u64) -> Result<&Physical, Error> {
        self.memory.get(&handle).filter(|found| found.handles > 0).ok_or(error::INVALID_VALUE)
    }

    /// Returns an error if a handle is not valid.
    pub fn check(&self, handle: u64) -> Result<(), Error> {
        self.live(handle).map(|_| ())
    }

    /// Releases a handle. Returns the number of bytes that this frees, which is 0 while the memory is mapped.
    pub fn release(&mut self, handle: u64) -> Result<u64, Error> {
        self.live(handle)?;
        if let Some(found) = self.memory.get_mut(&handle) {
            found.handles -= 1;
        }
        Ok(self.let_go(handle))
    }

    fn let_go(&mut self, handle: u64) -> u64 {
        let Some(found) = self.memory.get_mut(&handle) else { return 0 };
        found.holders -= 1;
        let (unused, bytes) = (found.holders == 0, found.bytes);
        if unused {
            self.memory.remove(&handle);
        }
        if unused { bytes } else { 0 }
    }

    /// Returns another handle of the memory that is mapped at an address.
    pub fn retain(&mut self, address: u64) -> Result<u64, Error> {
        let (start, bytes, handle) = self.at(address)?;
        debug_assert!(address - start < bytes);
        let found = self.memory.get_mut(&handle).ok_or(error::INVALID_VALUE)?;
        (found.handles, found.holders) = (found.handles + 1, found.holders + 1);
        Ok(handle)
    }

    fn at(&self, address: u64) -> Result<(u64, u64, u64), Error> {
        let (_, range) = self.reserved.range(..=address).next_back().ok_or(error::INVALID_VALUE)?;
        let (&start, one) = range.mapped.range(..=address).next_back().ok_or(error::INVALID_VALUE)?;
        if address - start < one.bytes { Ok((start, one.bytes, one.handle)) } else { Err(error::INVALID_VALUE) }
    }

    /// Returns the access that is permitted at an address.
    pub fn access(&self, address: u64) -> Result<Access, Error> {
        let (start, ..) = self.at(address)?;
        let range = self.reserved.range(..=address).next_back();
        range.and_then(|(_, range)| range.mapped.get(&start)).map(|one| one.access).ok_or(error::INVALID_VALUE)
    }

    /// Returns the reserved range that contains `start .. start + bytes`.
    fn range(&mut self, start: u64, bytes: u64) -> Result<&mut Reservation, Error> {
        let (&base, range) = self.reserved.range_mut(..=start).next_back().ok_or(error::INVALID_VALUE)?;
        let end = start.checked_add(bytes).ok_or(error::INVALID_VALUE)?;
        if start.is_multiple_of(GRANULARITY) && end <= base + range.bytes {
            Ok(range)
        } else {
            Err(error::INVALID_VALUE)
        }
    }

    /// Maps memory at addresses, without access.
    pub fn map(&mut self, window: &Window, start: u64, bytes: u64, handle: u64, offset: u64) -> Result<(), Error> {
        let bytes = whole(bytes)?;
        let memory = self.live(handle)?;
        let fits =
            offset.is_multiple_of(GRANULARITY) && offset.checked_add(bytes).is_some_and(|end| end <= memory.bytes);
        if !fits {
            return Err(error::INVALID_VALUE);
        }
        let file = memory.file.as_raw_fd();
        let range = self.range(start, bytes)?;
        let before = range.mapped.range(..start + bytes).next_back();
        if before.is_some_and(|(&at, one)| at + one.bytes > start) {
            return Err(error::INVALID_VALUE);
        }
        window.map(start, bytes, file, offset).map_err(|_| error::MEMORY_ALLOCATION)?;
        range.mapped.insert(start, Mapping { bytes, handle, access: Access::None });
        if let Some(memory) = self.memory.get_mut(&handle) {
            memory.holders += 1;
        }
        Ok(())
    }

    /// Returns the mappings that together are exactly `start .. start + bytes`.
    fn exactly(&mut self, start: u64, bytes: u64) -> Result<(&mut Reservation, Vec<u64>), Error> {
        let end = start + whole(bytes)?;
        let range = self.range(start, bytes)?;
        let (mut at, mut found) = (start, Vec::new());
        while at < end {
            let one = range.mapped.get(&at).ok_or(error::INVALID_VALUE)?;
            found.push(at);
            at += one.bytes;
        }
        if at == end { Ok((range, found)) } else { Err(error::INVALID_VALUE) }
    }

    /// Unmaps memory from addresses. Returns the number of bytes that nothing uses any more.
    pub fn unmap(&mut self, window: &Window, start: u64, bytes: u64) -> Result<u64, Error> {
        let (range, gone) = self.exactly(start, bytes)?;
        window.unmap(start, bytes).map_err(|_| error::MEMORY_ALLOCATION)?;
        let handles: Vec<u64> = gone.iter().filter_map(|at| range.mapped.remove(at)).map(|one| one.handle).collect();
        Ok(handles.into_iter().map(|handle| self.let_go(handle)).sum())
    }

    /// Sets the permitted accesses to mapped memory.
    pub fn allow(&mut self, window: &Window, start: u64, bytes: u64, access: Access) -> Result<(), Error> {
        let (range, found) = self.exactly(start, bytes)?;
        window.protect(start, bytes, access != Access::None, access == Access::ReadWrite);
        for at in found {
            if let Some(one) = range.mapped.get_mut(&at) {
                one.access = access;
            }
        }
        Ok(())
    }

    /// Returns the accessible address ranges around `address`, each as long as possible. For the user, each such range
    /// is one allocation.
    pub fn usable(&self, address: u64) -> Vec<(u64, u64)> {
        let mut stretches: Vec<(u64, u64)> = Vec::new();
        let Some((_, range)) = self.reserved.range(..=address).next_back() else { return stretches };
        for (&start, one) in range.mapped.iter().filter(|(_, one)| one.access != Access::None) {
            match stretches.last_mut() {
                Some((first, bytes)) if *first + *bytes == start => *bytes += one.bytes,
                _ => stretches.push((start, one.bytes)),
            }
        }
        stretches
    }

    /// Returns the start and end of the reserved range that contains an address, and its variable's name.
    pub fn bounds(&self, address: u64) -> Option<(u64, u64, Option<String>)> {
        let (&start, range) = self.reserved.range(..=address).next_back()?;
        (address - start < range.bytes).then(|| (start, start + range.bytes, range.name.clone()))
    }
}

const _: () = assert!(GRANULARITY.is_multiple_of(PAGE));

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x6600_0000_0000;
    const UNIT: u64 = GRANULARITY;

    #[test]
    fn memory_lies_where_it_was_mapped_as_long_as_it_is() {
        let window = Window::reserve(BASE, 16 * UNIT).expect("unused addresses");
        let mut all = Mappings::default();
        let place = AddressRange { address: BASE, reserved: 8 * UNIT, large: true };
        all.reserve(BASE, 8 * UNIT, place, None);
        assert_eq!(all.create(UNIT + 1), Err(error::INVALID_VALUE));
        let memory = all.create(2 * UNIT).expect("memory");
        all.map(&window, BASE, 2 * UNIT, memory, 0).expect("mapped");
        assert_eq!(all.map(&window, BASE + UNIT, UNIT, memory, 0), Err(error::INVALID_VALUE), "taken");
        assert_eq!(
            all.map(&window, BASE + 7 * UNIT, 2 * UNIT, memory, 0),
            Err(error::INVALID_VALUE),
            "beyond the range"
        );
        // Maps the second half again, directly after the first mapping.
        all.map(&window, BASE + 2 * UNIT, UNIT, memory, UNIT).expect("mapped");
        assert_eq!(all.usable(BASE), []);
        assert_eq!(all.allow(&window, BASE, UNIT, Access::ReadWrite), Err(error::INVALID_VALUE), "half a mapping");
        all.allow(&window, BASE, 3 * UNIT, Access::ReadWrite).expect("allowed");
        assert_eq!(all.usable(BASE + UNIT), [(BASE, 3 * UNIT)]);
        // SAFETY: the memory is mapped, and access is permitted.
        unsafe {
            ((BASE + UNIT) as *mut u32).write(7);
            assert_eq!(((BASE + 2 * UNIT) as *const u32).read(), 7, "the same memory at two places");
        }
        assert_eq!(all.release(memory), Ok(0), "mapped memory stays");
        assert_eq!(all.release(memory), Err(error::INVALID_VALUE));
        assert_eq!(all.unreserve(BASE, 8 * UNIT), Err(error::INVALID_VALUE));
        assert_eq!(all.unmap(&window, BASE, 2 * UNIT), Ok(0));
        assert_eq!(all.usable(BASE), [(BASE + 2 * UNIT, UNIT)]);
        assert_eq!(all.retain(BASE + 2 * UNIT), Ok(memory));
        assert_eq!(all.unmap(&window, BASE + 2 * UNIT, UNIT), Ok(0));
        assert_eq!(all.release(memory), Ok(2 * UNIT));
        assert_eq!(all.unreserve(BASE, 8 * UNIT), Ok(place));
    }
}
