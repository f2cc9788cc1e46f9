//! Launches of kernels that a program loaded.

use super::driver_api;
use crate::api::launch::{cluster_dimension, configuration, launch};
use crate::api::per_thread;
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::types::{Dim3, LaunchConfig, LaunchConfigWords, StreamHandle};
use crate::modules::configuration::Configuration;
use crate::state::runtime::Runtime;
use std::ffi::{c_uint, c_void};

/// Markers in the list of a packed argument buffer: the end of the list, the buffer, the size of the buffer.
const END: usize = 0;
const BUFFER: usize = 1;
const BYTES: usize = 2;
/// The maximum number of entries of this list that are read.
const MOST_ENTRIES: usize = 16;

/// Launches a kernel with a pointer for each argument, or with all arguments in one buffer.
///
/// # Safety
/// The lists are null, or valid as `cuLaunchKernel` requires.
pub(super) unsafe fn start(
    runtime: &mut Runtime,
    function: *const c_void,
    configuration: Configuration,
    stream: StreamHandle,
    (arguments, packed): (*mut *mut c_void, *mut *mut c_void),
    entry: Entry,
) -> Result<(), Error> {
    if packed.is_null() {
        // SAFETY: by the contract of the API function.
        return unsafe { launch(runtime, stream, function, configuration, arguments, entry) };
    }
    if !arguments.is_null() {
        return Err(error::INVALID_VALUE);
    }
    // SAFETY: by the contract of the API function.
    let (buffer, bytes) = unsafe { packed_buffer(packed) }?;
    let member = runtime.kernel(function)?;
    // SAFETY: each pointer points into the buffer, whose size was compared with the size of the kernel's arguments.
    unsafe {
        let mut pointers = runtime.modules[member.module].parameters_in(member.index, buffer, bytes)?;
        launch(runtime, stream, function, configuration, pointers.as_mut_ptr(), entry)
    }
}

/// # Safety
/// `list` is a list of markers and values that ends with [`END`].
unsafe fn packed_buffer(list: *mut *mut c_void) -> Result<(*mut c_void, usize), Error> {
    let (mut buffer, mut bytes) = (std::ptr::null_mut::<c_void>(), 0);
    for at in (0..MOST_ENTRIES).step_by(2) {
        // SAFETY: the list has not ended before this entry.
        let (mark, value) = unsafe { (*list.add(at) as usize, list.add(at + 1)) };
        match mark {
            END => return if buffer.is_null() { Err(error::INVALID_VALUE) } else { Ok((buffer, bytes)) },
            // SAFETY: a value follows each of these markers; the value after the size marker is a pointer to the size.
            BUFFER => buffer = unsafe { *value },
            BYTES => bytes = unsafe { (*value).cast::<usize>().as_ref() }.copied().ok_or(error::INVALID_VALUE)?,
            _ => return Err(error::INVALID_VALUE),
        }
    }
    Err(error::INVALID_VALUE)
}

driver_api! {
    /// Launches a kernel.
    fn cuLaunchKernel(
        function: *const c_void,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
        packed: *mut *mut c_void,
    ) needs Context |runtime, entry| {
        let (grid, block) = (Dim3 { x: grid_x, y: grid_y, z: grid_z }, Dim3 { x: block_x, y: block_y, z: block_z });
        let configuration = configuration(runtime, grid, block, shared as usize, stream, false)?;
        // SAFETY: by the contract of the API function.
        unsafe { start(runtime, function, configuration, stream, (arguments, packed), entry) }
    }

    /// Launches a kernel whose blocks are all resident at once.
    fn cuLaunchCooperativeKernel(
        function: *const c_void,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) needs Context |runtime, entry| {
        let (grid, block) = (Dim3 { x: grid_x, y: grid_y, z: grid_z }, Dim3 { x: block_x, y: block_y, z: block_z });
        let configuration = configuration(runtime, grid, block, shared as usize, stream, true)?;
        // SAFETY: by the contract of the API function.
        unsafe { start(runtime, function, configuration, stream, (arguments, std::ptr::null_mut()), entry) }
    }

    /// Launches a kernel with attributes. Attributes that only affect speed have no effect.
    fn cuLaunchKernelEx(
        config: *const LaunchConfigWords,
        function: *const c_void,
        arguments: *mut *mut c_void,
        packed: *mut *mut c_void,
    ) needs Context |runtime, entry| {
        // SAFETY: the pointer is null or valid by the contract.
        let config = unsafe { config.as_ref() }.ok_or(error::INVALID_VALUE)?;
        let (mut cooperative, mut cluster) = (false, [0; 3]);
        for index in 0..config.attribute_count as usize {
            // SAFETY: the program passes an array of this length.
            let attribute = unsafe { &*config.attributes.add(index) };
            match attribute.id {
                LaunchConfig::COOPERATIVE => cooperative = attribute.value[0] != 0,
                LaunchConfig::CLUSTER_DIMENSION => cluster = cluster_dimension(&attribute.value),
                which => runtime.note_attribute("cuLaunchKernelEx", which, &attribute.words()),
            }
        }
        let configuration =
            configuration(runtime, config.grid, config.block, config.shared as usize, config.stream, cooperative)?;
        let configuration = Configuration { cluster, ..configuration };
        // SAFETY: by the contract of the API function.
        unsafe { start(runtime, function, configuration, config.stream, (arguments, packed), entry) }
    }
}

per_thread! {
    cuLaunchKernel_ptsz = cuLaunchKernel, (function: *const c_void, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint, shared: c_uint, stream: StreamHandle,
        arguments: *mut *mut c_void, packed: *mut *mut c_void) [stream];
    cuLaunchCooperativeKernel_ptsz = cuLaunchCooperativeKernel, (function: *const c_void, grid_x: c_uint, grid_y: c_uint,
        grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, shared: c_uint, stream: StreamHandle,
        arguments: *mut *mut c_void) [stream];
}
