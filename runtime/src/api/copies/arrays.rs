//! CUDA arrays: allocation, and copies in and out. An array stores its texels row by row, and each row starts at a new
//! sector.

use crate::api::{api, per_thread, put};
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::types::{ChannelDesc, Extent, StreamHandle};
use crate::graphs::{CopyWork, Work};
use crate::memory::images::Array;
use crate::memory::rows::Rows;
use crate::state::runtime::Runtime;
use crate::texture::format::Format;
use crate::texture::image::Image;
use std::ffi::{c_int, c_uint, c_void};
use warpline_format::event::AllocationKind;

/// `cudaArray_t`.
pub type ArrayHandle = *mut c_void;

/// Flags of `cudaMalloc3DArray`: layered, surface loads and stores, cube, gather.
const FLAGS: c_uint = 0xf;
const LAYERED: c_uint = 1;
const CUBE: c_uint = 4;
/// Rows start at multiples of this many bytes.
const ROW_UNIT: u64 = 32;

/// Allocates an array's memory and returns its handle.
pub(in crate::api) fn allocate(
    runtime: &mut Runtime,
    place: *mut ArrayHandle,
    desc: *const ChannelDesc,
    extent: [usize; 3],
    flags: c_uint,
    entry: Entry,
) -> Result<(), Error> {
    // SAFETY: the pointer is null or valid by the contract of the calling API function.
    let desc = unsafe { desc.as_ref() }.ok_or(error::INVALID_VALUE)?;
    let format = Format::from_desc(desc)?;
    let [width, height, depth] = extent;
    let cubes = flags & CUBE != 0;
    let whole_cubes = width == height && depth.is_multiple_of(6) && (flags & LAYERED != 0 || depth == 6);
    // A slice has a height, unless the slices are layers.
    let shape = width != 0 && (depth == 0 || height != 0 || flags & LAYERED != 0) && (!cubes || whole_cubes);
    if place.is_null() || flags & !FLAGS != 0 || !shape {
        return Err(error::INVALID_VALUE);
    }
    let size = extent.map(|size| u32::try_from(size.max(1)));
    let [Ok(x), Ok(y), Ok(z)] = size else { return Err(error::INVALID_VALUE) };
    let row = (u64::from(x) * format.bytes()).next_multiple_of(ROW_UNIT);
    let slice = row * u64::from(y);
    let bytes = slice.checked_mul(u64::from(z)).ok_or(error::MEMORY_ALLOCATION)?;
    let base = runtime.allocate(bytes, AllocationKind::Array, entry)?;
    let image = Image { base, size: [x, y, z], row, slice, format };
    let handle = runtime.memory.images.add_array(Array { image, extent, flags });
    // SAFETY: by the contract of the calling API function.
    unsafe { put(place, handle as ArrayHandle) }
}

/// Returns an array that the program named.
pub fn array(runtime: &Runtime, handle: *const c_void) -> Result<Array, Error> {
    runtime.memory.images.array(handle as u64)
}

/// Returns `height` rows of `width` bytes of an array, from a position in its first slice on.
pub(in crate::api) fn part(array: &Array, x: usize, y: usize, width: usize, height: usize) -> Result<Rows, Error> {
    let row = u64::from(array.image.size[0]) * array.image.format.bytes();
    let fits = |from: usize, count: usize, limit: u64| from.checked_add(count).is_some_and(|end| end as u64 <= limit);
    if !fits(x, width, row) || !fits(y, height, u64::from(array.image.size[1])) {
        return Err(error::INVALID_VALUE);
    }
    Ok(Rows { start: array.image.base + y as u64 * array.image.row + x as u64, pitch: array.image.row })
}

pub(in crate::api) fn rows(pointer: *const c_void, pitch: usize) -> Rows {
    Rows { start: pointer as u64, pitch: pitch as u64 }
}

/// Splits `bytes` consecutive bytes of an array, from a position on, into pieces: the rest of the first row, whole
/// rows, and the beginning of the last row. Each piece is x, y, bytes per row, rows.
fn pieces(array: &Array, x: usize, y: usize, bytes: usize) -> Vec<[usize; 4]> {
    let row = array.image.size[0] as usize * array.image.format.bytes() as usize;
    let (mut y, mut left) = (y, bytes);
    let mut list = Vec::new();
    if x != 0 {
        let first = left.min(row.saturating_sub(x));
        list.push([x, y, first, 1]);
        (y, left) = (y + 1, left - first);
    }
    if left >= row {
        list.push([0, y, row, left / row]);
        y += left / row;
    }
    if left % row != 0 {
        list.push([0, y, left % row, 1]);
    }
    list
}

/// # Safety
/// `from` is valid for `bytes` bytes where it is on the host.
pub(in crate::api) unsafe fn write(
    runtime: &mut Runtime,
    (to, x, y): (ArrayHandle, usize, usize),
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    entry: Entry,
) -> Result<(), Error> {
    let to = array(runtime, to)?;
    let mut from = from;
    for [x, y, width, height] in pieces(&to, x, y, bytes) {
        let target = part(&to, x, y, width, height)?;
        // SAFETY: by the contract of the API function.
        unsafe { runtime.copy(target, rows(from, width), width as u64, height as u64, kind, entry)? };
        from = from.wrapping_byte_add(width * height);
    }
    Ok(())
}

/// # Safety
/// `to` is valid for `bytes` bytes where it is on the host.
pub(in crate::api) unsafe fn read(
    runtime: &mut Runtime,
    to: *mut c_void,
    (from, x, y): (ArrayHandle, usize, usize),
    bytes: usize,
    kind: c_int,
    entry: Entry,
) -> Result<(), Error> {
    let from = array(runtime, from)?;
    let mut to = to;
    for [x, y, width, height] in pieces(&from, x, y, bytes) {
        let source = part(&from, x, y, width, height)?;
        // SAFETY: by the contract of the API function.
        unsafe { runtime.copy(rows(to, width), source, width as u64, height as u64, kind, entry)? };
        to = to.wrapping_byte_add(width * height);
    }
    Ok(())
}

api! {
    /// Allocates a one- or two-dimensional array.
    fn cudaMallocArray(
        place: *mut ArrayHandle,
        desc: *const ChannelDesc,
        width: usize,
        height: usize,
        flags: c_uint,
    ) |runtime, entry| {
        allocate(runtime, place, desc, [width, height, 0], flags, entry)
    }

    /// Allocates an array of any shape.
    fn cudaMalloc3DArray(
        place: *mut ArrayHandle,
        desc: *const ChannelDesc,
        extent: Extent,
        flags: c_uint,
    ) |runtime, entry| {
        allocate(runtime, place, desc, [extent.width, extent.height, extent.depth], flags, entry)
    }

    /// Frees an array; null is not an error.
    fn cudaFreeArray(handle: ArrayHandle) |runtime, entry| {
        runtime.synchronise();
        if handle.is_null() {
            return Ok(());
        }
        let array = runtime.memory.images.remove_array(handle as u64)?;
        runtime.free(array.image.base, &[AllocationKind::Array], entry)
    }

    /// Returns the format, shape and flags of an array.
    fn cudaArrayGetInfo(
        desc: *mut ChannelDesc,
        extent: *mut Extent,
        flags: *mut c_uint,
        handle: ArrayHandle,
    ) |runtime, entry| {
        let _ = entry;
        let array = array(runtime, handle)?;
        let [width, height, depth] = array.extent;
        // SAFETY: by the contract of the API function.
        unsafe {
            if !desc.is_null() {
                put(desc, array.image.format.desc())?;
            }
            if !extent.is_null() {
                put(extent, Extent { width, height, depth })?;
            }
            if flags.is_null() { Ok(()) } else { put(flags, array.flags) }
        }
    }

    /// Returns the format of an array.
    fn cudaGetChannelDesc(desc: *mut ChannelDesc, handle: *const c_void) |runtime, entry| {
        let _ = entry;
        let array = array(runtime, handle)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(desc, array.image.format.desc()) }
    }

    /// Copies rows into an array.
    fn cudaMemcpy2DToArray(
        to: ArrayHandle,
        x: usize,
        y: usize,
        from: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
    ) |runtime, entry| {
        let to = part(&array(runtime, to)?, x, y, width, height)?;
        // SAFETY: by the contract of the API function.
        unsafe { runtime.copy(to, rows(from, pitch), width as u64, height as u64, kind, entry) }
    }

    /// Copies rows into an array in a stream; completes before it returns.
    fn cudaMemcpy2DToArrayAsync(
        to: ArrayHandle,
        x: usize,
        y: usize,
        from: *const c_void,
        pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
        stream: StreamHandle,
    ) |runtime, entry| {
        let to = part(&array(runtime, to)?, x, y, width, height)?;
        let work = CopyWork::rows(to, rows(from, pitch), width as u64, height as u64, kind);
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, Work::Copy(work), entry) }
    }

    /// Copies rows out of an array.
    fn cudaMemcpy2DFromArray(
        to: *mut c_void,
        pitch: usize,
        from: ArrayHandle,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        kind: c_int,
    ) |runtime, entry| {
        let from = part(&array(runtime, from)?, x, y, width, height)?;
        // SAFETY: by the contract of the API function.
        unsafe { runtime.copy(rows(to, pitch), from, width as u64, height as u64, kind, entry) }
    }

    /// Copies rows out of an array in a stream; completes before it returns.
    fn cudaMemcpy2DFromArrayAsync(
        to: *mut c_void,
        pitch: usize,
        from: ArrayHandle,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        kind: c_int,
        stream: StreamHandle,
    ) |runtime, entry| {
        let from = part(&array(runtime, from)?, x, y, width, height)?;
        let work = CopyWork::rows(rows(to, pitch), from, width as u64, height as u64, kind);
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, Work::Copy(work), entry) }
    }

    /// Copies rows from one array to another.
    fn cudaMemcpy2DArrayToArray(
        to: ArrayHandle,
        to_x: usize,
        to_y: usize,
        from: ArrayHandle,
        from_x: usize,
        from_y: usize,
        width: usize,
        height: usize,
        kind: c_int,
    ) |runtime, entry| {
        let to = part(&array(runtime, to)?, to_x, to_y, width, height)?;
        let from = part(&array(runtime, from)?, from_x, from_y, width, height)?;
        // SAFETY: both ends of the copy are arrays.
        unsafe { runtime.copy(to, from, width as u64, height as u64, kind, entry) }
    }

    /// Copies bytes into an array, row after row.
    fn cudaMemcpyToArray(
        to: ArrayHandle,
        x: usize,
        y: usize,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
    ) |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe { write(runtime, (to, x, y), from, bytes, kind, entry) }
    }

    /// Copies bytes into an array in a stream; completes before it returns.
    fn cudaMemcpyToArrayAsync(
        to: ArrayHandle,
        x: usize,
        y: usize,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
        stream: StreamHandle,
    ) |runtime, entry| {
        runtime.streams.get(stream as usize)?;
        // SAFETY: by the contract of the API function.
        unsafe { write(runtime, (to, x, y), from, bytes, kind, entry) }
    }

    /// Copies bytes out of an array, row after row.
    fn cudaMemcpyFromArray(
        to: *mut c_void,
        from: ArrayHandle,
        x: usize,
        y: usize,
        bytes: usize,
        kind: c_int,
    ) |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe { read(runtime, to, (from, x, y), bytes, kind, entry) }
    }

    /// Copies bytes out of an array in a stream; completes before it returns.
    fn cudaMemcpyFromArrayAsync(
        to: *mut c_void,
        from: ArrayHandle,
        x: usize,
        y: usize,
        bytes: usize,
        kind: c_int,
        stream: StreamHandle,
    ) |runtime, entry| {
        runtime.streams.get(stream as usize)?;
        // SAFETY: by the contract of the API function.
        unsafe { read(runtime, to, (from, x, y), bytes, kind, entry) }
    }

    /// Copies bytes from one array to another; both have rows of the same length.
    fn cudaMemcpyArrayToArray(
        to: ArrayHandle,
        to_x: usize,
        to_y: usize,
        from: ArrayHandle,
        from_x: usize,
        from_y: usize,
        bytes: usize,
        kind: c_int,
    ) |runtime, entry| {
        let (target, source) = (array(runtime, to)?, array(runtime, from)?);
        let row = |array: &Array| u64::from(array.image.size[0]) * array.image.format.bytes();
        if row(&target) != row(&source) || to_x != from_x {
            return Err(error::NOT_SUPPORTED);
        }
        for [x, y, width, height] in pieces(&target, to_x, to_y, bytes) {
            let to = part(&target, x, y, width, height)?;
            let from = part(&source, x, y - to_y + from_y, width, height)?;
            // SAFETY: both ends of the copy are arrays.
            unsafe { runtime.copy(to, from, width as u64, height as u64, kind, entry)? };
        }
        Ok(())
    }
}

/// Makes a channel descriptor.
#[unsafe(no_mangle)]
pub extern "C" fn cudaCreateChannelDesc(x: c_int, y: c_int, z: c_int, w: c_int, kind: c_int) -> ChannelDesc {
    ChannelDesc { x, y, z, w, kind }
}

per_thread! {
    cudaMemcpy2DToArray_ptds = cudaMemcpy2DToArray, (to: ArrayHandle, x: usize, y: usize, from: *const c_void,
        pitch: usize, width: usize, height: usize, kind: c_int);
    cudaMemcpy2DFromArray_ptds = cudaMemcpy2DFromArray, (to: *mut c_void, pitch: usize, from: ArrayHandle, x: usize,
        y: usize, width: usize, height: usize, kind: c_int);
    cudaMemcpyToArray_ptds = cudaMemcpyToArray, (to: ArrayHandle, x: usize, y: usize, from: *const c_void,
        bytes: usize, kind: c_int);
    cudaMemcpyFromArray_ptds = cudaMemcpyFromArray, (to: *mut c_void, from: ArrayHandle, x: usize, y: usize,
        bytes: usize, kind: c_int);
    cudaMemcpy2DToArrayAsync_ptsz = cudaMemcpy2DToArrayAsync, (to: ArrayHandle, x: usize, y: usize,
        from: *const c_void, pitch: usize, width: usize, height: usize, kind: c_int, stream: StreamHandle);
    cudaMemcpy2DFromArrayAsync_ptsz = cudaMemcpy2DFromArrayAsync, (to: *mut c_void, pitch: usize, from: ArrayHandle,
        x: usize, y: usize, width: usize, height: usize, kind: c_int, stream: StreamHandle);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::format::Channel;
    use proptest::prelude::*;

    fn array(width: u32, height: u32) -> Array {
        let format = Format { channel: Channel::Unsigned(16), count: 1 };
        let image = Image { base: 1 << 20, size: [width, height, 1], row: 64, slice: 64 * u64::from(height), format };
        Array { image, extent: [width as usize, height as usize, 0], flags: 0 }
    }

    proptest! {
        /// A walk byte by byte, as the copy is specified, touches the same bytes in the same order.
        #[test]
        fn pieces_are_a_walk_over_the_rows(width in 1u32..20, x in 0usize..40, y in 0usize..4, bytes in 0usize..150) {
            let array = array(width, 100);
            let row = 2 * width as usize;
            let x = x % row;
            let walk: Vec<_> = (0..bytes).map(|step| ((x + step) % row, y + (x + step) / row)).collect();
            let mut found = Vec::new();
            for [x, y, width, height] in pieces(&array, x, y, bytes) {
                prop_assert!(part(&array, x, y, width, height).is_ok());
                found.extend((0..width * height).map(|step| (x + step % width, y + step / width)));
            }
            prop_assert_eq!(found, walk);
        }
    }

    #[test]
    fn parts_outside_are_refused() {
        let array = array(10, 3);
        assert!(part(&array, 18, 2, 2, 1).is_ok());
        assert!(part(&array, 18, 2, 3, 1).is_err());
        assert!(part(&array, 0, 2, 2, 2).is_err());
        assert!(part(&array, usize::MAX, 0, 2, 1).is_err());
    }
}
