//! `warpline profile`: compile, run and report in one go.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::args::{
    CheckChoice, DeviceChoice, Format, HostAllocationChoice, ProfileArguments, RestartChoice, RunArguments,
};
use super::output::Color;
use super::{Failure, cc, output, report, run};
use crate::exit_code;
use crate::report::Filter;

pub(super) fn execute(arguments: &ProfileArguments, color: Color) -> Result<u8, Failure> {
    let (compiler, program) = split(&arguments.arguments)?;
    let folder = tempfile::Builder::new()
        .prefix("warpline-profile-")
        .tempdir()
        .map_err(|error| Failure::new(exit_code::UNEXPECTED, format!("no temporary folder: {error}")))?;
    let executable = folder.path().join(executable_name(&compiler));
    let status = Command::new(cc::compiler())
        .args(&compiler)
        .arg("-o")
        .arg(&executable)
        .status()
        .map_err(|error| cc::missing(&error))?;
    if !status.success() {
        // The compiler has said what is wrong.
        let code = status.code().map_or(exit_code::UNEXPECTED, |code| code as u8);
        return Err(Failure { code, message: String::new() });
    }
    let mut command = vec![executable.clone().into_os_string()];
    command.extend(program);
    let run_arguments = RunArguments {
        output: Some(PathBuf::from(format!("warpline.{}.wlprof", executable_name(&compiler)))),
        trace: None,
        gpu: None,
        device: DeviceChoice::Cpu,
        kernels: None,
        launches: None,
        blocks: None,
        check: CheckChoice::Stop,
        host_allocations: HostAllocationChoice::Used,
        l2_copies: None,
        restart: RestartChoice::On,
        threads: None,
        program: command,
    };
    let plan = run::Plan::new(&run_arguments)?;
    plan.check_output()?;
    let outcome = run::run(&plan)?;
    let Some(profile) = outcome.profile else {
        let message = "the program sent nothing: it never reached the CUDA runtime; there is nothing to report";
        return Err(Failure::new(if outcome.code == 0 { exit_code::RUN_NOT_PROFILED } else { outcome.code }, message));
    };
    crate::profile::write(&profile, &plan.output).map_err(|error| Failure::new(exit_code::RUN_NOT_PROFILED, error))?;
    let filter = Filter { kernel: None, source: None, top: 10 };
    output::print(&report::render(&profile, Format::Text, &filter, color.stdout)?)?;
    eprintln!("warpline: wrote {}", plan.output.display());
    if outcome.code != 0 {
        eprintln!("warpline: the program ended with exit code {}", outcome.code);
    }
    Ok(outcome.code)
}

/// Compiler's and program's arguments.
fn split(all: &[OsString]) -> Result<(Vec<OsString>, Vec<OsString>), Failure> {
    let usage = |message: &str| Failure::new(exit_code::USAGE, format!("{message}; usage: {USAGE}"));
    if all.iter().take_while(|argument| *argument != "--").any(|argument| argument == "-h" || argument == "--help") {
        return Err(Failure { code: exit_code::OK, message: format!("usage: {USAGE}") });
    }
    let (compiler, program) = match all.iter().position(|argument| argument == "--") {
        Some(at) => (all[..at].to_vec(), all[at + 1..].to_vec()),
        None => (all.to_vec(), Vec::new()),
    };
    if compiler.is_empty() {
        return Err(usage("which sources are to be profiled?"));
    }
    for argument in &compiler {
        if ["-c", "-E", "-dc", "-o"].iter().any(|refused| argument == refused) {
            let name = argument.to_string_lossy();
            return Err(usage(&format!("{name} makes no sense here, `profile` builds a program of its own")));
        }
    }
    Ok((compiler, program))
}

const USAGE: &str = "warpline profile SOURCES… [COMPILER OPTIONS] [-- ARGS…]";

/// Name of the program after its first source.
fn executable_name(compiler: &[OsString]) -> String {
    let source = compiler.iter().map(Path::new).find(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("cu" | "cpp" | "cc" | "cxx" | "c" | "o"))
    });
    let stem = source.and_then(|path| path.file_stem()).map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| "program".to_owned())
}
