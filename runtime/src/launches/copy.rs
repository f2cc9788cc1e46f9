//! Copies and fills: determines on which side each pointer is and whether the call is valid, and performs the transfer
//! and writes its event.

use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::device::rounding::{Roundings, WrittenRows};
use crate::memory::rows::Rows;
use crate::state::runtime::Runtime;
use std::ffi::c_int;
use warpline_format::event::{
    AllocationKind, Copy, CopyHostSide, Direction, Event, HostAllocationId, UninitialisedCopy,
};
use warpline_format::rounding::Writer;

/// The kind of memory to which a pointer refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Ordinary host memory.
    Host,
    /// Device memory at this synthetic address.
    Device(u64),
    /// Managed, pinned or registered memory, which both sides can access.
    Both(u64),
}

impl Side {
    fn may_be_host(self) -> bool {
        !matches!(self, Side::Device(_))
    }

    fn may_be_device(self) -> bool {
        self != Side::Host
    }

    fn device_address(self) -> Option<u64> {
        match self {
            Side::Host => None,
            Side::Device(address) | Side::Both(address) => Some(address),
        }
    }
}

/// A valid copy.
#[derive(Clone, Copy)]
struct Transfer {
    to: Rows,
    from: Rows,
    width: u64,
    height: u64,
    destination: Side,
    source: Side,
    /// Whether the copy counts as one to the device.
    to_device: bool,
    /// Whether the copy counts as one from the device.
    from_device: bool,
}

impl Transfer {
    fn crosses(&self) -> bool {
        self.to_device != self.from_device
    }

    fn direction(&self) -> Direction {
        match (self.from_device, self.to_device) {
            (false, true) => Direction::HostToDevice,
            (true, false) => Direction::DeviceToHost,
            (true, true) => Direction::DeviceToDevice,
            (false, false) => Direction::HostToHost,
        }
    }
}

impl Runtime {
    /// Returns the side of `bytes` bytes from `address`, or an error if they exceed their allocation.
    fn side(&self, address: u64, bytes: u64) -> Result<Side, Error> {
        let Some(live) = self.memory.registry.find(address) else {
            // A device address without an allocation is not host memory either.
            let device = crate::memory::windows::region(address) == crate::memory::windows::Region::Device;
            return if device { Err(error::INVALID_VALUE) } else { Ok(Side::Host) };
        };
        let offset = address - live.start();
        let synthetic = live.address + offset;
        match live.kind {
            // After the end of registered memory, there is ordinary host memory.
            AllocationKind::Registered if bytes > live.bytes - offset => Ok(Side::Host),
            _ if bytes > live.bytes - offset => Err(error::INVALID_VALUE),
            AllocationKind::Managed
            | AllocationKind::ManagedGlobal
            | AllocationKind::Host
            | AllocationKind::Registered => Ok(Side::Both(synthetic)),
            _ => Ok(Side::Device(synthetic)),
        }
    }

    /// Returns the number of the host allocation that contains `address`. The allocation is added to the trace at its
    /// first use.
    pub fn host_allocation(&mut self, address: u64) -> Option<HostAllocationId> {
        let live = self.host.find(address)?;
        if live.id.is_some() {
            return live.id;
        }
        let (bytes, kind, name, frames) = (live.bytes, live.kind.clone(), live.name.clone(), live.frames.clone());
        let id = self.host.next_id();
        self.host.find(address)?.id = Some(id);
        let path = self.path_of(frames);
        self.trace.event(Event::HostAllocation { id, kind, bytes, name, path });
        Some(id)
    }

    /// Copies `height` rows of `width` bytes; `kind` is a `cudaMemcpyKind`.
    ///
    /// # Safety
    /// Host memory on either side is valid.
    pub unsafe fn copy(
        &mut self,
        to: Rows,
        from: Rows,
        width: u64,
        height: u64,
        kind: c_int,
        entry: Entry,
    ) -> Result<(), Error> {
        if !(0..=4).contains(&kind) {
            return Err(error::INVALID_MEMCPY_DIRECTION);
        }
        self.flush_output();
        if width == 0 || height == 0 {
            return Ok(());
        }
        let transfer = self.transfer(to, from, width, height, kind)?;
        // SAFETY: by the contract.
        let unchanged = self.trace.is_on() && transfer.crosses() && unsafe { self.is_unchanged(&transfer) };
        if self.trace.is_on() && transfer.crosses() && transfer.from_device {
            self.fetched.note(to, from, width, height);
        }
        // SAFETY: by the contract; the sides were determined by `transfer`.
        unsafe { self.move_rows(&transfer) };
        if self.trace.is_on() {
            self.write_copy(&transfer, unchanged, entry);
        }
        if transfer.from_device && !transfer.to_device && self.results.is_some() {
            let path = self.path(entry);
            // SAFETY: the copy has written these rows.
            unsafe { self.compare_result(to, from, width, height, path) };
        }
        if transfer.to_device && self.roundings.is_some() {
            let path = self.path(entry);
            self.round_written(WrittenRows { rows: to, width, height }, Writer::Copy(path));
        }
        Ok(())
    }

    /// Returns the sides of a copy, or an error if it is not valid.
    fn transfer(&self, to: Rows, from: Rows, width: u64, height: u64, kind: c_int) -> Result<Transfer, Error> {
        if height > 1 && (width > to.pitch || width > from.pitch) {
            return Err(error::INVALID_PITCH_VALUE);
        }
        if to.start == 0 || from.start == 0 {
            return Err(error::INVALID_VALUE);
        }
        let destination = self.side(to.start, span(to.pitch, width, height)?)?;
        let source = self.side(from.start, span(from.pitch, width, height)?)?;
        let fits = match kind {
            0 => destination.may_be_host() && source.may_be_host(),
            1 => destination.may_be_device() && source.may_be_host(),
            2 => destination.may_be_host() && source.may_be_device(),
            3 => destination.may_be_device() && source.may_be_device(),
            _ => true,
        };
        if !fits {
            return Err(error::INVALID_VALUE);
        }
        let (to_device, from_device) = match kind {
            0 => (false, false),
            1 => (true, false),
            2 => (false, true),
            3 => (true, true),
            _ => (matches!(destination, Side::Device(_)), matches!(source, Side::Device(_))),
        };
        Ok(Transfer { to, from, width, height, destination, source, to_device, from_device })
    }

    /// Returns whether the destination, or the device memory from which the source was copied, already has the bytes.
    ///
    /// # Safety
    /// Host memory on either side is valid.
    unsafe fn is_unchanged(&self, transfer: &Transfer) -> bool {
        let Transfer { to, from, width, height, .. } = *transfer;
        // SAFETY: by the contract.
        let same = |one: Rows, other: Rows| unsafe { already_there(one, other, width, height) };
        same(to, from)
            || transfer.to_device && self.origin(from, width, height).is_some_and(|origin| same(origin, from))
    }

    /// Copies the bytes, and what the checks know of them.
    ///
    /// # Safety
    /// Both sides are valid. They may overlap.
    unsafe fn move_rows(&mut self, transfer: &Transfer) {
        let Transfer { to, from, width, height, to_device, from_device, .. } = *transfer;
        for row in 0..height {
            let (from, to) = (from.start + row * from.pitch, to.start + row * to.pitch);
            // SAFETY: by the contract.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, width as usize) };
            if let Some(shadow) = self.memory.shadow.as_ref().filter(|_| to_device) {
                shadow.copy(to, from, width);
            }
            if let Some(floats) = self.floats.as_mut().filter(|_| to_device) {
                floats.copied(to..to + width, from_device.then_some(from));
            }
        }
    }

    /// Writes the events of a copy, which has been made.
    fn write_copy(&mut self, transfer: &Transfer, unchanged: bool, entry: Entry) {
        let Transfer { to, from, width, height, destination, source, to_device, from_device } = *transfer;
        self.order_work(self.streams.order.current);
        let path = self.path(entry);
        let direction = transfer.direction();
        let host = match direction {
            Direction::HostToDevice => self.host_allocation(from.start),
            Direction::DeviceToHost => self.host_allocation(to.start),
            _ => None,
        };
        self.trace.event(Event::Copy(Copy {
            direction,
            width,
            height,
            destination: destination.device_address().filter(|_| to_device),
            destination_pitch: to.pitch,
            source: source.device_address().filter(|_| from_device),
            source_pitch: from.pitch,
            host,
            path,
        }));
        if unchanged {
            self.trace.event(Event::Unchanged);
        }
        let (shared, pitch) = if to_device { (source, from.pitch) } else { (destination, to.pitch) };
        if let Some(address) = shared.device_address()
            && transfer.crosses()
            && self.memory.host_guard.is_some()
        {
            let writes = from_device;
            self.trace.event(Event::CopyHostSide(CopyHostSide { address, pitch, width, height, writes, path }));
        }
        // For copies from and to pageable memory, the host waits (CUDA runtime API, "API synchronization
        // behavior").
        if let Some(stream) = self.streams.order.current
            && [destination, source].contains(&Side::Host)
        {
            let blocking = self.streams.is_blocking(stream);
            self.streams.order.wait_for_stream(stream, blocking);
        }
        if direction == Direction::DeviceToHost
            && let Some(unwritten) = self.unwritten(from, width, height)
        {
            self.trace.event(Event::UninitialisedCopy(UninitialisedCopy { path, ..unwritten }));
        }
    }

    /// With the initialisation check, returns the bytes of a copy to the host that nothing has written.
    fn unwritten(&self, from: Rows, width: u64, height: u64) -> Option<UninitialisedCopy> {
        let shadow = self.memory.shadow.as_ref().filter(|_| self.options.check_init)?;
        let (mut bytes, mut in_long_runs, mut first) = (0, 0, None);
        for start in (0..height).map(|row| from.start + row * from.pitch) {
            let (count, at) = shadow.count(start, width);
            bytes += count;
            first = first.or(at.map(|at| start + at));
            if count != 0 {
                in_long_runs += shadow.in_runs(start, width, UninitialisedCopy::LONG_RUN);
            }
        }
        let live = self.memory.registry.find(first?)?;
        Some(UninitialisedCopy {
            allocation: live.id,
            earlier: self.memory.earlier.get(&live.id).copied(),
            bytes,
            in_long_runs,
            copied: width * height,
            offset: first? - live.start(),
            path: 0,
        })
    }

    /// Returns the device memory from which these bytes of the host were copied, if the memory still exists.
    fn origin(&self, host: Rows, width: u64, height: u64) -> Option<Rows> {
        let origin = self.fetched.origin(host, width, height)?;
        let side = self.side(origin.start, span(origin.pitch, width, height).ok()?).ok()?;
        matches!(side, Side::Device(_)).then_some(origin)
    }

    /// Fills `height` rows of `width` bytes with `value`.
    pub fn fill(&mut self, to: Rows, value: u8, width: u64, height: u64, entry: Entry) -> Result<(), Error> {
        self.fill_with(to, u32::from(value), 1, width, height, entry)
    }

    /// The variant of [`Self::fill`] for elements of `size` bytes: 1, 2 or 4. `width` is nevertheless in bytes.
    pub fn fill_with(
        &mut self,
        to: Rows,
        value: u32,
        size: u32,
        width: u64,
        height: u64,
        entry: Entry,
    ) -> Result<(), Error> {
        if width == 0 || height == 0 {
            return Ok(());
        }
        if height > 1 && width > to.pitch {
            return Err(error::INVALID_PITCH_VALUE);
        }
        let side = self.side(to.start, span(to.pitch, width, height)?)?;
        let Some(destination) = side.device_address() else { return Err(error::INVALID_VALUE) };
        let unchanged = self.fills_again(to, &value.to_le_bytes()[..size as usize], width, height);
        for row in 0..height {
            let at = (to.start + row * to.pitch) as *mut u8;
            let element = &value.to_le_bytes()[..size as usize];
            // SAFETY: the row is inside one live allocation.
            let row = unsafe { std::slice::from_raw_parts_mut(at, width as usize) };
            match element {
                [byte] => row.fill(*byte),
                _ => row.chunks_exact_mut(element.len()).for_each(|place| place.copy_from_slice(element)),
            }
            if let Some(shadow) = &self.memory.shadow {
                shadow.write(at as u64, width);
            }
            if let Some(floats) = &mut self.floats {
                floats.copied(at as u64..at as u64 + width, None);
            }
        }
        if self.trace.is_on() {
            // A fill does not wait; it becomes the next work of the default stream.
            self.order_work(self.streams.order.current.or(Some(0)));
            let path = self.path(entry);
            self.trace.event(Event::Copy(Copy {
                direction: Direction::Set,
                width,
                height,
                destination: Some(destination),
                destination_pitch: to.pitch,
                source: None,
                source_pitch: 0,
                host: None,
                path,
            }));
            if unchanged {
                self.trace.event(Event::Unchanged);
            }
        }
        if self.roundings.is_some() {
            let path = self.path(entry);
            self.round_written(WrittenRows { rows: to, width, height }, Writer::Fill(path));
        }
        Ok(())
    }

    /// Rounds the elements that a copy or fill has written, if their allocation is chosen.
    fn round_written(&mut self, written: WrittenRows, writer: Writer) {
        if let Some(roundings) = self.roundings.as_mut() {
            roundings.written(&self.memory, written, writer);
        }
        self.write_roundings();
    }

    /// Writes the events of roundings to the trace.
    pub(super) fn write_roundings(&mut self) {
        for event in self.roundings.iter_mut().flat_map(Roundings::take_events) {
            self.trace.event(event);
        }
    }

    /// If values are tracked: returns whether a fill writes the bytes that an earlier fill wrote there and nothing has
    /// changed since.
    fn fills_again(&mut self, to: Rows, element: &[u8], width: u64, height: u64) -> bool {
        let Some(values) = self.values.as_mut() else { return false };
        let Some(live) = self.memory.registry.find(to.start) else { return false };
        let end = to.start + (height - 1) * to.pitch + width;
        let is_there = || {
            (0..height).all(|row| {
                let at = (to.start + row * to.pitch) as *const u8;
                // SAFETY: the row is inside one live allocation, as the caller has checked.
                let bytes = unsafe { std::slice::from_raw_parts(at, width as usize) };
                bytes.chunks(element.len()).all(|place| place == element)
            })
        };
        values.fills_again(live, to.start..end, is_there)
    }
}

/// Returns whether the destination already contains the bytes. The cost is that of reading them up to the first
/// difference.
///
/// # Safety
/// Both sides are valid for reads.
unsafe fn already_there(to: Rows, from: Rows, width: u64, height: u64) -> bool {
    (0..height).all(|row| {
        let at = |rows: Rows| (rows.start + row * rows.pitch) as *const u8;
        // SAFETY: by the contract; nothing writes them meanwhile, as the caller's thread makes the copy.
        unsafe {
            std::slice::from_raw_parts(at(to), width as usize) == std::slice::from_raw_parts(at(from), width as usize)
        }
    })
}

/// Returns the number of bytes from the first byte of the first row to the last byte of the last row.
fn span(pitch: u64, width: u64, height: u64) -> Result<u64, Error> {
    (height - 1).checked_mul(pitch).and_then(|rows| rows.checked_add(width)).ok_or(error::INVALID_VALUE)
}
