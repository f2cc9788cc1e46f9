//! Links: executables, shared libraries, archives, and the device part of separate compilation.

use super::relocatable;
use crate::clang_jobs;
use crate::command::Command;
use crate::compile;
use crate::dependencies::Parts;
use crate::error::DriverError;
use crate::invocation::{GpuCode, Invocation, Language, LinkItem};
use crate::programs::libraries;
use crate::programs::tools::Tools;
use crate::trace;
use std::path::{Path, PathBuf};
use warpline_format::gpu::REAL_PREFIX;
use warpline_format::hooks::RUNTIME_FUNCTION_PREFIX;

/// Links sources, objects and libraries with the runtime.
pub fn link(tools: &Tools, invocation: &Invocation) -> Result<(), DriverError> {
    let objects = compile_sources(tools, invocation)?;
    let items = items(invocation, &objects);
    let mut command = clang_jobs::linker(tools);
    if invocation.shared {
        command = command.args(["-shared"]);
    }
    if let Some(output) = &invocation.output {
        command = command.args(["-o"]).path(output);
    }
    // This comes first, so that it takes precedence over a real toolkit's folder among the user's folders.
    command = command.args([tools.link_path()?]);
    // The unknown flags include flags for compilations (-fPIC, -march=…), which the link need not use.
    command = command.args(["-Qunused-arguments"]).args(tools.without_openmp(&items));
    if !invocation.dry_run
        && let Some(object) = relocatable::device_object(tools, invocation, &items)?
    {
        command = command.path(&object);
    }
    command = command.args(["-lcudadevrt", "-lcudart_static"]);
    // Modules that the program loads find the runtime's functions in the program.
    command = command.args([format!("-Wl,--export-dynamic-symbol={RUNTIME_FUNCTION_PREFIX}*")]);
    match invocation.gpu {
        // A program that loads CUDA's libraries by `dlopen` finds their functions in itself. Plug-ins also contain the
        // runtime, but a process has only one device. The symbols that the program exports replace those of the
        // plug-ins, if they include all functions that compiled code calls.
        GpuCode::None => {
            command = command.args([
                "-Wl,--wrap=dlopen",
                "-Wl,--export-dynamic-symbol=cu*",
                "-Wl,--export-dynamic-symbol=nvrtc*",
                "-Wl,--export-dynamic-symbol=__cuda[A-Z]*",
                "-Wl,--export-dynamic-symbol=__warpline_*",
            ]);
        }
        GpuCode::Real => {
            command = command
                .args(crate::device_code::gpu::link_arguments(tools, &crate::programs::embedded::runtime_library()?)?);
        }
        GpuCode::Emulated => {
            command = command
                .args([format!("-Wl,--export-dynamic-symbol={REAL_PREFIX}{RUNTIME_FUNCTION_PREFIX}*")])
                .path(&crate::device_code::emulation::runtime(tools, &crate::programs::embedded::runtime_library()?)?);
        }
    }
    let linked = run(invocation, &command);
    if linked.is_err() {
        libraries::of_link(&items).into_iter().for_each(libraries::report_missing);
    }
    linked
}

/// `-dlink`: generates the device part of a link, as an object for a host linker.
pub fn device_link(tools: &Tools, invocation: &Invocation) -> Result<(), DriverError> {
    let objects = compile_sources(tools, invocation)?;
    let items = items(invocation, &objects);
    let output = invocation.output.clone().unwrap_or_else(|| "a_dlink.o".into());
    if invocation.dry_run {
        let line = format!("warpline: link device code of {} -> {}", items.join(" "), output.display());
        trace::line(invocation, &line);
        return Ok(());
    }
    match relocatable::device_object(tools, invocation, &items)? {
        Some(object) => std::fs::copy(&object, &output).map(|_| ()).map_err(DriverError::writing(&output)),
        // Build systems link the result even if there is no device code.
        None => relocatable::empty_object(tools, &output),
    }
}

/// `-lib`: creates an archive of the objects.
pub fn archive(tools: &Tools, invocation: &Invocation) -> Result<(), DriverError> {
    let objects = compile_sources(tools, invocation)?;
    let output = invocation.output.clone().unwrap_or_else(|| "a.a".into());
    let command = Command::new("ar").args(["rcs"]).path(&output);
    let members = invocation.link.iter().filter_map(|item| match item {
        LinkItem::Input(index) => objects[*index].as_ref().map(|path| path.display().to_string()),
        LinkItem::Argument(_) => None,
    });
    run(invocation, &command.args(members.collect::<Vec<_>>()))
}

/// Compiles the sources among the inputs. Returns the file to link for each input: its object, or the input itself.
fn compile_sources(tools: &Tools, invocation: &Invocation) -> Result<Vec<Option<PathBuf>>, DriverError> {
    let mut objects = Vec::new();
    let mut parts = Parts::default();
    for (index, input) in invocation.inputs.iter().enumerate() {
        if input.language == Language::Object {
            objects.push(Some(PathBuf::from(&input.path)));
            continue;
        }
        // The name has a number, because two folders may contain sources with the same name.
        let name = Path::new(&input.path).file_stem().map_or("unit".into(), |stem| stem.to_string_lossy());
        let object = tools.temporary().join(format!("{index}-{name}.o"));
        let rule = parts.rule(invocation, input, &object);
        compile::object(tools, invocation, input, &object, &rule)?;
        parts.publish(invocation, input, &rule)?;
        objects.push(Some(object));
    }
    Ok(objects)
}

/// Returns the link's inputs and arguments in order, without CUDA's own runtime, which Warpline's runtime replaces.
fn items(invocation: &Invocation, objects: &[Option<PathBuf>]) -> Vec<String> {
    let item = |item: &LinkItem| match item {
        LinkItem::Input(index) => objects[*index].as_ref().map(|path| path.display().to_string()),
        LinkItem::Argument(argument) => Some(argument.clone()),
    };
    invocation.link.iter().filter_map(item).filter(|item| !is_cuda_runtime(item)).collect()
}

/// Returns whether a link argument is CUDA's runtime library, by option or by file.
fn is_cuda_runtime(argument: &str) -> bool {
    let name = argument.strip_prefix("-l").map(|name| name.strip_prefix(':').unwrap_or(name)).unwrap_or(argument);
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.split('.').next().unwrap_or(file);
    let library = argument.starts_with("-l") || file.contains(".so") || file.ends_with(".a");
    let stem = stem.strip_prefix("lib").unwrap_or(stem);
    library && matches!(stem, "cudart" | "cudart_static" | "cudadevrt")
}

fn run(invocation: &Invocation, command: &Command) -> Result<(), DriverError> {
    if trace::command(invocation, command) {
        return Ok(());
    }
    match command.run()? {
        0 => Ok(()),
        code => Err(DriverError::Compiler(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cudas_runtime_is_left_out() {
        for runtime in [
            "-lcudart",
            "-lcudart_static",
            "-lcudadevrt",
            "/x/libcudart.so",
            "/x/lib64/libcudart_static.a",
            "-l:libcudart.so.13",
        ] {
            assert!(is_cuda_runtime(runtime), "{runtime}");
        }
        for other in ["-lcuda", "cudart.o", "-lcublas", "-Lcudart", "libcudartx.a", "-lm"] {
            assert!(!is_cuda_runtime(other), "{other}");
        }
    }
}
