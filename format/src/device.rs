//! The part of a GPU model that a program can ask for and that occupancy and block placement need.
//! The full models (caches and so on) are the analyzer's; the runtime gets only this.

use serde::{Deserialize, Serialize};

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
    /// Shared memory a block may use without asking, bytes.
    pub shared_per_block: u32,
    /// Shared memory a block may use after asking, bytes.
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
}

impl Device {
    /// RTX 2080 Ti, the default: figures as in `models/rtx2080ti.toml`, where the sources stand.
    pub fn rtx_2080_ti() -> Device {
        Device {
            name: "NVIDIA GeForce RTX 2080 Ti".into(),
            compute_capability: (7, 5),
            sms: 68,
            threads_per_sm: 1024,
            blocks_per_sm: 16,
            registers_per_sm: 65536,
            register_unit: 256,
            shared_per_sm: 64 << 10,
            shared_per_block: 48 << 10,
            shared_per_block_optin: 64 << 10,
            shared_reserved_per_block: 0,
            shared_unit: 256,
            clock_khz: 1_545_000,
            memory_clock_khz: 7_000_000,
            memory_bus_bits: 352,
            memory_bytes: 11 << 30,
            l2_bytes: 5632 << 10,
            turn: 4,
        }
    }

    /// What a program finds that runs code of this architecture (80 for `sm_80`), if no model was asked for: the GPU that
    /// [`model_for`] names. Figures as those of the model.
    pub fn for_architecture(architecture: u32) -> Device {
        match model_for(architecture) {
            "gtx480" => Device {
                name: "NVIDIA GeForce GTX 480".into(),
                compute_capability: (2, 0),
                sms: 15,
                threads_per_sm: 1536,
                blocks_per_sm: 8,
                registers_per_sm: 32768,
                shared_per_sm: 48 << 10,
                clock_khz: 700_000,
                memory_clock_khz: 924_000,
                memory_bus_bits: 384,
                l2_bytes: 768 << 10,
                ..Device::before_turing()
            },
            "k40c" => Device {
                name: "NVIDIA Tesla K40c".into(),
                compute_capability: (3, 5),
                sms: 15,
                blocks_per_sm: 16,
                shared_per_sm: 48 << 10,
                clock_khz: 745_000,
                memory_clock_khz: 3_004_000,
                memory_bus_bits: 384,
                l2_bytes: 1536 << 10,
                ..Device::before_turing()
            },
            "gtx980" => Device {
                name: "NVIDIA GeForce GTX 980".into(),
                compute_capability: (5, 2),
                sms: 16,
                shared_per_sm: 96 << 10,
                clock_khz: 1_126_000,
                ..Device::before_turing()
            },
            "p100" => Device {
                name: "NVIDIA Tesla P100 16 GB".into(),
                compute_capability: (6, 0),
                sms: 56,
                shared_per_sm: 64 << 10,
                clock_khz: 1_329_000,
                memory_clock_khz: 715_000,
                memory_bus_bits: 4096,
                l2_bytes: 4 << 20,
                ..Device::before_turing()
            },
            "v100" => Device {
                name: "NVIDIA Tesla V100".into(),
                compute_capability: (7, 0),
                sms: 80,
                shared_per_sm: 96 << 10,
                shared_per_block_optin: 96 << 10,
                clock_khz: 1_380_000,
                memory_clock_khz: 877_000,
                memory_bus_bits: 4096,
                l2_bytes: 6 << 20,
                ..Device::before_turing()
            },
            "a100" => Device::a100(),
            "rtx3090" => Device {
                name: "NVIDIA GeForce RTX 3090".into(),
                compute_capability: (8, 6),
                sms: 82,
                clock_khz: 1_695_000,
                memory_clock_khz: 9_751_000,
                l2_bytes: 6 << 20,
                ..Device::ga10x()
            },
            "rtx4090" => Device {
                name: "NVIDIA GeForce RTX 4090".into(),
                compute_capability: (8, 9),
                sms: 128,
                blocks_per_sm: 24,
                clock_khz: 2_520_000,
                memory_clock_khz: 10_501_000,
                l2_bytes: 72 << 20,
                ..Device::ga10x()
            },
            "h100" => Device {
                name: "NVIDIA H100 SXM5 80 GB".into(),
                compute_capability: (9, 0),
                sms: 132,
                shared_per_sm: 228 << 10,
                shared_per_block_optin: 227 << 10,
                clock_khz: 1_980_000,
                memory_clock_khz: 2_619_000,
                memory_bytes: 80 << 30,
                l2_bytes: 50 << 20,
                ..Device::a100()
            },
            "b200" => Device {
                name: "NVIDIA B200".into(),
                compute_capability: (10, 0),
                sms: 148,
                shared_per_sm: 228 << 10,
                shared_per_block_optin: 227 << 10,
                shared_unit: 256,
                clock_khz: 1_000_000,
                memory_clock_khz: 3_996_000,
                memory_bus_bits: 7680,
                memory_bytes: 16 << 30,
                l2_bytes: 132_644_864,
                ..Device::a100()
            },
            _ => Device::rtx_2080_ti(),
        }
    }

    /// What most GPUs before Turing have in common, and what the models assume of them.
    fn before_turing() -> Device {
        Device {
            threads_per_sm: 2048,
            blocks_per_sm: 32,
            shared_per_block_optin: 48 << 10,
            memory_clock_khz: 1_000_000,
            memory_bus_bits: 256,
            memory_bytes: 16 << 30,
            l2_bytes: 4 << 20,
            ..Device::rtx_2080_ti()
        }
    }

    fn a100() -> Device {
        Device {
            name: "NVIDIA A100 40 GB".into(),
            compute_capability: (8, 0),
            sms: 108,
            threads_per_sm: 2048,
            blocks_per_sm: 32,
            shared_per_sm: 164 << 10,
            shared_per_block_optin: 163 << 10,
            shared_reserved_per_block: 1 << 10,
            shared_unit: 128,
            clock_khz: 1_410_000,
            memory_clock_khz: 1_215_000,
            memory_bus_bits: 5120,
            memory_bytes: 40 << 30,
            l2_bytes: 40 << 20,
            ..Device::rtx_2080_ti()
        }
    }

    /// What the GPUs of 8.6 and 8.9 have in common.
    fn ga10x() -> Device {
        Device {
            threads_per_sm: 1536,
            shared_per_sm: 100 << 10,
            shared_per_block_optin: 99 << 10,
            shared_reserved_per_block: 1 << 10,
            shared_unit: 128,
            memory_bus_bits: 384,
            memory_bytes: 16 << 30,
            ..Device::rtx_2080_ti()
        }
    }

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

/// Name of the model that stands for an architecture: the GPU that code of this architecture is taken to run on where nobody
/// asks for another one, however the program is started.
pub fn model_for(architecture: u32) -> &'static str {
    match architecture {
        // Code that does not say what it is for.
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
