//! `warpline-cc`: reads a compiler's command line, compiles device and host code with clang, runs the pass, which hooks
//! and lowers the code, and links with the runtime.
//!
//! A command line is processed as follows: [`options`] splits it, [`invocation`] interprets it, [`programs::tools`]
//! finds the required tools, and [`compile`] and [`link`] do the work with the commands of [`clang_jobs`], the
//! precompiled [`headers`] and the stages of [`stages`].

pub mod architecture;
pub mod clang_jobs;
pub mod command;
pub mod compile;
mod dependencies;
pub mod device_code;
mod device_image;
mod device_module;
mod dump;
pub mod error;
mod headers;
mod invocation;
pub mod link;
pub mod message;
pub mod options;
pub mod programs;
mod run_time_source;
pub mod source;
mod stages;
mod trace;
mod version;

use error::DriverError;
use invocation::{Action, Invocation};
use options::Dialect;
use programs::tools::Tools;
use std::process::ExitCode;
use warpline_format::run_time::{EXIT_USAGE, OPTION};
use warpline_format::visible;

/// If it is `1`, programs are built without hooks: they run on the CPU device and record nothing.
pub const DISABLE_VARIABLE: &str = "WARPLINE_CC_DISABLE";

/// The number of threads that generate code for one file; the default is the number of cores.
pub const THREADS_VARIABLE: &str = "WARPLINE_CC_THREADS";

/// The argument before another compiler and its arguments, for build systems that start compilers through a launcher.
/// The driver compiles instead of the other compiler, in the dialect of its name.
const LAUNCHER: &str = "--warpline-launcher";

/// Executes a command line and reports errors. `program` is the name by which the driver was started.
pub fn main(program: &str, arguments: &[String]) -> ExitCode {
    if let [first, compiler, rest @ ..] = arguments
        && first == LAUNCHER
    {
        return main(compiler, rest);
    }
    warpline_toolchain::large_files::survive();
    let result = match link::cmake_steps::Step::of_program(program) {
        Some(step) => step.run(arguments),
        None => serve(Dialect::of_program(program), arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The compiler has already printed its own message.
            if !matches!(error, DriverError::Compiler(_)) {
                let words = arguments
                    .iter()
                    .flat_map(|word| [word.as_str(), word.split_once('=').map_or("", |(_, value)| value)]);
                message::line(format_args!("warpline-cc: error: {}", visible::message_with(&error.to_string(), words)));
            }
            // A program that compiles at run time recognises errors in its options by the exit code.
            let at_run_time = arguments.first().is_some_and(|first| first == OPTION);
            match error {
                DriverError::Usage(_) if at_run_time => ExitCode::from(EXIT_USAGE),
                error => ExitCode::from(error.exit_code()),
            }
        }
    }
}

fn serve(dialect: Dialect, arguments: &[String]) -> Result<(), DriverError> {
    let invocation = Invocation::parse(arguments, dialect)?;
    match invocation.action {
        Action::Help => {
            return message::answer(format_args!("{}{}", version::HELP, version::architectures()));
        }
        Action::Version => {
            return message::answer(format_args!("{}", version::text(dialect)?));
        }
        // Neither action needs clang or a toolkit.
        Action::DeviceModule => return device_module::shared_object(&invocation),
        Action::CarriedCode => return device_code::carried::generate(&invocation),
        Action::RuntimeLibrary => return device_module::runtime_library(&invocation),
        _ => {}
    }
    let tools = Tools::find(&invocation)?;
    if invocation.action != Action::RunTimeSource {
        note(&invocation, &tools);
    }
    trace::variables(&tools, &invocation)?;
    match invocation.action {
        Action::Toolkit => message::answer(format_args!("{}\n", tools.toolkit()?.display())),
        Action::Architectures(name) => {
            let known = architecture::known(tools.cuda.oldest_architecture());
            let lines: String = known.map(|number| format!("{name}_{number}\n")).collect();
            message::answer(format_args!("{lines}"))
        }
        Action::Clang => compile::clang_only(&tools, &invocation),
        Action::DeviceFile(kind) => device_image::compile(&tools, &invocation, kind),
        Action::RunTimeSource => run_time_source::compile(&tools, &invocation),
        Action::Object => compile::objects(&tools, &invocation),
        Action::Archive => link::archive(&tools, &invocation),
        Action::DeviceLink => link::device_link(&tools, &invocation),
        _ => link::link(&tools, &invocation),
    }
}

/// Prints the differences from the request, one per line.
fn note(invocation: &Invocation, tools: &Tools) {
    if !invocation.ignored.is_empty() {
        message::line(format_args!(
            "warpline-cc: note: without effect here: {}",
            visible::message(&invocation.ignored.join(", "))
        ));
    }
    for note in &tools.notes {
        message::line(format_args!("warpline-cc: note: {}", visible::message(note)));
    }
}
