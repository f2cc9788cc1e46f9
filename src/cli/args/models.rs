//! Arguments of commands about GPU models.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::run::DeviceChoice;

/// Arguments of `validate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline validate --gpu a100                          compare the simulated caches with closed forms
  warpline validate --device gpu --curves curves.toml   and with the caches of this machine's GPU
  ncu --csv --metrics $(warpline validate --list-counters) ./app > app.csv      (with WARPLINE=0)
  warpline validate app.wlprof --counters app.csv       compare a profile with hardware counters")]
pub struct ValidateArguments {
    /// Profiles to compare with counters [default: run pointer chases]
    #[arg(value_name = "PROFILE", requires = "counters")]
    pub profiles: Vec<PathBuf>,
    /// Output of `ncu --csv` for the same program without hooks, once per profile
    #[arg(long, value_name = "FILE", requires = "profiles")]
    pub counters: Vec<PathBuf>,
    /// Print the names of the compared counters, for `ncu --metrics`
    #[arg(long)]
    pub list_counters: bool,
    /// Device that runs the chases; on a GPU, latencies are also measured
    #[arg(long, value_enum, default_value_t = DeviceChoice::Cpu, conflicts_with = "counters")]
    pub device: DeviceChoice,
    /// GPU model to validate [default: the GPU found with --device gpu, otherwise rtx2080ti]
    #[arg(long, value_name = "MODEL", conflicts_with = "counters")]
    pub gpu: Option<String>,
    /// Prebuilt program of the pointer chases [default: built by `warpline cc`]
    #[arg(long, value_name = "FILE", conflicts_with = "counters")]
    pub program: Option<PathBuf>,
    /// File for the measured curves, in the format of model files
    #[arg(long, value_name = "FILE", conflicts_with = "counters")]
    pub curves: Option<PathBuf>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t = ValidateFormat::Text)]
    pub format: ValidateFormat,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Formats of a validation.
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
    /// Model to print [default: list all]
    pub model: Option<String>,
}
