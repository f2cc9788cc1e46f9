//! Compiles sources to objects.

use crate::clang_jobs::{self, Side};
use crate::command::{Command, Finished};
use crate::dependencies::{self, Rule};
use crate::device_code::device_section;
use crate::error::DriverError;
use crate::headers::Precompiled;
use crate::invocation::{Input, Invocation, Language};
use crate::link::cmake_steps;
use crate::programs::libraries;
use crate::programs::tools::Tools;
use crate::source::respelling::Respelling;
use crate::source::standard_input;
use crate::stages::{self, StageOptions};
use crate::trace;
use std::path::{Path, PathBuf};

/// Runs clang alone, with the driver's own streams and its exit code.
pub fn clang_only(tools: &Tools, invocation: &Invocation) -> Result<(), DriverError> {
    let Some(command) = clang_only_command(tools, invocation)? else { return Ok(()) };
    match command.run()? {
        0 => Ok(()),
        code => Err(DriverError::Compiler(code)),
    }
}

/// Produces the PTX of a source with clang alone. clang ends with a stack dump at names that are invalid in PTX.
pub fn ptx(tools: &Tools, invocation: &Invocation, input: &Input) -> Result<(), DriverError> {
    let Some(command) = clang_only_command(tools, invocation)? else { return Ok(()) };
    let finished = command.capture()?;
    if finished.code != 0 && String::from_utf8_lossy(&finished.diagnostics).contains(FOREIGN_NAME) {
        return Err(DriverError::Pass {
            source_file: standard_input::shown(input).into(),
            cause: "there is no PTX of it, which has no name with other characters than letters of ASCII, digits, _ and $: rename \
                    the kernel, function or variable that has, or take -cubin or -fatbin"
                .into(),
        });
    }
    finish(finished, input)
}

/// LLVM's message about a name that is invalid in PTX, before it ends the process.
const FOREIGN_NAME: &str = "Symbol name with unsupported characters";

/// Returns the command of [`clang_only`], or `None` if it must only be printed.
fn clang_only_command(tools: &Tools, invocation: &Invocation) -> Result<Option<Command>, DriverError> {
    let mut command = clang_jobs::clang_only(tools, invocation);
    let respelling = match &invocation.inputs[..] {
        [input] if input.language == Language::Cuda => Respelling::new(tools, invocation, input)?,
        _ => Respelling::of_command_line(tools, invocation)?,
    };
    command = respelling.applied(command);
    Ok((!trace::command(invocation, &command)).then_some(command))
}

/// `-c`: compiles each source to one object.
pub fn objects(tools: &Tools, invocation: &Invocation) -> Result<(), DriverError> {
    for input in invocation.sources() {
        let output = object_path(invocation, input);
        object(tools, invocation, input, &output, &Rule::of_object(invocation, &output))?;
    }
    Ok(())
}

/// Returns the path of the object of a source for `-c`: `-o`, or the source's name with `.o`, in `-odir` or the current
/// folder.
fn object_path(invocation: &Invocation, input: &Input) -> PathBuf {
    match &invocation.output {
        Some(output) => output.clone(),
        None => {
            let name = Path::new(Path::new(&input.path).file_name().unwrap_or_default()).with_extension("o");
            invocation.output_folder.as_deref().unwrap_or(Path::new("")).join(name)
        }
    }
}

/// Compiles one source to an object.
pub fn object(
    tools: &Tools,
    invocation: &Invocation,
    input: &Input,
    output: &Path,
    rule: &Rule,
) -> Result<(), DriverError> {
    match input.language {
        Language::Cuda => cuda_object(tools, invocation, input, output, rule),
        Language::Cxx | Language::C => host_object(tools, invocation, input, output, rule),
        Language::Other => {
            let command = clang_jobs::plain_object(tools, invocation, input, output);
            if !trace::command(invocation, &command) {
                finish(command.capture()?, input)?;
            }
            Ok(())
        }
        Language::Object => Ok(()),
    }
}

fn cuda_object(
    tools: &Tools,
    invocation: &Invocation,
    given: &Input,
    output: &Path,
    rule: &Rule,
) -> Result<(), DriverError> {
    if let Some(linked) = cmake_steps::linked_object(invocation, given) {
        return std::fs::copy(&linked, output).map(|_| ()).map_err(DriverError::writing(output));
    }
    let read = standard_input::read(tools, invocation, given)?;
    let input = read.as_ref().unwrap_or(given);
    let intermediate = |side: &str| tools.temporary().join(format!("{}.{side}.bc", stem(output)));
    let (device_file, host_file) = (intermediate("device"), intermediate("host"));
    let respelled = Respelling::new(tools, invocation, input)?;
    let side =
        |side, output: &Path| respelled.applied(clang_jobs::cuda_bitcode(tools, invocation, input, side, output));
    let device = side(Side::Device, &device_file);
    let mut host = side(Side::Host, &host_file);
    host = clang_jobs::with_dependencies(host, invocation, rule);
    let packed = tools.temporary().join(format!("{}.relocatable", stem(output)));
    if invocation.relocatable {
        host = host.args(["-Xclang".to_string(), format!("-fembed-offload-object={}", packed.display())]);
    }
    let stops = trace::command(invocation, &device) | trace::command(invocation, &host);
    if stops {
        let files = [&device_file, &host_file].map(|file| file.display().to_string()).join(" ");
        trace::line(invocation, &format!("warpline: hook and lower {files} -> {}", output.display()));
        return Ok(());
    }
    let options = StageOptions::new(tools, invocation, standard_input::shown(given));
    let run = |command: &Command, side| capture(tools, invocation, input, &respelled, command, side);
    let device = || run(&device, Side::Device);
    let host = || run(&host, Side::Host);
    if invocation.relocatable {
        // The device code is not lowered before the link; the host's object contains it.
        finish(device()?, input)?;
        let bitcode = stages::device_bitcode(&device_file, &options)?;
        let framed = device_section::frame(&bitcode, tools.architecture);
        std::fs::write(&packed, framed).map_err(DriverError::writing(&packed))?;
        finish(host()?, input)?;
    } else {
        let (device, host) = both(device, host)?;
        // As with clang, a source whose device side fails is not compiled for the host.
        finish(device, input)?;
        finish(host, input)?;
    }
    dependencies::remove_own_files(tools, invocation, input, &rule.file)?;
    match invocation.relocatable {
        true => stages::host_unit(&host_file, output, &options),
        false => stages::cuda_unit(&device_file, &host_file, output, &options),
    }
}

/// Runs the compilation of one side, with precompiled headers if there are any.
fn capture(
    tools: &Tools,
    invocation: &Invocation,
    input: &Input,
    respelling: &Respelling,
    command: &Command,
    side: Side,
) -> Result<Finished, DriverError> {
    let Respelling { arguments, changed, .. } = respelling;
    let headers = Precompiled::new(tools, invocation, input, side, arguments, changed);
    Ok(headers.map_or_else(|| command.capture(), |headers| headers.capture(command))?)
}

/// Compiles only the device code of a CUDA source to bitcode, without any LLVM pass.
pub fn device_bitcode(tools: &Tools, invocation: &Invocation, input: &Input, output: &Path) -> Result<(), DriverError> {
    let respelled = Respelling::new(tools, invocation, input)?;
    let command = respelled.applied(clang_jobs::cuda_bitcode(tools, invocation, input, Side::Device, output));
    finish(capture(tools, invocation, input, &respelled, &command, Side::Device)?, input)
}

fn host_object(
    tools: &Tools,
    invocation: &Invocation,
    input: &Input,
    output: &Path,
    rule: &Rule,
) -> Result<(), DriverError> {
    let host_file = tools.temporary().join(format!("{}.host.bc", stem(output)));
    let command = clang_jobs::host_bitcode(tools, invocation, input, &host_file);
    let command = clang_jobs::with_dependencies(command, invocation, rule);
    if trace::command(invocation, &command) {
        return Ok(());
    }
    finish(command.capture()?, input)?;
    dependencies::remove_own_files(tools, invocation, input, &rule.file)?;
    stages::host_unit(&host_file, output, &StageOptions::new(tools, invocation, &input.path))
}

/// Runs both sides at the same time.
fn both(
    device: impl FnOnce() -> Result<Finished, DriverError>,
    host: impl FnOnce() -> Result<Finished, DriverError> + Send,
) -> Result<(Finished, Finished), DriverError> {
    let (device, host) = std::thread::scope(|scope| {
        let host = scope.spawn(host);
        (device(), host.join())
    });
    // A thread that only waits for a process does not panic.
    let host = host.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    Ok((device?, host?))
}

/// Prints the diagnostics; an exit code other than 0 ends the compilation with this code.
fn finish(finished: Finished, input: &Input) -> Result<(), DriverError> {
    finished.report_of(&input.path);
    match finished.code {
        0 => Ok(()),
        code => {
            let diagnostics = String::from_utf8_lossy(&finished.diagnostics);
            libraries::of_missing_header(&diagnostics).into_iter().for_each(libraries::report_missing);
            if libraries::lacks_host_headers(&diagnostics) {
                libraries::report_host_compiler();
            }
            Err(DriverError::Compiler(code))
        }
    }
}

fn stem(output: &Path) -> String {
    output.file_stem().map_or("unit".into(), |stem| stem.to_string_lossy().into_owned())
}
