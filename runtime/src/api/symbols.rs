//! Device variables by the address of their host shadow.

use super::{api, per_thread, put};
use crate::copy::Rows;
use crate::cuda::error::{self, Error};
use crate::cuda::types::StreamHandle;
use crate::paths::Entry;
use crate::runtime::Runtime;
use std::ffi::{c_int, c_void};

/// Address and size of the variable behind a symbol.
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

fn flat(address: u64, bytes: usize) -> Rows {
    Rows { start: address, pitch: bytes as u64 }
}

/// # Safety
/// `from` is valid for `bytes` bytes where it is on the host.
unsafe fn upload(
    runtime: &mut Runtime,
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    entry: Entry,
) -> Result<(), Error> {
    let to = part(runtime, symbol, offset, bytes)?;
    if ![1, 3, 4].contains(&kind) {
        return Err(error::INVALID_MEMCPY_DIRECTION);
    }
    // SAFETY: by the contract.
    unsafe { runtime.copy(flat(to, bytes), flat(from as u64, bytes), bytes as u64, 1, kind, entry) }
}

/// # Safety
/// `to` is valid for `bytes` bytes where it is on the host.
unsafe fn download(
    runtime: &mut Runtime,
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: c_int,
    entry: Entry,
) -> Result<(), Error> {
    let from = part(runtime, symbol, offset, bytes)?;
    if ![2, 3, 4].contains(&kind) {
        return Err(error::INVALID_MEMCPY_DIRECTION);
    }
    // SAFETY: by the contract.
    unsafe { runtime.copy(flat(to as u64, bytes), flat(from, bytes), bytes as u64, 1, kind, entry) }
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
        // SAFETY: by the contract.
        unsafe { upload(runtime, symbol, from, bytes, offset, kind, entry) }
    }

    /// Copies into a device variable in a stream, which is at once.
    fn cudaMemcpyToSymbolAsync(
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: c_int,
        stream: StreamHandle,
    ) |runtime, entry| => crate::gpu::calls::to_symbol_async {
        runtime.streams.get(stream as usize)?;
        // SAFETY: by the contract.
        unsafe { upload(runtime, symbol, from, bytes, offset, kind, entry) }
    }

    /// Copies out of a device variable.
    fn cudaMemcpyFromSymbol(
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: c_int,
    ) |runtime, entry| => crate::gpu::calls::from_symbol {
        // SAFETY: by the contract.
        unsafe { download(runtime, to, symbol, bytes, offset, kind, entry) }
    }

    /// Copies out of a device variable in a stream, which is at once.
    fn cudaMemcpyFromSymbolAsync(
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: c_int,
        stream: StreamHandle,
    ) |runtime, entry| => crate::gpu::calls::from_symbol_async {
        runtime.streams.get(stream as usize)?;
        // SAFETY: by the contract.
        unsafe { download(runtime, to, symbol, bytes, offset, kind, entry) }
    }

    /// Device address of a variable.
    fn cudaGetSymbolAddress(place: *mut *mut c_void, symbol: *const c_void) |runtime, entry| {
        let _ = entry;
        let (address, _) = variable(runtime, symbol)?;
        // SAFETY: by the contract.
        unsafe { put(place, address as *mut c_void) }
    }

    /// Size of a variable, bytes.
    fn cudaGetSymbolSize(bytes: *mut usize, symbol: *const c_void) |runtime, entry| {
        let _ = entry;
        let (_, size) = variable(runtime, symbol)?;
        // SAFETY: by the contract.
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
