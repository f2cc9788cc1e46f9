//! Device variables by the address of their host shadow.

use crate::api::{api, per_thread, put};
use crate::cuda::error::{self, Error};
use crate::cuda::types::StreamHandle;
use crate::graphs::{CopyWork, Work};
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_void};

/// Returns the address and the size of the variable behind a symbol.
fn variable(runtime: &Runtime, symbol: *const c_void) -> Result<(u64, u64), Error> {
    let member = runtime.variables.get(&(symbol as usize)).ok_or(error::INVALID_SYMBOL)?;
    let module = &runtime.modules[member.module];
    let address = module.globals[member.index];
    if address == 0 {
        return Err(error::INVALID_SYMBOL);
    }
    Ok((address, module.variables()[member.index].size))
}

fn part(runtime: &Runtime, symbol: *const c_void, offset: usize, bytes: usize) -> Result<u64, Error> {
    let (address, size) = variable(runtime, symbol)?;
    let end = (offset as u64).checked_add(bytes as u64).ok_or(error::INVALID_VALUE)?;
    if end > size { Err(error::INVALID_VALUE) } else { Ok(address + offset as u64) }
}

/// Returns the work of a copy into a variable.
pub(in crate::api) fn to_symbol(
    runtime: &Runtime,
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> Result<CopyWork, Error> {
    let to = part(runtime, symbol, offset, bytes)?;
    if ![1, 3, 4].contains(&kind) {
        return Err(error::INVALID_MEMCPY_DIRECTION);
    }
    Ok(CopyWork::flat(to, from as u64, bytes as u64, kind))
}

/// Returns the work of a copy out of a variable.
pub(in crate::api) fn from_symbol(
    runtime: &Runtime,
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
) -> Result<CopyWork, Error> {
    let from = part(runtime, symbol, offset, bytes)?;
    if ![2, 3, 4].contains(&kind) {
        return Err(error::INVALID_MEMCPY_DIRECTION);
    }
    Ok(CopyWork::flat(to as u64, from, bytes as u64, kind))
}

api! {
    /// Copies into a device variable.
    fn cudaMemcpyToSymbol(
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: c_int,
    ) |runtime, entry| => crate::gpu::calls::to_symbol {
        let work = to_symbol(runtime, symbol, from, bytes, offset, kind)?;
        // SAFETY: by the contract of the API function.
        unsafe { runtime.perform(&Work::Copy(work), 0, entry) }
    }

    /// Copies into a device variable in a stream; completes before it returns.
    fn cudaMemcpyToSymbolAsync(
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: c_int,
        stream: StreamHandle,
    ) |runtime, entry| => crate::gpu::calls::to_symbol_async {
        let work = to_symbol(runtime, symbol, from, bytes, offset, kind)?;
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, Work::Copy(work), entry) }
    }

    /// Copies out of a device variable.
    fn cudaMemcpyFromSymbol(
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: c_int,
    ) |runtime, entry| => crate::gpu::calls::from_symbol {
        let work = from_symbol(runtime, to, symbol, bytes, offset, kind)?;
        // SAFETY: by the contract of the API function.
        unsafe { runtime.perform(&Work::Copy(work), 0, entry) }
    }

    /// Copies out of a device variable in a stream; completes before it returns.
    fn cudaMemcpyFromSymbolAsync(
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: c_int,
        stream: StreamHandle,
    ) |runtime, entry| => crate::gpu::calls::from_symbol_async {
        let work = from_symbol(runtime, to, symbol, bytes, offset, kind)?;
        // SAFETY: by the contract of the API function.
        unsafe { runtime.submit(stream as usize, Work::Copy(work), entry) }
    }

    /// Returns the device address of a variable.
    fn cudaGetSymbolAddress(place: *mut *mut c_void, symbol: *const c_void) |runtime, entry| {
        let _ = entry;
        let (address, _) = variable(runtime, symbol)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(place, address as *mut c_void) }
    }

    /// Returns the size of a variable in bytes.
    fn cudaGetSymbolSize(bytes: *mut usize, symbol: *const c_void) |runtime, entry| {
        let _ = entry;
        let (_, size) = variable(runtime, symbol)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(bytes, size as usize) }
    }
}

per_thread! {
    cudaMemcpyToSymbol_ptds = cudaMemcpyToSymbol, (symbol: *const c_void, from: *const c_void, bytes: usize,
        offset: usize, kind: c_int);
    cudaMemcpyFromSymbol_ptds = cudaMemcpyFromSymbol, (to: *mut c_void, symbol: *const c_void, bytes: usize,
        offset: usize, kind: c_int);
    cudaMemcpyToSymbolAsync_ptsz = cudaMemcpyToSymbolAsync, (symbol: *const c_void, from: *const c_void,
        bytes: usize, offset: usize, kind: c_int, stream: StreamHandle) [stream];
    cudaMemcpyFromSymbolAsync_ptsz = cudaMemcpyFromSymbolAsync, (to: *mut c_void, symbol: *const c_void,
        bytes: usize, offset: usize, kind: c_int, stream: StreamHandle) [stream];
}
