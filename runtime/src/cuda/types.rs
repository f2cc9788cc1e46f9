//! Structures of `driver_types.h`, laid out as in CUDA 13.0.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `cudaStream_t`.
pub type StreamHandle = *mut c_void;
/// `cudaEvent_t`.
pub type EventHandle = *mut c_void;
/// `cudaHostFn_t`.
pub type HostFunction = unsafe extern "C" fn(*mut c_void);
/// `cudaStreamCallback_t`.
pub type StreamCallback = unsafe extern "C" fn(StreamHandle, i32, *mut c_void);

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dim3 {
    /// x
    pub x: c_uint,
    /// y
    pub y: c_uint,
    /// z
    pub z: c_uint,
}

impl From<Dim3> for [u32; 3] {
    fn from(size: Dim3) -> [u32; 3] {
        [size.x, size.y, size.z]
    }
}

/// `cudaLaunchAttribute`; its values are read as words.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LaunchAttribute {
    /// `cudaLaunchAttributeID`.
    pub id: c_int,
    pad: c_int,
    /// The first words of the union.
    pub value: [u32; 16],
}

impl LaunchAttribute {
    /// Returns the union as 64-bit words, which is the form of stream attributes.
    pub fn words(&self) -> [u64; 8] {
        std::array::from_fn(|at| u64::from(self.value[2 * at]) | u64::from(self.value[2 * at + 1]) << 32)
    }
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
pub struct LaunchConfig {
    /// The number of blocks.
    pub grid: Dim3,
    /// The number of threads per block.
    pub block: Dim3,
    /// Dynamic shared memory in bytes.
    pub shared: usize,
    /// Stream.
    pub stream: StreamHandle,
    /// Attributes.
    pub attributes: *const LaunchAttribute,
    /// The number of attributes.
    pub attribute_count: c_uint,
}

impl LaunchConfig {
    /// `cudaLaunchAttributeCooperative`.
    pub const COOPERATIVE: c_int = 2;
    /// `cudaLaunchAttributeClusterDimension`.
    pub const CLUSTER_DIMENSION: c_int = 4;
}

/// `CUlaunchConfig`: the same as [`LaunchConfig`], but with 32-bit sizes.
#[repr(C)]
pub struct LaunchConfigWords {
    /// The number of blocks.
    pub grid: Dim3,
    /// The number of threads per block.
    pub block: Dim3,
    /// Dynamic shared memory in bytes.
    pub shared: c_uint,
    /// Stream.
    pub stream: StreamHandle,
    /// Attributes.
    pub attributes: *const LaunchAttribute,
    /// The number of attributes.
    pub attribute_count: c_uint,
}

/// `cudaMemLocation`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemLocation {
    /// `cudaMemLocationType`.
    pub kind: c_int,
    /// The number of the device or of the NUMA node.
    pub id: c_int,
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PitchedPtr {
    /// First byte.
    pub pointer: *mut c_void,
    /// Bytes between rows.
    pub pitch: usize,
    /// The requested length of a row in bytes.
    pub x_size: usize,
    /// The number of rows.
    pub y_size: usize,
}

/// `cudaExtent`: bytes, rows, slices.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent {
    /// Bytes per row.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
    /// The number of slices.
    pub depth: usize,
}

/// `cudaPos`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Position {
    /// The offset in bytes.
    pub x: usize,
    /// The row.
    pub y: usize,
    /// The slice.
    pub z: usize,
}

/// `cudaChannelFormatDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelDesc {
    /// Bits of the first channel.
    pub x: c_int,
    /// Bits of the second channel.
    pub y: c_int,
    /// Bits of the third channel.
    pub z: c_int,
    /// Bits of the fourth channel.
    pub w: c_int,
    /// `cudaChannelFormatKind`.
    pub kind: c_int,
}

/// `cudaResourceDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResourceDesc {
    /// `cudaResourceType`.
    pub kind: c_int,
    /// The memory or array.
    pub resource: Resource,
    /// Always zero.
    pub flags: c_uint,
}

impl ResourceDesc {
    /// `cudaResourceTypeArray`.
    pub const ARRAY: c_int = 0;
    /// `cudaResourceTypeLinear`.
    pub const LINEAR: c_int = 2;
    /// `cudaResourceTypePitch2D`.
    pub const PITCH_2D: c_int = 3;
}

/// The union in `cudaResourceDesc`. The longest members of the union share the same bytes here.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// The array handle, or the first byte of the memory.
    pub place: usize,
    /// The channel format of linear or pitched memory.
    pub desc: ChannelDesc,
    /// The size of linear memory in bytes, or the texels per row of pitched memory.
    pub width: usize,
    /// The number of rows of pitched memory.
    pub height: usize,
    /// Bytes between rows of pitched memory.
    pub pitch: usize,
    /// Fills the structure up to the union's 128 bytes.
    pub reserved: [u64; 9],
}

/// `cudaTextureDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TextureDesc {
    /// The `cudaTextureAddressMode` of each dimension.
    pub address_modes: [c_int; 3],
    /// `cudaTextureFilterMode`.
    pub filter_mode: c_int,
    /// `cudaTextureReadMode`.
    pub read_mode: c_int,
    /// Whether colours are stored in sRGB.
    pub srgb: c_int,
    /// The value outside the image.
    pub border: [f32; 4],
    /// Whether coordinates range from 0 to 1.
    pub normalised: c_int,
    /// Anisotropy and mipmap settings, which have no effect because images have only one level, and seamless cube maps.
    pub levels: [u32; 7],
}

/// `cudaResourceViewDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ViewDesc {
    /// `cudaResourceViewFormat`.
    pub format: c_int,
    /// Width, height, depth.
    pub size: [usize; 3],
    /// The first and last level, the first and last layer, and reserved fields.
    pub parts: [c_uint; 20],
}

const _: () =
    assert!(size_of::<ResourceDesc>() == 144 && size_of::<TextureDesc>() == 72 && size_of::<ViewDesc>() == 112);

/// `cudaMemcpy3DParms`.
#[repr(C)]
pub struct Memcpy3D {
    /// The source array, or null.
    pub source_array: *mut c_void,
    /// The position in the source.
    pub source_position: Position,
    /// The source memory.
    pub source: PitchedPtr,
    /// The destination array, or null.
    pub destination_array: *mut c_void,
    /// The position in the destination.
    pub destination_position: Position,
    /// The destination memory.
    pub destination: PitchedPtr,
    /// The size of the copied box.
    pub extent: Extent,
    /// `cudaMemcpyKind`.
    pub kind: c_int,
}

/// `cudaFuncAttributes`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FuncAttributes {
    /// Static shared memory in bytes.
    pub shared_size_bytes: usize,
    /// User-defined constants in bytes.
    pub const_size_bytes: usize,
    /// Local memory per thread in bytes.
    pub local_size_bytes: usize,
    /// The maximum number of threads per block; a larger launch fails.
    pub max_threads_per_block: c_int,
    /// Registers per thread.
    pub num_regs: c_int,
    /// PTX version, 10 · major + minor.
    pub ptx_version: c_int,
    /// Architecture, 10 · major + minor.
    pub binary_version: c_int,
    /// Whether global loads are cached in L1.
    pub cache_mode_ca: c_int,
    /// The maximum dynamic shared memory of a launch in bytes.
    pub max_dynamic_shared_size_bytes: c_int,
    /// The preferred share of shared memory in percent.
    pub preferred_shmem_carveout: c_int,
    /// Cluster fields. Clusters are not supported, so these fields and all others up to `reserved` are zero.
    pub cluster: [c_int; 6],
    /// Always zero.
    pub reserved: [c_int; 16],
}

/// `cudaPointerAttributes`.
#[repr(C)]
pub struct PointerAttributes {
    /// `cudaMemoryType`.
    pub kind: c_int,
    /// Device.
    pub device: c_int,
    /// The address that kernels use.
    pub device_pointer: *mut c_void,
    /// The address that the host uses.
    pub host_pointer: *mut c_void,
    /// Always zero.
    pub reserved: [i64; 8],
}

/// `cudaDeviceProp`. The fields are in CUDA's order; the fields for textures and surfaces are one array.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct DeviceProp {
    pub name: [c_char; 256],
    pub uuid: [u8; 16],
    pub luid: [u8; 8],
    pub luid_device_node_mask: c_uint,
    pub total_global_mem: usize,
    pub shared_mem_per_block: usize,
    pub regs_per_block: c_int,
    pub warp_size: c_int,
    pub mem_pitch: usize,
    pub max_threads_per_block: c_int,
    pub max_threads_dim: [c_int; 3],
    pub max_grid_size: [c_int; 3],
    pub total_const_mem: usize,
    pub major: c_int,
    pub minor: c_int,
    pub texture_alignment: usize,
    pub texture_pitch_alignment: usize,
    pub multi_processor_count: c_int,
    pub integrated: c_int,
    pub can_map_host_memory: c_int,
    /// `maxTexture1D` to `maxSurfaceCubemapLayered`.
    pub textures_and_surfaces: [c_int; 39],
    pub surface_alignment: usize,
    pub concurrent_kernels: c_int,
    pub ecc_enabled: c_int,
    pub pci_bus_id: c_int,
    pub pci_device_id: c_int,
    pub pci_domain_id: c_int,
    pub tcc_driver: c_int,
    pub async_engine_count: c_int,
    pub unified_addressing: c_int,
    pub memory_bus_width: c_int,
    pub l2_cache_size: c_int,
    pub persisting_l2_cache_max_size: c_int,
    pub max_threads_per_multi_processor: c_int,
    pub stream_priorities_supported: c_int,
    pub global_l1_cache_supported: c_int,
    pub local_l1_cache_supported: c_int,
    pub shared_mem_per_multiprocessor: usize,
    pub regs_per_multiprocessor: c_int,
    pub managed_memory: c_int,
    pub is_multi_gpu_board: c_int,
    pub multi_gpu_board_group_id: c_int,
    pub host_native_atomic_supported: c_int,
    pub pageable_memory_access: c_int,
    pub concurrent_managed_access: c_int,
    pub compute_preemption_supported: c_int,
    pub can_use_host_pointer_for_registered_mem: c_int,
    pub cooperative_launch: c_int,
    pub shared_mem_per_block_optin: usize,
    pub pageable_memory_access_uses_host_page_tables: c_int,
    pub direct_managed_mem_access_from_host: c_int,
    pub max_blocks_per_multi_processor: c_int,
    pub access_policy_max_window_size: c_int,
    pub reserved_shared_mem_per_block: usize,
    pub host_register_supported: c_int,
    /// `sparseCudaArraySupported` to `hostNumaMultinodeIpcSupported`.
    pub various: [c_int; 19],
    pub reserved: [c_int; 56],
}
