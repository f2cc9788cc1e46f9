//! Attributes of kernels' forms: queries to the real runtime, and settings passed on to it.

use super::state::Kernel;
use crate::cuda::error;
use crate::cuda::types::{Dim3, StreamHandle};
use crate::real::functions::Real;
use crate::state::runtime::lock;
use std::ffi::{c_int, c_void};

/// `cudaFuncAttributeMaxDynamicSharedMemorySize`.
const MAX_DYNAMIC_SHARED: c_int = 8;
/// Dynamic shared memory that a kernel may have without an attribute.
const SHARED_WITHOUT_ASKING: usize = 48 << 10;
/// Threads of a block of the finish kernel, and most blocks of it.
const FINISH_THREADS: u32 = 256;
const FINISH_BLOCKS: u64 = 64;

/// What the program gave with a launch.
#[derive(Clone, Copy)]
pub struct LaunchRequest {
    /// Host stub of the kernel.
    pub stub: *const c_void,
    /// Blocks.
    pub grid: Dim3,
    /// Threads per block.
    pub block: Dim3,
    /// One pointer per parameter.
    pub arguments: *mut *mut c_void,
    /// Dynamic shared memory, bytes.
    pub shared: usize,
    /// Stream.
    pub stream: StreamHandle,
}

/// Lets a form of a kernel have as much dynamic shared memory as the program set for the original one.
pub(super) fn allow_shared(real: &Real, form: usize, bytes: usize) {
    if bytes > SHARED_WITHOUT_ASKING {
        // SAFETY: a registered kernel.
        unsafe { (real.set_attribute)(form as _, MAX_DYNAMIC_SHARED, bytes as c_int) };
    }
}

/// Grid and block of the finish kernel for this many cells.
pub(super) fn finish_shape(cells: u64) -> (Dim3, Dim3) {
    let blocks = cells.div_ceil(u64::from(FINISH_THREADS)).clamp(1, FINISH_BLOCKS) as u32;
    (Dim3 { x: blocks, y: 1, z: 1 }, Dim3 { x: FINISH_THREADS, y: 1, z: 1 })
}

/// Blocks of a form of a kernel that share an SM; 0 where it cannot run with this block.
pub(super) fn occupancy(real: &Real, block: Dim3, shared: usize, form: usize) -> u32 {
    let mut blocks = 0;
    let threads = block.x * block.y * block.z;
    // SAFETY: a registered kernel; a result through a pointer to a local.
    let code = unsafe { (real.occupancy)(&raw mut blocks, form as _, threads as c_int, shared) };
    if code != error::SUCCESS {
        // SAFETY: no arguments.
        unsafe { (real.last_error)() };
        return 0;
    }
    blocks.max(0) as u32
}

pub(super) fn kernel_name(kernel: Kernel) -> String {
    lock().and_then(|runtime| Some(runtime.modules.get(kernel.module)?.kernel_name(kernel.index))).unwrap_or_default()
}
