//! Calls of the driver API on a GPU from which the profile needs data: copies and fills, and contexts that the program
//! creates.

use super::calls::{PointerSlot, allocating, copied, filled, flat, moving, rows};
use crate::call_paths::Entry;
use crate::cuda::copy_kind::{BY_ADDRESS, ON_DEVICE, TO_DEVICE, TO_HOST};
use crate::cuda::error::Error;
use crate::cuda::types::StreamHandle;
use crate::gpu::devices::{returned, settle};
use crate::output::message;
use crate::state::runtime::lock;
use std::ffi::{c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
use warpline_format::event::{AllocationKind, Event};

allocating! {
    /// `cuMemAllocPitch`
    alloc_pitch(place, pitch: *mut usize, width: usize, height: usize, element: c_uint) = pitch.read() * height, Pitch;
}

/// Reports a context that the program created. The rings are in the runtime's context.
fn context_of_its_own() {
    message::note_once(
        "cuCtxCreate: what kernels do in a context of the program's own is not recorded; cuDevicePrimaryCtxRetain gives the \
         runtime's"
            .into(),
    );
}

/// `cuCtxCreate`
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn create_context(
    real: unsafe extern "C" fn(PointerSlot, c_uint, c_int) -> Error,
    context: PointerSlot,
    flags: c_uint,
    device: c_int,
    _entry: Entry,
) -> Error {
    context_of_its_own();
    // SAFETY: the caller fulfils the contract.
    unsafe { real(context, flags, device) }
}

/// `cuCtxCreate` since CUDA 13
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn create_context_v4(
    real: unsafe extern "C" fn(PointerSlot, *mut c_void, c_uint, c_int) -> Error,
    context: PointerSlot,
    parameters: *mut c_void,
    flags: c_uint,
    device: c_int,
    _entry: Entry,
) -> Error {
    context_of_its_own();
    // SAFETY: the caller fulfils the contract.
    unsafe { real(context, parameters, flags, device) }
}

moving! {
    /// `cuMemcpy`
    memcpy(to: *mut c_void, from: *const c_void, bytes: usize) |code, entry|
        copied(code, flat(to, bytes), flat(from, bytes), (bytes, 1), BY_ADDRESS, entry);
    /// `cuMemcpyAsync`
    memcpy_async(to: *mut c_void, from: *const c_void, bytes: usize, stream: StreamHandle) |code, entry|
        copied(code, flat(to, bytes), flat(from, bytes), (bytes, 1), BY_ADDRESS, entry);
    /// `cuMemcpyHtoD`
    memcpy_to_device(to: *mut c_void, from: *const c_void, bytes: usize) |code, entry|
        copied(code, flat(to, bytes), flat(from, bytes), (bytes, 1), TO_DEVICE, entry);
    /// `cuMemcpyHtoDAsync`
    memcpy_to_device_async(to: *mut c_void, from: *const c_void, bytes: usize, stream: StreamHandle) |code, entry|
        copied(code, flat(to, bytes), flat(from, bytes), (bytes, 1), TO_DEVICE, entry);
    /// `cuMemcpyDtoH`
    memcpy_to_host(to: *mut c_void, from: *const c_void, bytes: usize) |code, entry|
        copied(code, flat(to, bytes), flat(from, bytes), (bytes, 1), TO_HOST, entry);
    /// `cuMemcpyDtoHAsync`
    memcpy_to_host_async(to: *mut c_void, from: *const c_void, bytes: usize, stream: StreamHandle) |code, entry|
        copied(code, flat(to, bytes), flat(from, bytes), (bytes, 1), TO_HOST, entry);
    /// `cuMemcpyDtoD`
    memcpy_on_device(to: *mut c_void, from: *const c_void, bytes: usize) |code, entry|
        copied(code, flat(to, bytes), flat(from, bytes), (bytes, 1), ON_DEVICE, entry);
    /// `cuMemcpyDtoDAsync`
    memcpy_on_device_async(to: *mut c_void, from: *const c_void, bytes: usize, stream: StreamHandle) |code, entry|
        copied(code, flat(to, bytes), flat(from, bytes), (bytes, 1), ON_DEVICE, entry);
    /// `cuMemsetD8`
    fill_8(to: *mut c_void, value: c_uchar, count: usize) |code, entry|
        filled(code, flat(to, count), (count, 1), entry);
    /// `cuMemsetD8Async`
    fill_8_async(to: *mut c_void, value: c_uchar, count: usize, stream: StreamHandle) |code, entry|
        filled(code, flat(to, count), (count, 1), entry);
    /// `cuMemsetD2D8`
    fill_rows_8(to: *mut c_void, pitch: usize, value: c_uchar, width: usize, height: usize) |code, entry|
        filled(code, rows(to, pitch), (width, height), entry);
    /// `cuMemsetD2D8Async`
    fill_rows_8_async(to: *mut c_void, pitch: usize, value: c_uchar, width: usize, height: usize, stream: StreamHandle)
        |code, entry| filled(code, rows(to, pitch), (width, height), entry);
    /// `cuMemsetD16`
    fill_16(to: *mut c_void, value: c_ushort, count: usize) |code, entry|
        filled(code, flat(to, count * 2), (count * 2, 1), entry);
    /// `cuMemsetD16Async`
    fill_16_async(to: *mut c_void, value: c_ushort, count: usize, stream: StreamHandle) |code, entry|
        filled(code, flat(to, count * 2), (count * 2, 1), entry);
    /// `cuMemsetD2D16`
    fill_rows_16(to: *mut c_void, pitch: usize, value: c_ushort, width: usize, height: usize) |code, entry|
        filled(code, rows(to, pitch), (width * 2, height), entry);
    /// `cuMemsetD2D16Async`
    fill_rows_16_async(to: *mut c_void, pitch: usize, value: c_ushort, width: usize, height: usize, stream: StreamHandle)
        |code, entry| filled(code, rows(to, pitch), (width * 2, height), entry);
    /// `cuMemsetD32`
    fill_32(to: *mut c_void, value: c_uint, count: usize) |code, entry|
        filled(code, flat(to, count * 4), (count * 4, 1), entry);
    /// `cuMemsetD32Async`
    fill_32_async(to: *mut c_void, value: c_uint, count: usize, stream: StreamHandle) |code, entry|
        filled(code, flat(to, count * 4), (count * 4, 1), entry);
    /// `cuMemsetD2D32`
    fill_rows_32(to: *mut c_void, pitch: usize, value: c_uint, width: usize, height: usize) |code, entry|
        filled(code, rows(to, pitch), (width * 4, height), entry);
    /// `cuMemsetD2D32Async`
    fill_rows_32_async(to: *mut c_void, pitch: usize, value: c_uint, width: usize, height: usize, stream: StreamHandle)
        |code, entry| filled(code, rows(to, pitch), (width * 4, height), entry);
}

/// `cuMemMap`
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn map(
    real: unsafe extern "C" fn(u64, usize, usize, u64, c_ulonglong) -> Error,
    start: u64,
    bytes: usize,
    offset: usize,
    handle: u64,
    flags: c_ulonglong,
    entry: Entry,
) -> Error {
    let mut address = start as *mut c_void;
    // SAFETY: the arguments are passed on unchanged.
    unsafe {
        let code = real(start, bytes, offset, handle, flags);
        super::calls::allocated(code, &raw mut address, bytes, AllocationKind::Mapped, entry)
    }
}

/// `cuMemUnmap`
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn unmap(real: unsafe extern "C" fn(u64, usize) -> Error, start: u64, bytes: usize, entry: Entry) -> Error {
    settle();
    // SAFETY: the caller fulfils the contract.
    let code = returned(unsafe { real(start, bytes) });
    if code == crate::cuda::error::SUCCESS
        && let Some(mut runtime) = lock()
    {
        let path = runtime.path(entry);
        let gone: Vec<u64> =
            runtime.memory.registry.within(start, start + bytes as u64).map(|live| live.start()).collect();
        for live in gone.into_iter().filter_map(|start| runtime.memory.free(start)).collect::<Vec<_>>() {
            runtime.trace.event(Event::Free { id: live.id, path });
        }
    }
    code
}
