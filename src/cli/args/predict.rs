//! Arguments of `predict`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::run::{LaunchesChoice, RestartChoice, ReuseChoice, ReuseScopeChoice, StateArguments};

/// Arguments of `predict`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  warpline predict app.wlprof --kernel stencil                          all block shapes, best first
  warpline predict app.wlprof --kernel stencil --block 32x8,64x4        two block shapes
  warpline predict app.wlprof --kernel stencil --set n=4096 --gpu a100,h100")]
pub struct PredictArguments {
    /// Profile of the program, or its executable (with --block, --grid, and parameters given by --set)
    pub file: PathBuf,
    /// Kernel whose demangled name matches [default: the profile's only kernel]
    #[arg(long, value_name = "REGEX")]
    pub kernel: Option<String>,
    /// Block shapes: 32x8, 8x8x4, or `all` for all powers of two along the axes of the launch
    #[arg(long, value_name = "SHAPE[,SHAPE…]", default_value = "all")]
    pub block: String,
    /// Grid: 128x64 [default: the number of blocks that covers the same indices]
    #[arg(long, value_name = "SHAPE")]
    pub grid: Option<String>,
    /// Value of a kernel parameter that addresses depend on; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Thread coarsening: points per thread along an axis, such as y=2
    #[arg(long, value_name = "AXIS=POINTS", conflicts_with = "check")]
    pub fold: Vec<String>,
    /// Padding of an array's rows (x) or planes (y), in elements, such as d_in.x=1
    #[arg(long, value_name = "ARRAY.AXIS=ELEMENTS", conflicts_with = "check")]
    pub pad: Vec<String>,
    /// Array of structures to convert to a structure of arrays
    #[arg(long, value_name = "ARRAY=soa", conflicts_with = "check")]
    pub layout: Vec<String>,
    /// Parameter values for which to find the best block shape, such as n=512,1024,2048
    #[arg(long, value_name = "NAME=VALUE,…", conflicts_with = "check")]
    pub over: Option<String>,
    /// GPU models (see `warpline gpus`) [default: the profile's first]
    #[arg(long, value_name = "MODEL[,MODEL…]")]
    pub gpu: Option<String>,
    /// Registers per thread, for occupancy [default: reported by ptxas for the model's architecture]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub registers: Option<u32>,
    /// Number of measurements you can make; the output names the configurations that are worth measuring
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget: Option<u32>,
    /// Run the best, the worst and some other configurations with this command, and compare predicted with simulated
    /// figures. {x}, {y} and {z} in the command are the block sizes. With --budget, the configurations that are worth
    /// measuring are run
    #[arg(long, value_name = "COMMAND", conflicts_with = "format")]
    pub check: Option<String>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t = PredictFormat::Text)]
    pub format: PredictFormat,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Number of rows of the text
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

impl PredictArguments {
    /// Assumptions of the model: the defaults, except for registers.
    pub(in crate::cli) fn state(&self) -> StateArguments {
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

/// Formats of a prediction.
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
