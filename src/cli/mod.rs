//! The `warpline` command line.

mod args;
mod args_recordings;
mod cc;
mod compact;
mod default_model;
mod diff;
mod doctor;
mod explain;
mod explore;
mod export;
mod findings;
mod gpus;
mod labels;
mod manual;
mod merge;
mod models;
mod output;
mod piped;
mod predict;
mod profile;
mod quantities;
mod query;
mod recordings;
mod report;
mod run;
mod sim;
mod synthesize;
mod top;
mod validate;

use std::process::ExitCode;

use clap::Parser as _;

pub use args::{Cli, Command};

use crate::exit_code;

/// What a command could not do, and the exit code for it.
#[derive(Debug)]
pub struct Failure {
    /// Exit code.
    pub code: u8,
    /// Message for standard error; empty when all is said.
    pub message: String,
}

impl Failure {
    fn new(code: u8, message: impl std::fmt::Display) -> Failure {
        Failure { code, message: message.to_string() }
    }
}

/// Runs the command line and returns the exit code.
pub fn main() -> ExitCode {
    run::survive_large_files();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { exit_code::USAGE } else { exit_code::OK };
            _ = error.print();
            return ExitCode::from(code);
        }
    };
    let color = output::Color::new(cli.color);
    let result = match cli.command {
        Command::Cc(arguments) => cc::execute(&arguments),
        Command::Run(arguments) => run::execute(&arguments),
        Command::Profile(arguments) => profile::execute(&arguments, color),
        Command::Sim(arguments) => sim::execute(&arguments),
        Command::Compact(arguments) => compact::execute(&arguments),
        Command::Diff(arguments) => diff::execute(&arguments, color),
        Command::Predict(arguments) => predict::execute(&arguments),
        Command::Merge(arguments) => merge::execute(&arguments),
        Command::Export(arguments) => export::execute(&arguments),
        Command::Record(arguments) => recordings::record(&arguments),
        Command::History(arguments) => recordings::history(&arguments, color),
        Command::Gate(arguments) => recordings::gate(&arguments, color),
        Command::Query(arguments) => query::execute(&arguments),
        Command::Top(arguments) => top::execute(&arguments),
        Command::Report(arguments) => report::execute(&arguments, color),
        Command::Validate(arguments) => validate::execute(&arguments),
        Command::Gpus(arguments) => gpus::execute(&arguments),
        Command::Explore(arguments) => explore::execute(&arguments, color),
        Command::Explain(arguments) => explain::execute(&arguments),
        Command::Doctor => doctor::execute(),
        Command::Options(arguments) => run::print_options(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Synthesize(arguments) => synthesize::execute(&arguments),
        Command::Man(arguments) => manual::man(&arguments),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            if !failure.message.is_empty() {
                output::say(failure.message);
            }
            ExitCode::from(failure.code)
        }
    }
}
