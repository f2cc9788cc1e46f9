//! Every option that the driver supports, as data. An option that is not in the table is an unknown flag and is passed
//! to clang.

use super::Dialect;
use super::device_file::DeviceFile;

/// The position of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// There is no value: `-c`.
    Flag,
    /// The value is the next argument, or follows `=`: `-arch sm_75`, `-arch=sm_75`.
    Value,
    /// The value is the next argument: `-Xclang -x`.
    Separate,
    /// The value follows `=`: `--cuda-gpu-arch=sm_75`.
    Equals,
    /// The value is the rest of the argument, which may be empty: `-O2`, `-O`.
    Joined,
    /// The value is the rest of the argument, or the next one: `-Ifolder`, `-I folder`; with nvcc also `-I=folder`.
    JoinedOrSeparate,
    /// The value is the next argument if it is one of nvcc's kinds of warnings: `-Werror all-warnings`.
    WarningKind,
}

/// The meaning of an option for the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Output file.
    Output,
    /// Output folder.
    OutputFolder,
    /// Compile to an object.
    Compile,
    /// Compile to an object with relocatable device code.
    DeviceCompile,
    /// Compile to an object with whole-program device code.
    DeviceCompileWhole,
    /// Link device code only, to an object.
    DeviceLink,
    /// Link everything, the default.
    Link,
    /// Make an archive of the objects.
    Library,
    /// Link a shared library.
    Shared,
    /// Preprocess.
    Preprocess,
    /// nvcc's C++ source for the host (`-cuda`), instead of which the preprocessed source is generated.
    HostSource,
    /// Stop at assembly.
    Assembly,
    /// `-ptx`, `-cubin`, `-fatbin`.
    DeviceFile(DeviceFile),
    /// Stop at LLVM IR.
    EmitLlvm,
    /// Write dependencies instead of compiling (`-M`, `-MM`).
    DependenciesOnly,
    /// Another result of clang alone: `-fsyntax-only`, `--cuda-device-only`, `-print-…`, `-dumpversion`.
    ClangOnly,
    /// A result that only nvcc can generate.
    NvccOnly,
    /// Print the supported architectures, with this prefix of their names.
    ListArchitectures(&'static str),
    /// The language of the inputs after the option.
    Language,
    /// A virtual or real architecture, such as `sm_75`, `compute_75`, `native`, or a list.
    Architecture,
    /// `arch=compute_75,code=[sm_75,compute_75]`.
    GenerateCode,
    /// Real architectures of `-arch=compute_…`.
    Code,
    /// Optimisation level.
    Optimize,
    /// Host debug information.
    Debug,
    /// Device debug information, unoptimised device code.
    DeviceDebug,
    /// `-dopt`.
    DeviceOptimize,
    /// Allows something that clang always allows; nvcc defines this macro for it.
    Defines(&'static str),
    /// Line information, which is always generated, so the option has no effect.
    LineInfo,
    /// Arguments for the host compilation and the link, comma-separated.
    HostArguments,
    /// Arguments for the linker, comma-separated with nvcc.
    LinkerArguments,
    /// Arguments for ptxas, comma-separated.
    PtxasArguments,
    /// `-use_fast_math`.
    FastMath,
    /// Flush single-precision denormals.
    FlushDenormals,
    /// Contract multiply and add.
    MultiplyAdd,
    /// Relocatable device code, yes or no.
    Relocatable,
    /// Relocatable device code.
    RelocatableOn,
    /// Whole-program device code.
    RelocatableOff,
    /// The maximum number of registers per thread.
    MaxRegisters,
    /// `-default-stream`.
    DefaultStream,
    /// The path of the CUDA toolkit.
    CudaPath,
    /// Passed to all compilations as `-<clang's spelling><value>`.
    Common(&'static str),
    /// Passed unchanged to all compilations and the link: `-pthread`.
    CompileAndLink,
    /// Passed to the link as `-<clang's spelling><value>`, at its position among the inputs.
    LinkItem(&'static str),
    /// Passed to the device compilation: `-Xarch_device`.
    DeviceOnly,
    /// Passed to the host compilation: `-Xarch_host`.
    HostOnly,
    /// Writes dependencies in addition to compiling; the value is clang's spelling.
    Dependencies(&'static str),
    /// The name of the dependency file.
    DependencyFile,
    /// The target name in the dependency file; the value is clang's spelling.
    DependencyTarget(&'static str),
    /// Treat warnings as errors.
    WarningsAsErrors,
    /// Show the commands as they run.
    Verbose,
    /// Show the commands and do not run them.
    DryRun,
    /// Version.
    Version,
    /// Help.
    Help,
    /// More options in files, comma-separated.
    OptionsFile,
    /// Requests the default, or something without meaning here that causes no problem: no note is printed.
    Accepted,
    /// Has no effect here although the user may expect one: a note names it.
    Ignored,
    /// Keep the PTX of device code.
    Keep,
    /// The folder for the PTX.
    KeepFolder,
    /// Print ptxas's report on kernels.
    ResourceUsage,
    /// `--warpline-dump`.
    WarplineDump,
    /// `--warpline-no-bundles`.
    WarplineNoBundles,
    /// `--warpline-no-precompiled-headers`.
    WarplineNoPrecompiledHeaders,
    /// `--warpline-cautious`.
    WarplineCautious,
    /// `--warpline-hooked-only`.
    WarplineHookedOnly,
    /// `--warpline-march`.
    WarplineMarch,
    /// `--warpline-toolkit`.
    WarplineToolkit,
    /// `--device`.
    WarplineDevice,
    /// `--warpline-module`.
    WarplineModule,
    /// `--warpline-hooks`.
    WarplineHooks,
    /// `--warpline-hooks-of`.
    WarplineHooksOf,
    /// `--warpline-values`.
    WarplineValues,
    /// `--warpline-assemble-for`.
    WarplineAssembleFor,
    /// `--warpline-line`.
    WarplineLine,
    /// `--warpline-source`.
    WarplineSource,
    /// `--warpline-names`.
    WarplineNames,
    /// Makes functions without an execution space device functions.
    DeviceByDefault,
    /// `--warpline-runtime`.
    WarplineRuntime,
    /// `--warpline-system`.
    WarplineSystem,
    /// `--warpline-parameters`.
    WarplineParameters,
    /// `--warpline-registers`.
    WarplineRegisters,
}

/// One row of the table.
#[derive(Debug)]
pub struct Spec {
    /// The names without dashes. Names with several letters may have one dash or two.
    pub names: &'static [&'static str],
    /// The position of the value.
    pub form: Form,
    /// The dialect; `None` means both dialects.
    pub dialect: Option<Dialect>,
    /// The meaning of the option.
    pub meaning: Meaning,
}

const fn both(names: &'static [&'static str], form: Form, meaning: Meaning) -> Spec {
    Spec { names, form, dialect: None, meaning }
}

const fn nvcc(names: &'static [&'static str], form: Form, meaning: Meaning) -> Spec {
    Spec { names, form, dialect: Some(Dialect::Nvcc), meaning }
}

const fn clang(names: &'static [&'static str], form: Form, meaning: Meaning) -> Spec {
    Spec { names, form, dialect: Some(Dialect::Clang), meaning }
}

use Form::{Equals, Flag, Joined, JoinedOrSeparate, Separate, Value, WarningKind};

/// The table. nvcc's options are those in the manual of the CUDA 13.0 compiler driver and of older releases. clang's
/// options are those that affect CUDA, that have a separate value, or that change the driver's actions.
pub const TABLE: &[Spec] = &[
    // Warpline's own options.
    both(&["warpline-dump"], Value, Meaning::WarplineDump),
    both(&["warpline-toolkit"], Flag, Meaning::WarplineToolkit),
    both(&["warpline-cautious"], Flag, Meaning::WarplineCautious),
    both(&["warpline-hooked-only"], Flag, Meaning::WarplineHookedOnly),
    both(&["warpline-no-bundles"], Flag, Meaning::WarplineNoBundles),
    both(&["warpline-no-precompiled-headers"], Flag, Meaning::WarplineNoPrecompiledHeaders),
    both(&["warpline-march"], Value, Meaning::WarplineMarch),
    both(&["device"], Value, Meaning::WarplineDevice),
    both(&["warpline-module"], Flag, Meaning::WarplineModule),
    both(&["warpline-hooks"], Value, Meaning::WarplineHooks),
    both(&["warpline-hooks-of"], Value, Meaning::WarplineHooksOf),
    both(&["warpline-values"], Value, Meaning::WarplineValues),
    both(&["warpline-assemble-for"], Value, Meaning::WarplineAssembleFor),
    both(&["warpline-line"], Value, Meaning::WarplineLine),
    both(&["warpline-source"], Flag, Meaning::WarplineSource),
    both(&["warpline-names"], Value, Meaning::WarplineNames),
    both(&["warpline-runtime"], Flag, Meaning::WarplineRuntime),
    both(&["warpline-system"], Value, Meaning::WarplineSystem),
    both(&["warpline-registers"], Value, Meaning::WarplineRegisters),
    both(&["warpline-parameters"], Value, Meaning::WarplineParameters),
    // The kind of the result.
    nvcc(&["o", "output-file"], Value, Meaning::Output),
    clang(&["o"], JoinedOrSeparate, Meaning::Output),
    clang(&["output"], Value, Meaning::Output),
    nvcc(&["odir", "output-directory"], Value, Meaning::OutputFolder),
    both(&["c", "compile"], Flag, Meaning::Compile),
    nvcc(&["dc", "device-c"], Flag, Meaning::DeviceCompile),
    nvcc(&["dw", "device-w"], Flag, Meaning::DeviceCompileWhole),
    nvcc(&["dlink", "device-link"], Flag, Meaning::DeviceLink),
    nvcc(&["link"], Flag, Meaning::Link),
    nvcc(&["lib"], Flag, Meaning::Library),
    both(&["shared"], Flag, Meaning::Shared),
    both(&["E", "preprocess"], Flag, Meaning::Preprocess),
    nvcc(&["cuda"], Flag, Meaning::HostSource),
    both(&["S", "assemble"], Flag, Meaning::Assembly),
    nvcc(&["ptx"], Flag, Meaning::DeviceFile(DeviceFile::Ptx)),
    nvcc(&["cubin"], Flag, Meaning::DeviceFile(DeviceFile::Cubin)),
    nvcc(&["fatbin"], Flag, Meaning::DeviceFile(DeviceFile::FatBinary)),
    both(&["emit-llvm"], Flag, Meaning::EmitLlvm),
    both(&["M", "MM"], Flag, Meaning::DependenciesOnly),
    nvcc(&["generate-dependencies", "generate-nonsystem-dependencies"], Flag, Meaning::DependenciesOnly),
    both(
        &["fsyntax-only", "cuda-device-only", "cuda-host-only", "dumpversion", "dumpmachine"],
        Flag,
        Meaning::ClangOnly,
    ),
    both(&["offload-device-only", "offload-host-only"], Flag, Meaning::ClangOnly),
    both(&["print-"], Joined, Meaning::ClangOnly),
    nvcc(&["optix-ir", "ltoir", "run"], Flag, Meaning::NvccOnly),
    nvcc(&["list-gpu-arch"], Flag, Meaning::ListArchitectures("compute")),
    nvcc(&["list-gpu-code"], Flag, Meaning::ListArchitectures("sm")),
    both(&["x"], JoinedOrSeparate, Meaning::Language),
    both(&["language"], Value, Meaning::Language),
    // Architectures.
    nvcc(&["arch", "gpu-architecture"], Value, Meaning::Architecture),
    nvcc(&["code", "gpu-code"], Value, Meaning::Code),
    nvcc(&["gencode", "generate-code"], Value, Meaning::GenerateCode),
    both(&["cuda-gpu-arch", "offload-arch"], Equals, Meaning::Architecture),
    both(&["no-cuda-gpu-arch", "no-offload-arch"], Equals, Meaning::Ignored),
    // Code generation.
    both(&["O"], Joined, Meaning::Optimize),
    nvcc(&["optimize"], Value, Meaning::Optimize),
    both(&["g"], Flag, Meaning::Debug),
    both(&["debug"], Flag, Meaning::Debug),
    both(&["g0", "g1", "g2", "g3", "ggdb", "ggdb3", "gdwarf-4", "gdwarf-5", "gline-tables-only"], Flag, Meaning::Debug),
    nvcc(&["G", "device-debug"], Flag, Meaning::DeviceDebug),
    clang(&["cuda-noopt-device-debug"], Flag, Meaning::DeviceDebug),
    nvcc(&["dopt"], Value, Meaning::DeviceOptimize),
    nvcc(&["lineinfo", "generate-line-info"], Flag, Meaning::LineInfo),
    nvcc(&["use_fast_math"], Flag, Meaning::FastMath),
    nvcc(&["ftz"], Value, Meaning::FlushDenormals),
    nvcc(&["fmad"], Value, Meaning::MultiplyAdd),
    // Division and square root are exact on the CPU device with either value.
    nvcc(&["prec-div", "prec-sqrt"], Value, Meaning::Accepted),
    nvcc(&["rdc", "relocatable-device-code"], Value, Meaning::Relocatable),
    both(&["fgpu-rdc", "fcuda-rdc"], Flag, Meaning::RelocatableOn),
    both(&["fno-gpu-rdc", "fno-cuda-rdc"], Flag, Meaning::RelocatableOff),
    nvcc(&["maxrregcount"], Value, Meaning::MaxRegisters),
    nvcc(&["default-stream"], Value, Meaning::DefaultStream),
    nvcc(&["m64"], Flag, Meaning::Accepted),
    nvcc(&["m", "machine"], Value, Meaning::Accepted),
    nvcc(
        &["Ofc", "Ofast-compile", "split-compile", "split-compile-extended", "jump-table-density"],
        Value,
        Meaning::Ignored,
    ),
    nvcc(&["dlto", "lto", "gen-opt-lto", "ewp", "extensible-whole-program"], Flag, Meaning::Ignored),
    nvcc(&["e", "entries"], Value, Meaning::Ignored),
    nvcc(&["extra-device-vectorization", "device-stack-protector", "pg", "profile"], Flag, Meaning::Ignored),
    nvcc(&["restrict"], Flag, Meaning::Ignored),
    // Options of the preprocessor and of the language.
    both(&["I"], JoinedOrSeparate, Meaning::Common("-I")),
    nvcc(&["include-path"], Value, Meaning::Common("-I")),
    both(&["D"], JoinedOrSeparate, Meaning::Common("-D")),
    nvcc(&["define-macro"], Value, Meaning::Common("-D")),
    both(&["U"], JoinedOrSeparate, Meaning::Common("-U")),
    nvcc(&["undefine-macro"], Value, Meaning::Common("-U")),
    both(&["isystem"], JoinedOrSeparate, Meaning::Common("-isystem")),
    nvcc(&["system-include"], Value, Meaning::Common("-isystem")),
    both(&["include"], JoinedOrSeparate, Meaning::Common("-include")),
    nvcc(&["pre-include"], Value, Meaning::Common("-include")),
    both(&["iquote"], JoinedOrSeparate, Meaning::Common("-iquote")),
    both(&["idirafter"], JoinedOrSeparate, Meaning::Common("-idirafter")),
    both(&["imacros"], JoinedOrSeparate, Meaning::Common("-imacros")),
    both(&["isysroot"], JoinedOrSeparate, Meaning::Common("-isysroot")),
    both(&["std"], Value, Meaning::Common("-std=")),
    both(&["w"], Flag, Meaning::Common("-w")),
    nvcc(&["disable-warnings"], Flag, Meaning::Common("-w")),
    nvcc(&["Werror"], WarningKind, Meaning::WarningsAsErrors),
    both(&["Xclang"], Separate, Meaning::Common("-Xclang ")),
    both(&["Xpreprocessor"], Separate, Meaning::Common("-Xpreprocessor ")),
    both(&["mllvm"], Separate, Meaning::Common("-mllvm ")),
    both(&["Xarch_device"], Separate, Meaning::DeviceOnly),
    both(&["Xarch_host"], Separate, Meaning::HostOnly),
    both(&["Xassembler"], Separate, Meaning::HostOnly),
    both(&["param"], Value, Meaning::Ignored),
    both(&["pthread", "static-libstdc++", "static-libgcc"], Flag, Meaning::CompileAndLink),
    // Dependencies.
    both(&["MD"], Flag, Meaning::Dependencies("-MD")),
    nvcc(&["generate-dependencies-with-compile"], Flag, Meaning::Dependencies("-MD")),
    both(&["MMD"], Flag, Meaning::Dependencies("-MMD")),
    nvcc(&["generate-nonsystem-dependencies-with-compile"], Flag, Meaning::Dependencies("-MMD")),
    both(&["MP"], Flag, Meaning::Dependencies("-MP")),
    nvcc(&["generate-dependency-targets"], Flag, Meaning::Dependencies("-MP")),
    both(&["MG"], Flag, Meaning::Dependencies("-MG")),
    both(&["MF"], JoinedOrSeparate, Meaning::DependencyFile),
    nvcc(&["dependency-output"], Value, Meaning::DependencyFile),
    both(&["MT"], JoinedOrSeparate, Meaning::DependencyTarget("-MT")),
    nvcc(&["dependency-target-name"], Value, Meaning::DependencyTarget("-MT")),
    both(&["MQ"], JoinedOrSeparate, Meaning::DependencyTarget("-MQ")),
    // Arguments for other programs.
    nvcc(&["Xcompiler", "compiler-options"], Value, Meaning::HostArguments),
    both(&["Xlinker"], Separate, Meaning::LinkerArguments),
    nvcc(&["Xlinker", "linker-options"], Value, Meaning::LinkerArguments),
    nvcc(&["Xptxas", "ptxas-options"], Value, Meaning::PtxasArguments),
    both(&["Xcuda-ptxas"], Separate, Meaning::PtxasArguments),
    both(&["Xcuda-fatbinary"], Separate, Meaning::Ignored),
    nvcc(
        &["Xnvlink", "nvlink-options", "Xarchive", "archive-options", "Xcudafe", "cudafe-options"],
        Value,
        Meaning::Ignored,
    ),
    nvcc(&["Xnvvm", "nvvm-options", "Xfatbin", "fatbin-options", "Xopencc"], Value, Meaning::Ignored),
    nvcc(&["ccbin", "compiler-bindir"], Value, Meaning::Accepted),
    // Linking.
    both(&["L"], JoinedOrSeparate, Meaning::LinkItem("-L")),
    nvcc(&["library-path"], Value, Meaning::LinkItem("-L")),
    both(&["l"], JoinedOrSeparate, Meaning::LinkItem("-l")),
    nvcc(&["library"], Value, Meaning::LinkItem("-l")),
    both(&["Wl,"], Joined, Meaning::LinkItem("-Wl,")),
    both(
        &["rdynamic", "static", "pie", "no-pie", "nostdlib", "nodefaultlibs", "nostartfiles", "s", "r"],
        Flag,
        Meaning::LinkItem(""),
    ),
    both(&["u", "z", "T"], JoinedOrSeparate, Meaning::LinkItem("")),
    both(&["rpath"], Separate, Meaning::LinkItem("-Wl,-rpath,")),
    both(&["fuse-ld"], Equals, Meaning::LinkItem("-fuse-ld=")),
    nvcc(&["cudart", "cudadevrt"], Value, Meaning::Accepted),
    both(&["no-cuda-version-check", "no-offload-new-driver", "offload-new-driver"], Flag, Meaning::Accepted),
    both(&["cuda-include-ptx", "no-cuda-include-ptx"], Equals, Meaning::Accepted),
    both(&["cuda-path"], Value, Meaning::CudaPath),
    both(&["cuda-path-ignore-env"], Flag, Meaning::Accepted),
    nvcc(&["ldir", "libdevice-directory", "target-dir", "target-directory"], Value, Meaning::Ignored),
    nvcc(&["nodlink", "nodevicelink", "no-device-link"], Flag, Meaning::Ignored),
    nvcc(&["hls", "host-linker-script", "gen-hls", "aug-hls"], Value, Meaning::Ignored),
    // Options for behaviour that clang always has.
    nvcc(&["expt-relaxed-constexpr"], Flag, Meaning::Defines("__CUDACC_RELAXED_CONSTEXPR__")),
    nvcc(&["expt-extended-lambda", "extended-lambda"], Flag, Meaning::Defines("__CUDACC_EXTENDED_LAMBDA__")),
    nvcc(&["allow-unsupported-compiler"], Flag, Meaning::Accepted),
    nvcc(
        &[
            "forward-unknown-to-host-compiler",
            "forward-unknown-to-host-linker",
            "forward-unknown-opts",
            "forward-slash-prefix-opts",
        ],
        Flag,
        Meaning::Accepted,
    ),
    nvcc(
        &["nohdmoveforward", "no-host-device-move-forward", "nohdinitlist", "no-host-device-initializer-list"],
        Flag,
        Meaning::Accepted,
    ),
    nvcc(&["noeh", "no-exceptions"], Flag, Meaning::Common("-fno-exceptions")),
    nvcc(&["compress-mode", "frandom-seed"], Value, Meaning::Accepted),
    nvcc(&["no-compress", "compress-all", "static-global-template-stub-off"], Flag, Meaning::Accepted),
    nvcc(&["static-global-template-stub", "device-entity-has-hidden-visibility"], Value, Meaning::Accepted),
    // Diagnostics of nvcc's front end.
    nvcc(&["diag-suppress", "diag-error", "diag-warn", "diag-once", "diag-default"], Value, Meaning::Accepted),
    nvcc(&["brief-diag", "brief-diagnostics"], Value, Meaning::Accepted),
    nvcc(&["err-no", "display-error-number", "no-err-no", "no-display-error-number"], Flag, Meaning::Accepted),
    nvcc(
        &[
            "Wno-deprecated-gpu-targets",
            "Wdefault-stream-launch",
            "Wmissing-launch-bounds",
            "Wext-lambda-captures-this",
        ],
        Flag,
        Meaning::Accepted,
    ),
    nvcc(&["res-usage", "resource-usage"], Flag, Meaning::ResourceUsage),
    nvcc(&["opt-info"], Value, Meaning::Ignored),
    nvcc(&["source-in-ptx", "src-in-ptx"], Flag, Meaning::Accepted),
    // Options that only NVRTC has.
    nvcc(&["default-device", "device-as-default-execution-space"], Flag, Meaning::DeviceByDefault),
    nvcc(&["builtin-move-forward", "builtin-initializer-list", "modify-stack-limit"], Value, Meaning::Accepted),
    nvcc(&["no-source-include", "no-cache", "minimal"], Flag, Meaning::Accepted),
    // Options that control the driver.
    nvcc(&["t"], JoinedOrSeparate, Meaning::Accepted),
    nvcc(&["threads"], Value, Meaning::Accepted),
    nvcc(&["keep", "save-temps"], Flag, Meaning::Keep),
    nvcc(&["keep-dir"], Value, Meaning::KeepFolder),
    nvcc(&["clean", "clean-targets"], Flag, Meaning::Ignored),
    nvcc(&["objtemp", "time", "fdevice-time-trace"], Value, Meaning::Accepted),
    nvcc(&["objdir-as-tempdir", "noprof", "no-profile"], Flag, Meaning::Accepted),
    both(&["v", "verbose"], Flag, Meaning::Verbose),
    both(&["###"], Flag, Meaning::DryRun),
    nvcc(&["dryrun"], Flag, Meaning::DryRun),
    both(&["version"], Flag, Meaning::Version),
    nvcc(&["V"], Flag, Meaning::Version),
    both(&["help"], Flag, Meaning::Help),
    nvcc(&["h"], Flag, Meaning::Help),
    nvcc(&["optf", "options-file"], Value, Meaning::OptionsFile),
    clang(&["target"], Value, Meaning::Common("--target=")),
    clang(&["B"], JoinedOrSeparate, Meaning::CompileAndLink),
];
