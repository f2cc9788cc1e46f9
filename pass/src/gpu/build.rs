//! Builds the fat binary for the executable from a hooked module.

use super::{Assembled, Assembler, GpuError, Image, Instrumented, Resources, emit_ptx, instrument};
use crate::llvm::ModuleItems;
use inkwell::module::Module;
use std::collections::BTreeMap;
use warpline_format::gpu::{COUNTED_SUFFIX, HOOKED_SUFFIX};
use warpline_format::site_table::SiteTable;

/// The driver's request.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The processors, such as `sm_90`, each once. The PTX for the last processor is also packed, for later GPUs.
    pub processors: &'a [String],
    /// The toolkit's tools. If they contain no ptxas for an architecture, only PTX is packed.
    pub assembler: &'a Assembler,
}

/// The GPU code of a module.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The fat binary.
    pub fat_binary: Vec<u8>,
    /// The resources of the original kernels for the first processor that was assembled, by mangled name.
    pub kernels: BTreeMap<String, Resources>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The registers of an SM and the maximum threads of a block, on all architectures from sm_70 on (CUDA C++ Programming
/// Guide, "Compute Capabilities").
const REGISTERS: u32 = 65536;
const MOST_THREADS: u32 = 1024;

/// Returns the maximum number of threads of a block for a kernel with this number of registers per thread. The hardware
/// allocates registers to a warp in units of 256, and allocates warps in groups of four.
fn launchable(registers: u32) -> u32 {
    let per_warp = (registers.max(1) * 32).next_multiple_of(256);
    (REGISTERS / per_warp / 4 * 4 * 32).min(MOST_THREADS)
}

/// Builds the GPU code of a hooked module.
///
/// # Errors
/// Returns the errors of [`instrument`], [`emit_ptx`] and the assembler.
pub fn build(hooked: &Module<'_>, table: &SiteTable, plan: &Plan<'_>) -> Result<Built, GpuError> {
    let code = instrument(hooked, table)?;
    let mut built = Built { notes: code.notes(table), ..Built::default() };
    let mut assembled: Vec<(&String, Assembled)> = Vec::new();
    let mut texts: Vec<(&String, Vec<u8>)> = Vec::new();
    for (index, processor) in plan.processors.iter().enumerate() {
        if plan.assembler.ptxas_for(processor).is_none() {
            built.notes.push(format!(
                "no available ptxas generates code for {processor}: PTX is packed instead, and the driver compiles it"
            ));
            texts.push((processor, emit_ptx(&code, processor)?));
            continue;
        }
        let (ptx, result) = assemble(&code, processor, plan.assembler)?;
        if built.kernels.is_empty() {
            let original = |name: &String| Some((name.clone(), *result.kernels.get(name)?));
            built.kernels = code.kernels.iter().filter_map(original).collect();
        }
        assembled.push((processor, result));
        if index + 1 == plan.processors.len() {
            texts.push((processor, ptx));
        }
    }
    let mut images: Vec<Image<'_>> =
        assembled.iter().map(|(processor, result)| Image::Cubin(processor, &result.cubin)).collect();
    images.extend(texts.iter().map(|(processor, ptx)| Image::Ptx(processor, ptx)));
    built.fat_binary = plan.assembler.fat_binary(&images)?;
    Ok(built)
}

/// Assembles the code for one processor. A hooked kernel needs more registers than its original, but it must still be
/// launchable with every block size that the original permits. If it would not be, the size of the original's largest
/// block is set as a bound, and ptxas uses fewer registers. The original is never changed.
fn assemble(code: &Instrumented<'_>, processor: &str, assembler: &Assembler) -> Result<(Vec<u8>, Assembled), GpuError> {
    let ptx = emit_ptx(code, processor)?;
    let result = assembler.assemble(processor, &ptx)?;
    let mut bounded = false;
    let forms = |kernel| [HOOKED_SUFFIX, COUNTED_SUFFIX].map(|suffix| (kernel, format!("{kernel}{suffix}")));
    for (kernel, name) in code.kernels.iter().flat_map(forms) {
        let (Some(original), Some(hooked)) = (result.kernels.get(kernel), result.kernels.get(&name)) else { continue };
        let most = launchable(original.registers);
        let Some(function) = code.module.function(&name) else { continue };
        // The user's own __launch_bounds__ apply to both forms.
        if launchable(hooked.registers) < most
            && ["nvvm.maxntid", "nvvm.reqntid"].iter().all(|key| function.string_attribute(key).is_none())
        {
            function.set_string_attribute("nvvm.maxntid", &most.to_string());
            bounded = true;
        }
    }
    if !bounded {
        return Ok((ptx, result));
    }
    let ptx = emit_ptx(code, processor)?;
    let result = assembler.assemble(processor, &ptx)?;
    Ok((ptx, result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_bound_the_block() {
        assert_eq!(launchable(16), 1024);
        assert_eq!(launchable(64), 1024);
        assert_eq!(launchable(65), 896);
        assert_eq!(launchable(128), 512);
        assert_eq!(launchable(255), 256);
    }
}
