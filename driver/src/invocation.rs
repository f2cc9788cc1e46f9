//! The content of a command line, independent of its dialect.

use crate::architecture;
use crate::options::device_file::DeviceFile;
use crate::options::lex::{Item, MissingValue, lex};
use crate::options::table::Meaning;
use crate::options::{Dialect, response};
use std::path::{Path, PathBuf};
use warpline_format::operation::Followed;
use warpline_format::options::EMULATED;

/// The action for the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Links an executable or, with [`Invocation::shared`], a shared library.
    #[default]
    Link,
    /// Generates one object per source.
    Object,
    /// Generates the device part of a link, as an object (`-dlink`).
    DeviceLink,
    /// Creates an archive of objects.
    Archive,
    /// Produces a result of clang alone: preprocessed text, assembly, PTX, IR, dependencies.
    Clang,
    /// Produces a file that contains only device code.
    DeviceFile(DeviceFile),
    /// Generates a shared object from one device module's LLVM IR, for programs that load device code while they run.
    DeviceModule,
    /// Generates from the device code that a program contains: a shared object of the functions with hooks of a kernel,
    /// or of code in which values are tracked, or a file with the figures of ptxas.
    CarriedCode,
    /// Generates a shared object of a CUDA source's device code, for programs that compile while they run.
    RunTimeSource,
    /// Generates the runtime as a shared library, for programs that were not linked with it.
    RuntimeLibrary,
    /// Prints the version.
    Version,
    /// Prints the help text.
    Help,
    /// Prints the path of the substitute toolkit.
    Toolkit,
    /// Prints the architectures, with this prefix of their names.
    Architectures(&'static str),
}

/// The language or kind of a file, from `-x` or its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// CUDA: compiled for device and host.
    Cuda,
    /// C++ for the host.
    Cxx,
    /// C for the host.
    C,
    /// Assembly and other sources, which clang compiles without Warpline.
    Other,
    /// Object, archive or library: goes to the link.
    Object,
}

impl Language {
    /// Returns the language for nvcc's and clang's names of `-x`.
    fn named(name: &str) -> Option<Language> {
        Some(match name {
            "cu" | "cuda" => Language::Cuda,
            "c++" => Language::Cxx,
            "c" => Language::C,
            _ => return None,
        })
    }

    /// Returns the language for a file's name. As with clang and gcc, an unknown file goes to the linker.
    fn of_file(name: &str) -> Language {
        let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or("");
        match extension {
            "cu" | "cui" => Language::Cuda,
            "cpp" | "cc" | "cxx" | "c++" | "C" | "CPP" | "cp" | "ii" => Language::Cxx,
            "c" | "i" => Language::C,
            "s" | "S" | "ll" | "bc" | "m" | "mm" => Language::Other,
            _ => Language::Object,
        }
    }

    /// Returns clang's name of the language.
    pub fn clang_name(self) -> Option<&'static str> {
        match self {
            Language::Cuda => Some("cuda"),
            Language::Cxx => Some("c++"),
            Language::C => Some("c"),
            Language::Other | Language::Object => None,
        }
    }
}

/// An input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The path as given; for a source that can be read only once, the file to which it was saved.
    pub path: String,
    /// The language or kind of the file.
    pub language: Language,
    /// The name for the user, if it is not the path.
    pub known_as: Option<String>,
}

/// An argument of the link, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkItem {
    /// Index into [`Invocation::inputs`].
    Input(usize),
    /// The argument in clang's spelling.
    Argument(String),
}

/// Optimisation level, as the letter or digit after `-O`.
pub type Level = String;

/// The code for GPUs that is embedded in addition to the code for the CPU device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuCode {
    /// None.
    None,
    /// Code for NVIDIA GPUs.
    Real,
    /// Code for the emulated GPU.
    Emulated,
}

/// When functions with hooks are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookedCode {
    /// At the build for small modules, when a kernel runs with hooks for large ones.
    BySize,
    /// At the build.
    Ahead,
    /// When a kernel runs with hooks for the first time.
    OnDemand,
}

/// The options for compiling a source while the program runs.
#[derive(Clone, Debug, Default)]
pub struct RunTimeSource {
    /// `--warpline-names`: the number of variables with values whose mangled names are requested.
    pub names: usize,
    /// Whether functions without an execution space are device functions.
    pub device_by_default: bool,
}

/// A parsed command line.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The dialect of the command line.
    pub dialect: Dialect,
    /// The requested action.
    pub action: Action,
    /// The input files.
    pub inputs: Vec<Input>,
    /// `-o`.
    pub output: Option<PathBuf>,
    /// `-odir`.
    pub output_folder: Option<PathBuf>,
    /// Requested architectures, in order; may be empty.
    pub architectures: Vec<u32>,
    /// `-O`, when given.
    pub level: Option<Level>,
    /// `-G`: device code is not optimised.
    pub device_debug: bool,
    /// `-dopt=on`: device code is optimised in spite of `-G`.
    pub device_optimize: bool,
    /// The macros that nvcc defines for options, as `-D`.
    pub macros: Vec<String>,
    /// Arguments of every compilation.
    pub common: Vec<String>,
    /// Arguments of host compilations only.
    pub host: Vec<String>,
    /// Arguments of device compilations only.
    pub device: Vec<String>,
    /// Arguments of ptxas.
    pub ptxas: Vec<String>,
    /// Inputs and arguments of the link, in order.
    pub link: Vec<LinkItem>,
    /// `-MD`, `-MMD`, `-MP`, `-MG`.
    pub dependencies: Vec<&'static str>,
    /// `-MF`.
    pub dependency_file: Option<PathBuf>,
    /// `-MT`, `-MQ` and their values.
    pub dependency_targets: Vec<(&'static str, String)>,
    /// Whether device code may call into other translation units.
    pub relocatable: bool,
    /// Whether a shared library is linked.
    pub shared: bool,
    /// `--cuda-path`.
    pub cuda_path: Option<PathBuf>,
    /// `-v`.
    pub verbose: bool,
    /// `-###`.
    pub dry_run: bool,
    /// `--warpline-dump`.
    pub dump: Option<PathBuf>,
    /// `-keep`: the PTX of device code is kept.
    pub keep: bool,
    /// `-keep-dir`.
    pub keep_folder: Option<PathBuf>,
    /// `--warpline-march`.
    pub processor: Option<String>,
    /// `--warpline-cautious`: lowers in the slow way with which the fast way is compared.
    pub cautious: bool,
    /// `--warpline-hooked-only`: kernels of a device module have no version without hooks.
    pub hooked_only: bool,
    /// No `--warpline-no-bundles`: accesses at constant distances from each other share a record.
    pub bundles: bool,
    /// No `--warpline-no-precompiled-headers`: clang reads CUDA's headers in precompiled form.
    pub precompiled_headers: bool,
    /// `--device`: code for GPUs in addition.
    pub gpu: GpuCode,
    /// The file of device code to write for each source, if one is requested.
    pub device_file: Option<DeviceFile>,
    /// `--warpline-system`: folders that do not contain the user's code, in addition to the known ones.
    pub system: Vec<String>,
    /// `--warpline-registers`: registers and bytes of spills per thread, as ptxas reports.
    pub registers: Option<(u32, u32)>,
    /// `--warpline-hooks`: when functions with hooks are generated.
    pub hooked_code: HookedCode,
    /// `--warpline-hooks-of`: the mangled name of the kernel whose functions with hooks [`Action::CarriedCode`]
    /// generates.
    pub hooks_of: Option<String>,
    /// `--warpline-values` and `--warpline-line`: the values that [`Action::CarriedCode`] tracks.
    pub followed: Followed,
    /// `--warpline-assemble-for`: the architectures whose figures [`Action::CarriedCode`] writes.
    pub assemble_for: Vec<u32>,
    /// `--warpline-parameters`: the source names of the kernel's parameters, in their order.
    pub parameters: Vec<String>,
    /// For [`Action::RunTimeSource`].
    pub run_time: RunTimeSource,
    /// For [`Action::Clang`]: the arguments that request it, in clang's spelling.
    pub clang_only: Vec<String>,
    /// Flags that are ignored although the user may expect an effect.
    pub ignored: Vec<String>,
}

/// An error in the command line.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// An option has no value.
    #[error(transparent)]
    MissingValue(#[from] MissingValue),
    /// An options file cannot be used.
    #[error(transparent)]
    Response(#[from] response::ResponseError),
    /// `-arch` or a similar option has an invalid value.
    #[error("unsupported CUDA gpu architecture: {0}")]
    Architecture(String),
    /// The language is not supported.
    #[error("language not recognized: '{0}'")]
    Language(String),
    /// `--device` has an invalid value.
    #[error(
        "--device={0}: expected cpu, gpu (code for both; the program chooses when it starts) or {EMULATED} (the GPU's code, \
         for a GPU that is emulated)"
    )]
    Device(String),
    /// `--warpline-hooks` has an invalid value.
    #[error(
        "--warpline-hooks={0}: expected ahead (all code with hooks at the build) or on-demand (when a kernel needs it)"
    )]
    Hooks(String),
    /// `--warpline-registers` has an invalid value.
    #[error("--warpline-registers={0}: expected registers per thread, or registers and bytes of spills as in 40,16")]
    Registers(String),
    /// `--warpline-values` has an invalid value.
    #[error("--warpline-values={0}: expected some of exceptions, float, int and memory, with commas between them")]
    Values(String),
    /// `--warpline-assemble-for` has an invalid value.
    #[error("--warpline-assemble-for={0}: expected numbers of architectures with commas between them, as 75,90")]
    AssembleFor(String),
    /// `--warpline-line` has an invalid value.
    #[error("--warpline-line={0}: expected a file and a line, as app.cu:12")]
    Line(String),
    /// `--warpline-module` does not have exactly one file.
    #[error(
        "--warpline-module takes one file of LLVM IR, --warpline-source one of CUDA, and -o with the name of the shared object"
    )]
    ModuleFiles,
    /// `--warpline-names` has an invalid value.
    #[error("--warpline-names={0}: expected a number")]
    Names(String),
    /// A program passed an invalid option to its compilation.
    #[error("unrecognized option {0} found")]
    RunTimeOption(String),
    /// The requested result exists only in nvcc.
    #[error("{0} requests a result that only nvcc makes: warpline-cc makes objects, libraries, executables and PTX")]
    NvccOnly(String),
    /// A truth value is invalid.
    #[error("{0}: expected true or false")]
    Boolean(String),
    /// `-o` is used with several results.
    #[error("cannot specify -o when generating multiple output files")]
    OutputOfMany,
    /// `-o` or `-MF` names an input.
    #[error("{option} {path} would replace this input: name another file for the result")]
    OutputIsInput {
        /// The spelling of the option on the command line.
        option: &'static str,
        /// The path of the input.
        path: String,
    },
    /// `-` is used as the source that a program compiles while it runs.
    #[error("a source that is compiled while a program runs comes from a file")]
    StandardInput,
    /// `-` is used without a language.
    #[error("-E or -x required when input is from standard input")]
    NoLanguage,
    /// There is no input.
    #[error("no input files")]
    NoInput,
}

impl Invocation {
    /// Parses a command line, without the program's name.
    pub fn parse(arguments: &[String], dialect: Dialect) -> Result<Invocation, UsageError> {
        let arguments = response::expand(arguments, dialect)?;
        let mut parser = Parser::new(dialect);
        for item in lex(&arguments, dialect)? {
            parser.take(item)?;
        }
        parser.finish()
    }

    /// Returns the files that are included before each source.
    pub fn included_before(&self) -> Vec<PathBuf> {
        let values = self.common.windows(2).filter(|pair| ["-include", "-imacros"].contains(&pair[0].as_str()));
        values.map(|pair| PathBuf::from(&pair[1])).collect()
    }

    /// Returns the folders of `-I`.
    pub fn include_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let mut arguments = self.common.iter();
        while let Some(argument) = arguments.next() {
            if ["-isystem", "-iquote", "-idirafter"].contains(&argument.as_str()) {
                folders.extend(arguments.next().map(PathBuf::from));
            } else if let Some(folder) = argument.strip_prefix("-I") {
                folders.push(PathBuf::from(folder));
            }
        }
        folders
    }

    /// Returns nvcc's name for the device code of a source; clang's name would contain triple and architecture.
    pub fn device_file_path(&self, input: &Input, kind: DeviceFile) -> Option<PathBuf> {
        let folder = self.output_folder.as_deref().unwrap_or(Path::new(""));
        Path::new(&input.path).file_stem().map(|stem| folder.join(stem).with_extension(kind.suffix()))
    }

    /// Returns the level of host code. nvcc's default is no optimisation; `-O2` avoids that a profiled program is slow
    /// without a reason.
    pub fn host_level(&self) -> &str {
        match (&self.level, self.dialect) {
            (Some(level), _) => level,
            (None, Dialect::Nvcc) => "2",
            (None, Dialect::Clang) => "0",
        }
    }

    /// Returns the level of device code: that of the command line. Without one, it is nvcc's 3 or clang's 0. With `-G` it is 0,
    /// unless `-dopt=on` is given, too.
    pub fn device_level(&self) -> &str {
        match (&self.level, self.dialect) {
            _ if self.device_debug && !self.device_optimize => "0",
            (Some(level), _) => level,
            (None, Dialect::Nvcc) => "3",
            (None, Dialect::Clang) => "0",
        }
    }

    /// Returns the inputs that are compiled.
    pub fn sources(&self) -> impl Iterator<Item = &Input> {
        self.inputs.iter().filter(|input| input.language != Language::Object)
    }
}

struct Parser {
    made: Invocation,
    language: Option<Language>,
    /// All languages that were named, in order.
    languages: Vec<Language>,
    relocatable: Option<bool>,
    host_source: bool,
    device_file: Option<DeviceFile>,
    unknown: Vec<String>,
}

impl Parser {
    fn new(dialect: Dialect) -> Parser {
        let made = Invocation {
            dialect,
            action: Action::Link,
            inputs: Vec::new(),
            output: None,
            output_folder: None,
            architectures: Vec::new(),
            level: None,
            device_debug: false,
            device_optimize: false,
            macros: Vec::new(),
            common: Vec::new(),
            host: Vec::new(),
            device: Vec::new(),
            ptxas: Vec::new(),
            link: Vec::new(),
            dependencies: Vec::new(),
            dependency_file: None,
            dependency_targets: Vec::new(),
            relocatable: false,
            shared: false,
            cuda_path: None,
            verbose: false,
            dry_run: false,
            dump: None,
            keep: false,
            keep_folder: None,
            processor: None,
            cautious: false,
            hooked_only: false,
            bundles: true,
            precompiled_headers: true,
            gpu: GpuCode::None,
            device_file: None,
            system: Vec::new(),
            registers: None,
            hooked_code: HookedCode::BySize,
            hooks_of: None,
            assemble_for: Vec::new(),
            followed: Followed::default(),
            parameters: Vec::new(),
            run_time: RunTimeSource::default(),
            clang_only: Vec::new(),
            ignored: Vec::new(),
        };
        Parser {
            made,
            language: None,
            languages: Vec::new(),
            relocatable: None,
            host_source: false,
            device_file: None,
            unknown: Vec::new(),
        }
    }

    fn take(&mut self, item: Item) -> Result<(), UsageError> {
        match item {
            Item::Input(path) => self.input(path),
            Item::Unknown(flag) => {
                self.unknown.push(flag.clone());
                self.made.common.push(flag.clone());
                // Warnings do not affect the link; all other flags (`-fopenmp`, `-flto`, `-m32`) may.
                if !flag.starts_with("-W") {
                    self.link_argument(flag);
                }
            }
            Item::Known { meaning, value, given } => self.option(meaning, value, &given)?,
        }
        Ok(())
    }

    fn input(&mut self, path: String) {
        let language = match self.language {
            // `-x` does not apply to objects and libraries, which build systems may put after it.
            Some(language) if !is_link_input(&path) => language,
            _ => Language::of_file(&path),
        };
        self.made.link.push(LinkItem::Input(self.made.inputs.len()));
        self.made.inputs.push(Input { path, language, known_as: None });
    }

    fn link_argument(&mut self, argument: String) {
        self.made.link.push(LinkItem::Argument(argument));
    }

    fn option(&mut self, meaning: Meaning, value: String, given: &[String]) -> Result<(), UsageError> {
        let spelled = given.join(" ");
        let made = &mut self.made;
        match meaning {
            Meaning::Output => made.output = Some(value.into()),
            Meaning::OutputFolder => made.output_folder = Some(value.into()),
            Meaning::Compile => made.action = Action::Object,
            Meaning::DeviceCompile => {
                made.action = Action::Object;
                self.relocatable = Some(true);
            }
            Meaning::DeviceCompileWhole => {
                made.action = Action::Object;
                self.relocatable = Some(false);
            }
            Meaning::DeviceLink => made.action = Action::DeviceLink,
            Meaning::Link => made.action = Action::Link,
            Meaning::Library => made.action = Action::Archive,
            Meaning::Shared => made.shared = true,
            Meaning::Preprocess | Meaning::Assembly | Meaning::EmitLlvm | Meaning::ClangOnly => {
                made.action = Action::Clang;
                made.clang_only.extend(given.iter().cloned());
            }
            Meaning::HostSource => {
                made.action = Action::Clang;
                made.clang_only.push("-E".into());
                self.host_source = true;
            }
            Meaning::DependenciesOnly => {
                let flag = if spelled.contains("nonsystem") || spelled == "-MM" { "-MM" } else { "-M" };
                made.action = Action::Clang;
                made.clang_only.push(flag.into());
            }
            Meaning::DeviceFile(kind) => {
                self.device_file = Some(kind);
                made.action = Action::DeviceFile(kind);
                if kind == DeviceFile::Ptx {
                    made.clang_only.extend(["--cuda-device-only".into(), "-S".into()]);
                }
            }
            Meaning::ListArchitectures(name) => made.action = Action::Architectures(name),
            Meaning::NvccOnly => return Err(UsageError::NvccOnly(spelled)),
            Meaning::Language if value == "none" => self.language = None,
            Meaning::Language => {
                let language = Language::named(&value).ok_or(UsageError::Language(value))?;
                self.language = Some(language);
                self.languages.push(language);
            }
            Meaning::Architecture | Meaning::GenerateCode | Meaning::Code => {
                if let Some(unknown) = architecture::unknown(&value) {
                    return Err(UsageError::Architecture(unknown));
                }
                let named = architecture::parse(&value).ok_or(UsageError::Architecture(value))?;
                let new = named.into_iter().filter(|number| !made.architectures.contains(number));
                made.architectures.extend(new.collect::<Vec<_>>());
            }
            Meaning::Optimize => made.level = Some(if value.is_empty() { "1".into() } else { value }),
            Meaning::DeviceDebug => made.device_debug = true,
            Meaning::DeviceOptimize => made.device_optimize = value == "on",
            Meaning::Defines(name) => made.macros.push(format!("-D{name}")),
            // Debug information is always generated, because the pass needs it.
            Meaning::Debug | Meaning::LineInfo | Meaning::Accepted => {}
            Meaning::HostArguments => {
                for argument in commas(&value) {
                    // nvcc's host compiler preprocesses both sides.
                    match is_macro(&argument) {
                        true => made.common.push(argument.clone()),
                        false => made.host.push(argument.clone()),
                    }
                    made.link.push(LinkItem::Argument(argument));
                }
            }
            Meaning::LinkerArguments => {
                let parts = if made.dialect == Dialect::Nvcc { commas(&value) } else { vec![value] };
                for part in parts {
                    made.link.extend([LinkItem::Argument("-Xlinker".into()), LinkItem::Argument(part)]);
                }
            }
            Meaning::PtxasArguments => made.ptxas.extend(commas(&value)),
            Meaning::MaxRegisters => made.ptxas.push(format!("-maxrregcount={value}")),
            Meaning::FastMath => {
                made.device.extend(FAST_MATH.map(String::from));
                made.common.push("-D__USE_FAST_MATH__".into());
            }
            Meaning::FlushDenormals => {
                let flag = if boolean(&value, &spelled)? { FAST_MATH[0] } else { "-fno-gpu-flush-denormals-to-zero" };
                made.device.push(flag.into());
            }
            Meaning::MultiplyAdd => {
                let flag = if boolean(&value, &spelled)? { "-ffp-contract=fast" } else { "-ffp-contract=off" };
                made.device.push(flag.into());
            }
            Meaning::Relocatable => self.relocatable = Some(boolean(&value, &spelled)?),
            Meaning::RelocatableOn => self.relocatable = Some(true),
            Meaning::RelocatableOff => self.relocatable = Some(false),
            // clang's driver accepts this for HIP only; its compiler supports it for CUDA, too.
            Meaning::DefaultStream if value == "per-thread" => {
                made.common.extend(["-Xclang".into(), "-fgpu-default-stream=per-thread".into()]);
            }
            Meaning::DefaultStream => {}
            Meaning::CudaPath => made.cuda_path = Some(value.into()),
            Meaning::Common(name) => made.common.extend(spell(name, value)),
            Meaning::CompileAndLink => {
                made.common.extend(given.iter().cloned());
                given.iter().for_each(|argument| made.link.push(LinkItem::Argument(argument.clone())));
            }
            Meaning::LinkItem("") => {
                given.iter().for_each(|argument| made.link.push(LinkItem::Argument(argument.clone())));
            }
            Meaning::LinkItem(name) => made.link.push(LinkItem::Argument(format!("{name}{value}"))),
            Meaning::DeviceOnly => made.device.push(value),
            Meaning::HostOnly if spelled.starts_with("-Xassembler") => {
                made.host.extend(["-Xassembler".into(), value]);
            }
            Meaning::HostOnly => made.host.push(value),
            Meaning::Dependencies(flag) => made.dependencies.push(flag),
            Meaning::DependencyFile => made.dependency_file = Some(value.into()),
            Meaning::DependencyTarget(flag) => made.dependency_targets.push((flag, value)),
            Meaning::WarningsAsErrors if value.is_empty() || value.contains("all-warnings") => {
                made.common.push("-Werror".into());
            }
            Meaning::WarningsAsErrors | Meaning::Ignored => made.ignored.push(spelled),
            Meaning::Verbose => {
                made.verbose = true;
                // clang's `-v` also shows the commands that its driver starts, which build systems read; nvcc's does
                // not.
                if made.dialect == Dialect::Clang {
                    made.common.push("-v".into());
                    made.link.push(LinkItem::Argument("-v".into()));
                }
            }
            Meaning::DryRun => made.dry_run = true,
            Meaning::Version => made.action = Action::Version,
            Meaning::Help => made.action = Action::Help,
            Meaning::WarplineToolkit => made.action = Action::Toolkit,
            // Options files were expanded before; this case only occurs if an options file names no file.
            Meaning::OptionsFile => made.ignored.push(spelled),
            Meaning::WarplineModule => made.action = Action::DeviceModule,
            Meaning::WarplineHooks => {
                made.hooked_code = match value.as_str() {
                    "ahead" => HookedCode::Ahead,
                    "on-demand" => HookedCode::OnDemand,
                    _ => return Err(UsageError::Hooks(value)),
                }
            }
            Meaning::WarplineHooksOf => {
                made.action = Action::CarriedCode;
                made.hooks_of = Some(value);
            }
            Meaning::WarplineValues => {
                made.action = Action::CarriedCode;
                let lines = std::mem::take(&mut made.followed.lines);
                let followed = Followed::from_names(&value).ok_or(UsageError::Values(value))?;
                made.followed = Followed { lines, ..followed };
            }
            Meaning::WarplineAssembleFor => {
                made.action = Action::CarriedCode;
                let numbers = value.split(',').map(str::parse).collect::<Result<_, _>>();
                made.assemble_for = numbers.map_err(|_| UsageError::AssembleFor(value))?;
            }
            Meaning::WarplineLine => match value.rsplit_once(':').map(|(file, line)| (file, line.parse())) {
                Some((file, Ok(line))) => made.followed.lines.push((file.to_owned(), line)),
                _ => return Err(UsageError::Line(value)),
            },
            Meaning::WarplineSource => made.action = Action::RunTimeSource,
            Meaning::WarplineNames => {
                made.run_time.names = value.parse().map_err(|_| UsageError::Names(value))?;
            }
            Meaning::DeviceByDefault => made.run_time.device_by_default = true,
            Meaning::WarplineRuntime => made.action = Action::RuntimeLibrary,
            Meaning::WarplineSystem => made.system.push(value),
            Meaning::WarplineRegisters => {
                made.registers = Some(registers(&value).ok_or(UsageError::Registers(value))?);
            }
            Meaning::WarplineParameters => made.parameters = value.split(',').map(str::to_owned).collect(),
            Meaning::Keep => made.keep = true,
            Meaning::KeepFolder => made.keep_folder = Some(value.into()),
            Meaning::ResourceUsage => made.ptxas.push("-v".into()),
            Meaning::WarplineDump => made.dump = Some(value.into()),
            Meaning::WarplineCautious => made.cautious = true,
            Meaning::WarplineHookedOnly => made.hooked_only = true,
            Meaning::WarplineNoBundles => made.bundles = false,
            Meaning::WarplineNoPrecompiledHeaders => made.precompiled_headers = false,
            Meaning::WarplineMarch => made.processor = Some(value),
            Meaning::WarplineDevice => {
                made.gpu = match value.as_str() {
                    "cpu" => GpuCode::None,
                    "gpu" => GpuCode::Real,
                    EMULATED => GpuCode::Emulated,
                    _ => return Err(UsageError::Device(value)),
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Invocation, UsageError> {
        self.made.relocatable = self.relocatable.unwrap_or(false);
        let mut made = self.made;
        if made.dialect == Dialect::Nvcc {
            made.macros.extend(made.relocatable.then(|| "-D__CUDACC_RDC__".into()));
            made.macros.extend(made.device_debug.then(|| "-D__CUDACC_DEBUG__".into()));
        }
        // nvcc's `-x` applies to all sources, including those before it.
        if let ([language], Dialect::Nvcc) = (&self.languages[..], made.dialect) {
            let sources = made.inputs.iter_mut().filter(|input| !is_link_input(&input.path));
            sources.for_each(|input| input.language = *language);
        }
        if self.host_source && made.output.is_none() {
            // nvcc writes to a file of this name.
            let name = made.inputs.first().and_then(|input| Path::new(&input.path).file_name());
            let folder = made.output_folder.as_deref().unwrap_or(Path::new(""));
            made.output = name.map(|name| folder.join(format!("{}.cpp.ii", name.to_string_lossy())));
        }
        let stands_alone = matches!(
            made.action,
            Action::Version
                | Action::Help
                | Action::Toolkit
                | Action::RuntimeLibrary
                | Action::Architectures(_)
                | Action::Clang
        );
        if made.action == Action::RunTimeSource
            && let Some(flag) = self.unknown.into_iter().next()
        {
            return Err(UsageError::RunTimeOption(flag));
        }
        let single = matches!(made.action, Action::DeviceModule | Action::CarriedCode | Action::RunTimeSource);
        if single && (made.inputs.len() != 1 || made.output.is_none()) {
            return Err(UsageError::ModuleFiles);
        }
        if made.inputs.is_empty() && !stands_alone && !made.verbose {
            return Err(UsageError::NoInput);
        }
        let given = |language| made.inputs.iter().any(|input| input.path == "-" && input.language == language);
        if made.action == Action::RunTimeSource && given(Language::Cuda) {
            return Err(UsageError::StandardInput);
        }
        if made.action != Action::Clang && given(Language::Object) {
            return Err(UsageError::NoLanguage);
        }
        made.device_file = self.device_file;
        if let [input] = &made.inputs[..]
            && made.output.is_none()
            && let Some(kind) = self.device_file
        {
            made.output = made.device_file_path(input, kind);
        }
        for (option, result) in [("-o", &made.output), ("-MF", &made.dependency_file)] {
            if let Some(result) = result
                && let Some(input) = made.inputs.iter().find(|input| same_file(Path::new(&input.path), result))
            {
                return Err(UsageError::OutputIsInput { option, path: input.path.clone() });
            }
        }
        let results = made.sources().count();
        if matches!(made.action, Action::Object | Action::DeviceFile(_)) && results > 1 && made.output.is_some() {
            return Err(UsageError::OutputOfMany);
        }
        Ok(made)
    }
}

/// Returns whether two names refer to the same existing file.
fn same_file(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    place(one).is_some_and(|one| place(other).is_some_and(|other| one == other))
}

/// The options of nvcc's `-use_fast_math` in addition to the defaults and to those without effect on the CPU device:
/// flushed denormals, and the fast forms of the transcendental functions.
const FAST_MATH: [&str; 2] = ["-fgpu-flush-denormals-to-zero", "-fgpu-approx-transcendentals"];

/// Returns clang's spelling of an option whose name ends in "=", in a blank (separate value), or in neither (joined
/// value).
fn spell(name: &str, value: String) -> Vec<String> {
    match name.strip_suffix(' ') {
        Some(name) => vec![name.into(), value],
        None if value.is_empty() => vec![name.into()],
        None if matches!(name, "-include" | "-imacros" | "-isystem" | "-iquote" | "-idirafter" | "-isysroot") => {
            vec![name.into(), value]
        }
        None => vec![format!("{name}{value}")],
    }
}

/// Splits nvcc's lists: commas separate, quotes and backslashes protect.
fn commas(value: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    let mut letters = value.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = parts.len() - 1;
        match letter {
            '"' => quoted = !quoted,
            '\\' if letters.peek() == Some(&',') => parts[last].extend(letters.next()),
            ',' if !quoted => parts.push(String::new()),
            letter => parts[last].push(letter),
        }
    }
    // Build systems also write several options in one quoted word: -Xcompiler "-Wall -fPIC".
    parts.iter().flat_map(|part| response::split(part)).collect()
}

/// Returns whether an argument defines or undefines a macro.
fn is_macro(argument: &str) -> bool {
    argument.len() > 2 && (argument.starts_with("-D") || argument.starts_with("-U"))
}

/// Returns the registers per thread, and the bytes of spills if they are given.
fn registers(value: &str) -> Option<(u32, u32)> {
    let (registers, spills) = value.split_once(',').unwrap_or((value, "0"));
    Some((registers.parse().ok()?, spills.parse().ok()?))
}

fn boolean(value: &str, spelled: &str) -> Result<bool, UsageError> {
    match value {
        "true" | "1" | "" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(UsageError::Boolean(spelled.into())),
    }
}

fn is_link_input(path: &str) -> bool {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str()).unwrap_or("");
    matches!(extension, "o" | "obj" | "a" | "so" | "lo") || path.contains(".so.")
}

#[cfg(test)]
#[path = "invocation_tests.rs"]
mod tests;
