//! `cudaMemcpy…` and `cudaMemset…`.

use super::arrays::array;
use crate::api::{api, per_thread};
use crate::cuda::error::{self, Error};
use crate::cuda::types::{Extent, Memcpy3D, PitchedPtr, Position, StreamHandle};
use crate::graphs::{CopyWork, FillWork, Work};
use crate::memory::images::Array;
use crate::memory::rows::Rows;
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_void};

pub(in crate::api) fn flat(pointer: *const c_void, bytes: usize) -> Rows {
    Rows { start: pointer as u64, pitch: bytes as u64 }
}

pub(in crate::api) fn rows(pointer: *const c_void, pitch: usize) -> Rows {
    Rows { start: pointer as u64, pitch: pitch as u64 }
}

/// One end of a three-dimensional copy: its first byte, bytes between rows, bytes between slices.
struct End {
    first: u64,
    row: u64,
    slice: u64,
}

impl End {
    /// Returns an end in memory; positions are in bytes.
    fn memory(memory: &PitchedPtr, at: &Position) -> End {
        let (row, slice) = (memory.pitch, memory.y_size * memory.pitch);
        let first = memory.pointer.wrapping_byte_add(at.z * slice + at.y * row + at.x) as u64;
        End { first, row: row as u64, slice: slice as u64 }
    }

    /// Returns an end in an array; positions and extent are in texels.
    fn array(array: &Array, at: &Position, extent: &Extent) -> Result<End, Error> {
        let fits =
            |from: usize, count: usize, limit: u32| from.checked_add(count).is_some_and(|end| end <= limit as usize);
        let [width, height, depth] = array.image.size;
        if !fits(at.x, extent.width, width) || !fits(at.y, extent.height, height) || !fits(at.z, extent.depth, depth) {
            return Err(error::INVALID_VALUE);
        }
        let first = array.image.address([at.x as u32, at.y as u32, at.z as u32]);
        Ok(End { first, row: array.image.row, slice: array.image.slice })
    }

    fn rows(&self, slice: usize) -> Rows {
        Rows { start: self.first.wrapping_add(slice as u64 * self.slice), pitch: self.row }
    }
}

/// Returns the work of a three-dimensional copy.
///
/// # Safety
/// `parameters` is null or valid.
pub(in crate::api) unsafe fn copy_3d(runtime: &Runtime, parameters: *const Memcpy3D) -> Result<CopyWork, Error> {
    // SAFETY: by the contract of the API function.
    let p = unsafe { parameters.as_ref() }.ok_or(error::INVALID_VALUE)?;
    let named = |handle: *mut c_void| (!handle.is_null()).then(|| array(runtime, handle)).transpose();
    let (source, destination) = (named(p.source_array)?, named(p.destination_array)?);
    // If one end is an array, the extent is in its texels, otherwise in bytes.
    let unit = source.or(destination).map_or(1, |array| array.image.format.bytes());
    if let (Some(one), Some(other)) = (source, destination)
        && one.image.format.bytes() != other.image.format.bytes()
    {
        return Err(error::INVALID_VALUE);
    }
    let end = |array: Option<Array>, memory: &PitchedPtr, at: &Position| match array {
        Some(array) => End::array(&array, at, &p.extent),
        None => Ok(End::memory(memory, at)),
    };
    let to = end(destination, &p.destination, &p.destination_position)?;
    let from = end(source, &p.source, &p.source_position)?;
    let width = (p.extent.width as u64).checked_mul(unit).ok_or(error::INVALID_VALUE)?;
    let height = p.extent.height as u64;
    let pieces = (0..p.extent.depth).map(|slice| (to.rows(slice), from.rows(slice), width, height)).collect();
    Ok(CopyWork { pieces, kind: p.kind })
}

fn fill_3d(memory: PitchedPtr, value: c_int, extent: Extent) -> FillWork {
    let plane = |slice| rows(memory.pointer.wrapping_byte_add(slice * memory.y_size * memory.pitch), memory.pitch);
    FillWork {
        planes: (0..extent.depth).map(plane).collect(),
        value: value as u32,
        size: 1,
        width: extent.width as u64,
        height: extent.height as u64,
    }
}

api! {
    /// Copies bytes.
    fn cudaMemcpy(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) |runtime, entry| => crate::gpu::calls::memcpy {
        // SAFETY: by the contract of the API function.
        unsafe { runtime.copy(flat(to, bytes), flat(from, bytes), bytes as u64, 1, kind, entry) }
    }

    /// Copies bytes in a stream; completes before it returns.
    fn cudaMemcpyAsync(
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
        stream: StreamHandle,
    ) |runtime, entry| => crate::gpu::calls::memcpy_async {
        let work = CopyWork::flat(to as u64, from as u64, bytes as u64, kind);
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, Work::Copy(work), entry) }
    }

    /// Copies between devices; there is only one device. Completes before it returns.
    fn cudaMemcpyPeerAsync(
        to: *mut c_void,
        to_device: c_int,
        from: *const c_void,
        from_device: c_int,
        bytes: usize,
        stream: StreamHandle,
    ) |runtime, entry| {
        if to_device != 0 || from_device != 0 {
            return Err(error::INVALID_DEVICE);
        }
        let work = CopyWork::flat(to as u64, from as u64, bytes as u64, 3);
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, Work::Copy(work), entry) }
    }

    /// Copies between devices; there is only one device.
    fn cudaMemcpyPeer(
        to: *mut c_void,
        to_device: c_int,
        from: *const c_void,
        from_device: c_int,
        bytes: usize,
    ) |runtime, entry| {
        if to_device != 0 || from_device != 0 {
            return Err(error::INVALID_DEVICE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { runtime.copy(flat(to, bytes), flat(from, bytes), bytes as u64, 1, 3, entry) }
    }

    /// Copies rows.
    fn cudaMemcpy2D(
        to: *mut c_void,
        to_pitch: usize,
        from: *const c_void,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
    ) |runtime, entry| => crate::gpu::calls::memcpy_2d {
        if width > to_pitch || width > from_pitch {
            return Err(error::INVALID_PITCH_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { runtime.copy(rows(to, to_pitch), rows(from, from_pitch), width as u64, height as u64, kind, entry) }
    }

    /// Copies rows in a stream; completes before it returns.
    fn cudaMemcpy2DAsync(
        to: *mut c_void,
        to_pitch: usize,
        from: *const c_void,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: c_int,
        stream: StreamHandle,
    ) |runtime, entry| => crate::gpu::calls::memcpy_2d_async {
        if width > to_pitch || width > from_pitch {
            return Err(error::INVALID_PITCH_VALUE);
        }
        let work = CopyWork::rows(rows(to, to_pitch), rows(from, from_pitch), width as u64, height as u64, kind);
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, Work::Copy(work), entry) }
    }

    /// Copies slices of rows.
    fn cudaMemcpy3D(parameters: *const Memcpy3D) |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe {
            let work = copy_3d(runtime, parameters)?;
            runtime.perform(&Work::Copy(work), 0, entry)
        }
    }

    /// Copies slices of rows in a stream; completes before it returns.
    fn cudaMemcpy3DAsync(parameters: *const Memcpy3D, stream: StreamHandle) |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe {
            let work = copy_3d(runtime, parameters)?;
            runtime.submit(stream as usize, Work::Copy(work), entry)
        }
    }

    /// Fills bytes.
    fn cudaMemset(to: *mut c_void, value: c_int, bytes: usize) |runtime, entry| => crate::gpu::calls::memset {
        runtime.fill(flat(to, bytes), value as u8, bytes as u64, 1, entry)
    }

    /// Fills bytes in a stream; completes before it returns.
    fn cudaMemsetAsync(to: *mut c_void, value: c_int, bytes: usize, stream: StreamHandle) |runtime, entry| => crate::gpu::calls::memset_async {
        let work = FillWork::new(flat(to, bytes), value as u32, 1, bytes as u64, 1)?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.submit(stream as usize, Work::Fill(work), entry) }
    }

    /// Fills rows.
    fn cudaMemset2D(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) |runtime, entry| => crate::gpu::calls::memset_2d {
        runtime.fill(rows(to, pitch), value as u8, width as u64, height as u64, entry)
    }

    /// Fills rows in a stream; completes before it returns.
    fn cudaMemset2DAsync(
        to: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
        stream: StreamHandle,
    ) |runtime, entry| => crate::gpu::calls::memset_2d_async {
        let work = FillWork::new(rows(to, pitch), value as u32, 1, width as u64, height as u64)?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.submit(stream as usize, Work::Fill(work), entry) }
    }

    /// Fills slices of rows.
    fn cudaMemset3D(memory: PitchedPtr, value: c_int, extent: Extent) |runtime, entry| {
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.perform(&Work::Fill(fill_3d(memory, value, extent)), 0, entry) }
    }

    /// Fills slices of rows in a stream; completes before it returns.
    fn cudaMemset3DAsync(memory: PitchedPtr, value: c_int, extent: Extent, stream: StreamHandle) |runtime, entry| {
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.submit(stream as usize, Work::Fill(fill_3d(memory, value, extent)), entry) }
    }
}

per_thread! {
    cudaMemcpy_ptds = cudaMemcpy, (to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int);
    cudaMemcpy2D_ptds = cudaMemcpy2D, (to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize,
        width: usize, height: usize, kind: c_int);
    cudaMemcpy3D_ptds = cudaMemcpy3D, (parameters: *const Memcpy3D);
    cudaMemset_ptds = cudaMemset, (to: *mut c_void, value: c_int, bytes: usize);
    cudaMemset2D_ptds = cudaMemset2D, (to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize);
    cudaMemset3D_ptds = cudaMemset3D, (memory: PitchedPtr, value: c_int, extent: Extent);
    cudaMemcpyAsync_ptsz = cudaMemcpyAsync, (to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int,
        stream: StreamHandle) [stream];
    cudaMemcpy2DAsync_ptsz = cudaMemcpy2DAsync, (to: *mut c_void, to_pitch: usize, from: *const c_void,
        from_pitch: usize, width: usize, height: usize, kind: c_int, stream: StreamHandle) [stream];
    cudaMemcpy3DAsync_ptsz = cudaMemcpy3DAsync, (parameters: *const Memcpy3D, stream: StreamHandle) [stream];
    cudaMemsetAsync_ptsz = cudaMemsetAsync, (to: *mut c_void, value: c_int, bytes: usize, stream: StreamHandle) [stream];
    cudaMemset2DAsync_ptsz = cudaMemset2DAsync, (to: *mut c_void, pitch: usize, value: c_int, width: usize,
        height: usize, stream: StreamHandle) [stream];
    cudaMemset3DAsync_ptsz = cudaMemset3DAsync, (memory: PitchedPtr, value: c_int, extent: Extent,
        stream: StreamHandle) [stream];
}
