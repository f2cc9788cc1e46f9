//! `warpline profile`: compile, run and report in one go.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args as _, FromArgMatches as _};

use super::args::{Format, ProfileArguments, RunArguments};
use super::output::Color;
use super::{Failure, cc, output, report, run};
use crate::exit_code;
use crate::report::Filter;

pub(super) fn execute(arguments: &ProfileArguments, color: Color) -> Result<u8, Failure> {
    let Parts { compiler, run: run_options, program } = split(&arguments.arguments)?;
    let folder = tempfile::Builder::new()
        .prefix("warpline-profile-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
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
    let mut run_arguments = parsed(run_options, executable.clone().into_os_string(), program)?;
    let default = || PathBuf::from(format!("warpline.{}.wlprof", executable_name(&compiler)));
    run_arguments.output.get_or_insert_with(default);
    let plan = run::Plan::new(&run_arguments)?;
    plan.check_output()?;
    let outcome = run::run(&plan)?;
    let Some(profile) = outcome.profile else {
        let message = "the program sent nothing: it never reached the CUDA runtime; there is nothing to report";
        return Err(Failure::new(if outcome.code == 0 { exit_code::RUN_NOT_PROFILED } else { outcome.code }, message));
    };
    super::run::write(&profile, &plan)?;
    let filter = Filter { kernel: None, source: None, top: 10 };
    let looks = report::Looks { color: color.stdout, all: false, width: report::width(true) };
    output::print(&report::render(&profile, Format::Text, &filter, looks)?.1)?;
    output::say(format_args!("wrote {}", plan.output.display()));
    if outcome.code != 0 {
        output::say(format_args!("the program ended with exit code {}", outcome.code));
    }
    Ok(outcome.code)
}

/// Whose arguments are whose.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts {
    compiler: Vec<OsString>,
    run: Vec<OsString>,
    program: Vec<OsString>,
}

/// The options of `run` that `profile` knows too, by their long names, and whether a value follows. `--threads` is left
/// to nvcc, which has one of its own; `--device` concerns the compiler as well.
fn run_options() -> Vec<(String, bool)> {
    let command = RunArguments::augment_args(clap::Command::new("warpline profile"));
    let known = command.get_arguments().filter_map(|argument| {
        let value = argument.get_action().takes_values();
        argument.get_long().filter(|name| *name != "threads").map(|name| (format!("--{name}"), value))
    });
    known.collect()
}

/// Sorts the arguments by whom they are for.
fn split(all: &[OsString]) -> Result<Parts, Failure> {
    let usage = |message: &str| Failure::new(exit_code::USAGE, format!("{message}; usage: {USAGE}"));
    let mut parts = Parts::default();
    let options = run_options();
    let mut rest = all.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        if text == "--" {
            parts.program = rest.cloned().collect();
            break;
        }
        if text == "-h" || text == "--help" {
            return Err(Failure { code: exit_code::OK, message: format!("usage: {USAGE}") });
        }
        let name = text.split_once('=').map_or(&*text, |(name, _)| name);
        let Some((_, value)) = options.iter().find(|(known, _)| known == name) else {
            if ["-c", "-E", "-dc", "-o"].contains(&&*text) {
                let hint = if text == "-o" { ", --output names the profile" } else { "" };
                let message = format!("{text} makes no sense here, `profile` builds a program of its own{hint}");
                return Err(usage(&message));
            }
            parts.compiler.push(argument.clone());
            continue;
        };
        let mut whole = vec![argument.clone()];
        if *value && !text.contains('=') {
            whole.extend(rest.next().cloned());
        }
        if name == "--device" {
            parts.compiler.extend(whole.iter().cloned());
        }
        parts.run.extend(whole);
    }
    if parts.compiler.is_empty() {
        return Err(usage("which sources are to be profiled?"));
    }
    Ok(parts)
}

/// The options of `run`, read as `run` itself would.
pub(super) fn parsed(
    options: Vec<OsString>,
    executable: OsString,
    program: Vec<OsString>,
) -> Result<RunArguments, Failure> {
    let command = RunArguments::augment_args(clap::Command::new("warpline profile"));
    let words = [OsString::from("warpline profile")].into_iter().chain(options);
    let words = words.chain([OsStr::new("--").into(), executable]).chain(program);
    let read = command.try_get_matches_from(words).and_then(|matches| RunArguments::from_arg_matches(&matches));
    read.map_err(|error| {
        // clap's second part is the usage of `run`, which is not what was typed.
        let text = error.to_string();
        let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
        Failure::new(exit_code::USAGE, format!("{message}; usage: {USAGE}"))
    })
}

const USAGE: &str = "warpline profile SOURCES… [COMPILER OPTIONS] [OPTIONS OF `warpline run`] [-- ARGS…]";

/// Name of the program after its first source.
fn executable_name(compiler: &[OsString]) -> String {
    let source = compiler.iter().map(Path::new).find(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("cu" | "cpp" | "cc" | "cxx" | "c" | "o"))
    });
    let stem = source.and_then(|path| path.file_stem()).map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| "program".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn options_go_to_whom_they_concern() {
        let line = "app.cu -O2 --gpu a100 -Iinclude --kernels=step --threads 4 --device=gpu -- --gpu 3";
        let parts = split(&words(line)).unwrap();
        assert_eq!(parts.compiler, words("app.cu -O2 -Iinclude --threads 4 --device=gpu"));
        assert_eq!(parts.run, words("--gpu a100 --kernels=step --device=gpu"));
        assert_eq!(parts.program, words("--gpu 3"));
    }

    #[test]
    fn options_of_run_are_read_as_run_reads_them() {
        let parts = split(&words("app.cu --gpu a100,v100 --check report --output out.wlprof -- 7")).unwrap();
        let read = parsed(parts.run, "app".into(), parts.program).unwrap();
        assert_eq!(read.gpu.as_deref(), Some("a100,v100"));
        assert_eq!(read.check, crate::cli::args::CheckChoice::Report);
        assert_eq!(read.output, Some("out.wlprof".into()));
        assert_eq!(read.program, words("app 7"));
        let wrong = parsed(words("--check maybe"), "app".into(), vec![]).unwrap_err();
        assert_eq!(wrong.code, exit_code::USAGE);
        assert!(
            wrong.message.contains("maybe") && !wrong.message.contains("warpline run [OPTIONS]"),
            "{}",
            wrong.message
        );
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(split(&[]).unwrap_err().code, exit_code::USAGE);
        assert!(split(&words("a.cu -o a")).unwrap_err().message.contains("--output"));
        assert_eq!(split(&words("--gpu a100")).unwrap_err().code, exit_code::USAGE);
        assert_eq!(split(&words("a.cu --help")).unwrap_err().code, exit_code::OK);
    }
}
