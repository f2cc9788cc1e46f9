//! Arguments of commands that read traces and running programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::run::StateArguments;
use warpline_analyzer::analyses::pages::DEFAULT_WINDOW;

/// Arguments of `sim`.
#[derive(Clone, Debug, Args)]
pub struct SimArguments {
    /// Trace kept by `warpline run --trace`, or written by a program started by hand; `-` is standard input
    pub trace: PathBuf,
    /// GPU models to simulate (see `warpline gpus`) [default: the model for the architecture of the build, or the GPU found]
    #[arg(long, value_name = "MODEL[,MODEL…]")]
    pub gpu: Option<String>,
    /// File of the profile [default: warpline.<trace>.wlprof]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub state: StateArguments,
    /// Simulate which loads should bypass L1; takes up to 20 times as long
    #[arg(long)]
    pub bypass: bool,
    /// Count the pages of this size that an SM touches: 64K or 2M [default: the model's page size]
    #[arg(long, value_name = "BYTES")]
    pub page_size: Option<String>,
    /// Number of requests of an SM per window of the page counts
    #[arg(long, value_name = "N", default_value_t = DEFAULT_WINDOW, value_parser = clap::value_parser!(u32).range(1..))]
    pub page_window: u32,
    /// Show source files below this folder even if they changed since the build; others are shown only if they are unchanged
    #[arg(long, value_name = "FOLDER")]
    pub source_root: Vec<PathBuf>,
    /// Label to store in the profile, such as commit=1a2b3c; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub label: Vec<String>,
    /// Print the estimated seconds of all launches and write no profile, for the Python package's autotuning
    #[arg(long, hide = true, conflicts_with_all = ["output", "bypass"])]
    pub seconds: bool,
    /// Number of analysis threads; results do not depend on it [default: depends on the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
}

/// Arguments of `compact`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline compact app.wltrace -o app.wltrace.zst              compress
  warpline compact app.wltrace.0001.zst -o app.wltrace         join and decompress
  warpline compact app.wltrace.zst -o small.zst --level 19     smaller")]
pub struct CompactArguments {
    /// Trace: a file, or the first file of a split trace
    pub trace: PathBuf,
    /// Output file, compressed if the name ends in .zst
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Compression level, from 1 (fast) to 19 (small)
    #[arg(long, value_name = "LEVEL", default_value_t = 9, value_parser = clap::value_parser!(i32).range(1..=19))]
    pub level: i32,
    /// Split into files of at most this size: FILE.0001.zst, FILE.0002.zst, …
    #[arg(long, value_name = "SIZE")]
    pub rotate: Option<String>,
}

/// Arguments of `top`.
#[derive(Clone, Debug, Args)]
pub struct TopArguments {
    /// Process id of the program or of `warpline run`, or a snapshot file [default: the only running program]
    #[arg(value_name = "PID|FILE")]
    pub what: Option<String>,
    /// Print once and exit
    #[arg(long)]
    pub once: bool,
    /// Text, or a snapshot as JSON
    #[arg(long, value_enum, default_value_t = TopFormat::Text)]
    pub format: TopFormat,
    /// Number of kernels
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// Formats of `top`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TopFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}
