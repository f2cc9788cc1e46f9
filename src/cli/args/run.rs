//! Arguments of `run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// Where the profile goes; %p stands for the process, %q{NAME} for an environment variable; ranks of MPI and tasks of Slurm write FILE.d/rank-N.wlprof [default: warpline.<program>.wlprof]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep the raw trace as well; compressed where the name ends in .zst
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Compress the kept trace, whatever its name; LEVEL from 1 (fast) to 19 (small) [default level: 3]
    #[arg(long, value_name = "zstd[:LEVEL]", requires = "trace")]
    pub trace_compress: Option<String>,
    /// Keep the trace in compressed pieces of at most this size, FILE.0001.zst and so on
    #[arg(long, value_name = "SIZE", requires = "trace")]
    pub trace_rotate: Option<String>,
    /// GPU models, see `warpline gpus`; the run follows the first one's order [default: by the architecture of the build, or the GPU found]
    #[arg(long, value_name = "MODEL[,MODEL…]")]
    pub gpu: Option<String>,
    /// Where kernels run
    #[arg(long, value_enum, default_value_t = DeviceChoice::Cpu)]
    pub device: DeviceChoice,
    /// What is kept of memory requests: a trace of them, or (on a GPU) counts by instruction, without caches and allocations
    #[arg(long, value_enum, default_value_t = ModeChoice::Trace)]
    pub mode: ModeChoice,
    /// Record only kernels whose demangled name matches
    #[arg(long, value_name = "REGEX")]
    pub kernels: Option<String>,
    /// Record only these launches, counted from 0 among those that `--kernels` chooses, as 0,3-5
    #[arg(long, value_name = "NUMBERS")]
    pub launches: Option<String>,
    /// Record launches up to this share of the program's work, as 10% or 1/10: the first ones of each kernel, shape and call path,
    /// and ever fewer of those after them, drawn at random; figures of all launches are estimated from them, with bounds
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["launches", "blocks"])]
    pub budget: Option<String>,
    /// Draw other launches for `--budget`
    #[arg(long, value_name = "N", default_value_t = 0, requires = "budget")]
    pub budget_seed: u64,
    /// Record only this share of each launch's blocks, as 1/16
    #[arg(long, value_name = "1/N")]
    pub blocks: Option<String>,
    /// At an out-of-bounds or misaligned device access: stop the kernel, report it, or do not look
    #[arg(long, value_enum, default_value_t = CheckChoice::Stop)]
    pub check: CheckChoice,
    /// Host allocations to tell: those that copies use, or all from 1 KiB on
    #[arg(long, value_enum, default_value_t = HostAllocationChoice::Used)]
    pub host_allocations: HostAllocationChoice,
    /// Let warps take turns at each access, as a GPU does, not run to their next barrier: for programs that lean on it
    #[arg(long)]
    pub interleave: bool,
    /// Profile all processes that the program forks or starts, and put their work together
    #[arg(long)]
    pub children: bool,
    /// A fact to keep with the profile, as commit=1a2b3c or branch=main; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub label: Vec<String>,
    #[command(flatten)]
    pub stops: StopArguments,
    #[command(flatten)]
    pub state: StateArguments,
    /// Threads of the analysis; the result does not depend on it [default: by the machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
    /// Program and its arguments; options of `run` come before it
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Where the program stops and shows the access at hand.
#[derive(Clone, Debug, Default, Args)]
pub struct StopArguments {
    /// Stop at each recorded access of this line (the end of a path will do) and show launch, block, warp, every lane's address and
    /// what it hits, and the call paths; may be given several times
    #[arg(long, value_name = "FILE:LINE")]
    pub stop_at: Vec<String>,
    /// Stop at each recorded access to an allocation of this name; may be given several times
    #[arg(long, value_name = "NAME")]
    pub stop_at_allocation: Vec<String>,
    /// Stop at accesses of this kind
    #[arg(long, value_enum, value_name = "WHAT")]
    pub stop_on: Option<StopOn>,
    /// Do not ask how to go on: show so many stops, then let the program run [default: ask on the terminal; without one, 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub stop_count: Option<u64>,
}

/// Kinds of accesses to stop at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StopOn {
    /// Those out of bounds, in freed memory, or misaligned.
    Fault,
}

/// What is taken for given of caches and reuse.
#[derive(Clone, Debug, Args)]
pub struct StateArguments {
    /// Whether copies to the device leave their data in the L2 cache [default: as the model says]
    #[arg(long, value_enum)]
    pub l2_copies: Option<CopiesChoice>,
    /// Registers per thread of every kernel, for occupancy [default: what ptxas says of the code without hooks, for the model's architecture]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub registers: Option<u32>,
    /// Blocks that share an SM, as far as threads and shared memory allow [default: by registers, threads and shared memory]
    #[arg(long, value_name = "BLOCKS", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub occupancy: Option<u32>,
    /// Whether the L2 cache keeps its content from launch to launch, or is emptied before each, as `ncu` does by default
    #[arg(long, value_enum, default_value_t = LaunchesChoice::Kept)]
    pub l2_launches: LaunchesChoice,
    /// Whether a store ends the life of what it writes in reuse distances, or counts as a use
    #[arg(long, value_enum, default_value_t = RestartChoice::On)]
    pub restart: RestartChoice,
    /// Reuse distances: counted, approximated from reuse times (faster), or not taken
    #[arg(long, value_enum, default_value_t = ReuseChoice::Exact)]
    pub reuse: ReuseChoice,
    /// Within what reuse distances are taken; `launch` makes the analysis use one thread
    #[arg(long, value_enum, default_value_t = ReuseScopeChoice::Block)]
    pub reuse_scope: ReuseScopeChoice,
    /// Most memory of the analysis, as 512M; what it costs is told: reuse distances are approximated, conflicts between warps are not
    /// looked for, launches too large for it are left out (docs/long-runs.md)
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Look at every access for conflicts between warps and blocks without a barrier, not at a sample
    #[arg(long)]
    pub check_race: bool,
}

/// How reuse distances are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReuseChoice {
    /// Counted.
    Exact,
    /// By average eviction time.
    Approximate,
    /// Not at all.
    Off,
}

/// Within what reuse distances are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReuseScopeChoice {
    /// A thread block.
    Block,
    /// An SM, over all its blocks in a launch.
    Sm,
    /// A launch.
    Launch,
}

/// What copies leave in the L2 cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CopiesChoice {
    /// Their data.
    Warm,
    /// Nothing.
    Cold,
}

/// What the L2 cache has at a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LaunchesChoice {
    /// What was there.
    Kept,
    /// Nothing.
    Flushed,
}

/// What stores do to reuse distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RestartChoice {
    /// End the life of what they write.
    On,
    /// Are uses.
    Off,
}

/// Where kernels run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    /// On the host processor.
    Cpu,
    /// On a GPU.
    Gpu,
    /// On an emulated GPU: the code and the host side of a GPU without one, for comparison. The program is built with
    /// `warpline cc --device=gpu-emulated`.
    GpuEmulated,
}

/// What is kept of memory requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeChoice {
    /// A trace of them.
    Trace,
    /// Counts by instruction, made on the GPU.
    Counters,
}

/// What happens at a bad access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckChoice {
    /// The kernel stops with a CUDA error.
    Stop,
    /// Told once per site.
    Report,
    /// Not looked for.
    Off,
}

/// Which host allocations are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HostAllocationChoice {
    /// Those that a copy or registration uses.
    Used,
    /// All from the threshold on.
    All,
}
