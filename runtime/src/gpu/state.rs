//! The state of the GPU back end in this process: everything that the program has registered.

use super::drain::addresses::{AddressMap, Range};
use std::collections::{HashMap, HashSet};
use std::ffi::c_int;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use warpline_format::gpu::CountLayout;

/// The allocations of all GPUs, whose addresses never overlap.
pub static ADDRESSES: LazyLock<AddressMap> = LazyLock::new(AddressMap::default);

/// A kernel in all its forms.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The index of the kernel's module in the runtime.
    pub module: usize,
    /// The kernel's index in the module's descriptor.
    pub index: usize,
    /// The address that represents the form which sends records, in calls of the real runtime.
    pub traced: usize,
    /// The address that represents the form which counts.
    pub counted: usize,
    /// The address that represents the module's finish kernel.
    pub finish: usize,
}

/// A device variable of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The address that represents the variable in the host's code.
    pub shadow: usize,
    /// The index of the variable's module in the runtime.
    pub module: usize,
    /// The variable's index in its module.
    pub index: usize,
}

/// Everything that the program has registered.
#[derive(Debug, Default)]
pub struct Registry {
    /// Indexed by the handle that the program has. The value is the real handle and, for a module that Warpline
    /// compiled, the module and its finish kernel.
    pub handles: Vec<(usize, Option<(usize, usize)>)>,
    /// The kernels, keyed by host stub.
    pub kernels: HashMap<usize, Kernel>,
    /// The names of kernels that were compiled without Warpline, by host stub.
    pub foreign: HashMap<usize, String>,
    /// The variables of modules.
    pub variables: Vec<Variable>,
    /// The modules whose variables' addresses have been queried, with the device, because each device has its own
    /// copies.
    pub placed: HashSet<(c_int, usize)>,
    /// The trace addresses of the variables whose address on some device is known, by module and index.
    pub placed_variables: HashMap<(usize, usize), u64>,
    /// The layout of each module's count cells.
    pub layouts: HashMap<usize, Arc<CountLayout>>,
    /// The numbers of the streams in the trace.
    pub streams: HashMap<usize, u32>,
}

/// Returns the registry.
pub fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a stream's number in the trace. It is 0 for the default streams; other streams are numbered in the order of
/// their first use.
pub fn stream_number(handle: usize) -> u32 {
    // Null, `cudaStreamLegacy`, `cudaStreamPerThread`.
    if handle < 3 {
        return 0;
    }
    let mut registry = registry();
    let next = registry.streams.len() as u32 + 1;
    *registry.streams.entry(handle).or_insert(next)
}

/// Records an allocation for the translation of addresses.
pub fn know(device: u64, bytes: u64, synthetic: u64) {
    ADDRESSES.insert(Range { device, bytes, synthetic });
}
