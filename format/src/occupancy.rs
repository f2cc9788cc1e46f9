//! Determines registers per thread and resident blocks per SM, with the same rule for a run and for `warpline sim`.

use crate::access::LANES;
use crate::device::Device;
use serde::{Deserialize, Serialize};

/// Assumed registers per thread if nothing is known.
const ASSUMED_REGISTERS: u32 = 32;

/// Figures of ptxas for a kernel without hooks, on one architecture.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resources {
    /// Number of the architecture, such as 75 for `sm_75`.
    pub architecture: u32,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes per thread that are spilled: stored and loaded again because there are not enough registers.
    pub spill_bytes: u32,
}

/// Occupancy parameters that the user specified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    /// Registers per thread of every kernel.
    pub registers: Option<u32>,
    /// Resident blocks per SM, limited by threads and shared memory.
    pub blocks: Option<u32>,
}

/// Facts about a kernel's registers before it is placed on a device.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    /// Known figures, sorted by architecture; may be empty.
    pub known: &'a [Resources],
    /// First argument of `__launch_bounds__`, or 0.
    pub max_threads: u32,
    /// Second argument of `__launch_bounds__`, or 0.
    pub min_blocks: u32,
}

/// Registers per thread, and whether they are assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Number of registers.
    pub count: u32,
    /// Whether the number is neither specified by the user nor reported by ptxas for the device's architecture.
    pub assumed: bool,
}

/// Returns the number that ptxas uses for a compute capability: 75 for (7, 5).
pub fn architecture(capability: (u32, u32)) -> u32 {
    capability.0.saturating_mul(10).saturating_add(capability.1)
}

/// Returns the entry for a device: that of its own architecture, or otherwise of the nearest architecture, preferably
/// of the same generation.
pub fn nearest(known: &[Resources], capability: (u32, u32)) -> Option<&Resources> {
    let wanted = architecture(capability);
    known.iter().min_by_key(|one| {
        let other_generation = one.architecture / 10 != capability.0;
        (other_generation, one.architecture.abs_diff(wanted), one.architecture)
    })
}

impl Device {
    /// Returns the registers per thread of a kernel on this device, for any block size.
    pub fn registers(&self, kernel: Kernel<'_>, stated: Stated) -> Registers {
        if let Some(count) = stated.registers {
            return Registers { count, assumed: false };
        }
        if let Some(found) = nearest(kernel.known, self.compute_capability) {
            let assumed = found.architecture != architecture(self.compute_capability);
            return Registers { count: found.registers, assumed };
        }
        let bound = kernel.max_threads.saturating_mul(kernel.min_blocks.max(1));
        let allowed = self.registers_per_sm.checked_div(bound).map_or(ASSUMED_REGISTERS, |each| each & !7);
        Registers { count: allowed.clamp(8, ASSUMED_REGISTERS), assumed: true }
    }

    /// Returns the registers per thread that a block of `threads` can have if a kernel uses `wanted`. If the block is
    /// too large for `wanted`, returns the maximum for this block size, because a compiler with the block size as input
    /// would make the kernel fit.
    pub fn fitting(&self, wanted: Registers, threads: u32) -> Registers {
        let unit = self.register_unit.max(1);
        let fit = self.registers_per_sm / threads.div_ceil(LANES as u32).max(1) / unit * unit / LANES as u32;
        if (1..wanted.count).contains(&fit) { Registers { count: fit, assumed: true } } else { wanted }
    }

    /// Returns the number of resident blocks per SM, specified by the user or computed; 0 if no block fits.
    pub fn blocks_on_sm(&self, threads: u32, registers: u32, shared: u32, stated: Stated) -> u32 {
        match stated.blocks {
            Some(blocks) => blocks.min(self.resident_blocks(threads, 1, shared)),
            None => self.resident_blocks(threads, registers, shared),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Resources; 4] = [
        Resources { architecture: 52, registers: 20, spill_bytes: 0 },
        Resources { architecture: 70, registers: 30, spill_bytes: 0 },
        Resources { architecture: 75, registers: 37, spill_bytes: 4 },
        Resources { architecture: 80, registers: 72, spill_bytes: 0 },
    ];

    fn kernel(known: &[Resources]) -> Kernel<'_> {
        Kernel { known, max_threads: 0, min_blocks: 0 }
    }

    #[test]
    fn each_device_has_the_registers_of_its_architecture() {
        let device = |capability| Device { compute_capability: capability, ..Device::rtx_2080_ti() };
        let of = |capability| device(capability).registers(kernel(&KNOWN), Stated::default());
        assert_eq!(of((7, 0)), Registers { count: 30, assumed: false });
        assert_eq!(of((7, 5)), Registers { count: 37, assumed: false });
        // Without a separate entry, the nearest architecture of the same generation is used, otherwise the nearest of
        // all.
        assert_eq!(of((7, 2)), Registers { count: 30, assumed: true });
        assert_eq!(of((8, 9)), Registers { count: 72, assumed: true });
        assert_eq!(of((2, 0)), Registers { count: 20, assumed: true });
        assert_eq!(of((10, 0)), Registers { count: 72, assumed: true });
        let stated = Stated { registers: Some(64), blocks: None };
        assert_eq!(device((7, 5)).registers(kernel(&KNOWN), stated), Registers { count: 64, assumed: false });
    }

    #[test]
    fn nothing_known_is_assumed_within_the_launch_bounds() {
        let device = Device::rtx_2080_ti();
        let of = |max_threads, min_blocks| {
            device.registers(Kernel { known: &[], max_threads, min_blocks }, Stated::default()).count
        };
        assert_eq!((of(0, 0), of(1024, 2), of(1024, 0), of(u32::MAX, u32::MAX)), (32, 32, 32, 8));
        assert_eq!(of(1024, 4), 16);
    }

    #[test]
    fn registers_fit_the_block() {
        let device = Device::rtx_2080_ti();
        let wanted = Registers { count: 72, assumed: false };
        assert_eq!(device.fitting(wanted, 256), wanted);
        assert_eq!(device.fitting(wanted, 1024), Registers { count: 64, assumed: true });
        assert_eq!(device.resident_blocks(1024, 64, 0), 1);
    }

    #[test]
    fn stated_blocks_hold_as_far_as_the_rest_allows() {
        let device = Device::rtx_2080_ti();
        let blocks = |blocks| device.blocks_on_sm(256, 255, 16 << 10, Stated { registers: None, blocks });
        assert_eq!((blocks(None), blocks(Some(2)), blocks(Some(3)), blocks(Some(100))), (1, 2, 3, 4));
    }
}
