//! Parses the command line and runs the command.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

use super::args::{Cli, Command};
use super::{cc, doctor, manual, mcp, models, output, predict, profile, profiles, recordings, run, traces, validate};
use crate::exit_code;

/// Runs the command line and returns the exit code.
pub fn main() -> ExitCode {
    warpline_toolchain::large_files::survive();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if !error.use_stderr() {
                return shown(error.print().and_then(|()| std::io::stdout().flush()));
            }
            // The message quotes the command line, which may contain the name of an untrusted file.
            let text = error.render().to_string();
            _ = std::io::stderr().write_all(output::written_out(&text).as_bytes());
            return ExitCode::from(exit_code::USAGE);
        }
    };
    let color = output::Color::new(cli.color);
    let result = match cli.command {
        Command::Cc(arguments) => cc::execute(&arguments),
        Command::Run(arguments) => run::execute(&arguments),
        Command::Profile(arguments) => profile::execute(&arguments, color),
        Command::Sim(arguments) => traces::sim::execute(&arguments),
        Command::Compact(arguments) => traces::compact::execute(&arguments),
        Command::Diff(arguments) => profiles::diff::execute(&arguments, color),
        Command::Predict(arguments) => predict::execute(&arguments),
        Command::Merge(arguments) => profiles::merge::execute(&arguments),
        Command::Export(arguments) => profiles::export::execute(&arguments),
        Command::Record(arguments) => recordings::record(&arguments),
        Command::History(arguments) => recordings::history(&arguments, color),
        Command::Gate(arguments) => recordings::gate(&arguments, color),
        Command::Query(arguments) => profiles::query::execute(&arguments),
        Command::Top(arguments) => traces::top::execute(&arguments),
        Command::Report(arguments) => profiles::report::execute(&arguments, color),
        Command::Validate(arguments) => validate::execute(&arguments),
        Command::Gpus(arguments) => models::gpus::execute(&arguments),
        Command::Explore(arguments) => profiles::explore::execute(&arguments, color),
        Command::Explain(arguments) => profiles::explain::execute(&arguments),
        Command::Mcp(arguments) => mcp::execute(&arguments),
        Command::Doctor => doctor::execute(),
        Command::Setup(arguments) => doctor::setup(&arguments),
        Command::Options(arguments) => run::print_options(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Synthesize(arguments) => profiles::synthesize::execute(&arguments),
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

/// Returns the exit code after help or a version was printed. A closed output is not an error.
fn shown(printed: std::io::Result<()>) -> ExitCode {
    match printed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            output::say(format_args!("cannot write to standard output: {error}"));
            ExitCode::from(exit_code::UNEXPECTED)
        }
        _ => ExitCode::from(exit_code::OK),
    }
}
