//! How many blocks of a loaded kernel fit on an SM.

use super::driver_api;
use crate::api::attributes::{attributes_of, available_shared, resident};
use crate::api::put;
use crate::cuda::error::{self, Error};
use crate::state::runtime::Runtime;
use std::ffi::{c_int, c_uint, c_void};

/// `CUoccupancyB2DSize`: returns the dynamic shared memory for a block with the given number of threads.
type SharedOfBlock = unsafe extern "C" fn(c_int) -> usize;

/// The number of threads in a warp.
const WARP: c_int = 32;

/// Returns the block size with the most threads on an SM, and the number of blocks that fill the device. Among block
/// sizes with the same number of threads, the larger one is returned.
///
/// # Safety
/// `shared_of` takes a block size.
unsafe fn best_block(
    runtime: &mut Runtime,
    function: *const c_void,
    shared_of: Option<SharedOfBlock>,
    shared: usize,
    limit: c_int,
) -> Result<(c_int, c_int), Error> {
    let most = attributes_of(runtime, function)?.max_threads_per_block;
    let limit = if limit > 0 { limit.min(most) } else { most };
    let (mut best, mut best_threads) = ((0, 0), 0);
    let mut threads = limit;
    while threads > 0 {
        // SAFETY: by the contract of the API function.
        let shared = shared_of.map_or(shared, |shared_of| unsafe { shared_of(threads) });
        let blocks = resident(runtime, function, threads, shared)? as c_int;
        if blocks * threads > best_threads {
            (best, best_threads) = ((blocks, threads), blocks * threads);
        }
        // The remaining block sizes are multiples of a warp; the first one may be the limit itself.
        threads = (threads - 1) / WARP * WARP;
    }
    let (blocks, threads) = best;
    Ok((blocks * runtime.options.device.sms as c_int, threads))
}

driver_api! {
    /// Returns how many blocks of a kernel fit on an SM.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: *const c_void,
        threads: c_int,
        dynamic: usize,
    ) needs Context |runtime, entry| {
        let _ = entry;
        let found = resident(runtime, function, threads, dynamic)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(blocks, found as c_int) }
    }

    /// Returns how many blocks of a kernel fit on an SM; the caching flag has no effect since compute capability 5.3.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int,
        function: *const c_void,
        threads: c_int,
        dynamic: usize,
        flags: c_uint,
    ) needs Context |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        let found = resident(runtime, function, threads, dynamic)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(blocks, found as c_int) }
    }

    /// Returns the block size that gives the most threads on an SM, and how many such blocks fill the device.
    fn cuOccupancyMaxPotentialBlockSize(
        blocks: *mut c_int,
        threads: *mut c_int,
        function: *const c_void,
        shared_of: Option<SharedOfBlock>,
        dynamic: usize,
        limit: c_int,
    ) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        unsafe {
            let (grid, block) = best_block(runtime, function, shared_of, dynamic, limit)?;
            put(blocks, grid)?;
            put(threads, block)
        }
    }

    /// Does the same; the caching flag has no effect since compute capability 5.3.
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        blocks: *mut c_int,
        threads: *mut c_int,
        function: *const c_void,
        shared_of: Option<SharedOfBlock>,
        dynamic: usize,
        limit: c_int,
        flags: c_uint,
    ) needs Context |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe {
            let (grid, block) = best_block(runtime, function, shared_of, dynamic, limit)?;
            put(blocks, grid)?;
            put(threads, block)
        }
    }

    /// Returns the dynamic shared memory that each of `blocks` blocks on one SM can have.
    fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize,
        function: *const c_void,
        blocks: c_int,
        threads: c_int,
    ) needs Context |runtime, entry| {
        let _ = entry;
        let found = available_shared(runtime, function, blocks, threads)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(bytes, found) }
    }
}
