//! `cuMemcpy…` and `cuMemset…`, recorded as the runtime's own.

use super::driver_api;
use crate::api::copies::copy::{flat, rows};
use crate::api::per_thread;
use crate::call_paths::Entry;
use crate::cuda::copy_kind::{BY_ADDRESS, ON_DEVICE, TO_DEVICE, TO_HOST};
use crate::cuda::error::{self, Error};
use crate::cuda::types::StreamHandle;
use crate::graphs::{CopyWork, FillWork, Work};
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};

/// Copies immediately.
///
/// # Safety
/// Host memory on either side is valid.
unsafe fn copy(
    runtime: &mut Runtime,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    entry: Entry,
) -> Result<(), Error> {
    // SAFETY: by the contract of the API function.
    unsafe { runtime.copy(flat(to, bytes), flat(from, bytes), bytes as u64, 1, kind, entry) }
}

/// Returns the work of a copy in a stream.
fn copying(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) -> Work {
    Work::Copy(CopyWork::flat(to as u64, from as u64, bytes as u64, kind))
}

/// Returns the work of a fill with elements of `size` bytes; the memory is aligned to the element size.
fn filling(to: *mut c_void, value: u32, size: u32, count: usize) -> Result<Work, Error> {
    if !(to as usize).is_multiple_of(size as usize) {
        return Err(error::INVALID_VALUE);
    }
    let bytes = count.checked_mul(size as usize).ok_or(error::INVALID_VALUE)?;
    FillWork::new(flat(to, bytes), value, size, count as u64, 1).map(Work::Fill)
}

/// Returns the work of a fill of rows of `width` elements.
fn filling_rows(
    to: *mut c_void,
    pitch: usize,
    value: u32,
    size: u32,
    [width, height]: [usize; 2],
) -> Result<Work, Error> {
    if !(to as usize).is_multiple_of(size as usize) || !pitch.is_multiple_of(size as usize) {
        return Err(error::INVALID_VALUE);
    }
    FillWork::new(rows(to, pitch), value, size, width as u64, height as u64).map(Work::Fill)
}

driver_api! {
    /// Copies bytes.
    fn cuMemcpy(to: *mut c_void, from: *const c_void, bytes: usize) needs Context |runtime, entry| => crate::gpu::driver_calls::memcpy {
        // SAFETY: by the contract of the API function.
        unsafe { copy(runtime, to, from, bytes, BY_ADDRESS, entry) }
    }

    /// Copies bytes to device memory.
    fn cuMemcpyHtoD_v2(to: *mut c_void, from: *const c_void, bytes: usize) needs Context |runtime, entry| => crate::gpu::driver_calls::memcpy_to_device {
        // SAFETY: by the contract of the API function.
        unsafe { copy(runtime, to, from, bytes, TO_DEVICE, entry) }
    }

    /// Copies bytes from device memory.
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: *const c_void, bytes: usize) needs Context |runtime, entry| => crate::gpu::driver_calls::memcpy_to_host {
        // SAFETY: by the contract of the API function.
        unsafe { copy(runtime, to, from, bytes, TO_HOST, entry) }
    }

    /// Copies bytes within device memory.
    fn cuMemcpyDtoD_v2(to: *mut c_void, from: *const c_void, bytes: usize) needs Context |runtime, entry| => crate::gpu::driver_calls::memcpy_on_device {
        // SAFETY: by the contract of the API function.
        unsafe { copy(runtime, to, from, bytes, ON_DEVICE, entry) }
    }

    /// Copies bytes in a stream; completes before it returns.
    fn cuMemcpyAsync(to: *mut c_void, from: *const c_void, bytes: usize, stream: StreamHandle) needs Context |runtime, entry|
        => crate::gpu::driver_calls::memcpy_async {
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, copying(to, from, bytes, BY_ADDRESS), entry) }
    }

    /// Copies bytes to device memory in a stream.
    fn cuMemcpyHtoDAsync_v2(to: *mut c_void, from: *const c_void, bytes: usize, stream: StreamHandle) needs Context |runtime, entry|
        => crate::gpu::driver_calls::memcpy_to_device_async {
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, copying(to, from, bytes, TO_DEVICE), entry) }
    }

    /// Copies bytes from device memory in a stream.
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: *const c_void, bytes: usize, stream: StreamHandle) needs Context |runtime, entry|
        => crate::gpu::driver_calls::memcpy_to_host_async {
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, copying(to, from, bytes, TO_HOST), entry) }
    }

    /// Copies bytes within device memory in a stream.
    fn cuMemcpyDtoDAsync_v2(to: *mut c_void, from: *const c_void, bytes: usize, stream: StreamHandle) needs Context |runtime, entry|
        => crate::gpu::driver_calls::memcpy_on_device_async {
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, copying(to, from, bytes, ON_DEVICE), entry) }
    }

    /// Fills bytes.
    fn cuMemsetD8_v2(to: *mut c_void, value: c_uchar, count: usize) needs Context |runtime, entry| => crate::gpu::driver_calls::fill_8 {
        let work = filling(to, u32::from(value), 1, count)?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.perform(&work, 0, entry) }
    }

    /// Fills bytes in a stream.
    fn cuMemsetD8Async(to: *mut c_void, value: c_uchar, count: usize, stream: StreamHandle) needs Context |runtime, entry|
        => crate::gpu::driver_calls::fill_8_async {
        let work = filling(to, u32::from(value), 1, count)?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.submit(stream as usize, work, entry) }
    }

    /// Fills rows of bytes.
    fn cuMemsetD2D8_v2(to: *mut c_void, pitch: usize, value: c_uchar, width: usize, height: usize) needs Context |runtime, entry|
        => crate::gpu::driver_calls::fill_rows_8 {
        let work = filling_rows(to, pitch, u32::from(value), 1, [width, height])?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.perform(&work, 0, entry) }
    }

    /// Fills rows of bytes in a stream.
    fn cuMemsetD2D8Async(to: *mut c_void, pitch: usize, value: c_uchar, width: usize, height: usize, stream: StreamHandle)
        needs Context |runtime, entry| => crate::gpu::driver_calls::fill_rows_8_async {
        let work = filling_rows(to, pitch, u32::from(value), 1, [width, height])?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.submit(stream as usize, work, entry) }
    }

    /// Fills elements of two bytes.
    fn cuMemsetD16_v2(to: *mut c_void, value: c_ushort, count: usize) needs Context |runtime, entry| => crate::gpu::driver_calls::fill_16 {
        let work = filling(to, u32::from(value), 2, count)?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.perform(&work, 0, entry) }
    }

    /// Fills elements of two bytes in a stream.
    fn cuMemsetD16Async(to: *mut c_void, value: c_ushort, count: usize, stream: StreamHandle) needs Context |runtime, entry|
        => crate::gpu::driver_calls::fill_16_async {
        let work = filling(to, u32::from(value), 2, count)?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.submit(stream as usize, work, entry) }
    }

    /// Fills rows of elements of two bytes.
    fn cuMemsetD2D16_v2(to: *mut c_void, pitch: usize, value: c_ushort, width: usize, height: usize) needs Context |runtime, entry|
        => crate::gpu::driver_calls::fill_rows_16 {
        let work = filling_rows(to, pitch, u32::from(value), 2, [width, height])?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.perform(&work, 0, entry) }
    }

    /// Fills rows of elements of two bytes in a stream.
    fn cuMemsetD2D16Async(to: *mut c_void, pitch: usize, value: c_ushort, width: usize, height: usize, stream: StreamHandle)
        needs Context |runtime, entry| => crate::gpu::driver_calls::fill_rows_16_async {
        let work = filling_rows(to, pitch, u32::from(value), 2, [width, height])?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.submit(stream as usize, work, entry) }
    }

    /// Fills elements of four bytes.
    fn cuMemsetD32_v2(to: *mut c_void, value: c_uint, count: usize) needs Context |runtime, entry| => crate::gpu::driver_calls::fill_32 {
        let work = filling(to, value, 4, count)?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.perform(&work, 0, entry) }
    }

    /// Fills elements of four bytes in a stream.
    fn cuMemsetD32Async(to: *mut c_void, value: c_uint, count: usize, stream: StreamHandle) needs Context |runtime, entry|
        => crate::gpu::driver_calls::fill_32_async {
        let work = filling(to, value, 4, count)?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.submit(stream as usize, work, entry) }
    }

    /// Fills rows of elements of four bytes.
    fn cuMemsetD2D32_v2(to: *mut c_void, pitch: usize, value: c_uint, width: usize, height: usize) needs Context |runtime, entry|
        => crate::gpu::driver_calls::fill_rows_32 {
        let work = filling_rows(to, pitch, value, 4, [width, height])?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.perform(&work, 0, entry) }
    }

    /// Fills rows of elements of four bytes in a stream.
    fn cuMemsetD2D32Async(to: *mut c_void, pitch: usize, value: c_uint, width: usize, height: usize, stream: StreamHandle)
        needs Context |runtime, entry| => crate::gpu::driver_calls::fill_rows_32_async {
        let work = filling_rows(to, pitch, value, 4, [width, height])?;
        // SAFETY: the work fills only device memory, which the runtime checks.
        unsafe { runtime.submit(stream as usize, work, entry) }
    }
}

per_thread! {
    cuMemcpy_ptds = cuMemcpy, (to: *mut c_void, from: *const c_void, bytes: usize);
    cuMemcpyHtoD_v2_ptds = cuMemcpyHtoD_v2, (to: *mut c_void, from: *const c_void, bytes: usize);
    cuMemcpyDtoH_v2_ptds = cuMemcpyDtoH_v2, (to: *mut c_void, from: *const c_void, bytes: usize);
    cuMemcpyDtoD_v2_ptds = cuMemcpyDtoD_v2, (to: *mut c_void, from: *const c_void, bytes: usize);
    cuMemcpyAsync_ptsz = cuMemcpyAsync, (to: *mut c_void, from: *const c_void, bytes: usize, stream: StreamHandle) [stream];
    cuMemcpyHtoDAsync_v2_ptsz = cuMemcpyHtoDAsync_v2, (to: *mut c_void, from: *const c_void, bytes: usize,
        stream: StreamHandle) [stream];
    cuMemcpyDtoHAsync_v2_ptsz = cuMemcpyDtoHAsync_v2, (to: *mut c_void, from: *const c_void, bytes: usize,
        stream: StreamHandle) [stream];
    cuMemcpyDtoDAsync_v2_ptsz = cuMemcpyDtoDAsync_v2, (to: *mut c_void, from: *const c_void, bytes: usize,
        stream: StreamHandle) [stream];
    cuMemsetD8_v2_ptds = cuMemsetD8_v2, (to: *mut c_void, value: c_uchar, count: usize);
    cuMemsetD8Async_ptsz = cuMemsetD8Async, (to: *mut c_void, value: c_uchar, count: usize, stream: StreamHandle) [stream];
    cuMemsetD2D8_v2_ptds = cuMemsetD2D8_v2, (to: *mut c_void, pitch: usize, value: c_uchar, width: usize, height: usize);
    cuMemsetD2D8Async_ptsz = cuMemsetD2D8Async, (to: *mut c_void, pitch: usize, value: c_uchar, width: usize,
        height: usize, stream: StreamHandle) [stream];
    cuMemsetD16_v2_ptds = cuMemsetD16_v2, (to: *mut c_void, value: c_ushort, count: usize);
    cuMemsetD16Async_ptsz = cuMemsetD16Async, (to: *mut c_void, value: c_ushort, count: usize, stream: StreamHandle) [stream];
    cuMemsetD2D16_v2_ptds = cuMemsetD2D16_v2, (to: *mut c_void, pitch: usize, value: c_ushort, width: usize, height: usize);
    cuMemsetD2D16Async_ptsz = cuMemsetD2D16Async, (to: *mut c_void, pitch: usize, value: c_ushort, width: usize,
        height: usize, stream: StreamHandle) [stream];
    cuMemsetD32_v2_ptds = cuMemsetD32_v2, (to: *mut c_void, value: c_uint, count: usize);
    cuMemsetD32Async_ptsz = cuMemsetD32Async, (to: *mut c_void, value: c_uint, count: usize, stream: StreamHandle) [stream];
    cuMemsetD2D32_v2_ptds = cuMemsetD2D32_v2, (to: *mut c_void, pitch: usize, value: c_uint, width: usize, height: usize);
    cuMemsetD2D32Async_ptsz = cuMemsetD2D32Async, (to: *mut c_void, pitch: usize, value: c_uint, width: usize,
        height: usize, stream: StreamHandle) [stream];
}
