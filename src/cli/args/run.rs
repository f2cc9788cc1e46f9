//! Arguments of `run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Headings of the help.
const OUTPUT: &str = "Output";
const DEVICE: &str = "Device and model";
const SELECTION: &str = "What to record";
const CHECKS: &str = "Checks";
const STOPS: &str = "Stopping at accesses";
const MODEL: &str = "Analysis and assumptions";

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// File of the profile [default: warpline.<program>.wlprof]. %p is the process id, %q{NAME} an environment
    /// variable; MPI ranks and Slurm tasks write FILE.d/rank-N.wlprof
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
    /// Also keep the raw trace, compressed if the name ends in .zst
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub trace: Option<PathBuf>,
    /// Compress the kept trace; LEVEL from 1 (fast) to 19 (small) [default level: 3]
    #[arg(long, value_name = "zstd[:LEVEL]", requires = "trace", help_heading = OUTPUT)]
    pub trace_compress: Option<String>,
    /// Split the kept trace into compressed files of at most this size: FILE.0001.zst, FILE.0002.zst, …
    #[arg(long, value_name = "SIZE", requires = "trace", help_heading = OUTPUT)]
    pub trace_rotate: Option<String>,
    /// GPU models to simulate (see `warpline gpus`); blocks and warps run in the order of the first one [default: the
    /// model for the architecture of the build, or the GPU found]
    #[arg(long, value_name = "MODEL[,MODEL…]", help_heading = DEVICE)]
    pub gpu: Option<String>,
    /// Device that runs the kernels [default: cpu]
    #[arg(long, value_enum, help_heading = DEVICE)]
    pub device: Option<DeviceChoice>,
    /// Record every memory request, or (on a GPU) only counts per instruction, without caches and allocations
    #[arg(long, value_enum, default_value_t = ModeChoice::Trace, help_heading = SELECTION)]
    pub mode: ModeChoice,
    /// Record only kernels whose demangled name matches
    #[arg(long, value_name = "REGEX", help_heading = SELECTION)]
    pub kernels: Option<String>,
    /// Record only these launches of the kernels that `--kernels` selects, numbered from 0: 0,3-5
    #[arg(long, value_name = "NUMBERS", help_heading = SELECTION)]
    pub launches: Option<String>,
    /// Record a random sample of launches, up to this share of the program's work (10% or 1/10), and estimate the
    /// figures of all launches with error bounds
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["launches", "blocks"], help_heading = SELECTION)]
    pub budget: Option<String>,
    /// Seed of the sample of `--budget`
    #[arg(long, value_name = "N", default_value_t = 0, requires = "budget", help_heading = SELECTION)]
    pub budget_seed: u64,
    /// Record only this share of the blocks of each launch: 1/16
    #[arg(long, value_name = "1/N", help_heading = SELECTION)]
    pub blocks: Option<String>,
    /// Action at an out-of-bounds or misaligned access of a kernel
    #[arg(long, value_enum, default_value_t = CheckChoice::Stop, help_heading = CHECKS)]
    pub check: CheckChoice,
    /// Host allocations to include
    #[arg(long, value_enum, default_value_t = HostAllocationChoice::Used, help_heading = SELECTION)]
    pub host_allocations: HostAllocationChoice,
    /// Switch warps at each access, as a GPU does, for programs in which warps wait for each other without a barrier
    #[arg(long, help_heading = DEVICE)]
    pub interleave: bool,
    /// Report reads, and copies to the host, of uninitialised global and shared memory; device memory is filled with a
    /// pattern instead of zeroes
    #[arg(long, help_heading = CHECKS)]
    pub check_init: bool,
    /// Report host code that accesses memory of the device, and managed or pinned memory before it has waited for the
    /// kernels and copies that use it
    #[arg(long, help_heading = CHECKS)]
    pub check_host: bool,
    /// Report NaNs, infinities and subnormal results with the operation that produced them, or stop a kernel at its
    /// first NaN; device code is compiled again for this, and cached
    #[arg(long, value_enum, value_name = "ACTION", help_heading = CHECKS)]
    pub check_float: Option<FloatChoice>,
    /// Record the values of accesses to global and shared memory, to find stores that change nothing, and arrays with
    /// few distinct values, a small range or many zeros [default without a value: memory]
    #[arg(
        long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "memory",
        help_heading = CHECKS
    )]
    pub values: Option<ValuesChoice>,
    /// Round the elements of an allocation to a smaller type (half, bfloat16, e4m3, e5m2; float for double) after each
    /// store and copy, and report the errors; ALLOCATION is a name, * any text; repeatable
    #[arg(long, value_name = "ALLOCATION=TYPE", help_heading = CHECKS)]
    pub what_if_type: Vec<String>,
    /// With --what-if-type: run the program once before, without rounding and output, and compare what is copied to the
    /// host
    #[arg(long, requires = "what_if_type", conflicts_with = "children", help_heading = CHECKS)]
    pub what_if_results: bool,
    /// Record operator, operands and result of each execution of these kinds of operations, in the trace (see
    /// `--trace`) and as sums in the profile; device code is compiled again for this, and cached [default without
    /// kinds: float]
    #[arg(
        long, value_enum, value_name = "KIND[,KIND…]", num_args = 0..=1, require_equals = true, value_delimiter = ',',
        default_missing_value = "float", help_heading = SELECTION
    )]
    pub trace_values: Option<Vec<TraceValuesChoice>>,
    /// Record values only of operations at this source line; a suffix of the path suffices; repeatable
    #[arg(long, value_name = "FILE:LINE", requires = "trace_values", help_heading = SELECTION)]
    pub lines: Vec<String>,
    /// Report device and pinned memory that the program never frees
    #[arg(long, help_heading = CHECKS)]
    pub check_leaks: bool,
    /// Profile all processes that the program starts, and merge their profiles
    #[arg(long, help_heading = SELECTION)]
    pub children: bool,
    /// Label to store in the profile, such as commit=1a2b3c; repeatable
    #[arg(long, value_name = "NAME=VALUE", help_heading = OUTPUT)]
    pub label: Vec<String>,
    #[command(flatten)]
    pub stops: StopArguments,
    #[command(flatten)]
    pub state: StateArguments,
    /// Number of analysis threads; results do not depend on it [default: depends on the number of cores]
    #[arg(long, value_name = "N", help_heading = MODEL, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
    /// Program and its arguments, after the options of `run`
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

impl RunArguments {
    /// Device that runs the kernels: the given one, or the CPU.
    pub fn device(&self) -> DeviceChoice {
        self.device.unwrap_or(DeviceChoice::Cpu)
    }
}

/// Accesses at which the program stops.
#[derive(Clone, Debug, Default, Args)]
pub struct StopArguments {
    /// Stop at each recorded access of this source line, and show its launch, block, warp, call paths and the address
    /// and memory of each lane; a suffix of the path suffices; repeatable
    #[arg(long, value_name = "FILE:LINE", help_heading = STOPS)]
    pub stop_at: Vec<String>,
    /// Stop at each recorded access to an allocation of this name; repeatable
    #[arg(long, value_name = "NAME", help_heading = STOPS)]
    pub stop_at_allocation: Vec<String>,
    /// Stop at accesses of this kind
    #[arg(long, value_enum, value_name = "WHAT", help_heading = STOPS)]
    pub stop_on: Option<StopOn>,
    /// Show this number of stops without a prompt, then continue [default: prompt on the terminal; without a terminal,
    /// 1]
    #[arg(long, value_name = "N", help_heading = STOPS, value_parser = clap::value_parser!(u64).range(1..))]
    pub stop_count: Option<u64>,
}

/// Kinds of accesses to stop at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StopOn {
    /// Accesses out of bounds, to freed memory, or misaligned.
    Fault,
}

/// Assumptions of the model about caches, occupancy and reuse.
#[derive(Clone, Debug, Args)]
pub struct StateArguments {
    /// Contents of the L2 cache after a copy to the device [default: by the model]
    #[arg(long, value_enum, help_heading = MODEL)]
    pub l2_copies: Option<CopiesChoice>,
    /// Registers per thread of every kernel, for occupancy [default: reported by ptxas for the model's architecture]
    #[arg(long, value_name = "N", help_heading = MODEL, value_parser = clap::value_parser!(u32).range(1..=255))]
    pub registers: Option<u32>,
    /// Maximum number of resident blocks per SM [default: limited by registers, threads and shared memory]
    #[arg(long, value_name = "BLOCKS", help_heading = MODEL, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub occupancy: Option<u32>,
    /// Contents of the L2 cache at the start of a launch; `ncu` flushes it by default
    #[arg(long, value_enum, default_value_t = LaunchesChoice::Kept, help_heading = MODEL)]
    pub l2_launches: LaunchesChoice,
    /// Whether a store restarts the reuse distance of its line (on) or counts as a use (off)
    #[arg(long, value_enum, default_value_t = RestartChoice::On, help_heading = MODEL)]
    pub restart: RestartChoice,
    /// Whether to compute reuse distances
    #[arg(long, value_enum, default_value_t = ReuseChoice::Exact, help_heading = MODEL)]
    pub reuse: ReuseChoice,
    /// Scope of reuse distances; `launch` restricts the analysis to one thread
    #[arg(long, value_enum, default_value_t = ReuseScopeChoice::Block, help_heading = MODEL)]
    pub reuse_scope: ReuseScopeChoice,
    /// Memory limit of the analysis: 512M. Near the limit, reuse distances are approximated, races are not checked and
    /// large launches are omitted; the profile reports it
    #[arg(long, value_name = "SIZE", help_heading = MODEL)]
    pub memory: Option<String>,
    /// Check every access for races between warps and blocks, instead of a sample
    #[arg(long, help_heading = CHECKS)]
    pub check_race: bool,
}

/// Whether to compute reuse distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReuseChoice {
    /// Exact number of distinct lines.
    Exact,
    /// No reuse distances.
    Off,
}

/// Scope of reuse distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReuseScopeChoice {
    /// A thread block.
    Block,
    /// An SM, over all its blocks in a launch.
    Sm,
    /// A launch.
    Launch,
}

/// Contents of the L2 cache after a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CopiesChoice {
    /// The copied data is in L2.
    Warm,
    /// The copied data is not in L2.
    Cold,
}

/// Contents of the L2 cache at a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LaunchesChoice {
    /// L2 keeps its contents.
    Kept,
    /// L2 is empty.
    Flushed,
}

/// Effect of stores on reuse distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RestartChoice {
    /// A store restarts the distance.
    On,
    /// A store is a use, like a load.
    Off,
}

/// Device that runs the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    /// The host processor.
    Cpu,
    /// A GPU.
    Gpu,
    /// An emulated GPU, for tests: it runs GPU code and its host side without a GPU. Build the program with `warpline
    /// cc --device=gpu-emulated`.
    GpuEmulated,
}

/// What is recorded of memory requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeChoice {
    /// Every request.
    Trace,
    /// Counts per instruction, computed on the GPU.
    Counters,
}

/// Values that are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ValuesChoice {
    /// Values of loads, stores and atomic operations.
    Memory,
}

/// Operations whose values are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceValuesChoice {
    /// Floating-point arithmetic, comparisons, conversions and functions.
    Float,
    /// Integer arithmetic, comparisons, conversions and functions.
    Int,
    /// Loads, stores and atomic operations.
    Memory,
}

/// Action at exceptional floating-point values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FloatChoice {
    /// Report them.
    Report,
    /// Stop a kernel at the first NaN that an operation produces.
    Stop,
}

/// Action at a faulty access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckChoice {
    /// Stop the kernel with a CUDA error.
    Stop,
    /// Report it once per instruction and continue.
    Report,
    /// Do not check.
    Off,
}

/// Host allocations to include.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HostAllocationChoice {
    /// Allocations that a copy or a registration uses.
    Used,
    /// All allocations of at least 1 KiB.
    All,
}
