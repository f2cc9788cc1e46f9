//! What a program gives with a launch, and whether a device can do it.

use crate::cuda::error::{self, Error};
use crate::module::Module;
use crate::runtime::{Member, Runtime};
use warpline_format::abi::KernelDescriptor;
use warpline_format::access::LANES;
use warpline_format::device::Device;

/// Threads per block that CUDA allows.
pub const MAX_THREADS: u32 = 1024;
/// Largest block, by axis.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Largest grid, by axis.
pub const MAX_GRID: [u32; 3] = [0x7fff_ffff, 65535, 65535];
/// Registers per thread where ptxas did not say.
const ASSUMED_REGISTERS: u32 = 32;

/// What a program gives with a launch.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Dynamic shared memory, bytes.
    pub shared: u64,
    /// Stream number.
    pub stream: u32,
    /// All blocks must be resident at once.
    pub cooperative: bool,
}

/// Registers per thread, and whether they are a guess.
pub fn registers(kernel: &KernelDescriptor, registers_per_sm: u32) -> (u32, bool) {
    if kernel.registers != 0 {
        return (kernel.registers, false);
    }
    let bound = kernel.max_threads * kernel.min_blocks.max(1);
    let allowed = registers_per_sm.checked_div(bound).map_or(ASSUMED_REGISTERS, |each| each & !7);
    (allowed.clamp(8, ASSUMED_REGISTERS), true)
}

/// Registers per thread in a block of `threads`, and whether they are a guess. Where ptxas took more than such a block
/// can have, as many as it can have: a compiler that is told the size of the block, or another one, makes the kernel fit,
/// and nothing here runs out of registers.
pub fn registers_in(kernel: &KernelDescriptor, device: &Device, threads: u32) -> (u32, bool) {
    let (wanted, assumed) = registers(kernel, device.registers_per_sm);
    let unit = device.register_unit.max(1);
    let fit = device.registers_per_sm / threads.div_ceil(LANES as u32).max(1) / unit * unit / LANES as u32;
    if (1..wanted).contains(&fit) { (fit, true) } else { (wanted, assumed) }
}

/// Why a launch cannot be.
pub(crate) struct Refusal {
    /// CUDA's code.
    pub(crate) code: Error,
    /// The cause, for the user.
    pub(crate) why: String,
}

impl Runtime {
    /// Dynamic shared memory that a kernel may have.
    pub fn shared_limit(&self, member: Member) -> u32 {
        shared_limit(&self.modules[member.module], member.index, &self.options.device)
    }

    /// Blocks that are resident on an SM together.
    pub(crate) fn check_configuration(&self, member: Member, configuration: &Configuration) -> Result<u32, Refusal> {
        check(&self.modules[member.module], member.index, &self.options.device, configuration)
    }
}

/// Dynamic shared memory that a kernel of a module may have.
fn shared_limit(module: &Module, index: usize, device: &Device) -> u32 {
    device.shared_per_block.saturating_sub(module.kernels()[index].static_shared).max(module.dynamic_shared[index])
}

/// Blocks of a kernel that are resident on an SM together, if a launch can be as asked for.
pub(crate) fn check(
    module: &Module,
    index: usize,
    device: &Device,
    configuration: &Configuration,
) -> Result<u32, Refusal> {
    let Configuration { grid, block, shared, .. } = *configuration;
    let refuse = |code, why: String| Err(Refusal { code, why });
    let kernel = &module.kernels()[index];
    let within =
        |size: &[u32; 3], most: &[u32; 3]| size.iter().zip(most).all(|(&size, &most)| (1..=most).contains(&size));
    if !within(&grid, &MAX_GRID) || !within(&block, &MAX_BLOCK) {
        let why = format!("a grid of {grid:?} blocks of {block:?} threads is not possible");
        return refuse(error::INVALID_CONFIGURATION, why);
    }
    let threads: u64 = block.iter().map(|&size| u64::from(size)).product();
    if threads > u64::from(MAX_THREADS) {
        let why = format!("a block has at most {MAX_THREADS} threads, not {threads}");
        return refuse(error::INVALID_CONFIGURATION, why);
    }
    let limit = shared_limit(module, index, device);
    if shared > u64::from(limit) {
        let why = format!(
            "it asks for {shared} bytes of dynamic shared memory and may have {limit}; cudaFuncSetAttribute can raise that"
        );
        return refuse(error::INVALID_VALUE, why);
    }
    if kernel.max_threads != 0 && threads > u64::from(kernel.max_threads) {
        let why = format!("its __launch_bounds__ allow {} threads, not {threads}", kernel.max_threads);
        return refuse(error::LAUNCH_OUT_OF_RESOURCES, why);
    }
    let (registers, _) = registers_in(kernel, device, threads as u32);
    let resident = device.resident_blocks(threads as u32, registers, kernel.static_shared + shared as u32);
    if resident == 0 {
        let bytes = u64::from(kernel.static_shared) + shared;
        let why = format!(
            "no SM of {} has room for a block of {threads} threads with {registers} registers each and {bytes} bytes of \
             shared memory",
            device.name
        );
        return refuse(error::LAUNCH_OUT_OF_RESOURCES, why);
    }
    let blocks: u64 = grid.iter().map(|&size| u64::from(size)).product();
    if configuration.cooperative && blocks > u64::from(resident) * u64::from(device.sms) {
        let most = u64::from(resident) * u64::from(device.sms);
        let why = format!("its {blocks} blocks have to run together, and {} runs {most} at a time", device.name);
        return refuse(error::COOPERATIVE_LAUNCH_TOO_LARGE, why);
    }
    Ok(resident)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_fit_the_block() {
        let device = Device::rtx_2080_ti();
        // SAFETY: all fields are numbers, pointers or optional functions, for which zeroes are valid.
        let mut kernel: KernelDescriptor = unsafe { std::mem::zeroed() };
        kernel.registers = 72;
        assert_eq!(registers_in(&kernel, &device, 256), (72, false));
        assert_eq!(registers_in(&kernel, &device, 1024), (64, true));
        assert_eq!(device.resident_blocks(1024, 64, 0), 1);
        kernel.registers = 0;
        assert_eq!(registers_in(&kernel, &device, 1024), (ASSUMED_REGISTERS, true));
    }
}
