//! The alignment of local variables.

use crate::llvm::types::Kind;
use crate::llvm::{Layout, ModuleItems};
use inkwell::module::Module;

/// The size of the widest access in bytes.
const WIDEST: u64 = 16;

/// Aligns every local variable to the widest access that fits in it. nvcc raises the alignment of a variable to that of
/// the accesses through it, for example `*(float4 *)&member`. LLVM relies on the alignment that the cast promises, but
/// keeps the alignment of the variable's type. This must run after the widths of accesses are final, because better
/// alignment would make them wider than those of the code without hooks.
pub(in crate::device) fn align_variables(module: &Module<'_>) {
    let layout = Layout::from_module(module);
    let blocks = module.functions().into_iter().flat_map(|function| function.blocks());
    for instruction in blocks.flat_map(|block| block.instructions()) {
        let Some(ty) = instruction.allocated_type() else { continue };
        let bytes = layout.size(ty).saturating_mul(instruction.operand(0).as_u64().unwrap_or(1));
        let align = widest_power_of_two(bytes) as u32;
        if instruction.alignment() < align {
            instruction.set_alignment(align);
        }
    }
}

/// Aligns buffers of bytes and halves to the widest access, before anything is optimised. Such buffers are usually
/// cast, and clang would move `((float4 *)bytes)[i]` byte by byte, whereas nvcc relies on the cast.
pub(in crate::device) fn align_buffers(module: &Module<'_>) {
    let layout = Layout::from_module(module);
    let blocks = module.functions().into_iter().flat_map(|function| function.blocks());
    for instruction in blocks.flat_map(|block| block.instructions()) {
        let Some(ty) = instruction.allocated_type() else { continue };
        let mut element = ty;
        while let Kind::Array(_) = element.kind() {
            element = element.element();
        }
        let narrow = element != ty && element.int_bits().is_some_and(|bits| bits <= 16);
        if narrow && layout.size(ty) >= WIDEST && u64::from(instruction.alignment()) < WIDEST {
            instruction.set_alignment(WIDEST as u32);
        }
    }
}

/// Returns the largest power of two up to `bytes` and [`WIDEST`].
fn widest_power_of_two(bytes: u64) -> u64 {
    1 << bytes.clamp(1, WIDEST).ilog2()
}
