//! Arguments of `predict`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::run::{LaunchesChoice, RestartChoice, ReuseChoice, ReuseScopeChoice, StateArguments};

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
