//! Compiles device modules that programs load while they run to shared objects. Such an object has one symbol, the
//! module's descriptor, and references to the runtime of the process that loads it.

use crate::device_code::gpu::GpuBuild;
use crate::device_code::registers::Assembled;
use crate::device_code::{carried, object_parts};
use crate::dump::Dump;
use crate::error::DriverError;
use crate::invocation::Invocation;
use crate::options::load_cache::load_cache;
use crate::programs::linker;
use inkwell::context::Context;
use inkwell::module::Module;
use std::fmt::Display;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;
use warpline_format::abi::LOADED_DESCRIPTOR;
use warpline_format::device_code::{CarriedCode, KernelResources};
use warpline_format::operation::Followed;
use warpline_format::site_table::{CacheOp, SiteTable};
use warpline_pass::cpu::Generated;
use warpline_pass::device::HookOptions;
use warpline_pass::llvm::Machine;
use warpline_pass::object::{EmitOptions, Output};
use warpline_pass::parts::{self, GenerateOptions};
use warpline_pass::{cpu, device, gpu, loadable, object};
use warpline_toolchain::interrupt::{self, Removal};

/// The inputs for lowering a module in addition to its code.
pub struct Lowering<'a> {
    source: &'a str,
    processor: &'a str,
    cautious: bool,
    bundles: bool,
    load_cache: CacheOp,
    generated: Generated<'a>,
    system_folders: Vec<String>,
    hooks: bool,
    code_options: String,
    /// Keeps the IR of each stage if the user requested it.
    pub dump: Dump,
}

impl<'a> Lowering<'a> {
    /// Creates it from the command line's options; `source` is for messages.
    pub fn new(invocation: &'a Invocation, source: &'a str, system_folders: Vec<String>) -> Lowering<'a> {
        Lowering {
            source,
            processor: invocation.processor.as_deref().unwrap_or("native"),
            cautious: invocation.cautious,
            bundles: invocation.bundles,
            load_cache: load_cache(&invocation.ptxas),
            generated: match &invocation.hooks_of {
                Some(kernel) => Generated::HookedOf(kernel),
                None if invocation.hooked_only || !invocation.followed.is_empty() => Generated::Hooked,
                None => Generated::All,
            },
            system_folders,
            hooks: std::env::var_os(crate::DISABLE_VARIABLE).is_none_or(|value| value != "1"),
            code_options: crate::source::made_with::options(invocation),
            dump: Dump::new(invocation.dump.clone(), source),
        }
    }

    /// Converts an error of a stage, for `map_err`.
    pub fn failed(&self, cause: impl Display) -> DriverError {
        DriverError::Pass { source_file: self.source.into(), cause: cause.to_string() }
    }

    /// Reads a module from its bitcode or its text.
    pub(crate) fn read<'c>(&self, context: &'c Context, code: &[u8]) -> Result<Module<'c>, DriverError> {
        loadable::read(context, code, self.source).map_err(|cause| self.failed(cause))
    }

    /// Runs the stages after optimisation (`stages.rs`), without those that only host code needs, and returns the
    /// objects; `level` is the optimisation level.
    pub fn objects(
        &self,
        module: &Module<'_>,
        machine: &Machine,
        level: u8,
        assembled: impl FnOnce() -> Assembled,
    ) -> Result<Vec<Vec<u8>>, DriverError> {
        device::prepare(module, machine, level).map_err(|cause| self.failed(cause))?;
        self.dump.write(module, "device-2-prepared")?;
        let mut table = match self.hooks {
            true => {
                let hooks = HookOptions {
                    system_folders: self.system_folders.clone(),
                    bundles: self.bundles,
                    load_cache: self.load_cache,
                };
                let mut table = device::hook(module, machine, &hooks).map_err(|cause| self.failed(cause))?;
                crate::source::digests::add(&mut table);
                crate::source::made_with::add(&mut table, level, &self.code_options);
                self.dump.write(module, "device-3-hooked")?;
                Some(table)
            }
            false => None,
        };
        let assembled = assembled();
        if let Some(table) = &mut table {
            table.keep_in_registers(&assembled.in_registers);
        }
        let carried = table
            .as_ref()
            .map(|table| carried::encode(module, table, &assembled, &self.system_folders))
            .unwrap_or_default();
        let options = self.options(&assembled.kernels, false, &carried);
        self.lower(module, table.as_ref(), &options)
    }

    /// Returns the objects of the functions with hooks of the kernel in the options.
    pub(crate) fn of_kernel(
        &self,
        module: &Module<'_>,
        table: &SiteTable,
        registers: &KernelResources,
    ) -> Result<Vec<Vec<u8>>, DriverError> {
        self.lower(module, Some(table), &self.options(registers, false, &[]))
    }

    /// Numbers the operations of hooked code whose values are tracked, and returns its table with them.
    pub(crate) fn number(&self, module: &Module<'_>, table: SiteTable, followed: &Followed) -> SiteTable {
        let options = HookOptions { system_folders: self.system_folders.clone(), ..HookOptions::default() };
        device::number_operations(module, table, &options, followed)
    }

    /// Returns the objects of hooked code that reports values.
    pub(crate) fn with_values(
        &self,
        module: &Module<'_>,
        table: &SiteTable,
        code: &CarriedCode,
    ) -> Result<Vec<Vec<u8>>, DriverError> {
        self.lower(module, Some(table), &self.options(&code.registers, true, &code.to_bytes()))
    }

    /// Returns the objects of code for the emulated GPU that sends values.
    pub(crate) fn emulated(
        &self,
        module: &Module<'_>,
        table: &SiteTable,
        code: &CarriedCode,
    ) -> Result<Vec<Vec<u8>>, DriverError> {
        let made = gpu::emulate(module, table, self.processor, &code.registers).map_err(|cause| self.failed(cause))?;
        self.dump.write(&made.module, "device-4-emulated")?;
        let carried = code.to_bytes();
        let options = cpu::Options {
            emulated: Some(gpu::EMULATED_DESCRIPTOR),
            generated: Generated::Nothing,
            ..self.options(&code.registers, false, &carried)
        };
        let lowered = cpu::lower(module, Some(table), &options).map_err(|cause| self.failed(cause))?;
        gpu::join_emulated(&lowered, made.module).map_err(|cause| self.failed(cause))?;
        self.emit(lowered)
    }

    /// Returns the objects with a fat binary that sends values.
    pub(crate) fn for_gpu(
        &self,
        module: &Module<'_>,
        table: &SiteTable,
        code: &CarriedCode,
        build: &GpuBuild,
    ) -> Result<Vec<Vec<u8>>, DriverError> {
        let (fat_binary, _) = build.fat_binary(module, table).map_err(|cause| self.failed(cause))?;
        let carried = code.to_bytes();
        let options = cpu::Options {
            fat_binary: &fat_binary,
            generated: Generated::Nothing,
            ..self.options(&code.registers, false, &carried)
        };
        self.lower(module, Some(table), &options)
    }

    fn options<'o>(&'o self, registers: &'o KernelResources, values: bool, carried: &'o [u8]) -> cpu::Options<'o> {
        cpu::Options {
            processor: self.processor,
            descriptor: LOADED_DESCRIPTOR,
            visible: true,
            fat_binary: &[],
            emulated: None,
            registers,
            cautious: self.cautious,
            any_shape: false,
            large: cpu::LARGE,
            serial: cpu::SERIAL,
            generated: self.generated,
            values,
            carried,
            optimize: false,
        }
    }

    /// Lowers a hooked module to objects.
    fn lower(
        &self,
        module: &Module<'_>,
        table: Option<&SiteTable>,
        options: &cpu::Options<'_>,
    ) -> Result<Vec<Vec<u8>>, DriverError> {
        let lowered = cpu::lower(module, table, options).map_err(|cause| self.failed(cause))?;
        self.emit(lowered)
    }

    /// Generates the objects of a lowered module.
    fn emit(&self, lowered: Module<'_>) -> Result<Vec<Vec<u8>>, DriverError> {
        self.dump.write(&lowered, "device-4-unoptimised")?;
        let bound = if self.generated == Generated::All { object::BUILT } else { object::LOADED };
        let emit = EmitOptions { output: Output::Object, level: 2, pic: true, bound };
        let Some(split) = parts::split(&lowered, self.processor).map_err(|cause| self.failed(cause))? else {
            loadable::seal(&lowered, LOADED_DESCRIPTOR);
            cpu::optimize(&lowered, self.processor).map_err(|cause| self.failed(cause))?;
            self.dump.write(&lowered, "device-4-lowered")?;
            let (emit, _) = emit.bounded(&lowered);
            return Ok(vec![object::emit(&lowered, emit).map_err(|cause| self.failed(cause))?]);
        };
        let suffix = object_parts::suffix(&split, self.source);
        split.rename(&lowered, &suffix);
        let plan = GenerateOptions {
            processor: self.processor,
            emit,
            suffix: &suffix,
            threads: object_parts::threads(),
            keep_ir: false,
        };
        let (emit, _) = emit.bounded(&lowered);
        let mut objects = vec![object::emit(&lowered, emit).map_err(|cause| self.failed(cause))?];
        let others = parts::generate(&split, &plan).map_err(|cause| self.failed(cause))?;
        objects.extend(others.into_iter().map(|part| part.bytes));
        Ok(objects)
    }
}

/// Links objects to the shared object `output`.
pub fn link(objects: &[Vec<u8>], output: &Path) -> Result<(), DriverError> {
    let (temporary, _removal) = temporary()?;
    let mut paths = Vec::new();
    for (number, bytes) in objects.iter().enumerate() {
        let path = temporary.path().join(format!("{number}.o"));
        std::fs::write(&path, bytes).map_err(DriverError::writing(&path))?;
        paths.push(path);
    }
    let paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
    match linker::shared_object(&paths, output)?.run()? {
        0 => Ok(()),
        code => Err(DriverError::Compiler(code)),
    }
}

/// Creates a folder of intermediate files, which is removed when the second value is dropped.
pub(super) fn temporary() -> Result<(TempDir, Removal), DriverError> {
    let made = tempfile::Builder::new().prefix("warpline-cc.").permissions(Permissions::from_mode(0o700)).tempdir();
    let made = made.map_err(DriverError::writing(std::env::temp_dir()))?;
    let removal = interrupt::removes(made.path());
    Ok((made, removal))
}
