//! Device code that arrives while a program runs (Triton, and whoever else hands over LLVM IR): one module's IR becomes a
//! shared object, which the runtime loads with `cuModuleLoadData`. Neither clang nor a CUDA toolkit is needed.
//!
//! The shared object defines one symbol, the module's descriptor, and refers to the runtime of the process that loads it;
//! a process that was not linked with the runtime loads it first, as the shared library of [`runtime_library`].

use crate::device_code::object_parts;
use crate::dump::Dump;
use crate::error::DriverError;
use crate::invocation::Invocation;
use crate::programs::{embedded, linker};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;
use warpline_format::abi::LOADED_DESCRIPTOR;
use warpline_format::occupancy::Resources;
use warpline_pass::device::HookOptions;
use warpline_pass::llvm::shim::quiet_context;
use warpline_pass::object::{EmitOptions, Output};
use warpline_pass::parts::{self, GenerateOptions};
use warpline_pass::{cpu, device, loadable, object};

/// Architecture where none is named: the newest whose matrix products need no instructions of Hopper or later.
const ARCHITECTURE: u32 = 80;

/// Level at which front ends optimise what they hand over.
const LEVEL: u8 = 3;

/// Makes the shared object that the command line asks for.
pub fn shared_object(invocation: &Invocation) -> Result<(), DriverError> {
    let (Some(input), Some(output)) = (invocation.inputs.first(), &invocation.output) else { return Ok(()) };
    let text = std::fs::read(&input.path).map_err(DriverError::reading(&input.path))?;
    let temporary = temporary()?;
    let objects = Lowering::new(invocation, &input.path).objects(&text)?;
    let mut paths = Vec::new();
    for (number, bytes) in objects.iter().enumerate() {
        let path = temporary.path().join(format!("{number}.o"));
        std::fs::write(&path, bytes).map_err(DriverError::writing(&path))?;
        paths.push(path);
    }
    link(&paths.iter().map(|path| path.as_path()).collect::<Vec<_>>(), output)
}

/// Makes the runtime as a shared library.
pub fn runtime_library(invocation: &Invocation) -> Result<(), DriverError> {
    let archive = embedded::runtime_library()?;
    let Some(output) = &invocation.output else {
        println!("{}", archive.display());
        return Ok(());
    };
    run(&linker::runtime(&archive, output)?)
}

fn temporary() -> Result<TempDir, DriverError> {
    let made = tempfile::Builder::new().prefix("warpline-cc.").permissions(Permissions::from_mode(0o700)).tempdir();
    let made = made.map_err(DriverError::writing(std::env::temp_dir()))?;
    crate::interrupt::removes(made.path().to_owned());
    Ok(made)
}

fn link(objects: &[&Path], output: &Path) -> Result<(), DriverError> {
    run(&linker::shared_object(objects, output)?)
}

fn run(command: &crate::command::Command) -> Result<(), DriverError> {
    match command.run()? {
        0 => Ok(()),
        code => Err(DriverError::Compiler(code)),
    }
}

/// What lowering a module needs to know besides its code.
struct Lowering<'a> {
    invocation: &'a Invocation,
    source: &'a str,
    architecture: u32,
    hooks: bool,
    dump: Dump,
}

impl<'a> Lowering<'a> {
    fn new(invocation: &'a Invocation, source: &'a str) -> Lowering<'a> {
        Lowering {
            invocation,
            source,
            architecture: invocation.architectures.first().copied().unwrap_or(ARCHITECTURE),
            hooks: std::env::var_os(crate::DISABLE_VARIABLE).is_none_or(|value| value != "1"),
            dump: Dump::new(invocation.dump.clone(), source),
        }
    }

    fn failed(&self, cause: impl Display) -> DriverError {
        DriverError::Pass { source_file: self.source.into(), cause: cause.to_string() }
    }

    /// clang's name of the processor; from Hopper on the one with the instructions that only it has.
    fn processor(&self) -> String {
        format!("sm_{}{}", self.architecture, if self.architecture >= 90 { "a" } else { "" })
    }

    /// The stages of a CUDA source's device code (`stages.rs`) without those that clang's code alone needs: the front end has
    /// optimised, and there is no host code.
    fn objects(&self, text: &[u8]) -> Result<Vec<Vec<u8>>, DriverError> {
        let context = quiet_context();
        let module = loadable::read(&context, text, self.source).map_err(|cause| self.failed(cause))?;
        if !loadable::has_kernel(&module) {
            return Err(self.failed("there is no kernel in it (a function of the calling convention ptx_kernel)"));
        }
        let machine = loadable::adopt(&module, &self.processor()).map_err(|cause| self.failed(cause))?;
        device::keep_stray_accesses(&module);
        device::note_locations(&module);
        device::prepare(&module, &machine, LEVEL).map_err(|cause| self.failed(cause))?;
        self.dump.write(&module, "device-2-prepared")?;
        let table = match self.hooks {
            true => {
                let hooks =
                    HookOptions { system_folders: self.invocation.system.clone(), bundles: self.invocation.bundles };
                let mut table = device::hook(&module, &machine, &hooks).map_err(|cause| self.failed(cause))?;
                crate::source::digests::add(&mut table);
                self.dump.write(&module, "device-3-hooked")?;
                Some(table)
            }
            false => None,
        };
        let processor = self.invocation.processor.as_deref().unwrap_or("native");
        let registers = self.registers(&module);
        let options = cpu::Options {
            processor,
            descriptor: LOADED_DESCRIPTOR,
            visible: true,
            fat_binary: &[],
            emulated: None,
            registers: &registers,
            cautious: self.invocation.cautious,
            optimize: false,
        };
        let lowered = cpu::lower(&module, table.as_ref(), &options).map_err(|cause| self.failed(cause))?;
        let emit = EmitOptions { output: Output::Object, level: 2, pic: true };
        let Some(split) = parts::split(&lowered, processor).map_err(|cause| self.failed(cause))? else {
            loadable::seal(&lowered, LOADED_DESCRIPTOR);
            cpu::optimize(&lowered, processor).map_err(|cause| self.failed(cause))?;
            self.dump.write(&lowered, "device-4-lowered")?;
            let (emit, _) = emit.bounded(&lowered);
            return Ok(vec![object::emit(&lowered, emit).map_err(|cause| self.failed(cause))?]);
        };
        let suffix = object_parts::suffix(&split, self.source);
        split.rename(&lowered, &suffix);
        let plan =
            GenerateOptions { processor, emit, suffix: &suffix, threads: object_parts::threads(), keep_ir: false };
        let (emit, _) = emit.bounded(&lowered);
        let mut objects = vec![object::emit(&lowered, emit).map_err(|cause| self.failed(cause))?];
        let others = parts::generate(&split, &plan).map_err(|cause| self.failed(cause))?;
        objects.extend(others.into_iter().map(|part| part.bytes));
        Ok(objects)
    }

    /// What ptxas says of the module's kernels, where the command line tells it.
    fn registers(&self, module: &inkwell::module::Module<'_>) -> BTreeMap<String, Vec<Resources>> {
        let Some((registers, spill_bytes)) = self.invocation.registers else { return BTreeMap::new() };
        let known = Resources { architecture: self.architecture, registers, spill_bytes };
        let defined = module.get_functions().filter(|function| function.count_basic_blocks() > 0);
        let name = |function: inkwell::values::FunctionValue<'_>| function.get_name().to_string_lossy().into_owned();
        defined.map(|function| (name(function), vec![known])).collect()
    }
}
