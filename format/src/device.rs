//! The part of a GPU model that a program can query and that occupancy and block placement need.
//! The full models (caches and so on) are the analyzer's; the runtime gets only this.

use serde::{Deserialize, Serialize};

use crate::warp_order::Order;

/// A GPU as its programs see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Marketing name, as `cudaDeviceProp::name`.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Resident threads per SM.
    pub threads_per_sm: u32,
    /// Resident blocks per SM.
    pub blocks_per_sm: u32,
    /// 32-bit registers per SM.
    pub registers_per_sm: u32,
    /// Registers are given out to a warp in multiples of this.
    pub register_unit: u32,
    /// Shared memory per SM, bytes.
    pub shared_per_sm: u32,
    /// Shared memory a block may use by default, bytes.
    pub shared_per_block: u32,
    /// Shared memory a block may use after opting in, bytes.
    pub shared_per_block_optin: u32,
    /// Shared memory the system keeps per block, bytes.
    pub shared_reserved_per_block: u32,
    /// Shared memory is given out in multiples of this, bytes.
    pub shared_unit: u32,
    /// Core clock, kHz.
    pub clock_khz: u32,
    /// Memory clock, kHz.
    pub memory_clock_khz: u32,
    /// Memory bus width, bits.
    pub memory_bus_bits: u32,
    /// Device memory, bytes.
    pub memory_bytes: u64,
    /// L2, bytes.
    pub l2_bytes: u64,
    /// Requests a warp issues before the next warp of its SM has its turn.
    pub turn: u32,
    /// Order in which the warps of an SM issue. Not part of the encoded form, which earlier traces fix:
    /// [`crate::event::Event::WarpOrder`] and [`crate::options::Options::encode`] carry it.
    #[serde(skip)]
    pub order: Order,
}

impl Device {
    /// Shared memory that a block takes of an SM's, with what the system keeps for itself.
    pub fn shared_taken(&self, shared_per_block: u32) -> u32 {
        let bytes = shared_per_block.saturating_add(self.shared_reserved_per_block);
        bytes.checked_next_multiple_of(self.shared_unit.max(1)).unwrap_or(bytes)
    }

    /// Blocks of a kernel that fit on one SM: the least of what threads, blocks, registers and
    /// shared memory allow (CUDA C++ Programming Guide, "Hardware Multithreading"). 0 means that
    /// the block does not fit at all.
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

/// Name of the model that stands for an architecture: the GPU that code of this architecture is assumed to run on if
/// no other one is requested, however the program is started.
pub fn model_for(architecture: u32) -> &'static str {
    match architecture {
        // Code without an architecture.
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
        // What a damaged record may claim.
        assert_eq!(device.resident_blocks(u32::MAX, u32::MAX, u32::MAX), 0);
    }
}
