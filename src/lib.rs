//! Warpline's analyzer and command line: reads the trace of an instrumented CUDA program, ties each
//! access to its source line, call path and allocation, and reports. Links no LLVM and no CUDA.
//!
//! Data flows one way: [`trace`] → [`requests`] → [`analysis`] (with [`attribution`] and [`metrics`]) → [`profile`]
//! → [`findings`] → [`report`] → [`explore`]; [`comparison`] and [`merge`] take several profiles; [`validate`] compares with closed forms and hardware; [`cli`] puts them together.

pub mod advice;
pub mod analyses;
pub mod analysis;
pub mod attribution;
pub mod cli;
pub mod comparison;
pub mod dataset;
pub mod exit_code;
pub mod explore;
pub mod findings;
pub mod gate;
pub mod geometry;
pub mod hierarchy;
pub mod history;
pub mod live;
pub mod locality;
pub mod merge;
pub mod metrics;
pub mod models;
mod named_files;
mod nearest;

pub mod patterns;
pub mod prediction;
pub mod profile;
pub mod races;
mod ranks;
pub mod report;
pub mod requests;
mod simd;
pub mod simulation;
pub mod store;
pub mod trace;
pub mod validate;
