//! The last stage: the lowered device code joins the host code, and both become one file.

use crate::llvm::value::Linkage;
use crate::llvm::{MachineError, ModuleItems, Value};
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions,
};
use std::path::Path;

/// Why a module could not be read, joined or written.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// Not a bitcode file of this LLVM.
    #[error("{path}: not readable as LLVM bitcode: {cause}")]
    Read {
        /// File.
        path: String,
        /// LLVM's words.
        cause: String,
    },
    /// Device and host code do not fit into one object.
    #[error("device and host code of {module} cannot be linked: {cause}")]
    Link {
        /// Host module.
        module: String,
        /// LLVM's words.
        cause: String,
    },
    /// LLVM's passes failed.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The host's target is unknown to this LLVM.
    #[error("this LLVM generates no code for {triple}: {cause}")]
    Target {
        /// The module's target.
        triple: String,
        /// LLVM's words.
        cause: String,
    },
    /// Code generation failed.
    #[error("code generation of {module} failed: {cause}")]
    Emit {
        /// Module.
        module: String,
        /// LLVM's words.
        cause: String,
    },
}

/// Kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Relocatable object (`-c`).
    Object,
    /// Assembly text (`-S`).
    Assembly,
    /// LLVM bitcode (`-c -emit-llvm`).
    Bitcode,
    /// LLVM assembly text (`-S -emit-llvm`).
    Ir,
}

/// How code is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmitOptions {
    /// Kind of file.
    pub output: Output,
    /// Code generator's level, 0 to 3, as the user's `-O`.
    pub level: u8,
    /// Position-independent code: what clang makes unless `-fno-pic` is given.
    pub pic: bool,
    /// Instructions of a function up to which its code is optimised: [`BUILT`] or [`LOADED`].
    pub bound: usize,
}

/// Bound on functions of programs that are built once. Measured on two cores of an EPYC: 22 thousand instructions took
/// 12 s, 37 thousand more than 100 s, and without optimisation 13 s.
pub const BUILT: usize = 25_000;

/// Bound on functions of code that is compiled while its program waits for it, and runs with hooks only. Without
/// optimisation the code generator takes a third of the time; values of 32 lanes go through memory either way, so that
/// the code is hardly slower.
pub const LOADED: usize = 2_000;

/// A function that is too large for the code generator's optimisations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Huge {
    /// Its symbol.
    pub name: String,
    /// Its instructions.
    pub instructions: usize,
}

impl EmitOptions {
    /// Returns the same without optimisation if the module has a function for which the register allocator would take minutes,
    /// and that function.
    pub fn bounded(self, module: &Module<'_>) -> (EmitOptions, Option<Huge>) {
        match largest_function(module) {
            Some((name, instructions)) if self.level > 0 && instructions > self.bound => {
                (EmitOptions { level: 0, ..self }, Some(Huge { name, instructions }))
            }
            _ => (self, None),
        }
    }
}

/// Reads a bitcode file.
pub fn read<'c>(context: &'c Context, path: &Path) -> Result<Module<'c>, ObjectError> {
    let failed = |cause: String| ObjectError::Read { path: path.display().to_string(), cause };
    let buffer = MemoryBuffer::create_from_file(path).map_err(|cause| failed(cause.to_string()))?;
    Module::parse_bitcode_from_buffer(&buffer, context).map_err(|cause| failed(cause.to_string()))
}

/// Links the lowered device module into the host module. Everything that it defines becomes private to the object
/// but for the symbols in `visible`: a device function and its host namesake are two functions, and every
/// translation unit is its own device program.
pub fn join<'c>(host: &Module<'c>, device: Module<'c>, visible: &[&str]) -> Result<(), ObjectError> {
    // The host's declaration of the descriptor is resolved by name, so names stay until both are one module.
    let referenced: Vec<String> = defined(&device)
        .into_iter()
        .map(Value::name)
        .filter(|name| is_declared(host, name) && !visible.contains(&name.as_str()))
        .collect();
    for value in defined(&device) {
        let name = value.name();
        let appending = value.linkage() == Linkage::LLVMAppendingLinkage;
        if !appending && !visible.contains(&name.as_str()) && !referenced.contains(&name) {
            value.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    device.set_triple(&host.get_triple());
    device.set_data_layout(&host.get_data_layout());
    host.link_in_module(device)
        .map_err(|cause| ObjectError::Link { module: name_of(host), cause: cause.to_string() })?;
    for name in referenced {
        for value in host.variable(&name).into_iter().chain(host.function(&name)) {
            value.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    Ok(())
}

fn defined<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    module.variables().into_iter().chain(module.functions()).filter(|value| !value.is_declaration()).collect()
}

fn is_declared(module: &Module<'_>, name: &str) -> bool {
    module.variable(name).or_else(|| module.function(name)).is_some_and(Value::is_declaration)
}

fn name_of(module: &Module<'_>) -> String {
    module.get_name().to_string_lossy().into_owned()
}

/// Returns the function with the most instructions, and how many.
fn largest_function(module: &Module<'_>) -> Option<(String, usize)> {
    let size = |function: &Value<'_>| function.blocks().into_iter().map(|block| block.instructions().len()).sum();
    module
        .functions()
        .into_iter()
        .map(|function| (size(&function), function))
        .max_by_key(|one: &(usize, _)| one.0)
        .map(|(count, function)| (function.name(), count))
}

/// Generates the file's bytes. Functions keep the processor of their own attributes; the machine is the module's
/// target otherwise.
pub fn emit(module: &Module<'_>, options: EmitOptions) -> Result<Vec<u8>, ObjectError> {
    let kind = match options.output {
        Output::Bitcode => return Ok(module.write_bitcode_to_memory().as_slice().to_vec()),
        Output::Ir => return Ok(module.print_to_string().to_bytes().to_vec()),
        Output::Object => FileType::Object,
        Output::Assembly => FileType::Assembly,
    };
    let machine = host_machine(module, options)?;
    machine
        .write_to_memory_buffer(module, kind)
        .map(|buffer| {
            // Assembly ends with LLVM's terminating zero in some versions; text files have none.
            let bytes = buffer.as_slice();
            match kind {
                FileType::Assembly => bytes.strip_suffix(&[0]).unwrap_or(bytes).to_vec(),
                FileType::Object => bytes.to_vec(),
            }
        })
        .map_err(|cause| ObjectError::Emit { module: name_of(module), cause: cause.to_string() })
}

fn host_machine(module: &Module<'_>, options: EmitOptions) -> Result<TargetMachine, ObjectError> {
    Target::initialize_x86(&InitializationConfig::default());
    let wanted = module.get_triple();
    let triple = wanted.as_str().to_string_lossy().into_owned();
    let failed = |cause: String| ObjectError::Target { triple: triple.clone(), cause };
    let target = Target::from_triple(&wanted).map_err(|cause| failed(cause.to_string()))?;
    let level = match options.level {
        0 => OptimizationLevel::None,
        1 => OptimizationLevel::Less,
        2 => OptimizationLevel::Default,
        _ => OptimizationLevel::Aggressive,
    };
    let settings = TargetMachineOptions::default()
        .set_cpu("x86-64")
        .set_level(level)
        .set_reloc_mode(if options.pic { RelocMode::PIC } else { RelocMode::Static })
        .set_code_model(CodeModel::Default);
    target
        .create_target_machine_from_options(&wanted, settings)
        .ok_or_else(|| failed("no machine for its processor".into()))
}
