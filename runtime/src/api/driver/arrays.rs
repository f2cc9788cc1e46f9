//! CUDA arrays of the driver API: they are the same as the arrays of the runtime API.

use super::driver_api;
use super::formats::{channels, format_of};
use crate::api::copies::arrays::{ArrayHandle, allocate, array, read, write};
use crate::api::{per_thread, put};
use crate::cuda::copy_kind::{ON_DEVICE, TO_DEVICE, TO_HOST};
use crate::cuda::error::{self, Error};
use crate::cuda::types::StreamHandle;
use crate::memory::images::Array;
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_uint, c_void};

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Description2D {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) format: c_int,
    pub(super) channels: c_uint,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Description3D {
    width: usize,
    height: usize,
    depth: usize,
    format: c_int,
    channels: c_uint,
    flags: c_uint,
}

/// Returns an array and a position in it. In an array without rows, the offset in bytes is a position in its first row;
/// in any other array, it counts bytes row after row.
fn place(runtime: &Runtime, handle: ArrayHandle, offset: usize) -> Result<(ArrayHandle, usize, usize), Error> {
    let Array { image, .. } = array(runtime, handle)?;
    let row = image.size[0] as usize * image.format.bytes() as usize;
    Ok((handle, offset % row, offset / row))
}

/// # Safety
/// `from` is valid for `bytes` bytes where it is on the host.
unsafe fn fill(
    runtime: &mut Runtime,
    (to, offset): (ArrayHandle, usize),
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    entry: crate::call_paths::Entry,
) -> Result<(), Error> {
    let to = place(runtime, to, offset)?;
    // SAFETY: by the contract of the API function.
    unsafe { write(runtime, to, from, bytes, kind, entry) }
}

/// # Safety
/// `to` is valid for `bytes` bytes where it is on the host.
unsafe fn take(
    runtime: &mut Runtime,
    to: *mut c_void,
    (from, offset): (ArrayHandle, usize),
    bytes: usize,
    kind: c_int,
    entry: crate::call_paths::Entry,
) -> Result<(), Error> {
    let from = place(runtime, from, offset)?;
    // SAFETY: by the contract of the API function.
    unsafe { read(runtime, to, from, bytes, kind, entry) }
}

driver_api! {
    /// Allocates a one- or two-dimensional array.
    fn cuArrayCreate_v2(place: *mut ArrayHandle, description: *const Description2D) needs Context |runtime, entry| {
        // SAFETY: the pointer is null or valid by the contract.
        let requested = unsafe { description.as_ref() }.ok_or(error::INVALID_VALUE)?;
        let desc = channels(requested.format, requested.channels)?;
        allocate(runtime, place, &raw const desc, [requested.width, requested.height, 0], 0, entry)
    }

    /// Allocates an array of any shape.
    fn cuArray3DCreate_v2(place: *mut ArrayHandle, description: *const Description3D) needs Context |runtime, entry| {
        // SAFETY: the pointer is null or valid by the contract.
        let requested = unsafe { description.as_ref() }.ok_or(error::INVALID_VALUE)?;
        let desc = channels(requested.format, requested.channels)?;
        allocate(runtime, place, &raw const desc, [requested.width, requested.height, requested.depth], requested.flags, entry)
    }

    /// Returns the format and shape of an array.
    fn cuArrayGetDescriptor_v2(description: *mut Description2D, handle: ArrayHandle) needs Context |runtime, entry| {
        let _ = entry;
        let found = array(runtime, handle)?;
        let [width, height, _] = found.extent;
        let (format, channels) = format_of(found.image.format);
        // SAFETY: by the contract of the API function.
        unsafe { put(description, Description2D { width, height, format, channels }) }
    }

    /// Returns the format, shape and flags of an array.
    fn cuArray3DGetDescriptor_v2(description: *mut Description3D, handle: ArrayHandle) needs Context |runtime, entry| {
        let _ = entry;
        let found = array(runtime, handle)?;
        let [width, height, depth] = found.extent;
        let (format, channels) = format_of(found.image.format);
        // SAFETY: by the contract of the API function.
        unsafe { put(description, Description3D { width, height, depth, format, channels, flags: found.flags }) }
    }

    /// Frees an array.
    fn cuArrayDestroy(handle: ArrayHandle) needs Context |runtime, entry| {
        runtime.synchronise();
        let array = runtime.memory.images.remove_array(handle as u64)?;
        runtime.free(array.image.base, &[warpline_format::event::AllocationKind::Array], entry)
    }

    /// Copies bytes from the host into an array, row after row.
    fn cuMemcpyHtoA_v2(to: ArrayHandle, offset: usize, from: *const c_void, bytes: usize) needs Context |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe { fill(runtime, (to, offset), from, bytes, TO_DEVICE as c_int, entry) }
    }

    /// Copies bytes of an array to the host, row after row.
    fn cuMemcpyAtoH_v2(to: *mut c_void, from: ArrayHandle, offset: usize, bytes: usize) needs Context |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe { take(runtime, to, (from, offset), bytes, TO_HOST as c_int, entry) }
    }

    /// Copies bytes on the device into an array, row after row.
    fn cuMemcpyDtoA_v2(to: ArrayHandle, offset: usize, from: *const c_void, bytes: usize) needs Context |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe { fill(runtime, (to, offset), from, bytes, ON_DEVICE as c_int, entry) }
    }

    /// Copies bytes of an array on the device, row after row.
    fn cuMemcpyAtoD_v2(to: *mut c_void, from: ArrayHandle, offset: usize, bytes: usize) needs Context |runtime, entry| {
        // SAFETY: by the contract of the API function.
        unsafe { take(runtime, to, (from, offset), bytes, ON_DEVICE as c_int, entry) }
    }

    /// Copies bytes from the host into an array in a stream; completes before it returns.
    fn cuMemcpyHtoAAsync_v2(
        to: ArrayHandle,
        offset: usize,
        from: *const c_void,
        bytes: usize,
        stream: StreamHandle,
    ) needs Context |runtime, entry| {
        runtime.streams.get(stream as usize)?;
        // SAFETY: by the contract of the API function.
        unsafe { fill(runtime, (to, offset), from, bytes, TO_DEVICE as c_int, entry) }
    }

    /// Copies bytes of an array to the host in a stream; completes before it returns.
    fn cuMemcpyAtoHAsync_v2(
        to: *mut c_void,
        from: ArrayHandle,
        offset: usize,
        bytes: usize,
        stream: StreamHandle,
    ) needs Context |runtime, entry| {
        runtime.streams.get(stream as usize)?;
        // SAFETY: by the contract of the API function.
        unsafe { take(runtime, to, (from, offset), bytes, TO_HOST as c_int, entry) }
    }
}

per_thread! {
    cuMemcpyHtoA_v2_ptds = cuMemcpyHtoA_v2, (to: ArrayHandle, offset: usize, from: *const c_void, bytes: usize);
    cuMemcpyAtoH_v2_ptds = cuMemcpyAtoH_v2, (to: *mut c_void, from: ArrayHandle, offset: usize, bytes: usize);
    cuMemcpyDtoA_v2_ptds = cuMemcpyDtoA_v2, (to: ArrayHandle, offset: usize, from: *const c_void, bytes: usize);
    cuMemcpyAtoD_v2_ptds = cuMemcpyAtoD_v2, (to: *mut c_void, from: ArrayHandle, offset: usize, bytes: usize);
}
