//! The back end in this process: what the program registered.

use super::drain::addresses::{AddressMap, Range};
use std::collections::{HashMap, HashSet};
use std::ffi::c_int;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use warpline_format::gpu::CountLayout;

/// Allocations of all GPUs: their addresses never overlap.
pub static ADDRESSES: LazyLock<AddressMap> = LazyLock::new(AddressMap::default);

/// A kernel in all forms.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Index of its module in the runtime.
    pub module: usize,
    /// Index in the module's descriptor.
    pub index: usize,
    /// Stands for the form that sends records in calls of the real runtime.
    pub traced: usize,
    /// Stands for the form that counts.
    pub counted: usize,
    /// Stands for the module's finish kernel.
    pub finish: usize,
}

/// A device variable of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// What stands for it in the host's code.
    pub shadow: usize,
    /// Index of its module in the runtime.
    pub module: usize,
    /// Index among the module's variables.
    pub index: usize,
}

/// What the program registered.
#[derive(Debug, Default)]
pub struct Registry {
    /// Keyed by the handle that the program has: the real one, and the module and finish kernel where it is one of ours.
    pub handles: Vec<(usize, Option<(usize, usize)>)>,
    /// Keyed by host stub.
    pub kernels: HashMap<usize, Kernel>,
    /// Names of kernels that were compiled without Warpline, by host stub.
    pub foreign: HashMap<usize, String>,
    /// Variables of modules.
    pub variables: Vec<Variable>,
    /// Modules whose variables' addresses have been queried, with the device: each has its own copies.
    pub placed: HashSet<(c_int, usize)>,
    /// Addresses in the trace of those whose address on some device is known, by module and index.
    pub placed_variables: HashMap<(usize, usize), u64>,
    /// Layout of each module's count cells.
    pub layouts: HashMap<usize, Arc<CountLayout>>,
    /// Numbers of the streams in the trace.
    pub streams: HashMap<usize, u32>,
}

/// Returns the registry.
pub fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a stream's number in the trace: 0 for the default ones, else in order of first use.
pub fn stream_number(handle: usize) -> u32 {
    // Null, `cudaStreamLegacy`, `cudaStreamPerThread`.
    if handle < 3 {
        return 0;
    }
    let mut registry = registry();
    let next = registry.streams.len() as u32 + 1;
    *registry.streams.entry(handle).or_insert(next)
}

/// Enters an allocation for the translation of addresses.
pub fn know(device: u64, bytes: u64, synthetic: u64) {
    ADDRESSES.insert(Range { device, bytes, synthetic });
}
