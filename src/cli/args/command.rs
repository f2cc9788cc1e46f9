//! The commands.

use clap::{Parser, Subcommand, ValueEnum};

use super::build::{CcArguments, ProfileArguments};
use super::manual::{CompletionsArguments, ManArguments};
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
