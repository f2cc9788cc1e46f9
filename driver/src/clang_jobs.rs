//! The clang commands of a compilation.

use crate::command::Command;
use crate::dependencies::Rule;
use crate::invocation::{Input, Invocation, Language};
use crate::options::Dialect;
use crate::programs::tools::Tools;
use crate::source::{command_line_macros, standard_input};
use std::path::Path;
use warpline_toolchain::cache::content_hash;

/// The side of a CUDA source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Code for the GPU.
    Device,
    /// Code for the processor.
    Host,
}

/// clang as the compiler of a language.
pub fn clang(tools: &Tools, language: Language) -> Command {
    // If clang crashes, it would name files for a report that are not the user's.
    let command = Command::new(&tools.clang.path).args(["-fno-crash-diagnostics"]);
    if language == Language::C { command } else { command.args(["--driver-mode=g++"]) }
}

/// clang as the linker. It has a separate name if there is one: CMake reads the program from the output of `-v` and
/// keeps its arguments.
pub fn linker(tools: &Tools) -> Command {
    tools.clang.cxx().map_or_else(|| clang(tools, Language::Cxx), Command::new)
}

/// The arguments of a CUDA compilation that depend on the toolkit.
fn cuda_arguments(command: Command, tools: &Tools, invocation: &Invocation) -> Command {
    let command = command
        .args([format!("--cuda-path={}", tools.cuda.root.display())])
        .args([format!("--cuda-gpu-arch=sm_{}", tools.architecture)])
        // clang 22 officially supports CUDA up to 12.9, but also compiles with 13.0.
        .args(["-Wno-unknown-cuda-version", "--no-offload-new-driver"]);
    let (command, included) = without_includes(command);
    let macros = command_line_macros::is_needed(invocation).then_some(["-include", command_line_macros::FILE]);
    toolkit_headers(command, tools)
        .args(["-include", "warpline/compatibility.h"])
        .args(macros.into_iter().flatten())
        .args(included)
}

/// Splits a command into a command without `-include` options, and these options, because nvcc declares CUDA's types
/// before such files.
fn without_includes(command: Command) -> (Command, Vec<String>) {
    let (mut kept, mut included) = (Vec::new(), Vec::new());
    let mut arguments = command.arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-include" => included.extend([argument].into_iter().chain(arguments.next())),
            // The next argument is for the compiler itself.
            "-Xclang" => kept.extend([argument].into_iter().chain(arguments.next())),
            _ => kept.push(argument),
        }
    }
    (Command { arguments: kept, ..command }, included)
}

/// Adds Warpline's headers and the toolkit's headers, after the user's own.
fn toolkit_headers(command: Command, tools: &Tools) -> Command {
    let command = command.args(["-isystem".to_string()]).path(&tools.include).args(tools.openmp_headers());
    match tools.cuda.cccl_include() {
        Some(folder) => command.args(["-isystem"]).path(&folder),
        None => command,
    }
}

/// Errors of clang for which nvcc and Debian's g++ and gcc at most warn: `register` in C++17, numbers that are not
/// constant and narrowed in braces, `"a "MACRO"b"` without blanks, `x.template f(1)`, and in C, functions without a
/// declaration and pointers of other types. The list also contains warnings that only g++ has, and flags for the
/// linker, which clang ignores when it compiles.
const ONLY_WARNINGS: [&str; 10] = [
    "-Wno-error=register",
    "-Wno-error=c++11-narrowing",
    "-Wno-error=reserved-user-defined-literal",
    "-Wno-error=missing-template-arg-list-after-template-kw",
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-unused-command-line-argument",
    "-Wno-unknown-warning-option",
];

/// As with nvcc, an argument in device code may be undefined in lanes that do not use its value: `int i; if (lane == 0)
/// i = atomicAdd(…); i = __shfl_sync(~0u, i, 0);` is the usual reservation of elements for a warp. Without this option,
/// clang would conclude that all lanes are lane 0.
const UNDEFINED_ARGUMENTS: [&str; 2] = ["-Xclang", "-no-enable-noundef-analysis"];

/// Returns arguments without the macros that a CUDA source gets from [`command_line_macros::FILE`].
fn arguments_for(arguments: &[String], cuda: bool) -> Vec<String> {
    if cuda { command_line_macros::without_late(arguments) } else { arguments.to_vec() }
}

/// Returns the arguments that every compilation of an input gets.
fn compilation(tools: &Tools, invocation: &Invocation, input: &Input) -> Command {
    let command = clang(tools, input.language);
    let command = match input.language.clang_name() {
        Some(name) => command.args(["-x", name]),
        None => command,
    };
    // g++ ignores a C++ standard for a C file; makefiles pass it for all of nvcc's inputs.
    let foreign =
        |argument: &&String| input.language == Language::C && argument.starts_with("-std=") && argument.contains("++");
    let common = tools.without_openmp(&arguments_for(&invocation.common, input.language == Language::Cuda));
    let command = command.args(common.into_iter().filter(|argument| !foreign(&argument)));
    if invocation.dialect == Dialect::Nvcc && matches!(input.language, Language::C | Language::Cxx | Language::Cuda) {
        return command.args(ONLY_WARNINGS);
    }
    command
}

/// Returns the command that compiles one side of a CUDA source to bitcode, without any LLVM pass.
pub fn cuda_bitcode(tools: &Tools, invocation: &Invocation, input: &Input, side: Side, output: &Path) -> Command {
    let command = cuda_arguments(compilation(tools, invocation, input), tools, invocation);
    let command = match side {
        Side::Device => command
            .args(["--cuda-device-only".into(), format!("-O{}", invocation.device_level())])
            .args(UNDEFINED_ARGUMENTS)
            .args(arguments_for(&invocation.device, true)),
        // clang generates the registration code only if there is a GPU binary. Any file is sufficient, because the pass
        // replaces it.
        Side::Host => command
            .args(["--cuda-host-only".into(), format!("-O{}", invocation.host_level())])
            .args(wrapping(invocation))
            .args(host_arguments(tools, invocation, true))
            .args(["-Xclang", "-fcuda-include-gpubinary", "-Xclang", &input.path]),
    };
    // From sm_90 on, clang has the functions for clusters that CUDA's headers use.
    let command = command.args(["-D_CG_CLUSTER_INTRINSICS_AVAILABLE"]);
    let command = match is_cmake_probe(invocation, input) {
        true => command.args(["-D__NVCC__"]),
        false => command,
    };
    let command = command.args(architecture_list(tools, invocation).into_iter().flatten());
    let command = match invocation.relocatable {
        // Both sides must use the same names for static variables and functions of the file.
        true => command.args([
            "-fgpu-rdc".to_string(),
            format!("-cuid={:016x}", unit_hash(invocation, input)),
            // Otherwise, the toolkit's header makes cudaMalloc and similar functions fail in device code, as without
            // -rdc.
            "-D__CUDACC_INTERNAL_NO_STUBS__".to_string(),
        ]),
        false => command,
    };
    bitcode(command, input, output)
}

/// Defines `__CUDA_ARCH_LIST__` as nvcc does: the values of `__CUDA_ARCH__` that the command line names, in ascending
/// order. clang's own definition, which has the architecture of the compilation, is removed first.
fn architecture_list(tools: &Tools, invocation: &Invocation) -> Option<[String; 2]> {
    if invocation.dialect != Dialect::Nvcc {
        return None;
    }
    let mut named = invocation.architectures.clone();
    if named.is_empty() {
        named.push(tools.requested_architecture);
    }
    named.sort_unstable();
    let values: Vec<String> = named.iter().map(|number| format!("{}", number * 10)).collect();
    Some(["-U__CUDA_ARCH_LIST__".to_owned(), format!("-D__CUDA_ARCH_LIST__={}", values.join(","))])
}

/// Returns the arguments of `-Xcompiler` and similar options for host compilations. Arguments for the linker, which g++
/// ignores here, are not included.
fn host_arguments(tools: &Tools, invocation: &Invocation, cuda: bool) -> Vec<String> {
    let ours = invocation.host.iter().filter(|argument| !argument.starts_with("-Wl,"));
    arguments_for(&tools.without_openmp(&ours.cloned().collect::<Vec<_>>()), cuda)
}

/// Returns the flag for wrapping overflow. nvcc's host compiler, g++, often does not optimise an overflowing `i * i`,
/// whereas clang does. Programs whose check of the results overflows would pass with nvcc but seem to compute wrong
/// results here.
fn wrapping(invocation: &Invocation) -> Option<&'static str> {
    (invocation.dialect == Dialect::Nvcc).then_some("-fwrapv")
}

/// Returns whether an input is CMake's compiler probe: CMake compiles a file with this name to identify the compiler,
/// and treats `__NVCC__` as nvcc. The macro is set only for this file, because headers that test it rely on features
/// that only nvcc has.
pub fn is_cmake_probe(invocation: &Invocation, input: &Input) -> bool {
    invocation.dialect == Dialect::Nvcc && input.path.ends_with("CMakeCUDACompilerId.cu")
}

/// Returns the command that compiles a C or C++ source for the host to bitcode, without any LLVM pass.
pub fn host_bitcode(tools: &Tools, invocation: &Invocation, input: &Input, output: &Path) -> Command {
    let command = compilation(tools, invocation, input)
        .args([format!("-O{}", invocation.host_level())])
        .args(wrapping(invocation))
        .args(host_arguments(tools, invocation, false));
    let command = toolkit_headers(command, tools).args(["-isystem"]).path(&tools.cuda.include());
    bitcode(command, input, output)
}

/// Returns the command that compiles any other source, as clang does.
pub fn plain_object(tools: &Tools, invocation: &Invocation, input: &Input, output: &Path) -> Command {
    compilation(tools, invocation, input)
        .args(host_arguments(tools, invocation, false))
        .args(["-c", &input.path, "-o"])
        .path(output)
}

fn bitcode(command: Command, input: &Input, output: &Path) -> Command {
    command
        // The pass reads variables, members and inlining from debug information; with -O, clang would keep only lines.
        .args(["-g", "-Xclang", "-debug-info-kind=limited"])
        // The pass adds its notes before it runs LLVM's passes itself.
        .args(["-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", &input.path, "-o"])
        .path(output)
}

/// Adds the flags that write dependencies, with the names of the whole compilation, which differ from those of this
/// command.
pub fn with_dependencies(command: Command, invocation: &Invocation, rule: &Rule) -> Command {
    if invocation.dependencies.is_empty() {
        return command;
    }
    let command = command.args(invocation.dependencies.iter().copied()).args(["-MF"]).path(&rule.file);
    match invocation.dependency_targets.is_empty() {
        true => command.args(["-MT"]).path(&rule.target),
        false => invocation
            .dependency_targets
            .iter()
            .fold(command, |command, (flag, target)| command.args([*flag, target.as_str()])),
    }
}

/// Returns a hash that identifies a translation unit, equal for both sides and in every build.
fn unit_hash(invocation: &Invocation, input: &Input) -> u64 {
    let shown = standard_input::shown(input);
    let path = std::path::absolute(shown).unwrap_or_else(|_| shown.into());
    let defines = invocation.common.join("\0");
    content_hash(format!("{}\0{defines}", path.display()).as_bytes())
}

/// Returns the command for results that only clang produces: preprocessed text, assembly, PTX, IR, dependencies,
/// answers.
pub fn clang_only(tools: &Tools, invocation: &Invocation) -> Command {
    let cuda = invocation.inputs.iter().any(|input| input.language == Language::Cuda);
    let mut command = clang(tools, Language::Cxx).args(tools.without_openmp(&arguments_for(&invocation.common, cuda)));
    if invocation.dialect == Dialect::Nvcc {
        command = command.args(ONLY_WARNINGS);
    }
    if cuda {
        command = cuda_arguments(command, tools, invocation);
    }
    let requested = &invocation.clang_only;
    let for_device = requested.iter().any(|flag| flag.ends_with("device-only"));
    // nvcc generates one text for a source, that of the host; clang would generate one for each side.
    if cuda && invocation.dialect == Dialect::Nvcc && !requested.iter().any(|flag| flag.ends_with("-only")) {
        command = command.args(["--cuda-host-only"]);
    }
    let level = if for_device { invocation.device_level() } else { invocation.host_level() };
    command = command.args([format!("-O{level}")]).args(requested.iter().cloned());
    if for_device {
        command = command.args(arguments_for(&invocation.device, cuda));
    }
    command = command.args(host_arguments(tools, invocation, cuda));
    command = command.args(invocation.dependency_targets.iter().flat_map(|(flag, target)| [*flag, target.as_str()]));
    if let Some(file) = &invocation.dependency_file {
        command = command.args(["-MF"]).path(file);
    }
    if let Some(output) = &invocation.output {
        command = command.args(["-o"]).path(output);
    }
    for input in &invocation.inputs {
        if let Some(name) = input.language.clang_name() {
            command = command.args(["-x", name]);
        }
        command = command.args([input.path.as_str()]);
    }
    command
}
