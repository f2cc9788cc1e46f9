//! Control records: everything in a trace that is not a memory request.

use crate::access::Space;
use crate::carveout::CarveoutPreference;
use crate::device::Device;
use crate::occupancy::Resources;
use crate::operation::{FloatException, FloatOrigin};
use crate::values::{SiteValues, ZeroBlocks};
use crate::warp_order::Order;
use serde::{Deserialize, Serialize};

/// Index of an interned call path; 0 is the empty path.
pub type PathId = u32;
/// Number of a device allocation, from 1 in order of allocation.
pub type AllocationId = u64;
/// Number of a host allocation, from 1.
pub type HostAllocationId = u64;
/// Number of a launch, from 0 in order of launch.
pub type LaunchId = u64;

/// One control record. Variants are only ever added at the end.
///
/// Nothing in it differs between identical runs: no process number, no time, no host pointer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// First of a stream.
    Program {
        /// Absolute path of the executable.
        executable: String,
        /// Arguments without the program's own name.
        arguments: Vec<String>,
        /// Device whose scheduler numbers the stream's order follows.
        device: Device,
    },
    /// A loaded object that call-path frames point into. Comes before the first path that needs it.
    Object {
        /// Number used in frames.
        id: u32,
        /// Absolute path.
        path: String,
        /// GNU build id, empty when there is none.
        build_id: Vec<u8>,
    },
    /// A device module was registered.
    Module {
        /// Number, from 0 in order of registration.
        id: u32,
        /// [`crate::site_table::SiteTable::to_bytes`].
        site_table: Vec<u8>,
    },
    /// A call path, used from here on.
    Path {
        /// Number, from 1.
        id: PathId,
        /// Return addresses, innermost first.
        frames: Vec<PathFrame>,
    },
    /// A device allocation.
    Allocation(Allocation),
    /// Its end. Counts after the launches before it.
    Free {
        /// Which.
        id: AllocationId,
        /// Where.
        path: PathId,
    },
    /// A host allocation that a copy or a registration uses, or that the user's threshold includes.
    HostAllocation {
        /// Number.
        id: HostAllocationId,
        /// Call that made it: `malloc`, `new`, `cudaHostRegister`, ….
        kind: String,
        /// Size.
        bytes: u64,
        /// Variable's name where known.
        name: Option<String>,
        /// Where.
        path: PathId,
    },
    /// A copy between host and device or within the device, or a memset.
    Copy(Copy),
    /// A kernel launch begins; its access batches follow.
    Launch(Launch),
    /// A launch has ended.
    LaunchEnd(LaunchEnd),
    /// An access that must not be.
    Fault(Fault),
    /// Records the user allowed to drop.
    Dropped {
        /// How many since the last such record.
        records: u64,
    },
    /// Last of a complete stream.
    End {
        /// Launches in the stream.
        launches: u64,
    },
    /// Basic blocks of a launch by warp; comes before its end, from the CPU device only.
    WarpBlocks {
        /// Number.
        launch: LaunchId,
        /// Blocks that ran, by rising index.
        blocks: Vec<WarpBlockCount>,
    },
    /// Requests of a launch that was counted on the GPU instead of traced; comes before its end.
    SiteCounts {
        /// Number.
        launch: LaunchId,
        /// Sorted by site and space.
        sites: Vec<SiteCount>,
    },
    /// What ptxas could not keep in registers of a module's original kernels; comes after the module, if there are any.
    Spills {
        /// The module.
        module: u32,
        /// Index into the site table's functions, and bytes per thread that are stored and loaded.
        kernels: Vec<(u32, u32)>,
    },
    /// Kernels run on the GPU that the program's record names, not on the CPU device; comes directly after that record.
    OnGpu,
    /// The launch that is running was stopped; comes before its end.
    Stopped {
        /// Number.
        launch: LaunchId,
        /// Why.
        cause: StopCause,
        /// Linear number of the block that was running.
        block: u64,
    },
    /// Launches that the program requested and that did not start, since the last such record with the same reason.
    NotLaunched {
        /// Why.
        why: NotLaunched,
        /// How many.
        launches: u64,
    },
    /// ptxas's figures of a module's original kernels, for each architecture; comes after the module, if there are any.
    Assembled {
        /// The module.
        module: u32,
        /// Index into the site table's functions, and what is known by rising architecture.
        kernels: Vec<(u32, Vec<Resources>)>,
    },
    /// Lanes of a warp waited without effect for others of it, which then continued ahead in an order that hardware need
    /// not have; comes before the launch's end.
    Parted {
        /// Number.
        launch: LaunchId,
        /// Indices into the site table's branches: those that leave the loops in which lanes waited.
        branches: Vec<u32>,
    },
    /// A warp reached `__syncthreads` with part of its lanes while others were elsewhere and continued; reported once per
    /// barrier.
    DivergentBarrier(DivergentBarrier),
    /// The copy of the last record changed nothing: its bytes were at their destination already, or in the device
    /// memory that they had come from to the host; from the CPU device, for copies between host and device.
    Unchanged,
    /// Warps of a block waited at different `__syncthreads`; reported once per pair of barriers.
    DifferentBarriers(DifferentBarriers),
    /// A position of an interpreted program. Frames of paths refer to it as the object [`INTERPRETED`], with its number
    /// as the offset; it comes before the first path that needs it. Since version 128.
    InterpretedFrame {
        /// Number, from 0.
        id: u64,
        /// The position.
        frame: InterpretedFrame,
    },
    /// Values of those parameters of a launch that address expressions read; comes after the launch, if there are any.
    Arguments {
        /// Number.
        launch: LaunchId,
        /// Sorted by parameter and offset.
        values: Vec<Argument>,
    },
    /// Where a launch is in the sample that a budget draws; comes after the launch. Since version 512.
    Sampled(Sampled),
    /// Division of L1 and shared memory that the program prefers for a launch; comes right before the launch, if one is
    /// stated. Since version 2048.
    Carveout {
        /// Number.
        launch: LaunchId,
        /// The preference.
        preference: CarveoutPreference,
    },
    /// The blocks of a launch start in clusters of this shape; comes after the launch. Since version 2048.
    Clusters {
        /// Number.
        launch: LaunchId,
        /// Blocks in each dimension.
        shape: [u32; 3],
    },
    /// Calls of CUDA's API from one call path that failed for one reason, since the last such record of them. Since
    /// version 2048.
    FailedCall(FailedCall),
    /// A setting of the program that was accepted and changes no figure. Since version 2048.
    WithoutEffect {
        /// API function, as `cudaStreamSetAttribute`.
        function: String,
        /// What is not modelled.
        what: String,
    },
    /// The order in which the warps of the program's device issue; comes right behind the program's record, from the
    /// CPU device only. Since version 4096; earlier traces have that of [`Order::of_earlier_traces`].
    WarpOrder(Order),
    /// Reads of bytes that nothing has written, by the launch that runs; with the initialisation check, from the CPU
    /// device only. Since version 8192.
    UninitialisedRead(UninitialisedRead),
    /// The last copy brought bytes to the host that nothing has written; with the initialisation check. Since version
    /// 8192.
    UninitialisedCopy(UninitialisedCopy),
    /// The run has the initialisation check; comes before the first allocation. Since version 8192.
    InitialisationChecked,
    /// Exceptional results of an operation, by the launch that runs; with the floating-point check. Since version 8192.
    FloatException(FloatException),
    /// The launch that runs stored a NaN or an infinity to an allocation for the first time; with the floating-point
    /// check. Since version 8192.
    FloatOrigin(FloatOrigin),
    /// The run has the floating-point check; comes before the first allocation. Since version 8192.
    FloatsChecked,
    /// The run follows the values of accesses; comes before the first allocation. Since version 16384.
    ValuesFollowed,
    /// What a site moved from or to an allocation, in the launch that runs; if the run follows values. Since version 16384.
    SiteValues(SiteValues),
    /// Zeros in an allocation at the end of the launch that runs; if the run follows values. Since version 16384.
    ZeroBlocks(ZeroBlocks),
    /// Position of the launches and copies up to the next such record, of a program with streams. Since version 32768.
    WorkOrder(WorkOrder),
}

/// Position of work in the partial order of a program's streams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkOrder {
    /// Stream, 0 the default.
    pub stream: u32,
    /// Number of the work in its stream, from 1.
    pub number: u64,
    /// Of each stream, the number of the last work that this comes after.
    pub after: Vec<(u32, u64)>,
    /// Of each stream, the number of the last work that all later work comes after, because the host has waited for it.
    pub finished: Vec<(u32, u64)>,
}

/// Reads of uninitialised bytes by one site in one launch and one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UninitialisedRead {
    /// Launch.
    pub launch: LaunchId,
    /// Index into the site table's sites.
    pub site: u32,
    /// Allocation that holds the bytes; `None` in shared memory.
    pub allocation: Option<AllocationId>,
    /// An allocation that ended and held the same memory before this one.
    pub earlier: Option<AllocationId>,
    /// Each lane reads written bytes as well: padding of a structure, or a member that nothing writes.
    pub partial: bool,
    /// Requests with such a lane.
    pub requests: u64,
    /// Such lanes, summed over requests.
    pub lanes: u64,
    /// Linear block of the first read.
    pub block: u64,
    /// Linear thread in the block of the first read.
    pub thread: u32,
    /// Bytes of the first read from the start of the allocation, or of the block's shared memory.
    pub offset: u64,
    /// Bytes of the allocation that had been written at the first read; 0 in shared memory.
    pub written: u64,
}

/// Uninitialised bytes that a copy brought to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UninitialisedCopy {
    /// Allocation that holds them.
    pub allocation: AllocationId,
    /// An allocation that ended and held the same memory before this one.
    pub earlier: Option<AllocationId>,
    /// Bytes that nothing has written.
    pub bytes: u64,
    /// Bytes among these in runs of at least [`UninitialisedCopy::LONG_RUN`].
    pub in_long_runs: u64,
    /// Bytes of the copy.
    pub copied: u64,
    /// Bytes from the start of the allocation to the first of them.
    pub offset: u64,
    /// Where.
    pub path: PathId,
}

impl UninitialisedCopy {
    /// Bytes of a run that is not padding of a structure: no type is aligned so that more than 15 bytes of padding
    /// follow a member, and few members are aligned to more than 8.
    pub const LONG_RUN: u64 = 8;
}

/// Calls of an API function that returned an error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FailedCall {
    /// API function, as `cudaFree`.
    pub function: String,
    /// CUDA error code.
    pub error: i32,
    /// Its name, as `cudaErrorInvalidValue`.
    pub name: String,
    /// Its text, as `cudaGetErrorString` returns it.
    pub text: String,
    /// What in particular is wrong, where that is known; empty otherwise.
    pub detail: String,
    /// Where.
    pub path: PathId,
    /// Number of calls.
    pub calls: u64,
}

/// A launch's place in the sample, see [`crate::budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// Number.
    pub launch: LaunchId,
    /// The stratum, by number from 0 in order of first launch.
    pub stratum: u32,
    /// The stratum's round, from 0, in which all are recorded.
    pub round: u32,
    /// Launches of the round.
    pub length: u64,
    /// Those of them that are recorded, drawn at random.
    pub taken: u64,
}

/// The object of frames that are numbers of [`Event::InterpretedFrame`].
pub const INTERPRETED: u32 = u32::MAX - 1;

/// Where an interpreted program (Python) stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InterpretedFrame {
    /// Function, as the interpreter names it.
    pub function: String,
    /// Absolute path of the source.
    pub file: String,
    /// From 1; 0 unknown.
    pub line: u32,
}

/// What a kernel was given for a parameter, or for a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Number of the parameter.
    pub parameter: u32,
    /// Bytes from its start.
    pub offset: u32,
    /// Bytes read, at most 8.
    pub bytes: u32,
    /// Value.
    pub value: ArgumentValue,
}

/// Value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArgumentValue {
    /// Zero-extended.
    Bits(u64),
    /// A pointer into an allocation.
    Pointer {
        /// Which.
        allocation: AllocationId,
        /// Bytes from its start.
        offset: u64,
    },
}

/// Two barriers at which warps of one block waited for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferentBarriers {
    /// Launch.
    pub launch: LaunchId,
    /// Linear block.
    pub block: u64,
    /// Where the warp that came later stands.
    pub file: String,
    /// Where the warp that came later stands.
    pub line: u32,
    /// Its number in the block.
    pub warp: u32,
    /// Where the first one waits.
    pub other_file: String,
    /// Where the first one waits.
    pub other_line: u32,
    /// Its number in the block.
    pub other_warp: u32,
}

/// A barrier that part of a warp reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DivergentBarrier {
    /// Launch.
    pub launch: LaunchId,
    /// Where the barrier stands.
    pub file: String,
    /// Where the barrier stands.
    pub line: u32,
    /// Linear block.
    pub block: u64,
    /// Linear number, in the block, of the first thread that came.
    pub thread: u32,
    /// Lanes of its warp that came.
    pub lanes: u32,
    /// Lanes that were elsewhere.
    pub absent: u32,
}

/// Why a kernel did not run to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StopCause {
    /// An access outside every allocation, or one that the processor refused.
    IllegalAddress,
    /// An access that is not a multiple of its size.
    Misaligned,
    /// `assert`.
    Assert,
    /// `__trap` and what ends in it.
    Trap,
    /// A thread's stack was full.
    StackOverflow,
    /// A call through a pointer to no function, or an instruction that the processor does not know.
    IllegalInstruction,
    /// The host had no memory for the kernel's stacks and buffers.
    OutOfMemory,
    /// All warps wait at barriers that never open.
    Deadlock,
}

/// Why launches did not begin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NotLaunched {
    /// This launch was stopped, and its error stands until the device is reset.
    AfterStop(LaunchId),
    /// The kernel was compiled without Warpline.
    NotInstrumented {
        /// Its mangled name.
        kernel: String,
    },
    /// The GPU would refuse it, too.
    Refused {
        /// Its demangled name.
        kernel: String,
        /// CUDA error code.
        error: i32,
        /// The reason in words.
        reason: String,
    },
}

/// A return address, relative to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PathFrame {
    /// Number of an [`Event::Object`]; [`INTERPRETED`] for a position of an interpreted program; `u32::MAX` when the
    /// address lies in none.
    pub object: u32,
    /// Address as the object's file has it (load bias removed). A return address: the call is before it.
    pub offset: u64,
}

/// How device-reachable memory came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AllocationKind {
    /// `cudaMalloc`.
    Malloc,
    /// `cudaMallocManaged`.
    Managed,
    /// `cudaMallocPitch`, `cudaMalloc3D`.
    Pitch,
    /// `cudaMallocAsync`.
    Async,
    /// `cudaMallocHost`, `cudaHostAlloc`.
    Host,
    /// `cudaHostRegister`.
    Registered,
    /// `__device__` variable.
    DeviceGlobal,
    /// `__constant__` variable.
    Constant,
    /// `__managed__` variable.
    ManagedGlobal,
    /// Made by the compiler.
    Compiler,
    /// Device-side `malloc` or `new`.
    DeviceHeap,
    /// Named by the program inside another allocation.
    Named,
    /// `cudaMallocArray` and its kin.
    Array,
    /// An array of a program in an interpreted language, which a kernel was given. Since version 128.
    Tensor,
    /// `cuMemMap`. Since version 1024.
    Mapped,
}

/// A device allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// Number.
    pub id: AllocationId,
    /// Kind.
    pub kind: AllocationKind,
    /// Synthetic device address.
    pub address: u64,
    /// Requested size.
    pub bytes: u64,
    /// Variable's name where known.
    pub name: Option<String>,
    /// Where.
    pub path: PathId,
    /// For variables of a module: module and index in its table of globals.
    pub global: Option<(u32, u32)>,
}

/// Direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Direction {
    /// Upload.
    HostToDevice,
    /// Download.
    DeviceToHost,
    /// Within the device.
    DeviceToDevice,
    /// Host to host through the API.
    HostToHost,
    /// Fill.
    Set,
}

/// A copy or fill, as `height` rows of `width` bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// Direction.
    pub direction: Direction,
    /// Bytes per row.
    pub width: u64,
    /// Rows.
    pub height: u64,
    /// Device address written, if on the device.
    pub destination: Option<u64>,
    /// Bytes between rows of the destination.
    pub destination_pitch: u64,
    /// Device address read, if on the device.
    pub source: Option<u64>,
    /// Bytes between rows of the source.
    pub source_pitch: u64,
    /// Host allocation on the host's side, when known.
    pub host: Option<HostAllocationId>,
    /// Where.
    pub path: PathId,
}

/// A kernel launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Number.
    pub id: LaunchId,
    /// Module and the kernel's index in its table of functions.
    pub module: u32,
    /// Index into the site table's functions.
    pub function: u32,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Dynamic shared memory, bytes.
    pub dynamic_shared: u32,
    /// Static shared memory, bytes.
    pub static_shared: u32,
    /// Registers per thread of the original kernel.
    pub registers: u32,
    /// The registers are a guess, not from ptxas.
    pub registers_assumed: bool,
    /// Stack bytes per lane the lowered kernel uses.
    pub local_bytes: u32,
    /// Blocks that share an SM in the stream's order.
    pub resident_blocks: u32,
    /// One block of every `block_share` is traced; 0: none (the launch is outside the filters).
    pub block_share: u64,
    /// Stream number, 0 the default.
    pub stream: u32,
    /// Where.
    pub path: PathId,
}

impl Launch {
    /// Creates a `Launch` for the first kernel of the first module, in a row of blocks without shared memory, one to an SM, all of them
    /// traced, by the default stream: the defaults of a launch.
    pub fn with_defaults(id: LaunchId, blocks: u32, threads: u32) -> Launch {
        Launch {
            id,
            module: 0,
            function: 0,
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            dynamic_shared: 0,
            static_shared: 0,
            registers: 32,
            registers_assumed: false,
            local_bytes: 0,
            resident_blocks: 1,
            block_share: 1,
            stream: 0,
            path: 0,
        }
    }
}

/// Counts of one basic block in one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockCount {
    /// Index into the site table's blocks.
    pub block: u32,
    /// Times a warp ran it.
    pub executions: u64,
    /// Lanes, summed over executions.
    pub lanes: u64,
    /// Executions with fewer lanes than the warp had live.
    pub partial: u64,
}

/// Warps that ran one basic block in one launch: each counts once, however often it ran it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpBlockCount {
    /// Index into the site table's blocks.
    pub block: u32,
    /// Warps.
    pub warps: u64,
    /// Warps whose lanes, summed over all their executions of the block, are not a multiple of 32.
    pub uneven: u64,
    /// Warps that ran it at least once with fewer lanes than they had live.
    pub partial: u64,
}

/// Requests of one site in one space in a launch that was counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCount {
    /// Index into the site table's sites.
    pub site: u32,
    /// Where the addresses lay.
    pub space: Space,
    /// Active lanes, summed.
    pub lanes: u64,
    /// Ideal sectors, summed.
    pub ideal_sectors: u64,
    /// Numbers of sectors, and requests that touched as many, by rising number.
    pub by_sectors: Vec<(u32, u64)>,
    /// The same for lines of 128 bytes.
    pub by_lines: Vec<(u32, u64)>,
}

/// Counts of one branch in one launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchCount {
    /// Index into the site table's branches.
    pub branch: u32,
    /// Times a warp reached it.
    pub executions: u64,
    /// Executions whose lanes left by two or more sides.
    pub divergent: u64,
    /// Lanes per side.
    pub lanes: Vec<u64>,
}

/// End of a launch. Only blocks and branches that ran are listed, by rising index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchEnd {
    /// Number.
    pub id: LaunchId,
    /// CUDA error code; 0 is success.
    pub error: i32,
    /// Basic blocks.
    pub blocks: Vec<BlockCount>,
    /// Branches.
    pub branches: Vec<BranchCount>,
}

/// What is wrong with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FaultKind {
    /// Outside every live allocation.
    OutOfBounds,
    /// Not a multiple of the access's alignment.
    Misaligned,
    /// Inside an allocation already freed.
    Freed,
    /// Past the block's shared memory.
    SharedOutOfBounds,
    /// The processor refused it (checking was off, or the original kernel ran).
    Hardware,
    /// Outside its local variable, or outside what is in use of the thread's stack.
    LocalOutOfBounds,
}

impl Fault {
    /// In place of an address of ordinary host memory, which would differ from run to run.
    pub const HOST_MEMORY: u64 = u64::MAX;
    /// Addresses below this are null pointers, or members of what they should have led to.
    pub const NULL_PAGE: u64 = 4096;
}

/// A bad access, reported once per site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Launch.
    pub launch: LaunchId,
    /// Site; `u32::MAX` when unknown.
    pub site: u32,
    /// Kind.
    pub kind: FaultKind,
    /// Linear block.
    pub block: u64,
    /// Linear thread in the block.
    pub thread: u32,
    /// Device address, or [`Fault::HOST_MEMORY`].
    pub address: u64,
    /// Nearest allocation; the freed one for [`FaultKind::Freed`].
    pub nearest: Option<AllocationId>,
    /// The kernel was stopped.
    pub stopped: bool,
}

/// Decoding failed.
#[derive(Debug, thiserror::Error)]
#[error("damaged control record: {0}")]
pub struct EventError(String);

impl Event {
    /// Returns the payload of an event chunk.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain data always encodes")
    }

    /// Reads [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Event, EventError> {
        postcard::from_bytes(bytes).map_err(|error| EventError(error.to_string()))
    }
}
