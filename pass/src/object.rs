//! The last stage: links the lowered device code with the host code, and writes both to one file.

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

/// The reason why a module could not be read, linked or written.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The file is not bitcode of this LLVM.
    #[error("{path}: not readable as LLVM bitcode: {cause}")]
    Read {
        /// The path of the file.
        path: String,
        /// LLVM's error message.
        cause: String,
    },
    /// Device and host code cannot be linked in one object.
    #[error("device and host code of {module} cannot be linked: {cause}")]
    Link {
        /// The name of the host module.
        module: String,
        /// LLVM's error message.
        cause: String,
    },
    /// LLVM's passes failed.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// This LLVM does not support the host's target.
    #[error("this LLVM generates no code for {triple}: {cause}")]
    Target {
        /// The module's target.
        triple: String,
        /// LLVM's error message.
        cause: String,
    },
    /// Code generation failed.
    #[error("code generation of {module} failed: {cause}")]
    Emit {
        /// The name of the module.
        module: String,
        /// LLVM's error message.
        cause: String,
    },
}

/// The kind of the output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A relocatable object (`-c`).
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
    /// The kind of the output file.
    pub output: Output,
    /// The code generator's level, 0 to 3, from the user's `-O`.
    pub level: u8,
    /// Whether the code is position-independent, which is clang's default unless `-fno-pic` is given.
    pub pic: bool,
    /// The number of instructions of a function up to which its code is optimised: [`BUILT`] or [`LOADED`].
    pub bound: usize,
}

/// The limit for functions of programs that are built once. Measured on two cores of an EPYC: 22 thousand instructions
/// took 12 s, and 37 thousand took more than 100 s, or 13 s without optimisation.
pub const BUILT: usize = 25_000;

/// The limit for functions that are compiled while their program waits, and that only run with hooks. Without
/// optimisation, the code generator takes a third of the time. Values of 32 lanes go through memory in both cases, so
/// the code is hardly slower.
pub const LOADED: usize = 2_000;

/// A function that is too large for the code generator's optimisations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Huge {
    /// The symbol of the function.
    pub name: String,
    /// The number of its instructions.
    pub instructions: usize,
}

impl EmitOptions {
    /// If the module has a function for which the register allocator would take minutes, returns the options without
    /// optimisation, and this function.
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

/// Links the lowered device module into the host module. All its definitions become private to the object, except the
/// symbols in `visible`: a device function and the host function of the same name are two functions, and every
/// translation unit is a separate device program.
pub fn join<'c>(host: &Module<'c>, device: Module<'c>, visible: &[&str]) -> Result<(), ObjectError> {
    // The host's declaration of the descriptor is resolved by name, so names must not change until both modules are
    // linked.
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

/// Returns the function with the most instructions, and their number.
fn largest_function(module: &Module<'_>) -> Option<(String, usize)> {
    let size = |function: &Value<'_>| function.blocks().into_iter().map(|block| block.instructions().len()).sum();
    module
        .functions()
        .into_iter()
        .map(|function| (size(&function), function))
        .max_by_key(|one: &(usize, _)| one.0)
        .map(|(count, function)| (function.name(), count))
}

/// Generates the bytes of the file. A function keeps the processor in its attributes; otherwise, the machine is the
/// module's target.
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
            // In some versions, assembly ends with LLVM's terminating zero, which text files do not have.
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
