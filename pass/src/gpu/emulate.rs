//! Lowers the code of a GPU to the CPU device: the code that would be written as PTX runs here unchanged, including the
//! device hooks.

use super::{GpuError, instrument};
use crate::cpu::{self, LowerError};
use crate::llvm::ModuleItems;
use crate::llvm::value::{Linkage, Visibility};
use inkwell::module::Module;
use std::collections::BTreeMap;
use warpline_format::gpu::{COUNTED_SUFFIX, HOOKED_SUFFIX, REAL_PREFIX};
use warpline_format::occupancy::Resources;
use warpline_format::site_table::SiteTable;

/// The symbol of the emulated code's descriptor.
pub const EMULATED_DESCRIPTOR: &str = "__warpline_emulated";

/// The reason why a GPU's code cannot be emulated.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// The GPU code cannot be generated.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The GPU code cannot be lowered.
    #[error("the emulated GPU's code: {0}")]
    Lower(#[from] LowerError),
}

/// The code that the emulated GPU runs.
pub struct Emulated<'c> {
    /// The native code, with the descriptor [`EMULATED_DESCRIPTOR`]. It calls the second copy of the runtime.
    pub module: Module<'c>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Lowers the GPU code of a hooked module. `registers` are those of the original kernels.
///
/// # Errors
/// Returns the errors of [`instrument`] and [`cpu::lower`].
pub fn emulate<'c>(
    hooked: &Module<'c>,
    table: &SiteTable,
    processor: &str,
    registers: &BTreeMap<String, Vec<Resources>>,
) -> Result<Emulated<'c>, EmulateError> {
    let code = instrument(hooked, table)?;
    // All forms have the registers of the original: the emulated GPU is used to check counts, and it places blocks as
    // the CPU device does.
    let forms = registers.iter().flat_map(|(name, known)| {
        ["", HOOKED_SUFFIX, COUNTED_SUFFIX].map(|suffix| (format!("{name}{suffix}"), known.clone()))
    });
    let options = cpu::Options {
        processor,
        descriptor: EMULATED_DESCRIPTOR,
        visible: false,
        fat_binary: &[],
        emulated: None,
        registers: &forms.collect(),
        cautious: false,
        // This halves the code. The code is large, and its speed matters less than its compile time.
        any_shape: true,
        large: cpu::LARGE,
        serial: cpu::SERIAL,
        generated: cpu::Generated::All,
        values: false,
        carried: &[],
        optimize: false,
    };
    name_processor(&code.module, hooked);
    let module = cpu::lower(&code.module, None, &options)?;
    for function in module.functions() {
        let name = function.name();
        if function.is_declaration() && name.starts_with("__wl_") {
            function.set_name(&format!("{REAL_PREFIX}{name}"));
        }
    }
    Ok(Emulated { module, notes: code.notes(table) })
}

/// The lowering reads the processor from the functions, whereas for GPU code the processor is chosen when the code is
/// written.
fn name_processor(code: &Module<'_>, hooked: &Module<'_>) {
    for key in ["target-cpu", "target-features"] {
        let known = hooked.functions().into_iter().find_map(|function| function.string_attribute(key));
        let Some(value) = known else { continue };
        for function in code.functions().into_iter().filter(|function| !function.is_declaration()) {
            function.set_string_attribute(key, &value);
        }
    }
}

/// Adds the emulated GPU's code to the code for the CPU device, whose descriptor refers to it.
///
/// # Errors
/// Returns LLVM's reason.
pub fn join_emulated<'c>(lowered: &Module<'c>, emulated: Module<'c>) -> Result<(), EmulateError> {
    let failed = |cause: String| GpuError::Link { module: lowered.get_name().to_string_lossy().into_owned(), cause };
    lowered.link_in_module(emulated).map_err(|cause| failed(cause.to_string()))?;
    if let Some(descriptor) = lowered.variable(EMULATED_DESCRIPTOR) {
        descriptor.set_linkage(Linkage::LLVMInternalLinkage);
        descriptor.set_visibility(Visibility::LLVMDefaultVisibility);
    }
    Ok(())
}
