//! The `warpline` command line.

mod args;
mod cc;
mod dispatch;
mod doctor;
mod failure;
mod labels;
mod manual;
mod mcp;
mod models;
mod output;
mod predict;
mod profile;
mod profiles;
mod quantities;
mod recordings;
mod run;
mod traces;
mod validate;

pub use args::{Cli, Command};
pub use dispatch::main;
pub use failure::Failure;
