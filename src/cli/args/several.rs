//! Arguments of commands that take several profiles.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `diff`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline diff before.wlprof after.wlprof                       what changed
  warpline diff main.wlprof branch.wlprof --format markdown      the same for a review
  warpline diff main.wlprof branch.wlprof --limits limits.toml   exit code 5 if one is broken")]
pub struct DiffArguments {
    /// Baseline profile
    pub before: PathBuf,
    /// Profile to compare with it
    pub after: PathBuf,
    /// Format of the comparison
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,
    /// File of limits (TOML); exit code 5 if one is exceeded
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
    /// Suppress findings: ID, ID@FILE:LINE, ID@KERNEL or @FILE:LINE; repeatable
    #[arg(long, value_name = "ID[@PLACE]")]
    pub ignore: Vec<String>,
    /// Refuse profiles with different GPU models, architectures, releases, assumptions or sampling, and incomplete ones
    #[arg(long)]
    pub strict: bool,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Number of rows per table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Show all rows and figures, not only the most significant ones
    #[arg(long, conflicts_with = "top")]
    pub all: bool,
    /// Smallest change of modelled figures (caches, DRAM, times) to show, in per cent of their total; counted figures
    /// are exact
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub tolerance: f64,
}

/// Formats of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people.
    Text,
    /// For code reviews.
    Markdown,
    /// For programs.
    Json,
    /// For browsers, with all views of both profiles.
    Html,
}

/// Arguments of `merge`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline run -o rank.%q{OMPI_COMM_WORLD_RANK}.wlprof -- ./app      in each of the ranks
  warpline merge rank.*.wlprof -o all.wlprof                        sums over them")]
pub struct MergeArguments {
    /// Profiles created with the same options, or folders of such profiles, in any order
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub files: Vec<PathBuf>,
    /// File of the profile
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Fail on unreadable files and on missing or incomplete ranks, instead of merging the others
    #[arg(long)]
    pub strict: bool,
    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
}

/// Arguments of `synthesize`.
#[derive(Clone, Debug, Args)]
pub struct SynthesizeArguments {
    /// Real profiles, whose kernels are repeated under other names
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Number of ranks of the job
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub ranks: u32,
    /// Number of memory instructions per rank
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub sites: usize,
    /// Folder for the profiles
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
}

/// Arguments of `export`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline export runs rank.*.wlprof                       create a dataset, or add to it
  warpline export runs app.wlprof --label commit=1a2b3c    with its commit
  warpline export runs app.wlprof --requests app.wltrace   with each memory request")]
pub struct ExportArguments {
    /// Format of the dataset
    #[arg(long, value_enum, default_value_t = ExportFormat::Parquet)]
    pub format: ExportFormat,
    /// Folder of the dataset, new or existing
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Profiles; duplicates are skipped
    #[arg(required = true, value_name = "PROFILE")]
    pub profiles: Vec<PathBuf>,
    /// Trace of a profile (`run --trace`), to add each of its requests; once per profile, in the same order
    #[arg(long, value_name = "TRACE")]
    pub requests: Vec<PathBuf>,
    /// Label to store with the profiles, such as commit=1a2b3c; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub label: Vec<String>,
}

/// Formats of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Apache Parquet files in folders by program, commit, rank and model.
    Parquet,
}

/// Arguments of `query`.
#[derive(Debug, Args)]
pub struct QueryArguments {
    /// Folder of the dataset, SQL, and options of `python -m warpline query`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "DIR [SQL] [OPTIONS]")]
    pub arguments: Vec<OsString>,
}

/// Parses a percentage from 0 to 100.
pub(in crate::cli) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end().parse::<f64>().ok();
    number.filter(|number| (0.0..=100.0).contains(number)).ok_or_else(|| "it takes a number from 0 to 100".to_owned())
}
