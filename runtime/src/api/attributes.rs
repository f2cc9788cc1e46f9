//! What a kernel needs and how many of its blocks fit on an SM.

use super::{api, put};
use crate::cuda::error::{self, Error};
use crate::cuda::limits::MAX_THREADS;
use crate::cuda::types::FuncAttributes;
use crate::modules::configuration::{known, registers_in};
use crate::modules::module::Member;
use crate::modules::module::Module;
use crate::state::runtime::Runtime;
use std::ffi::{c_char, c_int, c_uint, c_void};
use warpline_format::carveout::CarveoutPreference;

const MAX_DYNAMIC_SHARED: c_int = 8;
const CARVEOUT: c_int = 9;
/// The attributes that configure clusters.
const CLUSTERS: std::ops::RangeInclusive<c_int> = 10..=13;
const NON_PORTABLE_CLUSTER_SIZE: c_int = 14;
const CLUSTER_SCHEDULING: c_int = 15;

fn module(runtime: &Runtime, member: Member) -> &Module {
    &runtime.modules[member.module]
}

/// Returns a kernel whose registers are known for the models of the run.
fn assembled_kernel(runtime: &mut Runtime, function: *const c_void) -> Result<Member, Error> {
    let member = runtime.kernel(function)?;
    runtime.complete_registers(member.module);
    Ok(member)
}

/// Returns how many blocks of a kernel fit on an SM.
pub(super) fn resident(
    runtime: &mut Runtime,
    function: *const c_void,
    threads: c_int,
    dynamic: usize,
) -> Result<u32, Error> {
    let member = assembled_kernel(runtime, function)?;
    let device = &runtime.options.device;
    let module = module(runtime, member);
    let kernel = &module.kernels()[member.index];
    let threads = u32::try_from(threads).ok().filter(|threads| *threads > 0).ok_or(error::INVALID_VALUE)?;
    let shared = u64::from(kernel.static_shared) + dynamic as u64;
    if threads > MAX_THREADS || shared > u64::from(device.shared_per_block_optin) {
        return Ok(0);
    }
    let registers = registers_in(module, member.index, &runtime.options, threads).count;
    Ok(device.blocks_on_sm(threads, registers, shared as u32, runtime.options.stated))
}

/// Returns the dynamic shared memory that each of `blocks` blocks on one SM can have.
pub(super) fn available_shared(
    runtime: &mut Runtime,
    function: *const c_void,
    blocks: c_int,
    threads: c_int,
) -> Result<usize, Error> {
    let member = runtime.kernel(function)?;
    let blocks = u32::try_from(blocks).ok().filter(|blocks| *blocks > 0).ok_or(error::INVALID_VALUE)?;
    if resident(runtime, function, threads, 0)? < blocks {
        return Err(error::INVALID_VALUE);
    }
    let device = &runtime.options.device;
    let kernel = &module(runtime, member).kernels()[member.index];
    let unit = device.shared_unit.max(1);
    let each = device.shared_per_sm / blocks / unit * unit;
    let taken = kernel.static_shared + device.shared_reserved_per_block;
    Ok(each.saturating_sub(taken).min(runtime.shared_limit(member)) as usize)
}

/// Returns the attributes of a kernel.
pub(super) fn attributes_of(runtime: &mut Runtime, function: *const c_void) -> Result<FuncAttributes, Error> {
    let member = assembled_kernel(runtime, function)?;
    let device = &runtime.options.device;
    let module = module(runtime, member);
    let kernel = &module.kernels()[member.index];
    let registers = device.registers(known(module, member.index), runtime.options.stated).count;
    // The kernel may use as many warps as the register file can hold, within the launch bounds.
    let per_warp = (registers * 32).next_multiple_of(device.register_unit.max(1)).max(1);
    let fed = (device.registers_per_sm / per_warp * 32).min(MAX_THREADS);
    let bound = if kernel.max_threads == 0 { fed } else { fed.min(kernel.max_threads) };
    let arch = if module.table.arch != 0 {
        module.table.arch as c_int
    } else {
        (device.compute_capability.0 * 10 + device.compute_capability.1) as c_int
    };
    Ok(FuncAttributes {
        shared_size_bytes: kernel.static_shared as usize,
        const_size_bytes: 0,
        local_size_bytes: kernel.local_bytes as usize,
        max_threads_per_block: bound as c_int,
        num_regs: registers as c_int,
        ptx_version: arch,
        binary_version: arch,
        cache_mode_ca: 0,
        max_dynamic_shared_size_bytes: runtime.shared_limit(member) as c_int,
        preferred_shmem_carveout: module.carveouts[member.index].percent(),
        cluster: [0; 6],
        reserved: [0; 16],
    })
}

/// Sets a kernel's preferred division of L1 and shared memory. `None` stands for a number that CUDA does not define.
pub(super) fn prefer(
    runtime: &mut Runtime,
    function: *const c_void,
    preference: Option<CarveoutPreference>,
) -> Result<(), Error> {
    let member = runtime.kernel(function)?;
    runtime.modules[member.module].carveouts[member.index] = preference.ok_or(error::INVALID_VALUE)?;
    Ok(())
}

/// Sets a kernel attribute that a program may set. The driver API uses the same attribute numbers as the runtime API.
pub(super) fn set_attribute(
    runtime: &mut Runtime,
    function: *const c_void,
    attribute: c_int,
    value: c_int,
) -> Result<(), Error> {
    let member = runtime.kernel(function)?;
    match attribute {
        MAX_DYNAMIC_SHARED => {
            let kernel = &module(runtime, member).kernels()[member.index];
            let most = runtime.options.device.shared_per_block_optin.saturating_sub(kernel.static_shared);
            let requested =
                u32::try_from(value).ok().filter(|requested| *requested <= most).ok_or(error::INVALID_VALUE)?;
            runtime.modules[member.module].dynamic_shared[member.index] = requested;
            Ok(())
        }
        CARVEOUT => prefer(runtime, function, CarveoutPreference::from_percent(value)),
        // Clusters of up to 16 blocks are allowed without this attribute, and the scheduler decides where they run.
        NON_PORTABLE_CLUSTER_SIZE | CLUSTER_SCHEDULING => Ok(()),
        _ if CLUSTERS.contains(&attribute) => {
            crate::output::message::note(
                "cudaFuncSetAttribute, cuFuncSetAttribute: the size of clusters is an attribute of the launch (cudaLaunchKernelEx) \
                 or of the kernel (__cluster_dims__) here, and not set on a function",
            );
            Err(error::NOT_SUPPORTED)
        }
        _ => Err(error::INVALID_VALUE),
    }
}

api! {
    /// Returns the attributes of a kernel.
    fn cudaFuncGetAttributes(attributes: *mut FuncAttributes, function: *const c_void) |runtime, entry| {
        let _ = entry;
        let value = attributes_of(runtime, function)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(attributes, value) }
    }

    /// Sets an attribute of a kernel.
    fn cudaFuncSetAttribute(function: *const c_void, attribute: c_int, value: c_int) |runtime, entry| {
        let _ = entry;
        set_attribute(runtime, function, attribute, value)
    }

    /// Sets the preferred division of L1 and shared memory for a kernel; the simulated L1 uses it.
    fn cudaFuncSetCacheConfig(function: *const c_void, config: c_int) |runtime, entry| {
        let _ = entry;
        prefer(runtime, function, CarveoutPreference::from_cache_config(config))
    }

    /// Accepts a preference for shared memory banks, which newer GPUs ignore as well.
    fn cudaFuncSetSharedMemConfig(function: *const c_void, config: c_int) |runtime, entry| {
        let _ = entry;
        runtime.kernel(function)?;
        if (0..=2).contains(&config) { Ok(()) } else { Err(error::INVALID_VALUE) }
    }

    /// Returns the mangled name of a kernel.
    fn cudaFuncGetName(name: *mut *const c_char, function: *const c_void) |runtime, entry| {
        let _ = entry;
        let member = runtime.kernel(function)?;
        let text = module(runtime, member).kernels()[member.index].name;
        // SAFETY: by the contract of the API function.
        unsafe { put(name, text) }
    }

    /// Returns the handle of a kernel, which is its stub.
    fn cudaGetKernel(kernel: *mut *const c_void, function: *const c_void) |runtime, entry| {
        let _ = entry;
        runtime.kernel(function)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(kernel, function) }
    }

    /// Returns how many blocks of a kernel fit on an SM.
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: *const c_void,
        threads: c_int,
        dynamic: usize,
    ) |runtime, entry| {
        let _ = entry;
        let resident = resident(runtime, function, threads, dynamic)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(blocks, resident as c_int) }
    }

    /// Returns how many blocks of a kernel fit on an SM; the caching flag has no effect since compute capability 5.3.
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int,
        function: *const c_void,
        threads: c_int,
        dynamic: usize,
        flags: c_uint,
    ) |runtime, entry| {
        let _ = entry;
        if flags > 1 {
            return Err(error::INVALID_VALUE);
        }
        let resident = resident(runtime, function, threads, dynamic)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(blocks, resident as c_int) }
    }

    /// Returns the dynamic shared memory that each of `blocks` blocks on one SM can have.
    fn cudaOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize,
        function: *const c_void,
        blocks: c_int,
        threads: c_int,
    ) |runtime, entry| {
        let _ = entry;
        let found = available_shared(runtime, function, blocks, threads)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(bytes, found) }
    }
}
