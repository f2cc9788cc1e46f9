//! Properties of the device. The values come from the device model. A value that the model does not contain is that of
//! the architecture, or zero for features that the CPU device does not support (clusters).

use super::limits::{MAX_BLOCK, MAX_GRID, MAX_THREADS};
use super::texture_limits;
use super::types::DeviceProp;
use std::ffi::{c_char, c_int};
use warpline_format::device::Device;

/// The constant memory of a program in bytes.
const CONSTANT_BYTES: usize = 65536;
/// The largest row pitch of a 2D copy.
const MAX_PITCH: usize = 0x7fff_ffff;
/// The alignment of textures in linear memory.
const TEXTURE_ALIGNMENT: usize = 512;
/// The alignment of texture rows.
const TEXTURE_PITCH_ALIGNMENT: usize = 32;

/// The last attribute in CUDA 13's headers. The runtime's attributes are a part of the driver's attributes, which are
/// numbered from 1 without gaps.
const LAST_ATTRIBUTE: c_int = 147;

/// Returns the `cudaDeviceProp` of a device.
pub fn properties(device: &Device) -> DeviceProp {
    // SAFETY: all fields are numbers.
    let mut all: DeviceProp = unsafe { std::mem::zeroed() };
    for (to, from) in all.name[..255].iter_mut().zip(device.name.bytes()) {
        *to = from as c_char;
    }
    all.uuid = *b"warpline-cpu-dev";
    all.total_global_mem = device.memory_bytes as usize;
    all.shared_mem_per_block = device.shared_per_block as usize;
    all.regs_per_block = device.registers_per_sm.min(65536) as c_int;
    all.warp_size = 32;
    all.mem_pitch = MAX_PITCH;
    all.max_threads_per_block = MAX_THREADS as c_int;
    all.max_threads_dim = MAX_BLOCK.map(|size| size as c_int);
    all.max_grid_size = MAX_GRID.map(|size| size as c_int);
    all.total_const_mem = CONSTANT_BYTES;
    all.major = device.compute_capability.0 as c_int;
    all.minor = device.compute_capability.1 as c_int;
    all.texture_alignment = TEXTURE_ALIGNMENT;
    all.texture_pitch_alignment = TEXTURE_PITCH_ALIGNMENT;
    all.textures_and_surfaces = texture_limits::LIMITS;
    all.surface_alignment = TEXTURE_ALIGNMENT;
    all.multi_processor_count = device.sms as c_int;
    all.can_map_host_memory = 1;
    all.concurrent_kernels = 1;
    all.pci_bus_id = 1;
    all.async_engine_count = 3;
    all.unified_addressing = 1;
    all.memory_bus_width = device.memory_bus_bits as c_int;
    all.l2_cache_size = device.l2_bytes as c_int;
    all.max_threads_per_multi_processor = device.threads_per_sm as c_int;
    all.stream_priorities_supported = 1;
    all.global_l1_cache_supported = 1;
    all.local_l1_cache_supported = 1;
    all.shared_mem_per_multiprocessor = device.shared_per_sm as usize;
    all.regs_per_multiprocessor = device.registers_per_sm as c_int;
    all.managed_memory = 1;
    all.concurrent_managed_access = 1;
    all.compute_preemption_supported = 1;
    all.can_use_host_pointer_for_registered_mem = 1;
    all.cooperative_launch = 1;
    all.shared_mem_per_block_optin = device.shared_per_block_optin as usize;
    all.max_blocks_per_multi_processor = device.blocks_per_sm as c_int;
    all.reserved_shared_mem_per_block = device.shared_reserved_per_block as usize;
    all.host_register_supported = 1;
    // `memoryPoolsSupported`.
    all.various[3] = 1;
    all
}

/// Returns the result of `cudaDeviceGetAttribute`, or `None` for a number that is not an attribute.
pub fn attribute(device: &Device, which: c_int) -> Option<c_int> {
    let all = properties(device);
    if let Some(limit) = texture_limits::attribute(which) {
        return Some(limit);
    }
    Some(match which {
        1 => all.max_threads_per_block,
        2..=4 => all.max_threads_dim[which as usize - 2],
        5..=7 => all.max_grid_size[which as usize - 5],
        8 => all.shared_mem_per_block as c_int,
        9 => all.total_const_mem as c_int,
        10 => all.warp_size,
        11 => all.mem_pitch as c_int,
        12 => all.regs_per_block,
        13 => device.clock_khz as c_int,
        14 => all.texture_alignment as c_int,
        15 | 31 | 41 | 78 | 79 | 80 | 83 | 89 | 90 | 91 | 95 | 99 | 19 => 1,
        16 => all.multi_processor_count,
        30 => all.surface_alignment as c_int,
        33 => all.pci_bus_id,
        36 => device.memory_clock_khz as c_int,
        37 => all.memory_bus_width,
        38 => all.l2_cache_size,
        39 => all.max_threads_per_multi_processor,
        40 => all.async_engine_count,
        51 => all.texture_pitch_alignment as c_int,
        75 => all.major,
        76 => all.minor,
        81 => all.shared_mem_per_multiprocessor as c_int,
        82 => all.regs_per_multiprocessor,
        // The ratio of single to double precision throughput, for data-centre chips and for others.
        87 => {
            if matches!(device.compute_capability, (6..=10, 0)) {
                2
            } else {
                32
            }
        }
        97 => all.shared_mem_per_block_optin as c_int,
        106 => all.max_blocks_per_multi_processor,
        111 => all.reserved_shared_mem_per_block as c_int,
        // Memory pools.
        115 => 1,
        // Memory domains and NUMA numbers: one, or none.
        126 => 1,
        131 | 134 => -1,
        // Virtual memory management, and file descriptors for sharing its memory.
        102 | 103 => 1,
        // Properties that the driver reports as absent: ECC, timeouts, clusters, sharing with other systems,
        // decompression.
        other if (1..=LAST_ATTRIBUTE).contains(&other) => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::types::{FuncAttributes, LaunchAttribute, LaunchConfig, Memcpy3D, PointerAttributes};
    use std::mem::{offset_of, size_of};

    #[test]
    fn structures_are_laid_out_as_in_cuda_13() {
        assert_eq!(size_of::<DeviceProp>(), 1008);
        assert_eq!(offset_of!(DeviceProp, multi_processor_count), 384);
        assert_eq!(offset_of!(DeviceProp, textures_and_surfaces), 396);
        assert_eq!(offset_of!(DeviceProp, surface_alignment), 552);
        assert_eq!(offset_of!(DeviceProp, shared_mem_per_multiprocessor), 624);
        assert_eq!(offset_of!(DeviceProp, shared_mem_per_block_optin), 672);
        assert_eq!(offset_of!(DeviceProp, reserved_shared_mem_per_block), 696);
        assert_eq!(offset_of!(DeviceProp, host_register_supported), 704);
        assert_eq!(offset_of!(DeviceProp, reserved), 784);
        assert_eq!(size_of::<FuncAttributes>(), 144);
        assert_eq!(size_of::<PointerAttributes>(), 88);
        assert_eq!(size_of::<LaunchConfig>(), 56);
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(size_of::<Memcpy3D>(), 160);
    }

    #[test]
    fn attributes_agree_with_the_properties() {
        let device = Device::rtx_2080_ti();
        assert_eq!(attribute(&device, 16), Some(68));
        assert_eq!(attribute(&device, 75), Some(7));
        assert_eq!(attribute(&device, 2), Some(1024));
        assert_eq!(attribute(&device, 4), Some(64));
        assert_eq!(attribute(&device, 0), None);
        assert_eq!(attribute(&device, 1000), None);
    }

    #[test]
    fn every_attribute_of_the_headers_is_known() {
        let device = Device::rtx_2080_ti();
        for which in 1..=LAST_ATTRIBUTE {
            assert!(attribute(&device, which).is_some(), "attribute {which}");
        }
        // Windows handles, compression, memory of other devices, decompression.
        for which in [104, 105, 107, 110, 136, 137, 146] {
            assert_eq!(attribute(&device, which), Some(0), "attribute {which}");
        }
        for which in [i32::MIN, -1, 0, LAST_ATTRIBUTE + 1, i32::MAX] {
            assert_eq!(attribute(&device, which), None, "attribute {which}");
        }
    }
}
