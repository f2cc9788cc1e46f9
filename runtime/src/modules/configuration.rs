//! The configuration of a launch, and the check whether a device can run it.

use crate::cuda::error::{self, Error};
use crate::cuda::limits::{MAX_BLOCK, MAX_GRID, MAX_THREADS};
use crate::modules::module::Module;
use warpline_format::abi::KernelDescriptor;
use warpline_format::cluster;
use warpline_format::device::Device;
use warpline_format::occupancy::{self, Registers};
use warpline_format::options::Options;

/// The configuration that a program passes for a launch.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    /// The number of blocks.
    pub grid: [u32; 3],
    /// The number of threads per block.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u64,
    /// The number of the stream.
    pub stream: u32,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// The number of blocks of a cluster; zero if the launch sets no clusters.
    pub cluster: [u32; 3],
}

/// Returns the shape of a launch's clusters: the launch's attribute, or else the shape for which its kernel was
/// compiled, or else single blocks.
pub fn cluster_of(kernel: &KernelDescriptor, configuration: &Configuration) -> [u32; 3] {
    let given = [configuration.cluster, kernel.required_cluster].into_iter().find(|shape| cluster::blocks(*shape) > 0);
    given.unwrap_or([1; 3])
}

/// Checks a launch's clusters; `resident` blocks share an SM.
fn check_cluster(
    kernel: &KernelDescriptor,
    device: &Device,
    configuration: &Configuration,
    resident: u32,
) -> Result<(), Refusal> {
    let refuse = |why| Err(Refusal { code: error::INVALID_CLUSTER_SIZE, why });
    let (grid, shape, wanted) = (configuration.grid, cluster_of(kernel, configuration), kernel.required_cluster);
    let blocks = cluster::blocks(shape);
    if wanted[0] != 0 && shape != wanted {
        return refuse(format!("it is compiled for clusters of {wanted:?} blocks (__cluster_dims__), not {shape:?}"));
    }
    if blocks > u64::from(cluster::MOST_BLOCKS) {
        return refuse(format!("a cluster has at most {} blocks, not {blocks}", cluster::MOST_BLOCKS));
    }
    if grid.iter().zip(shape).any(|(&size, cluster)| !size.is_multiple_of(cluster)) {
        return refuse(format!("its grid of {grid:?} blocks is not a multiple of the cluster of {shape:?} blocks"));
    }
    if blocks > u64::from(resident) * u64::from(device.sms) {
        return refuse(format!("{} has no room for the {blocks} blocks of a cluster at a time", device.name));
    }
    Ok(())
}

/// Returns the register figures of a kernel of a module.
pub fn known(module: &Module, index: usize) -> occupancy::Kernel<'_> {
    let kernel = &module.kernels()[index];
    let (max_threads, min_blocks) = (kernel.max_threads, kernel.min_blocks);
    occupancy::Kernel { known: module.resources(kernel), max_threads, min_blocks }
}

/// Returns the registers per thread of a kernel of a module in a block of `threads` threads.
pub fn registers_in(module: &Module, index: usize, options: &Options, threads: u32) -> Registers {
    options.device.fitting(options.device.registers(known(module, index), options.stated), threads)
}

/// The reason why a launch is not possible.
pub(crate) struct Refusal {
    /// CUDA's error code.
    pub(crate) code: Error,
    /// The cause, for the user.
    pub(crate) why: String,
}

/// Returns the maximum dynamic shared memory of a kernel of a module.
pub(crate) fn shared_limit(module: &Module, index: usize, device: &Device) -> u32 {
    device.shared_per_block.saturating_sub(module.kernels()[index].static_shared).max(module.dynamic_shared[index])
}

/// Returns the number of threads of a block, or an error if no GPU accepts a launch of this shape.
pub(crate) fn possible_shape(grid: &[u32; 3], block: &[u32; 3]) -> Result<u64, Refusal> {
    let refuse = |why| Err(Refusal { code: error::INVALID_CONFIGURATION, why });
    let within =
        |size: &[u32; 3], most: &[u32; 3]| size.iter().zip(most).all(|(&size, &most)| (1..=most).contains(&size));
    if !within(grid, &MAX_GRID) || !within(block, &MAX_BLOCK) {
        return refuse(format!("a grid of {grid:?} blocks of {block:?} threads is not possible"));
    }
    let threads: u64 = block.iter().map(|&size| u64::from(size)).product();
    if threads > u64::from(MAX_THREADS) {
        return refuse(format!("a block has at most {MAX_THREADS} threads, not {threads}"));
    }
    Ok(threads)
}

/// Returns how many blocks of a kernel are resident on an SM at the same time, or an error if the launch's
/// configuration is invalid.
pub(crate) fn check(
    module: &Module,
    index: usize,
    options: &Options,
    configuration: &Configuration,
) -> Result<u32, Refusal> {
    let Configuration { grid, block, shared, .. } = *configuration;
    let refuse = |code, why: String| Err(Refusal { code, why });
    let kernel = &module.kernels()[index];
    let threads = possible_shape(&grid, &block)?;
    let device = &options.device;
    let limit = shared_limit(module, index, device);
    if shared > u64::from(limit) {
        let why = format!(
            "it requests {shared} bytes of dynamic shared memory, and {limit} are permitted; cudaFuncSetAttribute can \
             raise that"
        );
        return refuse(error::INVALID_VALUE, why);
    }
    // The PTX ISA specifies that such a launch fails, but not the error code. The code here is that of cuLaunchKernel
    // for invalid arguments.
    let wanted = kernel.required_block;
    if wanted[0] != 0 && block != wanted {
        let why = format!("it is compiled for blocks of {wanted:?} threads (.reqntid), and no others, not {block:?}");
        return refuse(error::INVALID_VALUE, why);
    }
    if kernel.max_threads != 0 && threads > u64::from(kernel.max_threads) {
        let why = format!("its __launch_bounds__ allow {} threads, not {threads}", kernel.max_threads);
        return refuse(error::LAUNCH_OUT_OF_RESOURCES, why);
    }
    let registers = registers_in(module, index, options, threads as u32).count;
    let resident = device.blocks_on_sm(threads as u32, registers, kernel.static_shared + shared as u32, options.stated);
    if resident == 0 {
        let bytes = u64::from(kernel.static_shared) + shared;
        let why = format!(
            "no SM of {} has room for a block of {threads} threads with {registers} registers each and {bytes} bytes of \
             shared memory",
            device.name
        );
        return refuse(error::LAUNCH_OUT_OF_RESOURCES, why);
    }
    check_cluster(kernel, device, configuration, resident)?;
    let blocks: u64 = grid.iter().map(|&size| u64::from(size)).product();
    if configuration.cooperative && blocks > u64::from(resident) * u64::from(device.sms) {
        let most = u64::from(resident) * u64::from(device.sms);
        let why = format!("its {blocks} blocks have to run together, and {} runs {most} at a time", device.name);
        return refuse(error::COOPERATIVE_LAUNCH_TOO_LARGE, why);
    }
    Ok(resident)
}
