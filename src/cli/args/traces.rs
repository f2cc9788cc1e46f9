//! Arguments of what reads traces and running programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::run::StateArguments;
use warpline_analyzer::analyses::pages::DEFAULT_WINDOW;

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
    /// Print the estimated seconds of all launches, and write no profile: what the Python package gives to Triton's autotuning
    #[arg(long, hide = true, conflicts_with_all = ["output", "bypass"])]
    pub seconds: bool,
    /// Threads of the analysis; the result does not depend on it [default: by the machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
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
