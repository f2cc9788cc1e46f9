//! The part of a GPU model that programs can query and that occupancy and block placement need. The runtime gets only
//! this part. Full models, with caches and rates, belong to the simulator.

use serde::{Deserialize, Serialize};

use crate::warp_order::Order;

/// A GPU in the form in which programs see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Marketing name, as in `cudaDeviceProp::name`.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Number of streaming multiprocessors.
    pub sms: u32,
    /// Maximum number of resident threads per SM.
    pub threads_per_sm: u32,
    /// Maximum number of resident blocks per SM.
    pub blocks_per_sm: u32,
    /// 32-bit registers per SM.
    pub registers_per_sm: u32,
    /// Allocation unit of registers per warp.
    pub register_unit: u32,
    /// Bytes of shared memory per SM.
    pub shared_per_sm: u32,
    /// Bytes of shared memory that a block may use by default.
    pub shared_per_block: u32,
    /// Bytes of shared memory that a block may use after opting in.
    pub shared_per_block_optin: u32,
    /// Bytes of shared memory that the system reserves per block.
    pub shared_reserved_per_block: u32,
    /// Allocation unit of shared memory in bytes.
    pub shared_unit: u32,
    /// Core clock in kHz.
    pub clock_khz: u32,
    /// Memory clock in kHz.
    pub memory_clock_khz: u32,
    /// Width of the memory bus in bits.
    pub memory_bus_bits: u32,
    /// Bytes of device memory.
    pub memory_bytes: u64,
    /// Bytes of L2.
    pub l2_bytes: u64,
    /// Number of requests that a warp issues before another warp of its SM issues.
    pub turn: u32,
    /// Order in which the warps of an SM issue. The encoded form does not contain it, because the format of earlier
    /// traces is fixed. [`crate::event::Event::WarpOrder`] and [`crate::options::Options::encode`] contain it.
    #[serde(skip)]
    pub order: Order,
}

impl Device {
    /// Returns the shared memory that a block occupies on an SM, including the bytes reserved by the system.
    pub fn shared_taken(&self, shared_per_block: u32) -> u32 {
        let bytes = shared_per_block.saturating_add(self.shared_reserved_per_block);
        bytes.checked_next_multiple_of(self.shared_unit.max(1)).unwrap_or(bytes)
    }

    /// Returns the number of blocks of a kernel that fit on one SM: the minimum of the limits by threads, blocks,
    /// registers and shared memory (CUDA C++ Programming Guide, "Hardware Multithreading"). 0 means that not even one
    /// block fits.
    pub fn resident_blocks(&self, threads_per_block: u32, registers_per_thread: u32, shared_per_block: u32) -> u32 {
        let warps = threads_per_block.div_ceil(32).max(1);
        let by_threads = self.threads_per_sm / 32 / warps;
        let unit = u64::from(self.register_unit.max(1));
        let registers_per_warp = u32::try_from((u64::from(registers_per_thread) * 32).next_multiple_of(unit));
        let registers_per_warp = registers_per_warp.unwrap_or(u32::MAX);
        let by_registers = self.registers_per_sm.checked_div(registers_per_warp).map_or(u32::MAX, |fit| fit / warps);
        let shared = self.shared_taken(shared_per_block);
        let by_shared = self.shared_per_sm.checked_div(shared).unwrap_or(u32::MAX);
        self.blocks_per_sm.min(by_threads).min(by_registers).min(by_shared)
    }
}

/// Returns the name of the model for an architecture: the GPU that code of this architecture is assumed to run on if no
/// other model is requested.
pub fn model_for(architecture: u32) -> &'static str {
    match architecture {
        // This is code without an architecture.
        0 => "rtx2080ti",
        1..=34 => "gtx480",
        35..=51 => "k40c",
        52..=59 => "gtx980",
        60..=69 => "p100",
        70..=74 => "v100",
        75..=79 => "rtx2080ti",
        80..=85 => "a100",
        86..=88 => "rtx3090",
        89 => "rtx4090",
        90..=99 => "h100",
        100.. => "b200",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_binds() {
        let device = Device::rtx_2080_ti();
        assert_eq!(device.resident_blocks(32, 16, 0), 16);
        assert_eq!(device.resident_blocks(256, 32, 0), 4);
        assert_eq!(device.resident_blocks(256, 128, 0), 2);
        assert_eq!(device.resident_blocks(256, 32, 33 << 10), 1);
        assert_eq!(device.resident_blocks(1024, 128, 0), 0);
        // A damaged record may contain such values.
        assert_eq!(device.resident_blocks(u32::MAX, u32::MAX, u32::MAX), 0);
    }
}
