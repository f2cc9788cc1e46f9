//! The command line of Warpline, and re-exports of the library's crates.
//!
//! Data flows in one direction: [`trace`] → [`requests`] → [`analysis`] → [`profile`] → [`findings`] → [`report`] →
//! [`explore`]. [`comparison`] and [`merge`] process several profiles, [`prediction`] evaluates launches that were not
//! run, and [`dataset`] writes tables. Each part is a separate crate in a folder of `src`; [`cli`] combines them. None
//! of them links LLVM or CUDA.

pub mod cli;
pub mod exit_code;
pub mod validate;

pub use warpline_analyzer::{advice, analyses, analysis, attribution, patterns, races, requests, simulation, trace};
pub use warpline_comparison::{self as comparison, gate, history, merge};
pub use warpline_dataset as dataset;
pub use warpline_findings as findings;
pub use warpline_prediction as prediction;
pub use warpline_profile::{self as profile, live, ranks, store};
pub use warpline_report::{self as report, explore};
pub use warpline_simulator::{geometry, hierarchy, locality, metrics, models};
