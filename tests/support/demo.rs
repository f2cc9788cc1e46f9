//! A small artificial program: a kernel that reads a matrix by columns and a vector, and calls a device function. Its
//! source file is written to the caller's folder.

use warpline_format::access::Space;
use warpline_format::device::Device;
use warpline_format::event::{
    Allocation, AllocationKind, BlockCount, BranchCount, Copy, Direction, Event, Fault, FaultKind, Launch, LaunchEnd,
    WarpBlockCount,
};
use warpline_format::site_table::{
    Block, Branch, CacheOp, CallSite, File, Frame, Function, Global, GlobalKind, InstructionMix, NotSeen, Op, Site,
    SiteTable,
};

use super::{Batch, TraceBuilder};

/// The text of the program's source.
pub const SOURCE: &str = "\
__constant__ float scale;
__device__ __noinline__ float weigh(float x) {
    return x * scale;
}
__global__ void columns(const float *matrix, float *sums, int n) {
    __shared__ float tile[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < n; j++)
        if (i < n) tile[threadIdx.x * 32] += matrix[i * n + j];
    atomicAdd(&sums[i], weigh(tile[threadIdx.x]));
}
";

pub const MATRIX: u64 = 0x1000_0000_0000;
pub const SUMS: u64 = 0x1000_0010_0000;
pub const SCALE: u64 = 0x1000_0020_0000;
/// The number of floats in a row of the matrix, and the number of requests per warp.
pub const ROW: u64 = 64;

/// The numbers of the sites.
pub mod site {
    pub const MATRIX: u32 = 0;
    pub const TILE: u32 = 1;
    pub const SUMS: u32 = 2;
    pub const SCALE: u32 = 3;
}

fn frame(function: &str, file: u32, line: u32, column: u32) -> Frame {
    Frame { function: function.into(), file, line, column }
}

fn site(function: u32, op: Op, space: Space, chain: &[u32]) -> Site {
    Site {
        function,
        op,
        space,
        bytes: 4,
        byte_mask: None,
        align: 4,
        cache: CacheOp::Default,
        chain: chain.to_vec(),
        approximate: false,
        in_library: false,
    }
}

/// The site table, with `source` as the program's file.
pub fn table(source: &str) -> SiteTable {
    let kernel = "columns(float const*, float*, int)";
    SiteTable {
        module: source.into(),
        hash: "0123456789abcdef".into(),
        arch: 75,
        files: vec![
            File { path: source.into(), system: false },
            File { path: "/usr/local/cuda/include/sm_20_atomic_functions.hpp".into(), system: true },
        ],
        frames: vec![
            frame(kernel, 0, 5, 0),
            frame(kernel, 0, 9, 52),
            frame(kernel, 0, 9, 49),
            frame("atomicAdd(float*, float)", 1, 82, 10),
            frame(kernel, 0, 10, 5),
            frame("weigh(float)", 0, 2, 0),
            frame("weigh(float)", 0, 3, 16),
            frame(kernel, 0, 10, 26),
            frame(kernel, 0, 1, 0),
        ],
        functions: vec![
            Function {
                mangled: "_Z7columnsPKfPfi".into(),
                name: kernel.into(),
                frame: 0,
                kernel: true,
                in_library: false,
            },
            Function {
                mangled: "_Z5weighf".into(),
                name: "weigh(float)".into(),
                frame: 5,
                kernel: false,
                in_library: false,
            },
        ],
        sites: vec![
            site(0, Op::Load, Space::Global, &[1]),
            site(0, Op::Store, Space::Shared, &[2]),
            site(0, Op::Atomic, Space::Global, &[3, 4]),
            site(1, Op::Load, Space::Constant, &[6]),
        ],
        blocks: vec![
            Block {
                function: 0,
                chain: vec![1],
                mix: InstructionMix { fp32: 1, int: 3, memory: 2, ..Default::default() },
            },
            Block { function: 1, chain: vec![6], mix: InstructionMix { fp32: 1, memory: 1, ..Default::default() } },
        ],
        branches: vec![Branch { function: 0, chain: vec![1], sides: 2 }],
        calls: vec![CallSite { caller: 0, chain: vec![7] }],
        globals: vec![Global { name: "scale".into(), kind: GlobalKind::Constant, bytes: 4, frame: Some(8) }],
        not_seen: vec![NotSeen { function: 0, chain: vec![4], what: "inline assembly: cp.async.ca".into() }],
        bundles: Vec::new(),
        // The digest of the text that tests write to `source`.
        digests: vec![Some(md5::compute(SOURCE).0), None],
        hints: Vec::new(),
        shared: Vec::new(),
        parts: Vec::new(),
        operands: Vec::new(),
        names: Vec::new(),
        decisions: Vec::new(),
        branch_blocks: Vec::new(),
        ..SiteTable::default()
    }
}

fn allocation(id: u64, kind: AllocationKind, address: u64, bytes: u64, name: &str) -> Event {
    let global = (kind == AllocationKind::Constant).then_some((0, 0));
    Event::Allocation(Allocation { id, kind, address, bytes, name: Some(name.into()), path: 0, global })
}

/// The number of warps per block and of blocks of the launches.
pub const WARPS: u32 = 2;
pub const BLOCKS: u64 = 3;

/// The launch record.
pub fn launch(id: u64) -> Launch {
    Launch {
        static_shared: 4096,
        registers: 24,
        resident_blocks: 8,
        ..Launch::with_defaults(id, BLOCKS as u32, WARPS * 32)
    }
}

/// Returns the requests of one launch, block by block.
pub fn batch() -> Batch {
    let mut batch = Batch::default();
    for block in 0..BLOCKS {
        // Blocks are assigned to the SMs in turn; an SM has 8 resident blocks of 2 warps.
        let first = block as u32 * 8 * WARPS;
        batch.block(first, WARPS, block);
        for warp in 0..WARPS {
            batch.turn(first + warp);
            let thread = (block * u64::from(WARPS) + u64::from(warp)) * 32;
            for j in 0..ROW {
                batch.access(Space::Global, site::MATRIX, u32::MAX, |lane| MATRIX + 4 * ((thread + lane) * ROW + j));
                batch.access(Space::Shared, site::TILE, u32::MAX, |lane| 128 * lane + 4 * u64::from(warp));
            }
            batch.call(0);
            batch.access(Space::Constant, site::SCALE, u32::MAX, |_| SCALE);
            batch.ret();
            batch.access(Space::Global, site::SUMS, 0x0000_ffff, |lane| SUMS + 4 * (thread + lane));
        }
    }
    batch
}

/// Returns the complete stream, with two launches.
pub fn trace(source: &str) -> Vec<u8> {
    let mut trace = TraceBuilder::default();
    begin(&mut trace, source);
    for id in 0..2 {
        trace.event(Event::Launch(launch(id)));
        trace.batch(id, &batch());
        trace.event(warp_blocks(id));
        trace.event(end(id, 0));
    }
    trace.event(Event::Free { id: 2, path: 0 });
    trace.event(Event::End { launches: 2 });
    trace.finish()
}

/// Appends everything before the first launch.
pub fn begin(trace: &mut TraceBuilder, source: &str) {
    trace.event(Event::Program {
        executable: "/home/someone/columns".into(),
        arguments: vec!["64".into()],
        device: Device::rtx_2080_ti(),
    });
    trace.event(Event::Module { id: 0, site_table: table(source).to_bytes() });
    begin_memory(trace);
    trace.event(Event::HostAllocation {
        id: 1,
        kind: "new".into(),
        bytes: 49152,
        name: Some("matrix".into()),
        path: 0,
    });
    trace.event(Event::Copy(Copy {
        direction: Direction::HostToDevice,
        width: 4 * ROW * 32 * 6,
        height: 1,
        destination: Some(MATRIX),
        destination_pitch: 0,
        source: None,
        source_pitch: 0,
        host: Some(1),
        path: 0,
    }));
}

/// Appends the allocations.
pub fn begin_memory(trace: &mut TraceBuilder) {
    trace.event(allocation(1, AllocationKind::Constant, SCALE, 4, "scale"));
    trace.event(allocation(2, AllocationKind::Malloc, MATRIX, 4 * ROW * 32 * 6, "d_matrix"));
    trace.event(allocation(3, AllocationKind::Malloc, SUMS, 4 * 32 * 6, "d_sums"));
}

/// Returns the counts of a launch's basic blocks by warp.
pub fn warp_blocks(launch: u64) -> Event {
    let warps = BLOCKS * u64::from(WARPS);
    let count = |block, uneven| WarpBlockCount { block, warps, uneven, partial: uneven };
    Event::WarpBlocks { launch, blocks: vec![count(0, 0), count(1, warps)] }
}

/// Returns the end of a launch.
pub fn end(id: u64, error: i32) -> Event {
    let warps = BLOCKS * u64::from(WARPS);
    Event::LaunchEnd(LaunchEnd {
        id,
        error,
        blocks: vec![
            BlockCount { block: 0, executions: warps * ROW, lanes: warps * ROW * 32, partial: 0 },
            BlockCount { block: 1, executions: warps, lanes: warps * 16, partial: warps },
        ],
        branches: vec![BranchCount {
            branch: 0,
            executions: warps * ROW,
            divergent: warps,
            lanes: vec![warps * 2000, warps * 48],
        }],
    })
}

/// Returns a bad access.
pub fn fault(launch: u64) -> Event {
    Event::Fault(Fault {
        launch,
        site: site::MATRIX,
        kind: FaultKind::OutOfBounds,
        block: 2,
        thread: 40,
        address: MATRIX + 4 * ROW * 32 * 6 + 12,
        nearest: Some(2),
        stopped: true,
    })
}
