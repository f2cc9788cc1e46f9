//! Attributes of the forms of kernels: queries to the real runtime, and settings that are passed on to it.

use super::state::Kernel;
use crate::cuda::error;
use crate::cuda::types::{Dim3, StreamHandle};
use crate::real::functions::Real;
use crate::state::runtime::lock;
use std::ffi::{c_int, c_void};

/// `cudaFuncAttributeMaxDynamicSharedMemorySize`.
const MAX_DYNAMIC_SHARED: c_int = 8;
/// The dynamic shared memory in bytes that a kernel may use without setting an attribute.
const SHARED_WITHOUT_ASKING: usize = 48 << 10;
/// The number of threads per block of the finish kernel, and its maximum number of blocks.
const FINISH_THREADS: u32 = 256;
const FINISH_BLOCKS: u64 = 64;

/// The arguments of a launch, as the program passed them.
#[derive(Clone, Copy)]
pub struct LaunchRequest {
    /// The host stub of the kernel.
    pub stub: *const c_void,
    /// The number of blocks.
    pub grid: Dim3,
    /// The number of threads per block.
    pub block: Dim3,
    /// One pointer per parameter.
    pub arguments: *mut *mut c_void,
    /// Dynamic shared memory in bytes.
    pub shared: usize,
    /// Stream.
    pub stream: StreamHandle,
}

/// Permits a form of a kernel the dynamic shared memory that the program has set for the original form.
pub(super) fn allow_shared(real: &Real, form: usize, bytes: usize) {
    if bytes > SHARED_WITHOUT_ASKING {
        // SAFETY: the kernel is registered.
        unsafe { (real.set_attribute)(form as _, MAX_DYNAMIC_SHARED, bytes as c_int) };
    }
}

/// Returns the grid and block of the finish kernel for a number of cells.
pub(super) fn finish_shape(cells: u64) -> (Dim3, Dim3) {
    let blocks = cells.div_ceil(u64::from(FINISH_THREADS)).clamp(1, FINISH_BLOCKS) as u32;
    (Dim3 { x: blocks, y: 1, z: 1 }, Dim3 { x: FINISH_THREADS, y: 1, z: 1 })
}

/// Returns how many blocks of a kernel's form share an SM, or 0 if the form cannot run with this block.
pub(super) fn occupancy(real: &Real, block: Dim3, shared: usize, form: usize) -> u32 {
    let mut blocks = 0;
    let threads = block.x * block.y * block.z;
    // SAFETY: the kernel is registered; the result goes to a local variable.
    let code = unsafe { (real.occupancy)(&raw mut blocks, form as _, threads as c_int, shared) };
    if code != error::SUCCESS {
        // SAFETY: the function has no arguments.
        unsafe { (real.last_error)() };
        return 0;
    }
    blocks.max(0) as u32
}

pub(super) fn kernel_name(kernel: Kernel) -> String {
    lock().and_then(|runtime| Some(runtime.modules.get(kernel.module)?.kernel_name(kernel.index))).unwrap_or_default()
}
