//! Arguments as typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use super::args_recordings::{
    GateArguments, GateFormat, HistoryArguments, HistoryFormat, OriginArguments, RecordArguments, StoreArguments,
};
use crate::simulation::DEFAULT_WINDOW;

/// Memory profiler for CUDA programs, with or without a GPU.
#[derive(Debug, Parser)]
#[command(name = "warpline", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Examples:
  warpline profile app.cu -- 1024             build, run and report in one go
  warpline cc -O2 app.cu -o app               build with hooks
  warpline run -o app.wlprof -- ./app 1024    run and keep the profile
  warpline report app.wlprof                  show it")]
pub struct Cli {
    /// When to use colours; NO_COLOR is honoured
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile CUDA sources as nvcc or clang++ would, plus hooks
    #[command(disable_help_flag = true)]
    Cc(CcArguments),
    /// Run a program built with `warpline cc` and write its profile
    Run(RunArguments),
    /// Compile, run and report in one go
    #[command(disable_help_flag = true, override_usage = "warpline profile SOURCES… [OPTIONS] [-- ARGS…]")]
    Profile(ProfileArguments),
    /// Show a profile
    Report(ReportArguments),
    /// Walk through a profile in the terminal, alone or compared with one from before
    Explore(ExploreArguments),
    /// Say what a finding means, why it costs and what to do; without an id list all
    Explain(ExplainArguments),
    /// Analyse a kept trace, on any GPU model
    Sim(SimArguments),
    /// Look at a program that runs under `warpline run`
    Top(TopArguments),
    /// Keep a trace in another form: compressed, in pieces, or plain
    Compact(CompactArguments),
    /// Compare two profiles: what got better or worse, what is new, what is gone
    Diff(DiffArguments),
    /// Predict launches of a kernel that were never made: other block shapes, grids, arguments, GPUs
    Predict(PredictArguments),
    /// Put profiles of one program together: of its processes, ranks or runs
    Merge(MergeArguments),
    /// Put profiles into a dataset of tables (Apache Parquet), for data frames and SQL
    Export(ExportArguments),
    /// Keep profiles by name and commit in a store
    Record(RecordArguments),
    /// Draw a figure of a kernel over the commits that are recorded
    History(HistoryArguments),
    /// Hold a profile to limits against the nearest recording of a branch; exit code 5 where one is broken
    Gate(GateArguments),
    /// Ask a dataset in SQL, or list its views, through the Python package and DuckDB
    #[command(disable_help_flag = true)]
    Query(QueryArguments),
    /// Check caches by pointer chases: closed forms, a GPU's own latencies and counters; or profiles against Nsight Compute
    Validate(ValidateArguments),
    /// List the GPU models, or show one
    Gpus(GpusArguments),
    /// Show what is installed, what is missing, and how to get it
    Doctor,
    /// Print the completions of a shell
    Completions(CompletionsArguments),
    /// Print what a run with these arguments hands to the runtime, for front ends that start programs themselves
    #[command(hide = true)]
    Options(RunArguments),
    /// Make profiles of ranks that never ran out of real ones, to measure merging with
    #[command(hide = true)]
    Synthesize(SynthesizeArguments),
    /// Write the manual pages
    #[command(hide = true)]
    Man(ManArguments),
}

/// Arguments of `cc`.
#[derive(Debug, Args)]
pub struct CcArguments {
    /// Everything for the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMPILER OPTIONS AND FILES")]
    pub arguments: Vec<OsString>,
}

/// Arguments of `profile`.
#[derive(Debug, Args)]
pub struct ProfileArguments {
    /// Sources, compiler options and options of `run`, then `--` and the program's arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "SOURCES AND OPTIONS")]
    pub arguments: Vec<OsString>,
}

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

/// Arguments of `report`.
#[derive(Clone, Debug, Args)]
pub struct ReportArguments {
    /// Profile
    pub file: PathBuf,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Cost of folded stacks, and the one that speedscope shows first
    #[arg(long, value_name = "COST", default_value = crate::report::COSTS[0].0, value_parser = costs())]
    pub metric: String,
    /// Where it goes [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// What to show
    #[command(flatten)]
    pub filters: FilterArguments,
    /// Which findings count
    #[command(flatten)]
    pub findings: FindingArguments,
}

/// Which findings count.
#[derive(Clone, Debug, Default, Args)]
pub struct FindingArguments {
    /// Exit with code 5 if there is a finding of this severity (error, warning, note) or graver, or with this id; may be given
    /// several times
    #[arg(long, value_name = "SEVERITY|ID")]
    pub fail_on: Vec<String>,
    /// Leave out findings: ID, ID@FILE:LINE, ID@KERNEL or @FILE:LINE; may be given several times. A comment
    /// `warpline: ignore ID` in the source does the same
    #[arg(long, value_name = "ID[@PLACE]")]
    pub ignore: Vec<String>,
}

/// Arguments of `explore`.
#[derive(Clone, Debug, Args)]
pub struct ExploreArguments {
    /// Profile
    pub file: PathBuf,
    /// Profile from before, to compare with
    pub before: Option<PathBuf>,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// Id of a finding, as `strided-access`; without it all are listed
    pub id: Option<String>,
}

/// What a report shows.
#[derive(Clone, Debug, Default, Args)]
pub struct FilterArguments {
    /// Only kernels whose demangled name matches; everything of it, where that is one
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,
    /// Everything of a line: kernels, accesses, allocations, branches, findings; the end of its path is enough
    #[arg(long, value_name = "FILE:LINE")]
    pub line: Option<String>,
    /// Everything of a finding, by its rank, id or place
    #[arg(long, value_name = "RANK|ID[@PLACE]")]
    pub finding: Option<String>,
    /// Only lines of files whose path contains this; as text, the source with what each line costs (with --all the usual sections)
    #[arg(long, value_name = "PART")]
    pub source: Option<String>,
    /// Everything of the allocations of this name, or whose name contains it: where they are made, copies, kernels, lines, findings
    #[arg(long, value_name = "NAME")]
    pub allocation: Option<String>,
    /// Rows per table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// All sections of the text: lines, caches, reuse distances, estimates, launches, allocations, branches
    #[arg(long)]
    pub all: bool,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// The whole profile, for programs.
    Json,
    /// Findings and kernels, for a pull request or an issue.
    Markdown,
    /// A row per memory instruction.
    Csv,
    /// One page for a browser.
    Html,
    /// Cost by line with calls, for KCachegrind.
    Callgrind,
    /// Cost by call path, for pprof (gzip).
    Pprof,
    /// Findings by line, for editors and code review.
    Sarif,
    /// The call tree as a literal of Hatchet, for it and Thicket.
    Hatchet,
    /// Launches, copies and allocations in the order of launches, for Perfetto; traces of several ranks, one behind the other,
    /// are one.
    Perfetto,
    /// A line per call stack with its cost, for flame graphs.
    Folded,
    /// Call stacks with all costs, for speedscope.
    Speedscope,
}

/// Arguments of `top`.
#[derive(Clone, Debug, Args)]
pub struct TopArguments {
    /// Process of the program or of `warpline run`, or a snapshot's file [default: the only one that runs]
    #[arg(value_name = "PID|FILE")]
    pub what: Option<String>,
    /// Print once, as without a terminal
    #[arg(long)]
    pub once: bool,
    /// Text, or a snapshot as JSON
    #[arg(long, value_enum, default_value_t = TopFormat::Text)]
    pub format: TopFormat,
    /// Kernels to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// Forms of `top`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TopFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Arguments of `compact`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline compact app.wltrace -o app.wltrace.zst              compress
  warpline compact app.wltrace.0001.zst -o app.wltrace         all pieces, plain
  warpline compact app.wltrace.zst -o small.zst --level 19     smaller")]
pub struct CompactArguments {
    /// Trace: a file, or the first of its pieces
    pub trace: PathBuf,
    /// Where it goes; compressed where the name ends in .zst
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Compression, from 1 (fast) to 19 (small)
    #[arg(long, value_name = "LEVEL", default_value_t = 9, value_parser = clap::value_parser!(i32).range(1..=19))]
    pub level: i32,
    /// In pieces of at most this size, FILE.0001.zst and so on
    #[arg(long, value_name = "SIZE")]
    pub rotate: Option<String>,
}

/// Arguments of `diff`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline diff before.wlprof after.wlprof                       what changed
  warpline diff main.wlprof branch.wlprof --format markdown      the same for a review
  warpline diff main.wlprof branch.wlprof --limits limits.toml   exit code 5 if one is broken")]
pub struct DiffArguments {
    /// Profile to compare with
    pub before: PathBuf,
    /// Profile to judge
    pub after: PathBuf,
    /// Form of the comparison
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,
    /// Limits of what may get worse (TOML); exit code 5 where one is broken
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
    /// Leave out findings: ID, ID@FILE:LINE, ID@KERNEL or @FILE:LINE; may be given several times
    #[arg(long, value_name = "ID[@PLACE]")]
    pub ignore: Vec<String>,
    /// Refuse profiles that were not made alike: other GPU model, architecture, release, assumptions or sampling, or incomplete ones
    #[arg(long)]
    pub strict: bool,
    /// Where it goes [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Rows per table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Show all rows and figures, not only those that tell most
    #[arg(long, conflicts_with = "top")]
    pub all: bool,
    /// Least change of modelled figures (caches, DRAM, times) that counts, in percent of what they are a part of; counted figures are exact
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub tolerance: f64,
}

/// Arguments of `predict`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline predict app.wlprof --kernel stencil                          all block shapes, the best ones first
  warpline predict app.wlprof --kernel stencil --block 32x8,64x4        two of them
  warpline predict app.wlprof --kernel stencil --set n=4096 --gpu a100,h100")]
pub struct PredictArguments {
    /// Profile of a run of the program; or the executable, with --block, --grid and the parameters by --set
    pub file: PathBuf,
    /// The kernel: the only one whose demangled name matches [default: the profile's only one]
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,
    /// Block shapes, as 32x8 or 8x8x4, or `all`: powers of two along the axes that the launch uses
    #[arg(long, value_name = "SHAPE[,SHAPE…]", default_value = "all")]
    pub block: String,
    /// The grid, as 128x64 [default: as many blocks as cover the same indices]
    #[arg(long, value_name = "SHAPE")]
    pub grid: Option<String>,
    /// Another value of a parameter that addresses depend on; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Points that a thread does along an axis, as y=2: thread coarsening
    #[arg(long, value_name = "AXIS=POINTS", conflicts_with = "check")]
    pub fold: Vec<String>,
    /// An array with rows (x) or planes (y) that are so many elements longer, as d_in.x=1
    #[arg(long, value_name = "ARRAY.AXIS=ELEMENTS", conflicts_with = "check")]
    pub pad: Vec<String>,
    /// An array of structures as a structure of arrays
    #[arg(long, value_name = "ARRAY=soa", conflicts_with = "check")]
    pub layout: Vec<String>,
    /// The best of the block shapes over values of a parameter as well, as n=512,1024,2048
    #[arg(long, value_name = "NAME=VALUE,…", conflicts_with = "check")]
    pub over: Option<String>,
    /// GPU models, see `warpline gpus` [default: the profile's first]
    #[arg(long, value_name = "MODEL[,MODEL…]")]
    pub gpu: Option<String>,
    /// Registers per thread, for occupancy [default: what ptxas says for the model's architecture]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub registers: Option<u32>,
    /// Run the best, the worst and some other configurations with this command, in which {x}, {y} and {z} stand for the
    /// block's sizes, and show predicted over simulated figures
    #[arg(long, value_name = "COMMAND", conflicts_with = "format")]
    pub check: Option<String>,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = PredictFormat::Text)]
    pub format: PredictFormat,
    /// Where it goes [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Rows of the text
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

impl PredictArguments {
    /// What is taken for given of caches: all as it is by itself, but for registers.
    pub(super) fn state(&self) -> StateArguments {
        StateArguments {
            l2_copies: None,
            registers: self.registers,
            occupancy: None,
            l2_launches: LaunchesChoice::Kept,
            restart: RestartChoice::On,
            reuse: ReuseChoice::Off,
            reuse_scope: ReuseScopeChoice::Block,
            memory: None,
            check_race: false,
        }
    }
}

/// Forms of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PredictFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// A row per configuration.
    Csv,
    /// A page with maps over block shapes and lines over sizes.
    Html,
}

/// Arguments of `merge`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline run -o rank.%q{OMPI_COMM_WORLD_RANK}.wlprof -- ./app      in each of the ranks
  warpline merge rank.*.wlprof -o all.wlprof                        sums over them")]
pub struct MergeArguments {
    /// Profiles, made with the same options, and folders of such; their order does not matter
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub files: Vec<PathBuf>,
    /// Where the profile goes
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Refuse files that cannot be read and ranks that are missing or incomplete, instead of merging the others
    #[arg(long)]
    pub strict: bool,
    /// Threads; the result does not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
}

/// Arguments of `synthesize`.
#[derive(Clone, Debug, Args)]
pub struct SynthesizeArguments {
    /// Real profiles, whose kernels are repeated under other names
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Ranks of the job
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub ranks: u32,
    /// Memory instructions of each
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub sites: usize,
    /// Folder for the profiles
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
}

/// Arguments of `export`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline export runs rank.*.wlprof                       begin a dataset, or add to it
  warpline export runs app.wlprof --label commit=1a2b3c    say which commit it is of
  warpline export runs app.wlprof --requests app.wltrace   with each memory request")]
pub struct ExportArguments {
    /// Form of the dataset
    #[arg(long, value_enum, default_value_t = ExportFormat::Parquet)]
    pub format: ExportFormat,
    /// Folder of the dataset: a new one, or one to add to
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Profiles; one that is there already is not added twice
    #[arg(required = true, value_name = "PROFILE")]
    pub profiles: Vec<PathBuf>,
    /// Also each request of the trace that a profile was made of, kept by `run --trace`; once for each profile, in their order
    #[arg(long, value_name = "TRACE")]
    pub requests: Vec<PathBuf>,
    /// A fact to keep with the profiles, as commit=1a2b3c; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub label: Vec<String>,
}

/// Forms of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Files of Apache Parquet in folders by program, commit, rank and model.
    Parquet,
}

/// Names of costs of call stacks.
fn costs() -> clap::builder::PossibleValuesParser {
    crate::report::COSTS.map(|(name, _)| name).into()
}

/// Arguments of `query`.
#[derive(Debug, Args)]
pub struct QueryArguments {
    /// Folder of the dataset and SQL, and the options of `python -m warpline query`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "DIR [SQL] [OPTIONS]")]
    pub arguments: Vec<OsString>,
}

/// A number of percent.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end().parse::<f64>().ok();
    number.filter(|number| (0.0..=100.0).contains(number)).ok_or_else(|| "it takes a number from 0 to 100".to_owned())
}

/// Forms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people.
    Text,
    /// For reviews.
    Markdown,
    /// For programs.
    Json,
    /// For browsers, with every view of both profiles.
    Html,
}

/// Arguments of `sim`.
#[derive(Clone, Debug, Args)]
pub struct SimArguments {
    /// Trace kept by `warpline run --trace`, or written by a program started by hand; `-` is standard input
    pub trace: PathBuf,
    /// GPU models, see `warpline gpus`; figures of further ones stand beside the first's [default: by the architecture of the build, or the GPU found]
    #[arg(long, value_name = "MODEL[,MODEL…]")]
    pub gpu: Option<String>,
    /// Where the profile goes [default: warpline.<trace>.wlprof]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub state: StateArguments,
    /// Advise who should use the L1 cache, by simulating loads that go past it; takes up to 20 times as long
    #[arg(long)]
    pub bypass: bool,
    /// Count the pages of this size that an SM touches, as 64K or 2M [default: the model's, where it has one]
    #[arg(long, value_name = "BYTES")]
    pub page_size: Option<String>,
    /// Requests of an SM within which pages are counted
    #[arg(long, value_name = "N", default_value_t = DEFAULT_WINDOW, value_parser = clap::value_parser!(u32).range(1..))]
    pub page_window: u32,
    /// Show the lines of source files below this folder, whatever their checksums; others are shown where they are what the
    /// program was built from
    #[arg(long, value_name = "FOLDER")]
    pub source_root: Vec<PathBuf>,
    /// A fact to keep with the profile, as commit=1a2b3c or branch=main; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub label: Vec<String>,
    /// Threads of the analysis; the result does not depend on it [default: by the machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
}

/// Arguments of `validate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline validate --gpu a100                          the simulated caches against closed forms
  warpline validate --device gpu --curves curves.toml   and the caches of this machine's GPU
  ncu --csv --metrics $(warpline validate --list-counters) ./app > app.csv      (with WARPLINE=0)
  warpline validate app.wlprof --counters app.csv       a profile against the hardware's counters")]
pub struct ValidateArguments {
    /// Profiles to compare with counters; without any, pointer chases are run
    #[arg(value_name = "PROFILE", requires = "counters")]
    pub profiles: Vec<PathBuf>,
    /// What `ncu --csv` printed for the same program without hooks; once for each profile
    #[arg(long, value_name = "FILE", requires = "profiles")]
    pub counters: Vec<PathBuf>,
    /// Print the names of the counters that are compared, for `ncu --metrics`
    #[arg(long)]
    pub list_counters: bool,
    /// Where the chases run; on a GPU its latencies are measured too
    #[arg(long, value_enum, default_value_t = DeviceChoice::Cpu, conflicts_with = "counters")]
    pub device: DeviceChoice,
    /// GPU model to check [default: with --device gpu the GPU found, else rtx2080ti]
    #[arg(long, value_name = "MODEL", conflicts_with = "counters")]
    pub gpu: Option<String>,
    /// The program of the chases, built before, where there is no compiler [default: built now by `warpline cc`]
    #[arg(long, value_name = "FILE", conflicts_with = "counters")]
    pub program: Option<PathBuf>,
    /// Where measured curves go, as lines for the model's file
    #[arg(long, value_name = "FILE", conflicts_with = "counters")]
    pub curves: Option<PathBuf>,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = ValidateFormat::Text)]
    pub format: ValidateFormat,
    /// Where it goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Forms of a validation's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ValidateFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Arguments of `gpus`.
#[derive(Debug, Args)]
pub struct GpusArguments {
    /// Model to show
    pub model: Option<String>,
}

/// Arguments of `warpline completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `warpline man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Folder for the pages
    pub folder: PathBuf,
}
