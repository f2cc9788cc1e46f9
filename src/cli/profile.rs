//! `warpline profile`: compiles, runs and reports in one command.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args as _, FromArgMatches as _};
use warpline_toolchain::interrupt;

use crate::cli::args::{Format, ProfileArguments, RunArguments};
use crate::cli::output::Color;
use crate::cli::profiles::report;
use crate::cli::{Failure, cc, output, run};
use crate::exit_code;
use warpline_profile::Profile;
use warpline_report::Filter;

pub(super) fn execute(arguments: &ProfileArguments, color: Color) -> Result<u8, Failure> {
    if requests_help(&arguments.arguments) {
        output::print(help().as_bytes())?;
        return Ok(exit_code::OK);
    }
    let Parts { compiler, run: run_options, program } = split(&arguments.arguments)?;
    let folder = tempfile::Builder::new()
        .prefix("warpline-profile-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .tempdir()
        .map_err(|error| Failure::new(exit_code::UNEXPECTED, format!("no temporary folder: {error}")))?;
    let _removal = interrupt::removes(folder.path());
    let executable = folder.path().join(executable_name(&compiler));
    let status = Command::new(cc::compiler())
        .args(&compiler)
        .arg("-o")
        .arg(&executable)
        .status()
        .map_err(|error| cc::missing(&error))?;
    if !status.success() {
        // The compiler has printed its error. An unknown option may have been intended for `run`.
        let code = status.code().map_or(exit_code::UNEXPECTED, |code| code as u8);
        let message = compiler.iter().find_map(|argument| meant_for_run(argument)).unwrap_or_default();
        return Err(Failure { code, message });
    }
    let mut run_arguments = parsed(run_options, executable.clone().into_os_string(), program)?;
    let default = || PathBuf::from(format!("warpline.{}.wlprof", executable_name(&compiler)));
    run_arguments.output.get_or_insert_with(default);
    let plan = run::Plan::new(&run_arguments)?;
    plan.check_output()?;
    let outcome = run::run(&plan)?;
    let Some(mut profile) = outcome.profile else {
        if outcome.declined {
            return Err(Failure { code: outcome.code, message: String::new() });
        }
        let message = "the program sent no data, because it never called the CUDA runtime; there is nothing to report";
        return Err(Failure::new(if outcome.code == 0 { exit_code::RUN_NOT_PROFILED } else { outcome.code }, message));
    };
    name_program(&mut profile, folder.path());
    crate::cli::run::write(&profile, &plan)?;
    let filter = Filter { top: 10, ..Filter::default() };
    let looks = report::Looks { color: color.stdout, all: false, width: report::width(true), cost: 0 };
    output::print(&report::render(&profile, Format::Text, &filter, looks)?.1)?;
    if let Some(name) = &plan.unused_gpu {
        output::say(run::gpu_offer(name, "add --device gpu"));
    }
    output::say(format_args!("wrote {}", plan.output.display()));
    if outcome.code != 0 {
        output::say(format_args!("the program ended with exit code {}", outcome.code));
    }
    if let Some(message) = outcome.unfulfilled.filter(|_| outcome.code == 0) {
        return Err(Failure::new(exit_code::NOTHING_MATCHED, message));
    }
    // The program succeeded, but nothing that was requested was recorded.
    let nothing = !profile.kernels.is_empty() && profile.kernels.iter().all(|kernel| kernel.recorded_launches() == 0);
    Ok(if outcome.code == 0 && nothing { exit_code::NOTHING_MATCHED } else { outcome.code })
}

/// Replaces the program's path by its name, because the folder in which it was built no longer exists.
fn name_program(profile: &mut Profile, folder: &Path) {
    let folder = format!("{}/", folder.display());
    for text in profile.run.program.iter_mut().take(1).chain(&mut profile.run.notes) {
        *text = text.replace(&folder, "");
    }
}

/// The arguments of the compiler, of `run` and of the program.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts {
    compiler: Vec<OsString>,
    run: Vec<OsString>,
    program: Vec<OsString>,
}

/// Returns the options of `run` that `profile` also accepts, by their long names, and whether a value follows.
/// `--threads` is passed to nvcc, which has an option with this name, and `--device` also affects the compiler.
fn run_options() -> Vec<(String, bool)> {
    let command = command();
    let known = command.get_arguments().filter_map(|argument| {
        let value = argument.get_action().takes_values() && !argument.is_require_equals_set();
        argument.get_long().filter(|name| *name != "threads").map(|name| (format!("--{name}"), value))
    });
    known.collect()
}

/// Returns the options of `run` as options of `profile`.
fn command() -> clap::Command {
    RunArguments::augment_args(clap::Command::new("warpline profile"))
}

fn requests_help(all: &[OsString]) -> bool {
    all.iter().take_while(|argument| *argument != "--").any(|argument| argument == "-h" || argument == "--help")
}

/// Returns the options of `run` for `--help`.
fn help() -> String {
    let mut command = command()
        .about("Compile, run and report in one go")
        .override_usage(USAGE)
        .mut_arg("program", |argument| argument.hide(true))
        .mut_arg("threads", |argument| argument.hide(true))
        .after_help("Every other option is the compiler's: `warpline cc --help` lists them.");
    command.render_help().to_string()
}

/// Returns a hint about an unknown compiler option that is similar to an option of `run`.
fn meant_for_run(argument: &OsStr) -> Option<String> {
    let text = argument.to_str().filter(|text| text.starts_with("--"))?;
    let error = command().try_get_matches_from(["warpline profile", text]).err()?;
    let like = match error.get(clap::error::ContextKind::SuggestedArg)? {
        clap::error::ContextValue::String(like) => like,
        _ => return None,
    };
    Some(format!("if `{text}` was meant for the run, not for the compiler: the option is called `{like}`"))
}

/// Divides the arguments among the compiler, `run` and the program.
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
        // `-o` names the profile, as for `run` and `report`; the executable is temporary and needs no name.
        if let Some(attached) = text.strip_prefix("-o").filter(|name| name.is_empty() || name.ends_with(".wlprof")) {
            let name = if attached.is_empty() { rest.next().cloned() } else { Some(OsString::from(attached)) };
            let name = name.ok_or_else(|| usage("-o needs the name of the profile"))?;
            parts.run.extend([OsString::from("--output"), name]);
            continue;
        }
        let name = text.split_once('=').map_or(&*text, |(name, _)| name);
        let Some((_, value)) = options.iter().find(|(known, _)| known == name) else {
            if ["-c", "-E", "-dc"].contains(&&*text) {
                return Err(usage(&format!("{text} cannot be used here, because `profile` builds the program itself")));
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

/// Parses the options of `run` in the same way as `run` does.
pub(super) fn parsed(
    options: Vec<OsString>,
    executable: OsString,
    program: Vec<OsString>,
) -> Result<RunArguments, Failure> {
    let command = command();
    let words = [OsString::from("warpline profile")].into_iter().chain(options);
    let words = words.chain([OsStr::new("--").into(), executable]).chain(program);
    let read = command.try_get_matches_from(words).and_then(|matches| RunArguments::from_arg_matches(&matches));
    read.map_err(|error| {
        // The second part of clap's message shows the usage of `run`, which does not apply here.
        let text = error.to_string();
        let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
        Failure::new(exit_code::USAGE, format!("{message}; usage: {USAGE}"))
    })
}

const USAGE: &str = "warpline profile SOURCES… [COMPILER OPTIONS] [OPTIONS OF `warpline run`] [-- ARGS…]";

/// Returns the name of the program, which is derived from its first source.
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
        let named = split(&words("app.cu -o out.wlprof -O2")).unwrap();
        assert_eq!((named.compiler, named.run), (words("app.cu -O2"), words("--output out.wlprof")));
        assert_eq!(split(&words("app.cu -oout.wlprof")).unwrap().run, words("--output out.wlprof"));
        // The values of these options follow only after `=`.
        let values = split(&words("--values app.cu --trace-values=int,float --values=memory")).unwrap();
        let run = words("--values --trace-values=int,float --values=memory");
        assert_eq!((values.compiler, values.run), (words("app.cu"), run));
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
        assert!(split(&words("a.cu -o")).unwrap_err().message.contains("-o needs the name"));
        assert!(split(&words("a.cu -c")).unwrap_err().message.contains("-c cannot be used here"));
        assert_eq!(split(&words("--gpu a100")).unwrap_err().code, exit_code::USAGE);
    }

    #[test]
    fn help_lists_what_the_run_takes() {
        assert!(requests_help(&words("a.cu --help")) && !requests_help(&words("a.cu -- --help")));
        let help = help();
        let options = run_options();
        let missing: Vec<_> = options.iter().filter(|(name, _)| !help.contains(name.as_str())).collect();
        assert!(missing.is_empty() && help.contains(USAGE), "{missing:?} in {help}");
        let hint = meant_for_run(OsStr::new("--kernel")).unwrap();
        assert!(hint.contains("`--kernels`"), "{hint}");
        assert_eq!(meant_for_run(OsStr::new("--std=c++17")), None);
    }
}
