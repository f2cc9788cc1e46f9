//! Control records: everything in a trace that is not a memory request.

use crate::access::Space;
use crate::carveout::CarveoutPreference;
use crate::device::Device;
use crate::occupancy::Resources;
use crate::operation::{FloatException, FloatFormat, FloatOrigin};
use crate::rounding::{ComparedCopy, OtherAccess, RoundedType, Rounding};
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
/// Records are equal in identical runs: they contain no process number, no time and no host pointer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The first record of a stream.
    Program {
        /// Absolute path of the executable.
        executable: String,
        /// Arguments without the program's name.
        arguments: Vec<String>,
        /// Device whose scheduler determined the order of the stream.
        device: Device,
    },
    /// A loaded object that call-path frames refer to. It precedes the first path that needs it.
    Object {
        /// Number that frames use.
        id: u32,
        /// Absolute path.
        path: String,
        /// GNU build id; empty if there is none.
        build_id: Vec<u8>,
    },
    /// A device module was registered.
    Module {
        /// Number, counted from 0 in the order of registration.
        id: u32,
        /// [`crate::site_table::SiteTable::to_bytes`].
        site_table: Vec<u8>,
    },
    /// A call path that later records refer to.
    Path {
        /// Number, counted from 1.
        id: PathId,
        /// Return addresses, innermost first.
        frames: Vec<CallPathFrame>,
    },
    /// A device allocation.
    Allocation(Allocation),
    /// The end of a device allocation. It follows all earlier launches.
    Free {
        /// Number of the allocation.
        id: AllocationId,
        /// Call path of the free.
        path: PathId,
    },
    /// A host allocation that a copy or a registration uses, or that exceeds the user's threshold.
    HostAllocation {
        /// Number.
        id: HostAllocationId,
        /// Function that allocated it: `malloc`, `new`, `cudaHostRegister` and so on.
        kind: String,
        /// Size.
        bytes: u64,
        /// Name of the variable, if known.
        name: Option<String>,
        /// Call path of the allocation.
        path: PathId,
    },
    /// A copy between host and device or within the device, or a memset.
    Copy(Copy),
    /// The start of a kernel launch; its access batches follow.
    Launch(Launch),
    /// The end of a launch.
    LaunchEnd(LaunchEnd),
    /// A bad access.
    Fault(Fault),
    /// Records that were dropped with the user's permission.
    Dropped {
        /// Number of records since the last such event.
        records: u64,
    },
    /// The last record of a complete stream.
    End {
        /// Number of launches in the stream.
        launches: u64,
    },
    /// Counts of a launch's basic blocks by warp. It precedes the end of the launch; only the CPU device writes it.
    WarpBlocks {
        /// Number of the launch.
        launch: LaunchId,
        /// Executed blocks, in ascending order of their indices.
        blocks: Vec<WarpBlockCount>,
    },
    /// Requests of a launch that the GPU counted instead of recording. It precedes the end of the launch.
    SiteCounts {
        /// Number of the launch.
        launch: LaunchId,
        /// Counts, sorted by site and space.
        sites: Vec<SiteCount>,
    },
    /// Registers that ptxas spilled in a module's original kernels. It follows the module, if there are any.
    Spills {
        /// Number of the module.
        module: u32,
        /// Index into the site table's functions, and bytes per thread that are stored and loaded.
        kernels: Vec<(u32, u32)>,
    },
    /// States that kernels run on the GPU named in the program's record, and not on the CPU device. It directly follows
    /// that record.
    OnGpu,
    /// States that the running launch was stopped. It precedes the end of the launch.
    Stopped {
        /// Number of the launch.
        launch: LaunchId,
        /// Cause of the stop.
        cause: StopCause,
        /// Linear index of the block that was running.
        block: u64,
    },
    /// Requested launches that did not start, since the last such event with the same reason.
    NotLaunched {
        /// Reason.
        why: NotLaunched,
        /// Number of launches.
        launches: u64,
    },
    /// Figures of ptxas for a module's original kernels, by architecture. It follows the module, if there are any.
    Assembled {
        /// Number of the module.
        module: u32,
        /// Index into the site table's functions, and figures in ascending order of architectures.
        kernels: Vec<(u32, Vec<Resources>)>,
    },
    /// Lanes of a warp waited in a loop for other lanes of the warp, which then continued in an order that hardware may
    /// not use. It precedes the end of the launch.
    Parted {
        /// Number of the launch.
        launch: LaunchId,
        /// Indices into the site table's branches: those that leave the loops in which lanes waited.
        branches: Vec<u32>,
    },
    /// A warp reached `__syncthreads` with only some of its lanes, while others were elsewhere and continued. It is
    /// written once per barrier.
    DivergentBarrier(DivergentBarrier),
    /// The last copy changed no data: its bytes were already at the destination, or in the device memory from which
    /// they had been copied to the host. Only the CPU device writes it, for copies between host and device.
    Unchanged,
    /// Warps of a block waited at different `__syncthreads`. It is written once per pair of barriers.
    DifferentBarriers(DifferentBarriers),
    /// A source position of an interpreted program. Frames of paths refer to it as the object [`INTERPRETED`], with its
    /// number as the offset. It precedes the first path that needs it. Since version 128.
    InterpretedFrame {
        /// Number, counted from 0.
        id: u64,
        /// The position.
        frame: InterpretedFrame,
    },
    /// Values of those parameters of a launch that address expressions read. It follows the launch, if there are any.
    Arguments {
        /// Number of the launch.
        launch: LaunchId,
        /// Values, sorted by parameter and offset.
        values: Vec<Argument>,
    },
    /// Position of a launch in a budget's sample. It follows the launch. Since version 512.
    Sampled(Sampled),
    /// The division of L1 and shared memory that the program prefers for a launch. It directly precedes the launch, if
    /// there is a preference. Since version 2048.
    Carveout {
        /// Number of the launch.
        launch: LaunchId,
        /// The preference.
        preference: CarveoutPreference,
    },
    /// Shape of the clusters in which the blocks of a launch start. It follows the launch. Since version 2048.
    Clusters {
        /// Number of the launch.
        launch: LaunchId,
        /// Number of blocks in each dimension.
        shape: [u32; 3],
    },
    /// API calls from one call path that failed with the same error, since the last such event. Since version 2048.
    FailedCall(FailedCall),
    /// A setting of the program that was accepted but does not affect any figure. Since version 2048.
    WithoutEffect {
        /// API function, for example `cudaStreamSetAttribute`.
        function: String,
        /// The feature that is not modelled.
        what: String,
    },
    /// The order in which the warps of the program's device issue. It directly follows the program's record; only the
    /// CPU device writes it. Since version 4096; for earlier traces, see [`Order::of_earlier_traces`].
    WarpOrder(Order),
    /// Uninitialised reads by the running launch. Only the CPU device with the initialisation check writes it. Since
    /// version 8192.
    UninitialisedRead(UninitialisedRead),
    /// The last copy transferred uninitialised bytes to the host. Written with the initialisation check. Since version
    /// 8192.
    UninitialisedCopy(UninitialisedCopy),
    /// States that the run has the initialisation check. It precedes the first allocation. Since version 8192.
    InitialisationChecked,
    /// Exceptional results of an operation in the running launch. Written with the floating-point check. Since version
    /// 8192.
    FloatException(FloatException),
    /// The running launch stored a NaN or an infinity to an allocation for the first time. Written with the
    /// floating-point check. Since version 8192.
    FloatOrigin(FloatOrigin),
    /// States that the run has the floating-point check. It precedes the first allocation. Since version 8192.
    FloatsChecked,
    /// States that the run records the values of accesses. It precedes the first allocation. Since version 16384.
    ValuesFollowed,
    /// Values that a site transferred from or to an allocation in the running launch, if the run records values. Since
    /// version 16384.
    SiteValues(SiteValues),
    /// Zeros in an allocation at the end of the running launch, if the run records values. Since version 16384.
    ZeroBlocks(ZeroBlocks),
    /// Position of the following launches and copies, up to the next such event, in a program with streams. Since
    /// version 32768.
    WorkOrder(WorkOrder),
    /// The run has the check of host accesses; comes before the first allocation. Since version 32768.
    HostChecked,
    /// Host code accessed memory that it must not access then; with the check of host accesses. Since version 32768.
    HostAccess(HostAccess),
    /// The host's side of the last copy, which is memory that kernels can access as well; with the check of host accesses.
    /// Since version 32768.
    CopyHostSide(CopyHostSide),
    /// Variables in the static shared memory of a kernel that has several, or that indexes members of them; comes before
    /// its first launch. Since version 32768.
    SharedVariables {
        /// Number of the module.
        module: u32,
        /// Index of the kernel into the site table's functions.
        function: u32,
        /// The variables.
        variables: Vec<SharedVariable>,
    },
    /// The elements of an allocation are rounded from now on, because the run requests it and their format is known.
    /// Since version 65536.
    ElementsRounded {
        /// Number of the allocation.
        allocation: AllocationId,
        /// Format of the elements.
        from: FloatFormat,
        /// Type to which they are rounded.
        to: RoundedType,
    },
    /// Elements of an allocation that were rounded; those of a launch come before its end. Since version 65536.
    Rounding(Rounding),
    /// A site accesses an allocation whose elements are rounded, but not as these elements. Since version 65536.
    OtherAccess(OtherAccess),
    /// The last copy was compared with that of a run without rounding. Since version 65536.
    ComparedCopy(ComparedCopy),
    /// A [`Event::FloatOrigin`] with steps that pass on the value of an operand, such as matrix products. Since version
    /// 131072.
    FloatPath {
        /// The steps.
        origin: FloatOrigin,
        /// These steps, one bit for each, the first step lowest.
        passing: u32,
    },
}

/// A variable in the static shared memory of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedVariable {
    /// Name in the source.
    pub name: String,
    /// Offset in bytes from the start of the block's shared memory.
    pub offset: u32,
    /// Size in bytes; 0 for `extern` arrays.
    pub bytes: u32,
}

/// Pinned or managed memory on the host's side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyHostSide {
    /// Synthetic device address of the first byte.
    pub address: u64,
    /// Bytes between rows.
    pub pitch: u64,
    /// Bytes per row.
    pub width: u64,
    /// Rows.
    pub height: u64,
    /// The copy writes it.
    pub writes: bool,
    /// Where the copy was called.
    pub path: PathId,
}

/// The first access of host code to an allocation between two calls of the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostAccess {
    /// What it accesses.
    pub allocation: AllocationId,
    /// Synthetic device address.
    pub address: u64,
    /// It writes.
    pub is_store: bool,
    /// Call path of the access.
    pub path: PathId,
    /// Of memory that host code may access: of each stream, the number of the last work that the host has waited for.
    /// `None` for device memory.
    pub waited: Option<Vec<(u32, u64)>>,
}

/// Position of work in the partial order of a program's streams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkOrder {
    /// Number of the stream; 0 is the default stream.
    pub stream: u32,
    /// Number of the work in its stream, counted from 1.
    pub number: u64,
    /// For each stream: number of the last work that precedes this work.
    pub after: Vec<(u32, u64)>,
    /// For each stream: number of the last work that the host has waited for, so that it precedes all later work.
    pub finished: Vec<(u32, u64)>,
}

/// Uninitialised reads by one site from one allocation in one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UninitialisedRead {
    /// Number of the launch.
    pub launch: LaunchId,
    /// Index into the site table's sites.
    pub site: u32,
    /// Allocation that contains the bytes; `None` for shared memory.
    pub allocation: Option<AllocationId>,
    /// Freed allocation that previously occupied the memory.
    pub earlier: Option<AllocationId>,
    /// Whether each lane also reads written bytes. The other bytes may be padding of a structure, or an unused member.
    pub partial: bool,
    /// Number of requests with a lane that reads uninitialised bytes.
    pub requests: u64,
    /// Number of such lanes, summed over requests.
    pub lanes: u64,
    /// Linear index of the first read's block.
    pub block: u64,
    /// Linear index of the first read's thread in the block.
    pub thread: u32,
    /// Offset in bytes of the first read from the start of the allocation or of the block's shared memory.
    pub offset: u64,
    /// Bytes of the allocation that had been written at the time of the first read; 0 for shared memory.
    pub written: u64,
}

/// Uninitialised bytes that a copy transferred to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UninitialisedCopy {
    /// Allocation that contains them.
    pub allocation: AllocationId,
    /// Freed allocation that previously occupied the memory.
    pub earlier: Option<AllocationId>,
    /// Number of uninitialised bytes.
    pub bytes: u64,
    /// Number of these bytes in runs of at least [`UninitialisedCopy::LONG_RUN`].
    pub in_long_runs: u64,
    /// Total bytes of the copy.
    pub copied: u64,
    /// Offset in bytes of the first uninitialised byte in the allocation.
    pub offset: u64,
    /// Call path of the copy.
    pub path: PathId,
}

impl UninitialisedCopy {
    /// Minimum length of a run that is not padding of a structure. Padding has at most 15 bytes, and few members are
    /// aligned to more than 8.
    pub const LONG_RUN: u64 = 8;
}

/// Failed calls of an API function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FailedCall {
    /// API function, for example `cudaFree`.
    pub function: String,
    /// CUDA error code.
    pub error: i32,
    /// Name of the error, for example `cudaErrorInvalidValue`.
    pub name: String,
    /// Text of the error, as `cudaGetErrorString` returns it.
    pub text: String,
    /// The specific cause; empty if unknown.
    pub detail: String,
    /// Call path of the calls.
    pub path: PathId,
    /// Number of calls.
    pub calls: u64,
}

/// A launch's position in the sample; see [`crate::budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// Number of the launch.
    pub launch: LaunchId,
    /// Number of the stratum, counted from 0 in the order of first launches.
    pub stratum: u32,
    /// Number of the stratum's round. All launches of round 0 are recorded.
    pub round: u32,
    /// Number of launches in the round.
    pub length: u64,
    /// Number of these that are recorded, selected at random.
    pub taken: u64,
}

/// Object number of frames that refer to an [`Event::InterpretedFrame`].
pub const INTERPRETED: u32 = u32::MAX - 1;

/// A source position of an interpreted program (Python).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InterpretedFrame {
    /// Name of the function in the interpreter.
    pub function: String,
    /// Absolute path of the source file.
    pub file: String,
    /// Line, counted from 1; 0 if unknown.
    pub line: u32,
}

/// The value of a kernel parameter, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Number of the parameter.
    pub parameter: u32,
    /// Offset in bytes within the parameter.
    pub offset: u32,
    /// Number of bytes that are read, at most 8.
    pub bytes: u32,
    /// The value.
    pub value: ArgumentValue,
}

/// Value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArgumentValue {
    /// Zero-extended bits.
    Bits(u64),
    /// A pointer into an allocation.
    Pointer {
        /// Number of the allocation.
        allocation: AllocationId,
        /// Offset in bytes within the allocation.
        offset: u64,
    },
}

/// Two barriers at which warps of one block waited for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferentBarriers {
    /// Number of the launch.
    pub launch: LaunchId,
    /// Linear index of the block.
    pub block: u64,
    /// File of the barrier at which the later warp waits.
    pub file: String,
    /// Line of the barrier at which the later warp waits.
    pub line: u32,
    /// Number of the later warp in the block.
    pub warp: u32,
    /// File of the barrier at which the first warp waits.
    pub other_file: String,
    /// Line of the barrier at which the first warp waits.
    pub other_line: u32,
    /// Number of the first warp in the block.
    pub other_warp: u32,
}

/// A barrier that only a part of a warp reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DivergentBarrier {
    /// Number of the launch.
    pub launch: LaunchId,
    /// File of the barrier.
    pub file: String,
    /// Line of the barrier.
    pub line: u32,
    /// Linear index of the block.
    pub block: u64,
    /// Linear index, in the block, of the first thread that arrived.
    pub thread: u32,
    /// Lanes of its warp that arrived.
    pub lanes: u32,
    /// Lanes that were elsewhere.
    pub absent: u32,
}

/// Reason why a kernel did not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StopCause {
    /// An access outside every allocation, or one that caused a processor fault.
    IllegalAddress,
    /// An access to an address that is not a multiple of the access's size.
    Misaligned,
    /// A failed `assert`.
    Assert,
    /// `__trap`, or code that ends in it.
    Trap,
    /// The stack of a thread overflowed.
    StackOverflow,
    /// A call through an invalid function pointer, or an instruction that the processor does not support.
    IllegalInstruction,
    /// The host has not enough memory for the kernel's stacks and buffers.
    OutOfMemory,
    /// All warps wait at barriers that never open.
    Deadlock,
}

/// Reason why launches did not start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NotLaunched {
    /// This earlier launch was stopped, and its error persists until the device is reset.
    AfterStop(LaunchId),
    /// The kernel was compiled without Warpline.
    NotInstrumented {
        /// Its mangled name.
        kernel: String,
    },
    /// A GPU would also refuse the launch.
    Refused {
        /// Its demangled name.
        kernel: String,
        /// CUDA error code.
        error: i32,
        /// The reason as text.
        reason: String,
    },
}

/// A return address, relative to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallPathFrame {
    /// Number of an [`Event::Object`]; [`INTERPRETED`] for a position of an interpreted program; `u32::MAX` if the
    /// address is in no object.
    pub object: u32,
    /// Address in the object's file (without load bias). It is a return address: the call precedes it.
    pub offset: u64,
}

/// How device-accessible memory was allocated.
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
    /// A `__device__` variable.
    DeviceGlobal,
    /// A `__constant__` variable.
    Constant,
    /// A `__managed__` variable.
    ManagedGlobal,
    /// Allocated by the compiler.
    Compiler,
    /// `malloc` or `new` in device code.
    DeviceHeap,
    /// A part of another allocation that the program has named.
    Named,
    /// `cudaMallocArray` and related functions.
    Array,
    /// An array of an interpreted program, passed to a kernel. Since version 128.
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
    /// Name of the variable, if known.
    pub name: Option<String>,
    /// Call path of the allocation.
    pub path: PathId,
    /// For a variable of a module: the number of the module, and the index in its table of globals.
    pub global: Option<(u32, u32)>,
}

/// Direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Direction {
    /// Copy from host to device.
    HostToDevice,
    /// Copy from device to host.
    DeviceToHost,
    /// Copy within the device.
    DeviceToDevice,
    /// Copy from host to host through the API.
    HostToHost,
    /// Fill of memory.
    Set,
}

/// A copy or fill, as `height` rows of `width` bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// Direction.
    pub direction: Direction,
    /// Bytes per row.
    pub width: u64,
    /// Number of rows.
    pub height: u64,
    /// Device address of the destination, if it is on the device.
    pub destination: Option<u64>,
    /// Bytes between rows of the destination.
    pub destination_pitch: u64,
    /// Device address of the source, if it is on the device.
    pub source: Option<u64>,
    /// Bytes between rows of the source.
    pub source_pitch: u64,
    /// Host allocation on the host side, if known.
    pub host: Option<HostAllocationId>,
    /// Call path of the copy.
    pub path: PathId,
}

/// A kernel launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Number.
    pub id: LaunchId,
    /// Number of the module.
    pub module: u32,
    /// Index into the site table's functions.
    pub function: u32,
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Bytes of static shared memory.
    pub static_shared: u32,
    /// Registers per thread of the original kernel.
    pub registers: u32,
    /// Whether the number of registers is an assumption instead of a figure of ptxas.
    pub registers_assumed: bool,
    /// Stack bytes per lane that the lowered kernel uses.
    pub local_bytes: u32,
    /// Number of resident blocks per SM in the stream's order.
    pub resident_blocks: u32,
    /// One of `block_share` blocks is recorded; 0 if none, because the launch does not match the filters.
    pub block_share: u64,
    /// Number of the stream; 0 is the default stream.
    pub stream: u32,
    /// Call path of the launch.
    pub path: PathId,
}

impl Launch {
    /// Creates a launch with default values: the first kernel of the first module, a one-dimensional grid without
    /// shared memory, one resident block per SM, all blocks recorded, and the default stream.
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
    /// Number of executions by warps.
    pub executions: u64,
    /// Lanes, summed over executions.
    pub lanes: u64,
    /// Executions with fewer lanes than the warp had live.
    pub partial: u64,
}

/// Counts of the warps that executed one basic block in one launch. Each warp counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarpBlockCount {
    /// Index into the site table's blocks.
    pub block: u32,
    /// Number of warps.
    pub warps: u64,
    /// Number of warps whose lanes, summed over all executions of the block, are not a multiple of 32.
    pub uneven: u64,
    /// Number of warps with an execution by fewer lanes than they had live.
    pub partial: u64,
}

/// Requests of one site in one space, in a launch that the GPU counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCount {
    /// Index into the site table's sites.
    pub site: u32,
    /// Space of the addresses.
    pub space: Space,
    /// Active lanes, summed.
    pub lanes: u64,
    /// Ideal sectors, summed.
    pub ideal_sectors: u64,
    /// Number of requests by number of touched sectors, in ascending order.
    pub by_sectors: Vec<(u32, u64)>,
    /// Number of requests by number of touched 128-byte lines, in ascending order.
    pub by_lines: Vec<(u32, u64)>,
}

/// Counts of one branch in one launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchCount {
    /// Index into the site table's branches.
    pub branch: u32,
    /// Number of times that a warp reached it.
    pub executions: u64,
    /// Number of executions whose lanes leave by two or more sides.
    pub divergent: u64,
    /// Number of lanes that leave by each side.
    pub lanes: Vec<u64>,
}

/// The end of a launch. Only executed blocks and branches are listed, in ascending order of their indices.
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

/// The reason why an access is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FaultKind {
    /// The address is outside every live allocation.
    OutOfBounds,
    /// The address is not a multiple of the access's alignment.
    Misaligned,
    /// The address is inside an allocation that was freed.
    Freed,
    /// The address is beyond the block's shared memory.
    SharedOutOfBounds,
    /// The processor reported a fault (the check was disabled, or the original kernel ran).
    Hardware,
    /// The address is outside its local variable, or outside the used part of the thread's stack.
    LocalOutOfBounds,
    /// The address is in the block's shared memory, but outside the variable that the access is based on. The analysis finds it.
    SharedVariable,
    /// The address is in its allocation or variable, but outside the member of a structure that the access indexes. The
    /// analysis finds it.
    Member,
}

impl Fault {
    /// Replaces an address of ordinary host memory, which would differ between runs.
    pub const HOST_MEMORY: u64 = u64::MAX;
    /// Addresses below this are null pointers, or members accessed through null pointers.
    pub const NULL_PAGE: u64 = 4096;
}

/// A bad access, which is reported once per site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Launch.
    pub launch: LaunchId,
    /// Number of the site; `u32::MAX` if unknown.
    pub site: u32,
    /// Kind.
    pub kind: FaultKind,
    /// Linear index of the block.
    pub block: u64,
    /// Linear index of the thread in the block.
    pub thread: u32,
    /// Device address, or [`Fault::HOST_MEMORY`].
    pub address: u64,
    /// The nearest allocation; for [`FaultKind::Freed`], the freed one.
    pub nearest: Option<AllocationId>,
    /// Whether the kernel was stopped.
    pub stopped: bool,
}

/// The bytes cannot be decoded.
#[derive(Debug, thiserror::Error)]
#[error("damaged control record: {0}")]
pub struct EventError(String);

impl Event {
    /// Returns the payload of an event chunk.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain data always encodes")
    }

    /// Decodes the output of [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Event, EventError> {
        postcard::from_bytes(bytes).map_err(|error| EventError(error.to_string()))
    }
}
