//! Arguments of what is about GPU models.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::run::DeviceChoice;

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
