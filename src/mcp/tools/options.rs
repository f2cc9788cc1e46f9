//! Converts arguments of clients to command line options. Each value is checked, so that it cannot be interpreted as
//! another option.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::{Shared, model};
use crate::arguments::RunArguments;
use crate::error::Refusal;

/// A run: the command line of `warpline`, and the path of the profile that it writes.
#[derive(Debug)]
pub(crate) struct RunOptions {
    pub(crate) command: Vec<OsString>,
    pub(crate) output: PathBuf,
}

/// Returns the command line of a run with additional `options` of `warpline run`.
pub(crate) fn run_options(shared: &Shared, arguments: &RunArguments, options: &[&str]) -> Result<RunOptions, Refusal> {
    let sources = arguments.sources.iter().map(|source| source_file(shared, source)).collect::<Result<Vec<_>, _>>()?;
    let program = arguments.program.as_deref().map(|program| shared.roots.file(program)).transpose()?;
    let (subject, is_source) = match (&sources[..], &program) {
        ([], Some(program)) => (program, false),
        ([first, ..], None) => (first, true),
        _ => {
            let expected = "pass either `sources`, which are compiled, or `program`, which `warpline cc` has built";
            return Err(Refusal::argument("sources", arguments.sources.join(", "), expected));
        }
    };
    let output = output(shared, arguments, subject)?;
    let mut run: Vec<OsString> = vec!["--output".into(), verbatim(&output)];
    run.extend(options.iter().map(OsString::from));
    if let Some(name) = &arguments.gpu {
        run.push(format!("--gpu={}", model(name)?).into());
    }
    if let Some(pattern) = &arguments.kernels {
        regex::Regex::new(pattern).map_err(|error| Refusal::argument("kernels", pattern, error.to_string()))?;
        run.push(format!("--kernels={pattern}").into());
    }
    if arguments.arguments.iter().any(|text| text.contains('\0')) {
        return Err(Refusal::argument("arguments", arguments.arguments.join(" "), "NUL cannot be passed to a program"));
    }
    let mut command: Vec<OsString> = Vec::new();
    if is_source {
        command.push("profile".into());
        command.extend(sources.into_iter().map(PathBuf::into_os_string));
        command.extend(compiler_options(shared, arguments)?);
        command.extend(run);
        command.push("--".into());
    } else {
        let is_set = !arguments.defines.is_empty() || !arguments.include_folders.is_empty();
        if is_set || arguments.architecture.is_some() || arguments.standard.is_some() {
            let expected = "options of the compiler need `sources`; omit them for a program that is built";
            return Err(Refusal::argument("program", subject.display().to_string(), expected));
        }
        command.push("run".into());
        command.extend(run);
        command.push("--".into());
        command.push(subject.into());
    }
    command.extend(arguments.arguments.iter().map(OsString::from));
    Ok(RunOptions { command, output })
}

/// Returns the path as a value of `--output`, in which `%p` and `%q{NAME}` are escaped.
fn verbatim(output: &Path) -> OsString {
    let bytes = output.as_os_str().as_encoded_bytes().iter();
    let quoted = bytes.flat_map(|byte| std::iter::repeat_n(*byte, if *byte == b'%' { 2 } else { 1 }));
    OsString::from_vec(quoted.collect())
}

fn source_file(shared: &Shared, source: &str) -> Result<PathBuf, Refusal> {
    let path = shared.roots.file(source)?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("cu" | "cpp" | "cc" | "cxx" | "c") => Ok(path),
        _ => Err(Refusal::argument("sources", source, "sources end in .cu, .cpp, .cc, .cxx or .c")),
    }
}

fn output(shared: &Shared, arguments: &RunArguments, subject: &Path) -> Result<PathBuf, Refusal> {
    if let Some(output) = &arguments.output {
        return shared.roots.new_profile(output);
    }
    let stem = subject.file_stem().map_or_else(|| "program".into(), |stem| stem.to_string_lossy());
    shared.roots.new_profile(&format!("warpline.{stem}.wlprof"))
}

fn compiler_options(shared: &Shared, arguments: &RunArguments) -> Result<Vec<OsString>, Refusal> {
    let mut options = Vec::new();
    for define in &arguments.defines {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte));
        if !is_name || !is_word(name) || name.contains(['.', '+', '-']) || !is_word(value) {
            let expected = "a macro is NAME or NAME=VALUE; values have letters, digits, `_`, `.`, `+` and `-`";
            return Err(Refusal::argument("defines", define, expected));
        }
        options.push(format!("-D{name}={value}").into());
    }
    for folder in &arguments.include_folders {
        let mut option = OsString::from("-I");
        option.push(shared.roots.folder(folder)?);
        options.push(option);
    }
    if let Some(architecture) = &arguments.architecture {
        let digits = architecture.strip_prefix("sm_").unwrap_or_default();
        let is_number = (2..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            return Err(Refusal::argument(
                "architecture",
                architecture,
                "an architecture is sm_ and a number, as sm_80",
            ));
        }
        options.push(format!("-arch={architecture}").into());
    }
    if let Some(standard) = &arguments.standard {
        if !["c++11", "c++14", "c++17", "c++20", "c++23"].contains(&&standard[..]) {
            return Err(Refusal::argument("standard", standard, "standards are c++11, c++14, c++17, c++20 and c++23"));
        }
        options.push(format!("-std={standard}").into());
    }
    Ok(options)
}
