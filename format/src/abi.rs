//! The binary border between lowered device code (made by the pass) and the CPU device (in the
//! runtime). `docs/design/cpu-device.md` explains it; both sides take every offset from here.

use crate::occupancy::Resources;
use core::ffi::{c_char, c_void};

/// Section of an executable with a 32-bit word from each unit that has kernels, see [`architecture_word`]. `warpline
/// run` takes the GPU model from it.
pub const ARCHITECTURE_SECTION: &str = ".warpline.arch";

/// Returns the word of [`ARCHITECTURE_SECTION`]: the architecture whose code runs, as 80 for `sm_80`, and the requested one.
pub const fn architecture_word(runs: u32, requested: u32) -> u32 {
    (runs & 0xffff) | requested << 16
}

/// Returns the two architectures of such a word.
pub const fn architectures_of(word: u32) -> (u32, u32) {
    (word & 0xffff, word >> 16)
}

/// First word of a [`ModuleDescriptor`]; distinguishes it from a real fat binary.
pub const MODULE_MAGIC: u64 = u64::from_le_bytes(*b"WLMODULE");
/// Symbol of the [`ModuleDescriptor`] of a shared object that the runtime loads while the program runs.
pub const LOADED_DESCRIPTOR: &str = "__warpline_loaded_module";
/// Version of everything on this page.
pub const ABI_VERSION: u32 = 9;

/// State of one warp, handed to every warp function. Lowered code reads and writes the fields
/// through their offsets.
#[repr(C, align(64))]
pub struct WarpContext {
    /// Next free byte for records, a multiple of 8.
    pub record_cursor: *mut u8,
    /// End of the record buffer. When an item does not fit, lowered code calls `__wl_flush`.
    pub record_end: *mut u8,
    /// Kernel parameters, laid out as in [`KernelDescriptor::parameters`].
    pub arguments: *const u8,
    /// The block's shared memory: statics first, the dynamic part from `KernelDescriptor::static_shared` on.
    pub shared: *mut u8,
    /// Bytes of shared memory, static and dynamic.
    pub shared_bytes: u64,
    /// Bytes of dynamic shared memory, and from the start of the block's shared memory to what is reserved: see
    /// [`reserved_shared`].
    pub dynamic_shared: u32,
    /// See [`reserved_shared`].
    pub reserved_offset: u32,
    /// Stack of lane 0. Lane `l` starts at `local + l · local_stride`.
    pub local: *mut u8,
    /// Bytes between the stacks of neighbouring lanes.
    pub local_stride: u64,
    /// Bytes of each lane's stack in use; a function adds its frame on entry and takes it off on return.
    pub local_used: u64,
    /// Bytes of each lane's stack. Growing past it calls `__wl_stack_overflow`.
    pub local_limit: u64,
    /// Count cells of the launch, see [`count_cells`].
    pub counts: *mut u64,
    /// Virtual clock: lowered code adds each block's instructions; `clock64` reads it.
    pub clock: u64,
    /// Left of the budget before a loop that may wait for other warps must call `__wl_yield`.
    pub patience: i64,
    /// The runtime's own.
    pub runtime: *mut c_void,
    /// `blockIdx`.
    pub block_index: [u32; 3],
    /// `blockDim`.
    pub block_dim: [u32; 3],
    /// `gridDim`.
    pub grid_dim: [u32; 3],
    /// Blocks of a cluster in each dimension, 1 where the launch has none.
    pub cluster_dim: [u32; 3],
    /// Warp in the block.
    pub warp: u32,
    /// Lanes that exist: all, but in the block's last warp.
    pub live: u32,
    /// SM the block is placed on.
    pub sm: u32,
    /// Warp slot on that SM (`%warpid`).
    pub warp_slot: u32,
    /// Linear block number.
    pub block: u64,
    /// Workspace of a cooperative launch, through which its blocks meet (`%envreg1` and `%envreg2` hold the address's
    /// upper and lower half); else 0.
    pub workspace: u64,
    /// First and last byte of shared memory that loads may access without `__wl_check`: the block's own, or
    /// [`NOWHERE`].
    pub shared_range: [u64; 2],
    /// The same for stores, atomic operations and volatile loads.
    pub shared_stores: [u64; 2],
    /// Where the `__syncthreads` stands that the warp reaches: a line `line column path` for it and for each call that
    /// it was inlined through, innermost first, zero-terminated. Null for other barriers, and where it is not known.
    /// Written by code with hooks.
    pub barrier: *const c_char,
    /// `threadIdx.x` of each lane.
    pub thread_x: Lanes,
    /// `threadIdx.y` of each lane.
    pub thread_y: Lanes,
    /// `threadIdx.z` of each lane.
    pub thread_z: Lanes,
}

/// An address that no program can have and none can be below as a signed number: the ends of a range that nothing fits
/// into.
pub const NOWHERE: u64 = i64::MAX as u64;

/// Shared memory that CUDA keeps for itself in each block, from sm_80 on. It lies after the block's own, and is zero
/// when the block starts.
pub mod reserved_shared {
    /// Bytes of it.
    pub const BYTES: u64 = 1024;
    /// Offset of the part that `%reserved_smem_offset_1` names, which cooperative groups use for tiles of several
    /// warps.
    pub const SECOND: u64 = 512;
    /// Alignment.
    pub const ALIGN: u64 = 128;

    /// Bytes from the start of a block's shared memory to what is reserved.
    pub const fn offset(shared_bytes: u64) -> u64 {
        shared_bytes.next_multiple_of(ALIGN)
    }
}

/// One value per lane, aligned for vector loads.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Lanes(pub [u32; 32]);

/// A warp function of a kernel.
pub type WarpFunction = unsafe extern "C" fn(*mut WarpContext);

/// Everything the runtime needs of a device module. The host object refers to it in place of the
/// fat binary that `__cudaRegisterFatBinary` gets.
#[repr(C)]
pub struct ModuleDescriptor {
    /// [`MODULE_MAGIC`].
    pub magic: u64,
    /// [`ABI_VERSION`].
    pub version: u32,
    /// Bits of [`module_flags`].
    pub flags: u32,
    /// [`crate::site_table::SiteTable::to_bytes`]; null when the module has no hooks.
    pub site_table: *const u8,
    /// Its length.
    pub site_table_bytes: u64,
    /// Kernels.
    pub kernels: *const KernelDescriptor,
    /// Their number.
    pub kernel_count: u64,
    /// Device globals, in the order of the site table's.
    pub globals: *const GlobalDescriptor,
    /// Their number.
    pub global_count: u64,
    /// One range per site: addresses known to lie in one live allocation. Written by `__wl_check`.
    pub site_ranges: *mut SiteRange,
    /// Number of sites.
    pub site_count: u64,
    /// Number of 64-bit count cells, see [`count_cells`].
    pub count_cells: u64,
    /// Basic blocks; they own the first cells.
    pub block_count: u64,
    /// First cell of each branch, `branch_count` numbers.
    pub branch_cells: *const u32,
    /// Number of branches.
    pub branch_count: u64,
    /// Processor features the code needs, as `"avx512f,avx2"`, zero-terminated.
    pub features: *const c_char,
    /// The real fat binary for GPUs; null when built for the CPU device alone.
    pub fat_binary: *const c_void,
    /// Its length.
    pub fat_binary_bytes: u64,
    /// [`crate::operation::CarriedCode::to_bytes`], of which code that follows values is made for a run with
    /// `--check-float` or `--trace-values`; null where the module has none.
    pub carried: *const u8,
    /// Its length.
    pub carried_bytes: u64,
}

/// Bits of [`ModuleDescriptor::flags`].
pub mod module_flags {
    /// Built with hooks.
    pub const HOOKED: u32 = 1;
}

/// Layout of the count cells of a launch. Each block owns [`PER_BLOCK`](count_cells::PER_BLOCK) cells, in the order of
/// blocks. A branch owns cells from its entry in [`ModuleDescriptor::branch_cells`] on:
/// [`BRANCH_FIXED`](count_cells::BRANCH_FIXED), then the lanes of each side.
pub mod count_cells {
    /// Cells per block.
    pub const PER_BLOCK: u64 = 3;
    /// Cell of a block: number of executions.
    pub const EXECUTIONS: u64 = 0;
    /// Cell of a block: lanes of all executions.
    pub const LANES: u64 = 1;
    /// Cell of a block: executions with fewer lanes than live.
    pub const PARTIAL: u64 = 2;
    /// Cells of a branch before its sides: executions, then divergent ones.
    pub const BRANCH_FIXED: u64 = 2;
    /// Cell of a branch: executions in which lanes diverged.
    pub const DIVERGENT: u64 = 1;

    /// First cell of a block.
    pub const fn of_block(block: u64) -> u64 {
        block * PER_BLOCK
    }
}

/// One kernel.
#[repr(C)]
pub struct KernelDescriptor {
    /// Mangled name, zero-terminated.
    pub name: *const c_char,
    /// Index in the site table's functions.
    pub function: u32,
    /// Bits of [`kernel_flags`].
    pub flags: u32,
    /// Without hooks, for blocks whose warps are runs of `threadIdx.x`: blocks of one dimension, or
    /// with an x size that is a multiple of 32.
    pub native_linear: Option<WarpFunction>,
    /// Without hooks, for an x size that is a multiple of 16; null: use the general one.
    pub native_half: Option<WarpFunction>,
    /// Without hooks, for any block; null where the module was made with hooked kernels only: all launches run with
    /// hooks.
    pub native_general: Option<WarpFunction>,
    /// With hooks.
    pub hooked_linear: Option<WarpFunction>,
    /// With hooks.
    pub hooked_half: Option<WarpFunction>,
    /// With hooks.
    pub hooked_general: Option<WarpFunction>,
    /// Parameters, in order.
    pub parameters: *const Parameter,
    /// Their number.
    pub parameter_count: u32,
    /// Bytes of the parameter buffer.
    pub parameter_bytes: u32,
    /// Static shared memory, bytes, rounded up to 16.
    pub static_shared: u32,
    /// Bytes of lane stack that the kernel and its callees use as far as known.
    pub local_bytes: u32,
    /// ptxas's figures, by rising architecture.
    pub resources: *const Resources,
    /// Their number; 0: nothing is known.
    pub resource_count: u64,
    /// `__launch_bounds__` first argument, or 0.
    pub max_threads: u32,
    /// `__launch_bounds__` second argument, or 0.
    pub min_blocks: u32,
    /// The only block that it may be launched with (`.reqntid`), or zeroes.
    pub required_block: [u32; 3],
    /// The cluster that it is compiled for (`__cluster_dims__`), or zeroes.
    pub required_cluster: [u32; 3],
    /// Where the shared variables lie that it and its callees use.
    pub shared_variables: *const SharedVariable,
    /// Their number.
    pub shared_variable_count: u64,
}

/// A variable in a block's shared memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SharedVariable {
    /// Name in the source, zero-terminated.
    pub name: *const c_char,
    /// Bytes from the start of the block's shared memory.
    pub offset: u32,
    /// Bytes; 0 for `extern` arrays, which end where the block's shared memory does.
    pub size: u32,
}

/// Bits of [`KernelDescriptor::flags`].
pub mod kernel_flags {
    /// Reaches a block-wide barrier: its warps need fibres.
    pub const BARRIER: u32 = 1;
    /// May wait for another warp or block (spin loops): calls `__wl_yield`.
    pub const MAY_WAIT: u32 = 2;
    /// Recursive or calls through pointers: `local_bytes` is not a bound.
    pub const UNBOUNDED_STACK: u32 = 4;
    /// Its lowered functions are so large that their frames may not fit an ordinary host stack.
    pub const LARGE_FRAMES: u32 = 8;
    /// A loop of it takes the result of an atomic operation, or reads past caches: what it does may depend on other
    /// blocks, as where it takes a lock or its next piece of work.
    pub const EXCHANGES_VALUES: u32 = 16;
    /// Reaches barriers that have a number or a count of threads (`bar.sync 1, 64`), or a cluster's.
    pub const NAMED_BARRIERS: u32 = 32;
    /// Reads where its reserved shared memory lies.
    pub const RESERVED_SHARED: u32 = 64;
}

/// A kernel parameter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Byte offset in the parameter buffer.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

/// A device variable, placed by the runtime at registration.
#[repr(C)]
pub struct GlobalDescriptor {
    /// Mangled name, zero-terminated.
    pub name: *const c_char,
    /// Initial bytes; null for zeroes.
    pub image: *const u8,
    /// Bytes.
    pub size: u64,
    /// Alignment.
    pub align: u64,
    /// 0 device, 1 constant, 2 managed, 3 compiler: as `site_table::GlobalKind`.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// Where lowered code reads the variable's address; the runtime writes it.
    pub slot: *mut u64,
    /// Pointers inside the image to other globals of the module.
    pub relocations: *const Relocation,
    /// Their number.
    pub relocation_count: u64,
}

/// A pointer in a global's image that the runtime fills in.
#[repr(C)]
pub struct Relocation {
    /// Byte offset of the pointer in the image.
    pub offset: u64,
    /// Index of the global pointed to.
    pub target: u64,
    /// Added to its address.
    pub addend: i64,
}

/// Addresses `low ..= high` (last byte) lie in one live allocation. Nothing known: both are `i64::MAX`; nothing
/// checked: 0 and `i64::MAX`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SiteRange {
    /// First byte.
    pub low: u64,
    /// Last byte.
    pub high: u64,
}

/// In place of a site's number: nothing is recorded.
pub const NO_SITE: u32 = u32::MAX;

/// Bits of the operation of `__wl_texture`.
pub mod texture {
    /// Bits that hold the geometry, which selects the coordinates that count.
    pub const GEOMETRY: u32 = 7;
    /// x.
    pub const ONE: u32 = 0;
    /// x and layer.
    pub const LAYERED_ONE: u32 = 1;
    /// x and y.
    pub const TWO: u32 = 2;
    /// x, y and layer.
    pub const LAYERED_TWO: u32 = 3;
    /// x, y and z.
    pub const THREE: u32 = 4;
    /// A direction x, y, z.
    pub const CUBE: u32 = 5;
    /// A direction and a layer.
    pub const LAYERED_CUBE: u32 = 6;
    /// Coordinates are integers: `tex1Dfetch`.
    pub const INTEGER: u32 = 1 << 3;
    /// One component of the four texels around: `tex2Dgather`.
    pub const GATHER: u32 = 1 << 4;
    /// Where the component stands, two bits.
    pub const COMPONENT_SHIFT: u32 = 5;
    /// Texel sizes, hence sites of a fetch: 1, 2, 4, 8 and 16 bytes.
    pub const SIZES: u32 = 5;
}

/// Bits of the operation of `__wl_surface`, besides the geometry, which is as for textures.
pub mod surface {
    /// Binary logarithm of the bytes of an element, two bits.
    pub const ELEMENT_SHIFT: u32 = 3;
    /// Binary logarithm of the number of elements, two bits.
    pub const COUNT_SHIFT: u32 = 5;
    /// What happens outside, two bits.
    pub const BOUNDARY_SHIFT: u32 = 7;
    /// Outside: reads give zero, writes do nothing.
    pub const ZERO: u32 = 0;
    /// Outside: the nearest element.
    pub const CLAMP: u32 = 1;
    /// Outside: the kernel stops.
    pub const TRAP: u32 = 2;
    /// Writes, else reads.
    pub const STORE: u32 = 1 << 9;
}

/// What `__wl_device_call` does, with its arguments in order and its result. All are 64 bits wide.
pub mod device_call {
    /// Arguments that there is room for.
    pub const ARGUMENTS: u64 = 10;
    /// Memory for a launch's arguments: alignment, bytes; the address, or 0.
    pub const BUFFER: u32 = 0;
    /// Launches: kernel, that memory, grid x, y, z, block x, y, z, dynamic shared memory, stream; an error code, as of
    /// all that follow, unless stated otherwise.
    pub const LAUNCH: u32 = 1;
    /// The thread's last error, which is cleared.
    pub const LAST_ERROR: u32 = 2;
    /// The thread's last error.
    pub const PEEK_ERROR: u32 = 3;
    /// The name of an error code; a string.
    pub const ERROR_NAME: u32 = 4;
    /// The text of an error code; a string.
    pub const ERROR_TEXT: u32 = 5;
    /// Makes a stream or event: where to write the handle.
    pub const CREATE: u32 = 6;
    /// Something that needs no action if all is done in order.
    pub const ORDERED: u32 = 7;
    /// The device's number: where to.
    pub const DEVICE: u32 = 8;
    /// The number of devices: where to.
    pub const DEVICE_COUNT: u32 = 9;
    /// The runtime's version: where to.
    pub const VERSION: u32 = 10;
    /// Allocates: where to write the address, bytes.
    pub const MALLOC: u32 = 11;
    /// Frees: the address.
    pub const FREE: u32 = 12;
    /// Copies: target, source, bytes.
    pub const COPY: u32 = 13;
    /// Fills: target, byte, bytes.
    pub const FILL: u32 = 14;
}

/// What `__wl_cluster_barrier` does.
pub mod cluster_barrier {
    /// Arrives.
    pub const ARRIVE: u32 = 0;
    /// Waits until all have arrived.
    pub const WAIT: u32 = 1;
}

/// Operations of `__wl_mbarrier`, and the form of an `mbarrier` object, which PTX leaves open: from the lowest bit on
/// arrivals that are pending, arrivals of a phase, bytes that are expected (signed), and in the highest bit the phase.
pub mod mbarrier {
    /// Bits of a count of arrivals.
    pub const COUNT_BITS: u32 = 20;
    /// Mask of a count of arrivals.
    pub const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
    /// Lowest bit of the expected bytes.
    pub const BYTES_SHIFT: u32 = 2 * COUNT_BITS;
    /// Bits of the expected bytes.
    pub const BYTES_BITS: u32 = 22;
    /// The phase.
    pub const PHASE: u64 = 1 << 63;
    /// Sets the object up for a count of arrivals.
    pub const INIT: u32 = 0;
    /// Ends its use.
    pub const INVALIDATE: u32 = 1;
    /// Arrives the given number of times; the result is the state before the arrivals.
    pub const ARRIVE: u32 = 2;
    /// Arrives so often, and is expected no more.
    pub const DROP: u32 = 3;
    /// Expects this many bytes and arrives.
    pub const ARRIVE_EXPECTING: u32 = 4;
    /// Expects this many bytes, arrives, and is expected no more.
    pub const DROP_EXPECTING: u32 = 5;
    /// Expects this many bytes.
    pub const EXPECT: u32 = 6;
    /// So many bytes have come.
    pub const COMPLETE: u32 = 7;
    /// Whether the phase of a state has ended.
    pub const TEST: u32 = 8;
    /// Whether the phase of this parity has ended.
    pub const TEST_PARITY: u32 = 9;
    /// Nothing that lasts.
    pub const TOUCH: u32 = 10;
}

/// Kinds of block-wide barrier, the second argument of `__wl_barrier`.
pub mod barrier {
    /// `__syncthreads`.
    pub const SYNC: u32 = 0;
    /// `__syncthreads_count`.
    pub const COUNT: u32 = 1;
    /// `__syncthreads_and`.
    pub const AND: u32 = 2;
    /// `__syncthreads_or`.
    pub const OR: u32 = 3;
}

/// Fixed places of the CPU device's address space, outside anything Linux hands out on its own on
/// x86-64, so that pointers, hence traces, are the same in every run.
pub mod windows {
    /// Device, managed and pinned memory and module globals.
    pub const DEVICE: u64 = 0x1000_0000_0000;
    /// Bytes reserved for it.
    pub const DEVICE_BYTES: u64 = 0x0100_0000_0000;
    /// Shared memory of the resident blocks.
    pub const SHARED: u64 = 0x1200_0000_0000;
    /// Bytes reserved for it.
    pub const SHARED_BYTES: u64 = 0x0010_0000_0000;
    /// Stacks of the lanes.
    pub const LOCAL: u64 = 0x1300_0000_0000;
    /// Bytes reserved for it.
    pub const LOCAL_BYTES: u64 = 0x0040_0000_0000;
    /// Arguments that kernels leave for those they launch. Writing them is not memory traffic.
    pub const ARGUMENTS: u64 = 0x1500_0000_0000;
    /// Bytes reserved for it.
    pub const ARGUMENTS_BYTES: u64 = 0x0001_0000_0000;
    /// Pointers to kernels in device code: this and the kernel's number in the descriptor. Nothing lies there.
    pub const KERNELS: u64 = 0x1600_0000_0000;
    /// Numbers kept for them.
    pub const KERNELS_BYTES: u64 = 0x0001_0000_0000;
}
