//! Kernel launches.

use super::{api, per_thread};
use crate::call_paths::Entry;
use crate::cuda::error::{self, Error};
use crate::cuda::types::{Dim3, HostFunction, LaunchConfig, StreamHandle};
use crate::graphs::{HostWork, Work};
use crate::modules::configuration::Configuration;
use crate::state::failed_calls::{self, Call};
use crate::state::runtime::{Runtime, call_as};
use std::cell::RefCell;
use std::ffi::{c_uint, c_void};
use std::mem::ManuallyDrop;

/// The launch configuration that `<<<…>>>` stores for the stub that it calls.
#[derive(Clone, Copy)]
struct Pushed {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: StreamHandle,
}

thread_local! {
    /// The variable has no destructor, because destructors of static objects may launch kernels and run after the
    /// destructors of thread-local variables.
    static PUSHED: RefCell<ManuallyDrop<Vec<Pushed>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// First half of `kernel<<<grid, block, shared, stream>>>(…)`: returns 0 if the launch may continue.
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

/// Second half of the launch, called in the stub: returns the stored configuration and removes it.
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
            // The vector is never dropped, so it must not keep any memory.
            pushed.shrink_to_fit();
        }
        last
    });
    let Some(pushed) = taken else { return error::MISSING_CONFIGURATION };
    // SAFETY: by the contract of the API function.
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

/// Launches a kernel, or adds a node for it if the stream is being captured.
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
    // SAFETY: by the contract of the API function.
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
        // SAFETY: by the contract of the API function.
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
        // SAFETY: by the contract of the API function.
        unsafe { launch(runtime, stream, function, configuration, arguments, entry) }
    }

    /// Launches a kernel with attributes. Attributes that only affect speed have no effect.
    fn cudaLaunchKernelExC(
        config: *const LaunchConfig,
        function: *const c_void,
        arguments: *mut *mut c_void,
    ) |runtime, entry| => crate::gpu::calls::launch_configured, launches 1 {
        // SAFETY: the pointer is null or valid by the contract.
        let config = unsafe { config.as_ref() }.ok_or(error::INVALID_VALUE)?;
        let (mut cooperative, mut cluster) = (false, [0; 3]);
        for index in 0..config.attribute_count as usize {
            // SAFETY: the program passes an array of this length.
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
        // SAFETY: by the contract of the API function.
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

/// The variant for programs compiled with a default stream per thread.
///
/// # Safety
/// The requirements of [`cudaLaunchKernelExC`] apply.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cudaLaunchKernelExC_ptsz(
    config: *const LaunchConfig,
    function: *const c_void,
    arguments: *mut *mut c_void,
) -> Error {
    // SAFETY: the pointer is null or valid by the contract.
    let own = unsafe { config.as_ref() }
        .map(|config| LaunchConfig { stream: crate::gpu::per_thread_stream(config.stream), ..*config });
    // SAFETY: the caller fulfils the contract; the copy outlives the call.
    unsafe { cudaLaunchKernelExC(own.as_ref().map_or(config, std::ptr::from_ref), function, arguments) }
}

/// Calls a host function after all earlier work of the stream. This work is already complete, so the function is called
/// immediately. CUDA does not allow the function to call CUDA functions; it nevertheless runs without the runtime's
/// lock.
///
/// # Safety
/// The function accepts the pointer.
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
        // The function may release work for which the host waits.
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
        // SAFETY: by the contract of the API function.
        unsafe { function(data) };
    }
    known
}
