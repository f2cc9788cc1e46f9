//! The commands.

use clap::{Parser, Subcommand, ValueEnum};

use super::build::{CcArguments, ProfileArguments};
use super::manual::{CompletionsArguments, ManArguments, SetupArguments};
use super::mcp::McpArguments;
use super::models::{GpusArguments, ValidateArguments};
use super::predict::PredictArguments;
use super::recordings::{GateArguments, HistoryArguments, RecordArguments};
use super::report::{ExplainArguments, ExploreArguments, ReportArguments};
use super::run::RunArguments;
use super::several::{DiffArguments, ExportArguments, MergeArguments, QueryArguments, SynthesizeArguments};
use super::traces::{CompactArguments, SimArguments, TopArguments};

/// Memory profiler for CUDA programs, with or without a GPU.
#[derive(Debug, Parser)]
#[command(name = "warpline", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Examples:
  warpline profile app.cu -- 1024             build, run and report in one go
  warpline cc -O2 app.cu -o app               build with hooks
  warpline run -o app.wlprof -- ./app 1024    run and keep the profile
  warpline report app.wlprof                  print the report")]
pub struct Cli {
    /// When to use colours; NO_COLOR is honoured
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
    /// Command
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
    /// Browse a profile in the terminal, or compare it with an earlier one
    Explore(ExploreArguments),
    /// Explain a finding and its remedies; without an id, list all findings
    Explain(ExplainArguments),
    /// Analyse a kept trace for any GPU model
    Sim(SimArguments),
    /// Watch a program that runs under `warpline run`
    Top(TopArguments),
    /// Compress, split or decompress a trace
    Compact(CompactArguments),
    /// Compare two profiles: improvements, regressions, new and removed items
    Diff(DiffArguments),
    /// Predict other launches of a kernel: block shapes, grids, arguments, GPUs
    Predict(PredictArguments),
    /// Merge profiles of one program: of its processes, ranks or runs
    Merge(MergeArguments),
    /// Add profiles to a dataset of tables (Apache Parquet), for data frames and SQL
    Export(ExportArguments),
    /// Store profiles by name and commit
    Record(RecordArguments),
    /// Plot a figure of a kernel over the recorded commits
    History(HistoryArguments),
    /// Compare a profile with the latest recording of a branch; exit code 5 if a limit is exceeded
    Gate(GateArguments),
    /// Query a dataset with SQL, or list its views (requires the Python package and DuckDB)
    #[command(disable_help_flag = true)]
    Query(QueryArguments),
    /// Validate the simulated caches with pointer chases, or profiles against Nsight Compute
    Validate(ValidateArguments),
    /// List the GPU models, or print one
    Gpus(GpusArguments),
    /// Serve profiles to agents and other programs through the Model Context Protocol
    Mcp(McpArguments),
    /// Check the installation: installed tools, missing tools and how to install them, and the device that runs kernels
    Doctor,
    /// Download the parts of the CUDA toolkit that compilation needs; the first `warpline cc` without a toolkit does
    /// the same
    Setup(SetupArguments),
    /// Print completions for a shell
    Completions(CompletionsArguments),
    /// Print the runtime options of a run, for front ends that start programs themselves
    #[command(hide = true)]
    Options(RunArguments),
    /// Synthesize profiles of ranks from real ones, to measure merging
    #[command(hide = true)]
    Synthesize(SynthesizeArguments),
    /// Write the manual pages
    #[command(hide = true)]
    Man(ManArguments),
}
