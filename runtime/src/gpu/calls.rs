//! Calls from which the profile needs data, and which otherwise go to the real runtime unchanged: allocations, frees
//! and copies. Each function gets the real function and the caller's arguments. No lock is held while the real function
//! runs.

use super::devices::{returned, settle};
use super::kernels::LaunchRequest;
use super::launch::launch;
use super::register::{enter, place_variable_of};
use super::state::ADDRESSES;
use crate::call_paths::{Entry, capture};
use crate::cuda::error::{self, Error};
use crate::cuda::types::{Dim3, LaunchConfig, StreamHandle};
use crate::memory::Description;
use crate::memory::host::HostAllocation;
use crate::memory::rows::Rows;
use crate::modules::names::take_name;
use crate::real::functions::real;
use crate::state::runtime::{Runtime, lock};
use std::ffi::{c_int, c_uint, c_void};
use warpline_format::event::{AllocationKind, Copy, Direction, Event};

pub(super) type PointerSlot = *mut *mut c_void;

/// Records an allocation that the real runtime made.
///
/// # Safety
/// `place` is valid if `code` is success.
pub(super) unsafe fn allocated(
    code: Error,
    place: PointerSlot,
    bytes: usize,
    kind: AllocationKind,
    entry: Entry,
) -> Error {
    let name = take_name();
    if returned(code) != error::SUCCESS || bytes == 0 {
        return code;
    }
    // SAFETY: by the contract.
    let address = unsafe { place.read() } as u64;
    let Some(mut runtime) = lock() else { return code };
    // The address was used before, and this file did not see the end of that use (for example, a device reset).
    if runtime.memory.registry.at(address).is_some() {
        runtime.memory.free(address);
    }
    let path = runtime.path(entry);
    if matches!(kind, AllocationKind::Host) {
        let frames = if runtime.trace.is_on() { capture(entry) } else { Vec::new() };
        let call = "cudaMallocHost".into();
        let noted = HostAllocation { bytes: bytes as u64, kind: call, name: name.clone(), frames, id: None };
        runtime.host.insert(address, noted);
    }
    if let Some(event) = enter(&mut runtime, address, bytes as u64, Description { kind, name, path }) {
        runtime.trace.event(Event::Allocation(event));
    }
    code
}

/// Records the end of an allocation after the real runtime has freed it.
fn freed(code: Error, pointer: *mut c_void, entry: Entry) -> Error {
    if returned(code) != error::SUCCESS || pointer.is_null() {
        return code;
    }
    ADDRESSES.remove(pointer as u64);
    let Some(mut runtime) = lock() else { return code };
    if let Some(live) = runtime.memory.free(pointer as u64) {
        let path = runtime.path(entry);
        runtime.host.remove(pointer as u64);
        runtime.trace.event(Event::Free { id: live.id, path });
    }
    code
}

/// Functions that allocate, in the form `name(arguments) = bytes as kind`. The first argument receives the address.
macro_rules! allocating {
    ($($(#[$meta:meta])* $name:ident($place:ident $(, $argument:ident: $type:ty)*) = $bytes:expr, $kind:ident;)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// The requirements of CUDA's function apply.
        pub unsafe fn $name(
            real: unsafe extern "C" fn(PointerSlot $(, $type)*) -> Error,
            $place: PointerSlot,
            $($argument: $type,)*
            entry: Entry,
        ) -> Error {
            // SAFETY: the caller fulfils the contract.
            unsafe {
                let code = real($place $(, $argument)*);
                #[allow(clippy::redundant_closure_call, reason = "the size may depend on a result")]
                let bytes = if code == $crate::cuda::error::SUCCESS { (|| $bytes)() } else { 0 };
                $crate::gpu::calls::allocated(code, $place, bytes, AllocationKind::$kind, entry)
            }
        }
    )*};
}

pub(super) use allocating;

allocating! {
    /// `cudaMalloc`
    malloc(place, bytes: usize) = bytes, Malloc;
    /// `cudaMallocAsync`
    malloc_async(place, bytes: usize, stream: StreamHandle) = bytes, Async;
    /// `cudaMallocManaged`
    malloc_managed(place, bytes: usize, flags: c_uint) = bytes, Managed;
    /// `cudaMallocPitch`
    malloc_pitch(place, pitch: *mut usize, width: usize, height: usize) = pitch.read() * height, Pitch;
    /// `cudaMallocHost`
    malloc_host(place, bytes: usize) = bytes, Host;
    /// `cudaHostAlloc`
    host_alloc(place, bytes: usize, flags: c_uint) = bytes, Host;
}

/// `cudaHostRegister`
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn host_register(
    real: unsafe extern "C" fn(*mut c_void, usize, c_uint) -> Error,
    mut pointer: *mut c_void,
    bytes: usize,
    flags: c_uint,
    entry: Entry,
) -> Error {
    // SAFETY: the caller fulfils the contract; kernels access registered memory by its host address.
    unsafe { allocated(real(pointer, bytes, flags), &raw mut pointer, bytes, AllocationKind::Registered, entry) }
}

/// `cudaFree`, `cudaFreeHost`, `cudaHostUnregister`
///
/// # Safety
/// The requirements of CUDA's functions apply.
pub unsafe fn free(real: unsafe extern "C" fn(*mut c_void) -> Error, pointer: *mut c_void, entry: Entry) -> Error {
    // Records of this memory must be read while the allocation exists. The real function also waits for the kernels.
    settle();
    // SAFETY: the caller fulfils the contract.
    freed(unsafe { real(pointer) }, pointer, entry)
}

/// `cudaFreeAsync`
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn free_async(
    real: unsafe extern "C" fn(*mut c_void, StreamHandle) -> Error,
    pointer: *mut c_void,
    stream: StreamHandle,
    entry: Entry,
) -> Error {
    settle();
    // SAFETY: the caller fulfils the contract.
    freed(unsafe { real(pointer, stream) }, pointer, entry)
}

/// Returns the device address that the trace uses for a pointer.
fn synthetic(runtime: &Runtime, pointer: u64) -> Option<u64> {
    let live = runtime.memory.registry.find(pointer)?;
    Some(live.address + (pointer - live.start()))
}

fn is_host(runtime: &Runtime, pointer: u64) -> bool {
    let live = runtime.memory.registry.find(pointer);
    live.is_none_or(|live| matches!(live.kind, AllocationKind::Host | AllocationKind::Registered))
}

/// Records a copy that the real runtime completed or began.
pub(super) fn copied(code: Error, to: Rows, from: Rows, size: (usize, usize), kind: c_int, entry: Entry) -> Error {
    let (width, height) = size;
    if returned(code) != error::SUCCESS || width == 0 || height == 0 {
        return code;
    }
    let Some(mut runtime) = lock() else { return code };
    if !runtime.trace.is_on() {
        return code;
    }
    let (from_device, to_device) = match kind {
        0 => (false, false),
        1 => (false, true),
        2 => (true, false),
        3 => (true, true),
        _ => (!is_host(&runtime, from.start), !is_host(&runtime, to.start)),
    };
    let (direction, host) = match (from_device, to_device) {
        (false, true) => (Direction::HostToDevice, runtime.host_allocation(from.start)),
        (true, false) => (Direction::DeviceToHost, runtime.host_allocation(to.start)),
        (true, true) => (Direction::DeviceToDevice, None),
        (false, false) => (Direction::HostToHost, None),
    };
    let path = runtime.path(entry);
    let event = Copy {
        direction,
        width: width as u64,
        height: height as u64,
        destination: synthetic(&runtime, to.start).filter(|_| to_device),
        destination_pitch: to.pitch,
        source: synthetic(&runtime, from.start).filter(|_| from_device),
        source_pitch: from.pitch,
        host,
        path,
    };
    runtime.trace.event(Event::Copy(event));
    code
}

/// Records a fill.
pub(super) fn filled(code: Error, to: Rows, size: (usize, usize), entry: Entry) -> Error {
    let (width, height) = size;
    if returned(code) != error::SUCCESS || width == 0 || height == 0 {
        return code;
    }
    let Some(mut runtime) = lock() else { return code };
    if runtime.trace.is_on() {
        let path = runtime.path(entry);
        let event = Copy {
            direction: Direction::Set,
            width: width as u64,
            height: height as u64,
            destination: synthetic(&runtime, to.start),
            destination_pitch: to.pitch,
            source: None,
            source_pitch: 0,
            host: None,
            path,
        };
        runtime.trace.event(Event::Copy(event));
    }
    code
}

pub(super) fn flat(pointer: *const c_void, bytes: usize) -> Rows {
    Rows { start: pointer as u64, pitch: bytes as u64 }
}

pub(super) fn rows(pointer: *const c_void, pitch: usize) -> Rows {
    Rows { start: pointer as u64, pitch: pitch as u64 }
}

/// Functions that copy or fill, in the form `name(arguments) => what they did`.
macro_rules! moving {
    ($($(#[$meta:meta])* $name:ident($($argument:ident: $type:ty),*) |$code:ident, $entry:ident| $note:expr;)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// The requirements of CUDA's function apply.
        #[allow(clippy::too_many_arguments, reason = "the signature is CUDA's")]
        pub unsafe fn $name(
            real: unsafe extern "C" fn($($type),*) -> Error,
            $($argument: $type,)*
            $entry: Entry,
        ) -> Error {
            // SAFETY: the caller fulfils the contract.
            let $code = unsafe { real($($argument),*) };
            $note
        }
    )*};
}

pub(super) use moving;

moving! {
    /// `cudaMemcpy`
    memcpy(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) |code, entry|
        copied(code, flat(to, bytes), flat(from, bytes), (bytes, 1), kind, entry);
    /// `cudaMemcpyAsync`
    memcpy_async(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int, stream: StreamHandle) |code, entry|
        copied(code, flat(to, bytes), flat(from, bytes), (bytes, 1), kind, entry);
    /// `cudaMemcpy2D`
    memcpy_2d(to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize,
        kind: c_int) |code, entry|
        copied(code, rows(to, to_pitch), rows(from, from_pitch), (width, height), kind, entry);
    /// `cudaMemcpy2DAsync`
    memcpy_2d_async(to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize,
        height: usize, kind: c_int, stream: StreamHandle) |code, entry|
        copied(code, rows(to, to_pitch), rows(from, from_pitch), (width, height), kind, entry);
    /// `cudaMemset`
    memset(to: *mut c_void, value: c_int, bytes: usize) |code, entry|
        filled(code, flat(to, bytes), (bytes, 1), entry);
    /// `cudaMemsetAsync`
    memset_async(to: *mut c_void, value: c_int, bytes: usize, stream: StreamHandle) |code, entry|
        filled(code, flat(to, bytes), (bytes, 1), entry);
    /// `cudaMemset2D`
    memset_2d(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) |code, entry|
        filled(code, rows(to, pitch), (width, height), entry);
    /// `cudaMemset2DAsync`
    memset_2d_async(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: StreamHandle)
        |code, entry| filled(code, rows(to, pitch), (width, height), entry);
}

/// Returns the address of a device variable, or 0 if it has none.
fn symbol(symbol: *const c_void, offset: usize) -> *mut c_void {
    let mut address = std::ptr::null_mut();
    if let Some(real) = real() {
        place_variable_of(real, symbol as usize);
        // SAFETY: the real runtime checks the symbol; the result goes to a local variable.
        unsafe { (real.symbol_address)(&raw mut address, symbol) };
    }
    address.wrapping_byte_add(offset)
}

moving! {
    /// `cudaMemcpyToSymbol`
    to_symbol(variable: *const c_void, from: *const c_void, bytes: usize, offset: usize, kind: c_int) |code, entry|
        copied(code, flat(symbol(variable, offset), bytes), flat(from, bytes), (bytes, 1), kind, entry);
    /// `cudaMemcpyToSymbolAsync`
    to_symbol_async(variable: *const c_void, from: *const c_void, bytes: usize, offset: usize, kind: c_int,
        stream: StreamHandle) |code, entry|
        copied(code, flat(symbol(variable, offset), bytes), flat(from, bytes), (bytes, 1), kind, entry);
    /// `cudaMemcpyFromSymbol`
    from_symbol(to: *mut c_void, variable: *const c_void, bytes: usize, offset: usize, kind: c_int) |code, entry|
        copied(code, flat(to, bytes), flat(symbol(variable, offset), bytes), (bytes, 1), kind, entry);
    /// `cudaMemcpyFromSymbolAsync`
    from_symbol_async(to: *mut c_void, variable: *const c_void, bytes: usize, offset: usize, kind: c_int,
        stream: StreamHandle) |code, entry|
        copied(code, flat(to, bytes), flat(symbol(variable, offset), bytes), (bytes, 1), kind, entry);
}

/// `cudaLaunchKernel` and `cudaLaunchCooperativeKernel`
///
/// # Safety
/// The requirements of CUDA's functions apply.
#[expect(clippy::too_many_arguments, reason = "the signature is CUDA's")]
pub unsafe fn launch_kernel(
    start: unsafe extern "C" fn(*const c_void, Dim3, Dim3, *mut *mut c_void, usize, StreamHandle) -> Error,
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: StreamHandle,
    entry: Entry,
) -> Error {
    let Some(real) = real() else { return error::INITIALIZATION_ERROR };
    let wanted = LaunchRequest { stub, grid, block, arguments, shared, stream };
    // SAFETY: the caller fulfils the contract.
    unsafe { launch(real, wanted, entry, |stub, arguments| start(stub, grid, block, arguments, shared, stream)) }
}

/// `cudaLaunchKernelExC`
///
/// # Safety
/// The requirements of CUDA's function apply.
pub unsafe fn launch_configured(
    start: unsafe extern "C" fn(*const LaunchConfig, *const c_void, *mut *mut c_void) -> Error,
    config: *const LaunchConfig,
    stub: *const c_void,
    arguments: *mut *mut c_void,
    entry: Entry,
) -> Error {
    let Some(real) = real() else { return error::INITIALIZATION_ERROR };
    // SAFETY: the pointer is null or valid by the contract.
    let Some(given) = (unsafe { config.as_ref() }) else { return error::INVALID_VALUE };
    let LaunchConfig { grid, block, shared, stream, .. } = *given;
    let wanted = LaunchRequest { stub, grid, block, arguments, shared, stream };
    // SAFETY: the caller fulfils the contract.
    unsafe { launch(real, wanted, entry, |stub, arguments| start(config, stub, arguments)) }
}

/// Records `cudaProfilerStart` or `cudaProfilerStop`, after the real function.
pub fn profile(code: Error, on: bool) -> Error {
    if let Some(mut runtime) = lock() {
        runtime.profiling = on;
    }
    code
}

/// `cudaProfilerStart`
///
/// # Safety
/// None; the signature is that of the other calls.
pub unsafe fn profiler_start(real: unsafe extern "C" fn() -> Error, _entry: Entry) -> Error {
    // SAFETY: the function has no arguments.
    profile(unsafe { real() }, true)
}

/// `cudaProfilerStop`
///
/// # Safety
/// None; the signature is that of the other calls.
pub unsafe fn profiler_stop(real: unsafe extern "C" fn() -> Error, _entry: Entry) -> Error {
    // SAFETY: the function has no arguments.
    profile(unsafe { real() }, false)
}
