//! Kernel launches.

use super::{api, per_thread};
use crate::cuda::error::{self, Error};
use crate::cuda::types::{Dim3, HostFunction, LaunchConfig, StreamHandle};
use crate::graphs::{HostWork, Work};
use crate::modules::configuration::Configuration;
use crate::paths::Entry;
use crate::state::failed_calls::{self, Call};
use crate::state::runtime::{Runtime, call_as};
use std::cell::RefCell;
use std::ffi::{c_uint, c_void};
use std::mem::ManuallyDrop;

/// What `<<<…>>>` leaves for the stub that it calls.
#[derive(Clone, Copy)]
struct Pushed {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: StreamHandle,
}

thread_local! {
    /// Without a destructor: destructors of static objects, which may launch kernels, run after those of threads' own
    /// variables.
    static PUSHED: RefCell<ManuallyDrop<Vec<Pushed>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// First half of `kernel<<<grid, block, shared, stream>>>(…)`: 0 where the call may continue.
///
/// # Safety
/// None; the signature is CUDA's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: StreamHandle,
) -> c_uint {
    PUSHED.with_borrow_mut(|pushed| pushed.push(Pushed { grid, block, shared, stream }));
    0
}

/// Second half, in the stub: takes the configuration back.
///
/// # Safety
/// The pointers are valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    shared: *mut usize,
    stream: *mut StreamHandle,
) -> Error {
    let taken = PUSHED.with_borrow_mut(|pushed| {
        let last = pushed.pop();
        if pushed.is_empty() {
            // It is never dropped, so it must keep no memory.
            pushed.shrink_to_fit();
        }
        last
    });
    let Some(pushed) = taken else { return error::MISSING_CONFIGURATION };
    // SAFETY: by the contract.
    unsafe {
        grid.write(pushed.grid);
        block.write(pushed.block);
        shared.write(pushed.shared);
        stream.write(pushed.stream);
    }
    error::SUCCESS
}

pub(super) fn configuration(
    runtime: &Runtime,
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: StreamHandle,
    cooperative: bool,
) -> Result<Configuration, Error> {
    let stream = runtime.streams.get(stream as usize)?.number;
    let cluster = [0; 3];
    Ok(Configuration { grid: grid.into(), block: block.into(), shared: shared as u64, stream, cooperative, cluster })
}

/// Returns the shape of clusters in a launch attribute.
pub(super) fn cluster_dimension(value: &[u32]) -> [u32; 3] {
    let [x, y, z, ..] = *value else { return [0; 3] };
    [x, y, z]
}

/// Launches a kernel, or makes a node of it where the stream is being captured.
///
/// # Safety
/// The requirements of [`Runtime::launch`] apply.
pub(super) unsafe fn launch(
    runtime: &mut Runtime,
    stream: StreamHandle,
    function: *const c_void,
    configuration: Configuration,
    arguments: *mut *mut c_void,
    entry: Entry,
) -> Result<(), Error> {
    let arguments = arguments.cast_const().cast();
    // SAFETY: by the contract.
    unsafe {
        if runtime.captures.find(stream as usize).is_some() {
            let work = runtime.kernel_work(function, configuration, arguments)?;
            return runtime.submit(stream as usize, work, entry);
        }
        runtime.launch(function, configuration, arguments, entry)
    }
}

api! {
    /// Launches a kernel.
    fn cudaLaunchKernel(
        function: *const c_void,
        grid: Dim3,
        block: Dim3,
        arguments: *mut *mut c_void,
        shared: usize,
        stream: StreamHandle,
    ) |runtime, entry| => crate::gpu::calls::launch_kernel, launches 1 {
        let configuration = configuration(runtime, grid, block, shared, stream, false)?;
        // SAFETY: by the contract.
        unsafe { launch(runtime, stream, function, configuration, arguments, entry) }
    }

    /// Launches a kernel whose blocks are all resident at once.
    fn cudaLaunchCooperativeKernel(
        function: *const c_void,
        grid: Dim3,
        block: Dim3,
        arguments: *mut *mut c_void,
        shared: usize,
        stream: StreamHandle,
    ) |runtime, entry| => crate::gpu::calls::launch_kernel, launches 1 {
        let configuration = configuration(runtime, grid, block, shared, stream, true)?;
        // SAFETY: by the contract.
        unsafe { launch(runtime, stream, function, configuration, arguments, entry) }
    }

    /// Launches a kernel with attributes. Of these, the ones that only steer speed have no effect.
    fn cudaLaunchKernelExC(
        config: *const LaunchConfig,
        function: *const c_void,
        arguments: *mut *mut c_void,
    ) |runtime, entry| => crate::gpu::calls::launch_configured, launches 1 {
        // SAFETY: null or valid by the contract.
        let config = unsafe { config.as_ref() }.ok_or(error::INVALID_VALUE)?;
        let (mut cooperative, mut cluster) = (false, [0; 3]);
        for index in 0..config.attribute_count as usize {
            // SAFETY: the program gives an array of that length.
            let attribute = unsafe { &*config.attributes.add(index) };
            match attribute.id {
                LaunchConfig::COOPERATIVE => cooperative = attribute.value[0] != 0,
                LaunchConfig::CLUSTER_DIMENSION => cluster = cluster_dimension(&attribute.value),
                which => runtime.note_attribute("cudaLaunchKernelExC", which, &attribute.words()),
            }
        }
        let configuration =
            configuration(runtime, config.grid, config.block, config.shared, config.stream, cooperative)?;
        let configuration = Configuration { cluster, ..configuration };
        // SAFETY: by the contract.
        unsafe { launch(runtime, config.stream, function, configuration, arguments, entry) }
    }
}

per_thread! {
    cudaLaunchKernel_ptsz = cudaLaunchKernel, (function: *const c_void, grid: Dim3, block: Dim3,
        arguments: *mut *mut c_void, shared: usize, stream: StreamHandle) [stream];
    cudaLaunchCooperativeKernel_ptsz = cudaLaunchCooperativeKernel, (function: *const c_void, grid: Dim3, block: Dim3,
        arguments: *mut *mut c_void, shared: usize, stream: StreamHandle) [stream];
    __cudaLaunchKernel = cudaLaunchKernel, (function: *const c_void, grid: Dim3, block: Dim3,
        arguments: *mut *mut c_void, shared: usize, stream: StreamHandle);
    __cudaLaunchKernel_ptsz = cudaLaunchKernel, (function: *const c_void, grid: Dim3, block: Dim3,
        arguments: *mut *mut c_void, shared: usize, stream: StreamHandle) [stream];
    cudaLaunchHostFunc_ptsz = cudaLaunchHostFunc, (stream: StreamHandle, function: Option<HostFunction>,
        data: *mut c_void) [stream];
}

/// The variant for programs built with a default stream per thread.
///
/// # Safety
/// The requirements of [`cudaLaunchKernelExC`] apply.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchKernelExC_ptsz(
    config: *const LaunchConfig,
    function: *const c_void,
    arguments: *mut *mut c_void,
) -> Error {
    // SAFETY: null or valid by the contract.
    let own = unsafe { config.as_ref() }
        .map(|config| LaunchConfig { stream: crate::gpu::per_thread_stream(config.stream), ..*config });
    // SAFETY: handed through; the copy outlives the call.
    unsafe { cudaLaunchKernelExC(own.as_ref().map_or(config, std::ptr::from_ref), function, arguments) }
}

/// Calls a host function when all work before it is done, which is at once. The function may not
/// call CUDA; it runs without the runtime's lock all the same.
///
/// # Safety
/// The function takes the pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchHostFunc(
    stream: StreamHandle,
    function: Option<HostFunction>,
    data: *mut c_void,
) -> Error {
    let here = 0u8;
    let call = Call { function: "cudaLaunchHostFunc", entry: Entry::new(std::hint::black_box(&here)) };
    if crate::real::active() {
        let code = crate::gpu::forward!(cudaLaunchHostFunc, (stream: StreamHandle, function: Option<HostFunction>,
            data: *mut c_void));
        return failed_calls::returned(call, code);
    }
    let mut now = true;
    let known = call_as(call, 0, |runtime| {
        // The function may let the host go on.
        runtime.streams.wait_for(stream as usize)?;
        let function = function.ok_or(error::INVALID_VALUE)?;
        if runtime.captures.find(stream as usize).is_some() {
            now = false;
            let work = Work::Host(HostWork { function, data: data as usize });
            runtime.captures.take(&mut runtime.graphs, stream as usize, work)?;
        }
        Ok(())
    });
    if known == error::SUCCESS
        && now
        && let Some(function) = function
    {
        // SAFETY: by the contract.
        unsafe { function(data) };
    }
    known
}
