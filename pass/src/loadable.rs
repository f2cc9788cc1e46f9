//! Device modules that a front end hands over as optimised LLVM IR while a program runs, as Triton does: made what the
//! stages on clang's device code expect, and afterwards an object that can be loaded alone.

use crate::device::{DeviceError, TargetError};
use crate::ir::kernel::is_kernel;
use crate::llvm::module::verify;
use crate::llvm::shim::{Tuning, run_pipeline};
use crate::llvm::value::Linkage;
use crate::llvm::{Machine, ModuleItems};
use crate::newer_text::translate;
use crate::object::ObjectError;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// The newest PTX version that this LLVM writes. Text of a newer LLVM may declare more, although its code does not need
/// it.
const FEATURES: &str = "+ptx88";

/// What the front end leaves to the back end: choices by the architecture and by the module's flags, and what becomes
/// dead by them.
const LEFT_TO_THE_BACK_END: &str = "nvvm-reflect,function(sccp,simplifycfg,instsimplify,dce),globaldce";

/// Reads LLVM IR, as text or as bitcode; `name` is for messages.
///
/// # Errors
/// [`ObjectError::Read`] with LLVM's words where it is neither, or of an LLVM that wrote something newer.
pub fn read<'c>(context: &'c Context, text: &[u8], name: &str) -> Result<Module<'c>, ObjectError> {
    // Bitcode is not UTF-8, and a later version's cannot be read at all.
    let translated = std::str::from_utf8(text).map(translate).ok();
    let bytes = translated.as_ref().map_or(text, String::as_bytes);
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, name);
    context
        .create_module_from_ir(buffer)
        .map_err(|cause| ObjectError::Read { path: name.into(), cause: cause.to_string() })
}

/// Returns whether there is anything to launch in a module.
pub fn has_kernel(module: &Module<'_>) -> bool {
    module.functions().into_iter().any(|function| !function.is_declaration() && is_kernel(function))
}

/// Gives the parameters of a module's kernels the names that the source has for them, in their order: front ends write
/// no debug information about them.
pub fn name_parameters(module: &Module<'_>, names: &[String]) {
    for function in module.functions().into_iter().filter(|function| !function.is_declaration() && is_kernel(*function))
    {
        for (parameter, name) in function.parameters().into_iter().zip(names) {
            parameter.set_name(name);
        }
    }
}

/// Gives a module the machine that its front end did not name: `processor` as `sm_80`. Triton sets triple, data layout
/// and processor only when it generates code.
///
/// # Errors
/// Where LLVM does not know the processor, or the module is not valid IR.
pub fn adopt(module: &Module<'_>, processor: &str) -> Result<Machine, DeviceError> {
    let machine = Machine::nvptx_like(processor, FEATURES).map_err(TargetError::from)?;
    machine.adopt(module);
    for function in module.functions().into_iter().filter(|function| !function.is_declaration()) {
        function.set_string_attribute("target-cpu", processor);
        function.set_string_attribute("target-features", FEATURES);
    }
    run_pipeline(module, &machine, LEFT_TO_THE_BACK_END, Tuning { keep_notes: true, ..Tuning::of_level(3) })?;
    verify(module, "reading of device code")?;
    Ok(machine)
}

/// Takes the variables `beginning0`, `beginning1` and so on out of a module, each of which holds the address of a
/// kernel or a variable, and gives these' names; an empty one where there is no address.
pub fn take_names(module: &Module<'_>, beginning: &str, count: usize) -> Vec<String> {
    let named = |number: usize| {
        let Some(variable) = module.variable(&format!("{beginning}{number}")) else { return String::new() };
        let mut value = variable.initializer();
        while let Some(inner) = value.filter(|value| value.is_constant_expression() && value.operand_count() > 0) {
            value = Some(inner.operand(0));
        }
        let found = value.filter(|value| value.is_function() || value.is_global_variable());
        variable.delete_global();
        found.map(|value| value.name()).unwrap_or_default()
    };
    (0..count).map(named).collect()
}

/// Leaves nothing to see of a lowered module but the symbol `descriptor`, so that several can be loaded next to each other.
pub fn seal(module: &Module<'_>, descriptor: &str) {
    for value in module.variables().into_iter().chain(module.functions()) {
        let appending = value.linkage() == Linkage::LLVMAppendingLinkage;
        if !value.is_declaration() && !appending && value.name() != descriptor {
            value.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
}
