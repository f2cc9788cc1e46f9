//! The stages of the pass, from clang's bitcode to an object. See `docs/design/borders.md`, section 1.

use crate::clang_jobs;
use crate::command::Command;
use crate::device_code::gpu::GpuBuild;
use crate::device_code::registers::{Assembler, Assembly};
use crate::device_code::{carried, object_parts};
use crate::dump::Dump;
use crate::error::DriverError;
use crate::invocation::{GpuCode, HookedCode, Invocation};
use crate::message;
use crate::options::load_cache::load_cache;
use crate::programs::tools::Tools;
use crate::source::standard_input;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use inkwell::values::BasicMetadataValueEnum;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use warpline_format::abi::{ARCHITECTURE_SECTION, architecture_word};
use warpline_format::site_table::{CacheOp, SiteTable};
use warpline_format::visible;
use warpline_pass::cpu::{Generated, LowerError};
use warpline_pass::device::HookOptions;
use warpline_pass::gpu::names;
use warpline_pass::host::HostHooks;
use warpline_pass::llvm::Machine;
use warpline_pass::llvm::shim::{self, quiet_context};
use warpline_pass::object::{EmitOptions, Huge, Output};
use warpline_pass::parts::{self, GenerateOptions, Split};
use warpline_pass::{cpu, device, gpu, host, object};

/// clang's variable that connects a host module with its device code.
const WRAPPER: &str = "__cuda_fatbin_wrapper";

/// The symbol of the module descriptor, to which the host code refers instead of a fat binary. It is local to each
/// object.
const DESCRIPTOR: &str = "__warpline_module";

/// The input of the stages in addition to the code.
pub struct StageOptions {
    /// The name of the source, for messages.
    source: String,
    /// The `-O` level of device code.
    device_level: u8,
    /// The `-O` level of host code.
    host_level: u8,
    /// Folders that do not contain the user's code.
    system_folders: Vec<String>,
    /// The processor for which warp functions are generated, in the form of clang's `-march`.
    processor: String,
    /// Whether the command line contains a level.
    level_is_given: bool,
    /// Whether the device code of several units is linked.
    is_link: bool,
    /// The options that affect how device code is generated, except the level; for the profile.
    code_options: String,
    /// Whether hooks are inserted.
    hooks: bool,
    /// Whether the code is position-independent.
    pic: bool,
    /// Whether the slow reference lowering is used.
    cautious: bool,
    /// When functions with hooks are generated.
    hooked_code: HookedCode,
    /// Whether accesses may share records.
    bundles: bool,
    load_cache: CacheOp,
    /// A word with the architecture whose code runs, and the requested one.
    architecture_word: u32,
    /// GPU code, if it is requested.
    gpu: Option<GpuBuild>,
    /// Whether the GPU's code is lowered for the emulated GPU.
    emulated: bool,
    assembler: Assembler,
    /// The file in which the PTX is kept.
    kept_ptx: Option<PathBuf>,
    /// The command that joins objects.
    linker: Command,
    /// The folder of intermediate files.
    temporary: PathBuf,
    dump: Dump,
}

impl StageOptions {
    /// Creates a `StageOptions` for one translation unit or, with the output's name, for a device link.
    pub fn new(tools: &Tools, invocation: &Invocation, source: &str) -> StageOptions {
        StageOptions {
            source: source.into(),
            device_level: level(invocation.device_level()),
            host_level: level(invocation.host_level()),
            level_is_given: invocation.level.is_some() || invocation.device_debug,
            is_link: false,
            code_options: crate::source::made_with::options(invocation),
            system_folders: tools.system_folders(),
            processor: invocation.processor.clone().unwrap_or_else(|| "native".into()),
            hooks: std::env::var_os(crate::DISABLE_VARIABLE).is_none_or(|value| value != "1"),
            pic: position_independent(invocation),
            cautious: invocation.cautious,
            // What is generated later is not lowered in the slow way.
            hooked_code: if invocation.cautious { HookedCode::Ahead } else { invocation.hooked_code },
            bundles: invocation.bundles,
            load_cache: load_cache(&invocation.ptxas),
            architecture_word: architecture_word(tools.architecture, tools.requested_architecture),
            gpu: GpuBuild::new(tools, invocation),
            emulated: invocation.gpu == GpuCode::Emulated,
            assembler: assembler(tools, invocation),
            kept_ptx: kept_ptx(invocation, source),
            linker: clang_jobs::linker(tools),
            temporary: tools.temporary().into(),
            dump: Dump::new(invocation.dump.clone(), source),
        }
    }

    /// Returns which functions of hooked device code the build generates.
    fn generated(&self, device: &Module<'_>) -> Generated<'static> {
        match self.hooked_code {
            HookedCode::Ahead => Generated::All,
            HookedCode::OnDemand => Generated::Native,
            HookedCode::BySize => Generated::at_build(device),
        }
    }

    fn emit(&self) -> EmitOptions {
        EmitOptions { output: Output::Object, level: self.host_level, pic: self.pic, bound: object::BUILT }
    }

    fn note_huge(&self, huge: Option<&Huge>) {
        let Some(Huge { name, instructions }) = huge else { return };
        message::line(format_args!(
            "warpline-cc: note: {}: {} has {instructions} instructions; it and the rest of its module are generated \
             without optimisation, and run slower",
            visible::name(&self.source),
            visible::name(name)
        ));
    }

    fn note(&self, notes: &[String]) {
        for note in notes {
            message::line(format_args!(
                "warpline-cc: note: {}: {}",
                visible::name(&self.source),
                visible::message(note)
            ));
        }
    }

    /// Returns the error for device code that cannot be lowered, with a hint if it uses a function or variable that
    /// another file defines.
    fn not_lowered(&self, cause: LowerError) -> DriverError {
        let hint = match &cause {
            LowerError::Unsupported(refusal) if refusal.undefined => match self.is_link {
                true => ": no file of this link that was compiled with -rdc=true (clang: -fgpu-rdc) defines it",
                false => {
                    ": if another file defines it, compile both with -rdc=true (clang: -fgpu-rdc), and link with the same option"
                }
            },
            _ => "",
        };
        self.failed(format!("{cause}{hint}"))
    }

    fn failed(&self, cause: impl Display) -> DriverError {
        DriverError::Pass { source_file: self.source.clone(), cause: cause.to_string() }
    }
}

/// Returns the assembler for the requested architectures. Code for debugging has the registers of the debug build.
fn assembler(tools: &Tools, invocation: &Invocation) -> Assembler {
    let mut arguments = invocation.ptxas.clone();
    arguments.extend(invocation.device_debug.then(|| "-O0".into()));
    let requested =
        invocation.architectures.iter().copied().chain([tools.architecture, tools.requested_architecture]).collect();
    Assembler::new(&tools.cuda, &arguments, requested, tools.temporary(), object_parts::threads())
}

/// Returns the file that `-keep` requests, with the name that nvcc gives it.
fn kept_ptx(invocation: &Invocation, source: &str) -> Option<PathBuf> {
    let stem = Path::new(source).file_stem().filter(|_| invocation.keep && !invocation.dry_run)?;
    Some(invocation.keep_folder.clone().unwrap_or_default().join(stem).with_extension("ptx"))
}

/// Returns whether the code is position-independent: the last option counts, otherwise clang's default on this target.
fn position_independent(invocation: &Invocation) -> bool {
    let flags = invocation.common.iter().chain(&invocation.host);
    let last = flags.rev().find_map(|flag| match flag.as_str() {
        "-fPIC" | "-fpic" | "-fPIE" | "-fpie" => Some(true),
        "-fno-pic" | "-fno-PIC" | "-fno-pie" | "-fno-PIE" => Some(false),
        _ => None,
    });
    last.unwrap_or(true)
}

/// Returns LLVM's level for the letters and digits after `-O`; size levels optimise like 2, as in LLVM's own mapping.
pub fn level(text: &str) -> u8 {
    match text {
        "0" => 0,
        "1" | "g" => 1,
        "3" | "4" | "fast" | "max" => 3,
        _ => 2,
    }
}

/// Compiles a CUDA translation unit: device and host bitcode to one object.
pub fn cuda_unit(
    device_file: &Path,
    host_file: &Path,
    output: &Path,
    options: &StageOptions,
) -> Result<(), DriverError> {
    let context = quiet_context();
    let device = read(&context, device_file, options)?;
    let host = read(&context, host_file, options)?;
    write_unit(device, host, output, options)
}

/// Compiles the linked device code of several relocatable units, and the host code that registers them (LLVM's text),
/// to one object.
pub fn linked_unit(
    device_files: &[PathBuf],
    registration: &str,
    output: &Path,
    options: StageOptions,
) -> Result<(), DriverError> {
    let context = quiet_context();
    let mut options = StageOptions { is_link: true, ..options };
    let mut files = device_files.iter();
    let first = files.next().ok_or_else(|| options.failed("units to link have lost their device code"))?;
    let device = read(&context, first, &options)?;
    let mut level = made_at(&device);
    device::join_statics(&device);
    for file in files {
        let next = read(&context, file, &options)?;
        level = level.max(made_at(&next));
        device::join_statics(&next);
        device.link_in_module(next).map_err(|cause| options.failed(format!("linking device code: {cause}")))?;
    }
    let text = MemoryBuffer::create_from_memory_range_copy(registration.as_bytes(), "registration");
    let host = context.create_module_from_ir(text).map_err(|cause| options.failed(cause))?;
    host::machine(&host).map_err(|cause| options.failed(cause))?.adopt(&host);
    if !options.level_is_given {
        options.device_level = level.unwrap_or(options.device_level);
    }
    write_unit(device, host, output, &options)
}

/// The name of the metadata with the `-O` level with which a relocatable unit was compiled.
const LEVEL: &str = "warpline.level";

/// Records the `-O` level of device code in the module of a relocatable unit.
fn note_level(module: &Module<'_>, level: u8) -> Result<(), inkwell::Error> {
    let context = module.get_context();
    let level = context.i32_type().const_int(level.into(), false);
    module.add_global_metadata(LEVEL, &context.metadata_node(&[level.into()]))
}

/// Returns the `-O` level with which a relocatable unit was compiled.
fn made_at(module: &Module<'_>) -> Option<u8> {
    let values = module.get_global_metadata(LEVEL).first()?.get_node_values();
    match values?.first()? {
        BasicMetadataValueEnum::IntValue(level) => u8::try_from(level.get_zero_extended_constant()?).ok(),
        _ => None,
    }
}

/// Returns the device code of a relocatable unit, as bitcode.
pub fn device_bitcode(device_file: &Path, options: &StageOptions) -> Result<Vec<u8>, DriverError> {
    let context = quiet_context();
    let module = read(&context, device_file, options)?;
    note_level(&module, options.device_level).map_err(|cause| options.failed(cause))?;
    Ok(module.write_bitcode_to_memory().as_slice().to_vec())
}

/// Compiles a translation unit without device code.
pub fn host_unit(host_file: &Path, output: &Path, options: &StageOptions) -> Result<(), DriverError> {
    let context = quiet_context();
    let host = read(&context, host_file, options)?;
    host_stages(&host, None, options)?;
    emit(&host, output, options)
}

fn write_unit<'c>(
    device: Module<'c>,
    host: Module<'c>,
    output: &Path,
    options: &StageOptions,
) -> Result<(), DriverError> {
    // A source named .cu need not contain kernels or device variables; clang then registers nothing.
    if host.get_global(WRAPPER).is_none() {
        host_stages(&host, None, options)?;
        return emit(&host, output, options);
    }
    let machine = device::machine(&device).map_err(|cause| options.failed(cause))?;
    options.dump.write(&device, "device-0-clang")?;
    device::limit_registers(&device);
    device::mark_managed(&device);
    device::keep_stray_accesses(&device);
    if options.device_level == 0 {
        device::inline_headers(&device, &options.system_folders);
    }
    device::note_locations(&device);
    device::optimize(&device, &machine, options.device_level).map_err(|cause| options.failed(cause))?;
    options.dump.write(&device, "device-1-optimised")?;
    let mut assembly = assemble(&device, &machine, options)?;
    device::prepare(&device, &machine, options.device_level).map_err(|cause| options.failed(cause))?;
    options.dump.write(&device, "device-2-prepared")?;
    let mut table = match options.hooks {
        true => {
            let hooks = HookOptions {
                system_folders: options.system_folders.clone(),
                bundles: options.bundles,
                load_cache: options.load_cache,
            };
            let mut table = device::hook(&device, &machine, &hooks).map_err(|cause| options.failed(cause))?;
            crate::source::digests::add(&mut table);
            crate::source::made_with::add(&mut table, options.device_level, &options.code_options);
            options.dump.write(&device, "device-3-hooked")?;
            Some(table)
        }
        false => None,
    };
    if let Some(table) = table.as_mut().filter(|table| table.has_local_accesses()) {
        table.keep_in_registers(&assembly.finish().in_registers);
    }
    let fat_binary = gpu_code(&device, table.as_ref(), options)?;
    let assembled = assembly.finish();
    let registers = &assembled.kernels;
    let emulated = table.as_ref().filter(|_| options.emulated);
    let carried = table
        .as_ref()
        .map(|table| carried::encode(&device, table, assembled, &options.system_folders))
        .unwrap_or_default();
    let lowering = cpu::Options {
        processor: &options.processor,
        descriptor: DESCRIPTOR,
        visible: false,
        fat_binary: &fat_binary,
        emulated: emulated.map(|_| gpu::EMULATED_DESCRIPTOR),
        registers,
        cautious: options.cautious,
        any_shape: false,
        large: cpu::LARGE,
        serial: cpu::SERIAL,
        generated: options.generated(&device),
        values: false,
        carried: &carried,
        optimize: false,
    };
    let lowered = cpu::lower(&device, table.as_ref(), &lowering).map_err(|cause| options.not_lowered(cause))?;
    if let Some(table) = emulated {
        let made = gpu::emulate(&device, table, &options.processor, registers);
        let made = made.map_err(|cause| options.failed(cause))?;
        options.note(&made.notes);
        options.dump.write(&made.module, "device-4-emulated")?;
        gpu::join_emulated(&lowered, made.module).map_err(|cause| options.failed(cause))?;
    }
    let Some(split) = parts::split(&lowered, &options.processor).map_err(|cause| options.failed(cause))? else {
        cpu::optimize(&lowered, &options.processor).map_err(|cause| options.failed(cause))?;
        options.dump.write(&lowered, "device-4-lowered")?;
        complete(&host, lowered, &[], options)?;
        return emit(&host, output, options);
    };
    write_parts(lowered, &split, host, output, options)
}

/// Runs the host's stages and adds the device's module; its symbols in `visible` stay visible.
fn complete<'c>(
    host: &Module<'c>,
    device: Module<'c>,
    visible: &[&str],
    options: &StageOptions,
) -> Result<(), DriverError> {
    host_stages(host, Some(DESCRIPTOR), options)?;
    object::join(host, device, visible).map_err(|cause| options.failed(cause))?;
    note_architecture(host, options.architecture_word);
    Ok(())
}

/// Generates the parts of the device code and, at the same time, the host code with the code that is in no part.
fn write_parts<'c>(
    rest: Module<'c>,
    split: &Split,
    host: Module<'c>,
    output: &Path,
    options: &StageOptions,
) -> Result<(), DriverError> {
    let suffix = object_parts::suffix(split, &options.source);
    split.rename(&rest, &suffix);
    let names = split.names(&suffix);
    let plan = GenerateOptions {
        processor: &options.processor,
        emit: options.emit(),
        suffix: &suffix,
        threads: object_parts::threads(),
        keep_ir: options.dump.is_on(),
    };
    let (first, others) = std::thread::scope(|scope| {
        let others = scope.spawn(|| parts::generate(split, &plan));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let first = complete(&host, rest, &names, options).and_then(|()| bytes(&host, options));
        (first, others.join())
    });
    let others = others.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let others = others.map_err(|cause| options.failed(cause))?;
    for (number, part) in others.iter().enumerate() {
        options.note_huge(part.huge.as_ref());
        if let Some(text) = &part.ir {
            options.dump.write_text(text, &format!("device-4-lowered-{number}"))?;
        }
    }
    let objects = std::iter::once(first?).chain(others.into_iter().map(|part| part.bytes));
    object_parts::join(objects, output, options.temporary.as_path(), &options.linker)
}

/// Records the GPU model for `warpline run`.
fn note_architecture(host: &Module<'_>, value: u32) {
    let word = host.get_context().i32_type();
    let note = host.add_global(word, None, "warpline.architecture");
    note.set_initializer(&word.const_int(value.into(), false));
    note.set_constant(true);
    note.set_linkage(Linkage::Internal);
    note.set_section(Some(ARCHITECTURE_SECTION));
}

/// Returns the fat binary for GPUs, which is empty if none is requested. A build without hooks has none either, because
/// the runtime would not find the hooked kernels in it.
fn gpu_code(device: &Module<'_>, table: Option<&SiteTable>, options: &StageOptions) -> Result<Vec<u8>, DriverError> {
    let (Some(build), Some(table)) = (&options.gpu, table) else { return Ok(Vec::new()) };
    if let Some(cycle) = device::reference_cycle(device) {
        let names = cycle.join(", ");
        return Err(options.failed(format!(
            "no code for a GPU: the initial values of the device variables {names} refer to each other in a circle, \
             which LLVM cannot write as PTX; set one of the pointers when the program runs, or build without --device=gpu"
        )));
    }
    if let Some(name) = names::foreign_to_host(device) {
        return Err(options.failed(format!(
            "no code for a GPU: PTX has no name with other characters than letters of ASCII, digits, _ and $, and {name} is \
             named so for host code, too; rename it, or build without --device=gpu"
        )));
    }
    let (bytes, notes) = build.fat_binary(device, table).map_err(|cause| options.failed(cause))?;
    options.note(&notes);
    Ok(bytes)
}

/// Starts ptxas on a copy of the code without hooks and without debug information, with which ptxas would keep
/// variables in registers after their last use. If LLVM cannot generate PTX for the code, occupancy is assumed.
fn assemble(device: &Module<'_>, machine: &Machine, options: &StageOptions) -> Result<Assembly, DriverError> {
    if device::reference_cycle(device).is_some() {
        return Ok(Assembly::none());
    }
    let copy = device.clone();
    copy.strip_debug_info();
    machine.adopt(&copy);
    names::spell(&copy);
    let ptx = machine.emit_assembly(&copy).unwrap_or_default();
    if let Some(file) = &options.kept_ptx {
        std::fs::write(file, &ptx).map_err(DriverError::writing(file))?;
    }
    Ok(options.assembler.clone().start(ptx, device::architecture(machine)))
}

fn host_stages(module: &Module<'_>, descriptor: Option<&str>, options: &StageOptions) -> Result<(), DriverError> {
    let machine = host::machine(module).map_err(|cause| options.failed(cause))?;
    options.dump.write(module, "host-0-clang")?;
    host::share_managed(module).map_err(|cause| options.failed(cause))?;
    if options.hooks {
        host::note(module);
    }
    host::optimize(module, &machine, options.host_level).map_err(|cause| options.failed(cause))?;
    options.dump.write(module, "host-1-optimised")?;
    let hooks = HostHooks { descriptor, allocations: options.hooks };
    host::hook(module, hooks).map_err(|cause| options.failed(cause))?;
    options.dump.write(module, "host-2-hooked")
}

fn emit(module: &Module<'_>, output: &Path, options: &StageOptions) -> Result<(), DriverError> {
    std::fs::write(output, bytes(module, options)?).map_err(|cause| {
        // make would treat a part of an object as the complete object. An output that is not a file, such as a device,
        // is not removed.
        if output.is_file() {
            _ = std::fs::remove_file(output);
        }
        DriverError::writing(output)(cause)
    })
}

fn bytes(module: &Module<'_>, options: &StageOptions) -> Result<Vec<u8>, DriverError> {
    let (emit, huge) = options.emit().bounded(module);
    options.note_huge(huge.as_ref());
    object::emit(module, emit).map_err(|cause| options.failed(cause))
}

fn read<'c>(context: &'c Context, path: &Path, options: &StageOptions) -> Result<Module<'c>, DriverError> {
    let module = object::read(context, path).map_err(|cause| options.failed(cause))?;
    // clang lists them only if it has read the headers' text, and the code must be the same with precompiled headers.
    shim::unlist_declarations(&module, &options.system_folders);
    standard_input::rename(&module, &options.source);
    Ok(module)
}
