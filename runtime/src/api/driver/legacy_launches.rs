//! Launches as before CUDA 4: the program sets block shape, shared memory and arguments on the function, one call after
//! the other.

use super::driver_api;
use super::launches::start;
use crate::api::launch::configuration;
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::types::{Dim3, StreamHandle};
use crate::state::runtime::Runtime;
use std::collections::BTreeMap;
use std::ffi::{c_float, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of bytes for the arguments of a kernel (CUDA C++ Programming Guide, "Function Parameters", before
/// `sm_70`'s 32 764).
const MOST_ARGUMENTS: usize = 4096;

/// The markers `CU_LAUNCH_PARAM_…` in the list of a packed argument buffer.
const BUFFER: usize = 1;
const BYTES: usize = 2;

/// The values that a program has set on a function.
#[derive(Clone, Default)]
struct Settings {
    block: Option<Dim3>,
    shared: u32,
    arguments: Vec<u8>,
}

static SETTINGS: Mutex<BTreeMap<usize, Settings>> = Mutex::new(BTreeMap::new());

fn settings() -> MutexGuard<'static, BTreeMap<usize, Settings>> {
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Changes the values that are set on a function.
fn set(
    runtime: &mut Runtime,
    function: *const c_void,
    change: impl FnOnce(&mut Settings) -> Result<(), Error>,
) -> Result<(), Error> {
    runtime.kernel(function)?;
    change(settings().entry(function as usize).or_default())
}

/// Returns the byte range of an argument.
fn range(offset: c_int, bytes: usize) -> Result<std::ops::Range<usize>, Error> {
    let start = usize::try_from(offset).map_err(|_| error::INVALID_VALUE)?;
    let end = start.checked_add(bytes).filter(|end| *end <= MOST_ARGUMENTS).ok_or(error::INVALID_VALUE)?;
    Ok(start..end)
}

/// Writes an argument.
fn write(runtime: &mut Runtime, function: *const c_void, offset: c_int, bytes: &[u8]) -> Result<(), Error> {
    let range = range(offset, bytes.len())?;
    set(runtime, function, |settings| {
        if settings.arguments.len() < range.end {
            settings.arguments.resize(range.end, 0);
        }
        settings.arguments[range].copy_from_slice(bytes);
        Ok(())
    })
}

/// Launches a function with the values that are set on it.
fn run(
    runtime: &mut Runtime,
    function: *const c_void,
    (width, height): (c_int, c_int),
    stream: StreamHandle,
    entry: Entry,
) -> Result<(), Error> {
    runtime.kernel(function)?;
    let Settings { block, shared, mut arguments } = settings().get(&(function as usize)).cloned().unwrap_or_default();
    let block = block.ok_or(error::INVALID_VALUE)?;
    let side = |value: c_int| u32::try_from(value).map_err(|_| error::INVALID_VALUE);
    let grid = Dim3 { x: side(width)?, y: side(height)?, z: 1 };
    let configuration = configuration(runtime, grid, block, shared as usize, stream, false)?;
    let mut bytes = arguments.len();
    let buffer = arguments.as_mut_ptr().cast::<c_void>();
    let bytes = (&raw mut bytes).cast::<c_void>();
    let mut packed = [BUFFER as *mut c_void, buffer, BYTES as *mut c_void, bytes, std::ptr::null_mut()];
    // SAFETY: the list has the form that `cuLaunchKernel` requires, and its buffer and size live until the end of the
    // call.
    unsafe { start(runtime, function, configuration, stream, (std::ptr::null_mut(), packed.as_mut_ptr()), entry) }
}

driver_api! {
    /// Sets the shape of the blocks.
    fn cuFuncSetBlockShape(function: *const c_void, x: c_int, y: c_int, z: c_int) needs Context |runtime, _entry| {
        let side = |value: c_int| u32::try_from(value).ok().filter(|value| *value > 0).ok_or(error::INVALID_VALUE);
        let block = Dim3 { x: side(x)?, y: side(y)?, z: side(z)? };
        set(runtime, function, |settings| {
            settings.block = Some(block);
            Ok(())
        })
    }

    /// Sets the dynamic shared memory of a block.
    fn cuFuncSetSharedSize(function: *const c_void, bytes: c_uint) needs Context |runtime, _entry| {
        set(runtime, function, |settings| {
            settings.shared = bytes;
            Ok(())
        })
    }

    /// Sets the total size of the arguments.
    fn cuParamSetSize(function: *const c_void, bytes: c_uint) needs Context |runtime, _entry| {
        let end = range(0, bytes as usize)?.end;
        set(runtime, function, |settings| {
            settings.arguments.resize(end, 0);
            Ok(())
        })
    }

    /// Sets an integer argument.
    fn cuParamSeti(function: *const c_void, offset: c_int, value: c_uint) needs Context |runtime, _entry| {
        write(runtime, function, offset, &value.to_ne_bytes())
    }

    /// Sets a single-precision argument.
    fn cuParamSetf(function: *const c_void, offset: c_int, value: c_float) needs Context |runtime, _entry| {
        write(runtime, function, offset, &value.to_ne_bytes())
    }

    /// Sets an argument of any type.
    fn cuParamSetv(
        function: *const c_void,
        offset: c_int,
        value: *const c_void,
        bytes: c_uint,
    ) needs Context |runtime, _entry| {
        range(offset, bytes as usize)?;
        if value.is_null() {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract; the size is bounded.
        let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes as usize) };
        write(runtime, function, offset, bytes)
    }

    /// Launches one block.
    fn cuLaunch(function: *const c_void) needs Context |runtime, entry| {
        run(runtime, function, (1, 1), std::ptr::null_mut(), entry)
    }

    /// Launches a grid.
    fn cuLaunchGrid(function: *const c_void, width: c_int, height: c_int) needs Context |runtime, entry| {
        run(runtime, function, (width, height), std::ptr::null_mut(), entry)
    }

    /// Launches a grid in a stream.
    fn cuLaunchGridAsync(
        function: *const c_void,
        width: c_int,
        height: c_int,
        stream: StreamHandle,
    ) needs Context |runtime, entry| {
        run(runtime, function, (width, height), stream, entry)
    }
}
