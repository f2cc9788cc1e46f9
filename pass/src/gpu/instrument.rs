//! Original and hooked kernels next to each other.
//!
//! Every function with a body is cloned twice with four more parameters (`Target` of `runtime/device/wire.h`): one
//! clone sends records, one counts. In the clones, hook calls become calls of the device hooks, and direct calls go to
//! the callee's clone; in the originals, the hook calls are deleted. A launch can therefore select one of the three
//! forms, and the original is the same code as in a build without hooks. Functions called through pointers exist once,
//! unhooked: a pointer cannot carry the parameters.

use super::hint::Strides;
use super::{DEVICE_RUNTIME, GpuError, machine, operations};
use crate::ir::kernel::is_kernel;
use crate::ir::space::GENERIC;
use crate::llvm::module::verify;
use crate::llvm::value::{Linkage, Opcode};
use crate::llvm::{Builder, Layout, ModuleItems, Type, Value, annotations};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::collections::{BTreeSet, HashMap};
use warpline_format::access::{SITE_BITS, Space, bundle_of};
use warpline_format::gpu::{COUNTED_SUFFIX, CountLayout, HOOKED_SUFFIX, TARGET_PARAMETERS, is_counted};
use warpline_format::hooks::{GpuHook, Hook};
use warpline_format::site_table::SiteTable;

/// How the clone of a function processes its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Sends a record for each request.
    Traced,
    /// Adds each request to the cells of its site.
    Counted,
}

impl Form {
    fn suffix(self) -> &'static str {
        match self {
            Form::Traced => HOOKED_SUFFIX,
            Form::Counted => COUNTED_SUFFIX,
        }
    }
}

/// A module with all forms of each kernel.
pub struct Instrumented<'c> {
    /// The code. In addition to every kernel `k`, there are `k__warpline` and `k__warpline_counted`.
    pub module: Module<'c>,
    /// Mangled names of the kernels, in the module's order.
    pub kernels: Vec<String>,
    /// Code that the records do not cover, by function: calls through pointers.
    pub not_covered: Vec<String>,
    /// The PTX version for which the code was compiled.
    pub(super) ptx: u32,
}

impl Instrumented<'_> {
    /// Returns the notes on the code for the user.
    pub(super) fn notes(&self, table: &SiteTable) -> Vec<String> {
        let uncovered = |function: &String| {
            format!(
                "{function} calls functions through pointers: on a GPU, the profile does not contain what these functions do"
            )
        };
        let mut notes: Vec<String> = self.not_covered.iter().map(uncovered).collect();
        let odd = table.sites.iter().filter(|site| !is_counted(site)).count();
        if odd != 0 {
            notes.push(format!("{odd} accesses of unusual width or alignment are not counted in counters mode"));
        }
        notes
    }
}

/// Creates all forms of each kernel of a hooked module, which is not changed. `table` is the site table that the hook
/// stage returned with the module.
///
/// # Errors
/// Returns [`GpuError::Link`] if the device hooks do not fit the module, [`GpuError::DeviceRuntime`] for
/// kernels that launch kernels, [`GpuError::Machine`] for invalid IR.
pub fn instrument<'c>(hooked: &Module<'c>, table: &SiteTable) -> Result<Instrumented<'c>, GpuError> {
    refuse_device_runtime(hooked)?;
    let module = hooked.clone();
    // Device debug information describes the code before cloning, and ptxas accepts it only with -O0.
    module.strip_debug_info();
    let ptx = wanted_ptx(&module);
    let functions: Vec<_> = module.functions().into_iter().filter(|function| !function.is_declaration()).collect();
    let kernels = functions.iter().filter(|function| is_kernel(**function)).map(|kernel| kernel.name()).collect();
    link_hooks(&module)?;
    let types = ModuleItems::types(&module);
    texture_references_hold_objects(&module, &functions);

    let word = types.int(64);
    let extra: [Type<'c>; TARGET_PARAMETERS] = [types.pointer(0), types.pointer(0), types.pointer(0), word];
    let clone_all = |form: Form| -> HashMap<Value<'c>, Value<'c>> {
        let clone = |function: Value<'c>| {
            function.clone_with_parameters(&format!("{}{}", function.name(), form.suffix()), &extra)
        };
        functions.iter().map(|&function| (function, clone(function))).collect()
    };
    let forms = [Form::Traced, Form::Counted].map(|form| (form, clone_all(form)));
    let mut not_covered = BTreeSet::new();
    let layout = CountLayout::new(table);
    for &function in &functions {
        for (form, clones) in &forms {
            let clone = clones[&function];
            let parameters = clone.parameters();
            let target: Vec<_> = parameters[parameters.len() - TARGET_PARAMETERS..].to_vec();
            if *form == Form::Traced {
                operations::record(&module, clone, &target);
            }
            let builder = Builder::new(types);
            let strides = Strides::analyse(clone, is_kernel(function), Layout::from_module(&module));
            let cloner =
                Rewriter { module: &module, builder, form: *form, table, layout: &layout, strides, clones, target };
            if cloner.rewrite(clone, is_kernel(function)) {
                not_covered.insert(function.name());
            }
        }
        remove_hooks(function);
    }
    for function in module.functions() {
        // The code generator selects the processor; different processors would prevent the hooks from being inlined.
        function.remove_string_attribute("target-cpu");
        function.remove_string_attribute("target-features");
        if !function.is_declaration() && !is_kernel(function) {
            function.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    verify(&module, "instrumentation for a GPU")?;
    // Inlines the hooks and merges their repeated reads of special registers. No pass here moves or merges accesses.
    machine("sm_70", ptx)?.run(&module, "always-inline,function(early-cse),globaldce")?;
    verify(&module, "inlining of the hooks")?;
    Ok(Instrumented { module, kernels, not_covered: not_covered.into_iter().collect(), ptx })
}

/// The children of a hooked kernel would run without hooks, and the host does not see their launches.
fn refuse_device_runtime(module: &Module<'_>) -> Result<(), GpuError> {
    for function in module.functions().into_iter().filter(|function| !function.is_declaration()) {
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            let call = instruction.callee_name();
            if call.starts_with("__cudaCDP2") {
                return Err(GpuError::DeviceRuntime { function: function.name(), call });
            }
        }
    }
    Ok(())
}

/// Returns the PTX version in the module's feature strings, or 0 if there is none.
fn wanted_ptx(module: &Module<'_>) -> u32 {
    let versions = module.functions().into_iter().filter_map(|function| {
        let features = function.string_attribute("target-features")?;
        features.split(',').find_map(|feature| feature.strip_prefix("+ptx")?.parse().ok())
    });
    versions.max().unwrap_or(0)
}

/// Texture references contain the handle of an object, as on the CPU device, because drivers no longer support other
/// texture references. The load of the handle is added after the hooks, so that it is not counted.
fn texture_references_hold_objects(module: &Module<'_>, functions: &[Value<'_>]) {
    for instruction in functions.iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions()) {
        if instruction.is_call() && instruction.callee_name().starts_with("llvm.nvvm.texsurf.handle") {
            let builder = Builder::new(instruction.types());
            builder.before(instruction);
            let handle = builder.load(builder.types().int(64), instruction.operand(0), 4);
            instruction.replace_all_uses_with(handle);
            instruction.erase();
        }
    }
    annotations::keep_managed_only(module);
}

fn link_hooks(module: &Module<'_>) -> Result<(), GpuError> {
    let failed = |cause: String| GpuError::Link { module: module.get_name().to_string_lossy().into_owned(), cause };
    let buffer = MemoryBuffer::create_from_memory_range_copy(DEVICE_RUNTIME, "warpline device hooks");
    let hooks =
        Module::parse_bitcode_from_buffer(&buffer, module.get_context()).map_err(|cause| failed(cause.to_string()))?;
    hooks.set_triple(&module.get_triple());
    hooks.set_data_layout(&module.get_data_layout());
    module.link_in_module(hooks).map_err(|cause| failed(cause.to_string()))
}

/// Turns the copy of a function into its hooked form.
struct Rewriter<'r, 'c> {
    module: &'r Module<'c>,
    builder: Builder<'c>,
    form: Form,
    table: &'r SiteTable,
    layout: &'r CountLayout,
    strides: Strides<'c, 'r>,
    clones: &'r HashMap<Value<'c>, Value<'c>>,
    target: Vec<Value<'c>>,
}

impl<'c> Rewriter<'_, 'c> {
    /// Returns whether a call through a pointer stays uncovered.
    fn rewrite(&self, clone: Value<'c>, kernel: bool) -> bool {
        let mut indirect = false;
        for block in clone.blocks() {
            for instruction in block.instructions() {
                if instruction.opcode() == Some(Opcode::LLVMRet) && kernel {
                    self.mark(instruction, GpuHook::Exit);
                    continue;
                }
                if !instruction.is_call() {
                    continue;
                }
                let Some(callee) = instruction.called_function() else {
                    let called = instruction.called_value();
                    indirect |= called.is_some_and(|value| !value.is_inline_asm());
                    if called.is_some_and(|value| value.is_inline_asm() && value.asm_text().trim() == "exit;") {
                        self.mark(instruction, GpuHook::Exit);
                    }
                    continue;
                };
                let name = callee.name();
                if let Some(hook) = Hook::of_name(&name) {
                    self.hook(instruction, hook);
                } else if let Some(&clone) = self.clones.get(&callee) {
                    self.redirect(instruction, clone);
                } else if name.starts_with("llvm.nvvm.barrier") {
                    self.mark(instruction, GpuHook::Barrier);
                } else if name == "llvm.nvvm.exit" {
                    self.mark(instruction, GpuHook::Exit);
                }
            }
        }
        indirect
    }

    fn gpu_hook(&self, hook: GpuHook) -> Value<'c> {
        self.module.function(&hook.name()).expect("hooks.cu defines every hook that the pass calls")
    }

    /// Emits a record that is not a request; it is not needed if requests are only counted.
    fn mark(&self, before: Value<'c>, hook: GpuHook) {
        if self.form == Form::Counted {
            return;
        }
        self.builder.before(before);
        self.builder.call(self.gpu_hook(hook), &self.target);
    }

    /// Replaces a call of a hook of the device IR by a call of the device's hook.
    fn hook(&self, call: Value<'c>, hook: Hook) {
        let builder = &self.builder;
        builder.before(call);
        let number = builder.types().int(32);
        let mut arguments = self.target.clone();
        let of_call = call.arguments();
        let cell = |cell: u64| Value::int(number, cell);
        let index = of_call.first().and_then(|value| value.as_u64()).unwrap_or(0) as u32;
        let traced = self.form == Form::Traced;
        let of_gpu = match hook {
            // The hardware's texture unit is not recorded.
            Hook::Texture => return call.erase(),
            Hook::Block => {
                arguments.push(cell(self.layout.block(index)));
                GpuHook::Block
            }
            Hook::Branch | Hook::Switch => {
                arguments.extend([cell(self.layout.branch(index)), of_call[1]]);
                if hook == Hook::Branch { GpuHook::Branch } else { GpuHook::Switch }
            }
            Hook::Return | Hook::Call if !traced => return call.erase(),
            Hook::Return => GpuHook::Return,
            Hook::Call => {
                arguments.push(of_call[0]);
                GpuHook::Call
            }
            // The record of the bundle's first access also covers this access.
            Hook::Member(_) if traced => return call.erase(),
            Hook::Access(space) | Hook::Member(space) => return self.access(call, space, arguments),
        };
        builder.call(self.gpu_hook(of_gpu), &arguments);
        call.erase();
    }

    /// Replaces the hook of an access to a space. The call of the device's hook begins with `arguments`.
    fn access(&self, call: Value<'c>, space: Space, mut arguments: Vec<Value<'c>>) {
        let builder = &self.builder;
        let types = builder.types();
        let (word, word32) = (types.int(64), types.int(32));
        let of_call = call.arguments();
        let number = of_call[0].as_u64().unwrap_or(u64::MAX) as u32;
        // A hook would use the variable's address and therefore keep the variable out of registers.
        if self.first_site(number).is_some_and(|site| self.table.is_in_registers(site)) {
            return call.erase();
        }
        let mut pointer = of_call[1];
        if space == Space::Constant {
            pointer = builder.cast(Opcode::LLVMAddrSpaceCast, pointer, types.pointer(GENERIC));
        }
        let mut address = builder.ptr_to_int(pointer, word);
        if matches!(space, Space::Shared | Space::Local) {
            address = builder.trunc(address, word32);
        }
        let hook = match self.form {
            Form::Traced => match self.strides.hint(of_call[1]).filter(|_| space != Space::Generic) {
                Some(stride) => {
                    let site = of_call[0].as_u64().unwrap_or(0);
                    let address = builder.zext(address, word);
                    let constant = |value| Value::int(word32, value);
                    arguments.extend([constant((space as u64) << SITE_BITS | site), address, constant(stride.into())]);
                    GpuHook::AccessHinted
                }
                _ => {
                    arguments.extend([of_call[0], address]);
                    GpuHook::Access(space)
                }
            },
            Form::Counted => {
                // Counters mode counts the accesses of a bundle separately.
                let site = self.first_site(number).unwrap_or(u32::MAX);
                let entry = self.table.sites.get(site as usize);
                let Some((entry, first)) = entry.zip(self.layout.site(site)) else {
                    call.erase();
                    return;
                };
                let useful = entry.byte_mask.map_or(entry.bytes, u64::count_ones);
                arguments.extend([Value::int(word32, first), Value::int(word32, u64::from(useful)), address]);
                GpuHook::Count(space)
            }
        };
        builder.call(self.gpu_hook(hook), &arguments);
        call.erase();
    }

    /// Returns the site for a hook's number; for a bundle, the first site.
    fn first_site(&self, number: u32) -> Option<u32> {
        let first = |bundle: u32| Some(self.table.bundles.get(bundle as usize)?.members.first()?.site);
        bundle_of(number).map_or(Some(number), first)
    }

    fn redirect(&self, call: Value<'c>, clone: Value<'c>) {
        self.builder.before(call);
        let mut arguments = call.arguments();
        arguments.extend(&self.target);
        let new = self.builder.call(clone, &arguments);
        new.copy_call_attributes(call);
        call.replace_all_uses_with(new);
        call.erase();
    }
}

fn remove_hooks(function: Value<'_>) {
    for block in function.blocks() {
        for instruction in block.instructions() {
            let name = instruction.callee_name();
            if Hook::of_name(&name).is_some() {
                instruction.erase();
            }
        }
    }
}
