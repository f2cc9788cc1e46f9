//! Device modules that a front end passes as optimised LLVM IR while a program runs, as Triton does. They are converted
//! to the form that the stages for clang's device code expect, and then to an object that can be loaded separately.

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

/// The newest PTX version that this LLVM can write. The text of a newer LLVM may declare a newer version, although its
/// code does not need it.
const FEATURES: &str = "+ptx88";

/// Passes for the decisions that the front end leaves to the back end: choices by the architecture and by the module's
/// flags, and the removal of code that these choices make dead.
const LEFT_TO_THE_BACK_END: &str = "nvvm-reflect,function(sccp,simplifycfg,instsimplify,dce),globaldce";

/// Reads LLVM IR, as text or as bitcode; `name` is for messages.
///
/// # Errors
/// Returns [`ObjectError::Read`] with LLVM's message if the input is neither, or comes from a newer LLVM that
/// this LLVM cannot read.
pub fn read<'c>(context: &'c Context, text: &[u8], name: &str) -> Result<Module<'c>, ObjectError> {
    // Bitcode is not UTF-8, and bitcode of a later version cannot be read at all.
    let translated = std::str::from_utf8(text).map(translate).ok();
    let bytes = translated.as_ref().map_or(text, String::as_bytes);
    let buffer = MemoryBuffer::create_from_memory_range_copy(bytes, name);
    context
        .create_module_from_ir(buffer)
        .map_err(|cause| ObjectError::Read { path: name.into(), cause: cause.to_string() })
}

/// Returns whether a module contains a kernel.
pub fn has_kernel(module: &Module<'_>) -> bool {
    module.functions().into_iter().any(|function| !function.is_declaration() && is_kernel(function))
}

/// Sets the names of the parameters of a module's kernels to those in the source, in their order. This is needed
/// because front ends write no debug information about parameters.
pub fn name_parameters(module: &Module<'_>, names: &[String]) {
    for function in module.functions().into_iter().filter(|function| !function.is_declaration() && is_kernel(*function))
    {
        for (parameter, name) in function.parameters().into_iter().zip(names) {
            parameter.set_name(name);
        }
    }
}

/// Sets the machine of a module whose front end has not set it: `processor` has the form `sm_80`. Triton sets triple,
/// data layout and processor only when it generates code.
///
/// # Errors
/// Returns an error if LLVM does not support the processor, or if the module is not valid IR.
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

/// Removes the variables `beginning0`, `beginning1` and so on from a module. Each contains the address of a kernel or a
/// variable. Returns the names of these; a name is empty if a variable contains no address.
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

/// Hides all symbols of a lowered module except `descriptor`, so that several modules can be loaded at the same time.
pub fn seal(module: &Module<'_>, descriptor: &str) {
    for value in module.variables().into_iter().chain(module.functions()) {
        let appending = value.linkage() == Linkage::LLVMAppendingLinkage;
        if !value.is_declaration() && !appending && value.name() != descriptor {
            value.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
}
