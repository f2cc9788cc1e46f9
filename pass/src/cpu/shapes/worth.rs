//! Decides whether a version of a kernel is worth its code.
//!
//! Compared to the general version, a version gains values that need no vector, and above all accesses whose lanes have
//! one address or evenly spaced addresses. A kernel in which nearly everything depends on loaded data gains hardly
//! anything, but would take three times as long to compile.

use super::analysis::{Analysis, Version};
use super::body::Body;
use super::shape::Shape;
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};

/// The weight of an access in instructions, which is about the code size for lanes with arbitrary addresses.
const ACCESS: u32 = 12;
/// The number of instructions of a kernel from which on a version takes seconds to compile.
const LARGE: usize = 3_000;
/// Returns the divisor of the minimum gain of a version, which depends on the number of kernels of the module: if there
/// are dozens, as with instances of templates, few are ever launched, but all are compiled. For a large kernel, the
/// minimum gain is the same as in a module with many kernels.
fn share(kernels: usize, instructions: usize) -> u32 {
    match kernels {
        0..=16 if instructions <= LARGE => 8,
        0..=64 => 4,
        _ => 2,
    }
}

/// Returns whether it is worthwhile to emit `version` of a kernel in addition to the general one, in a module with this
/// number of kernels.
pub fn is_worth_it(body: &Body<'_>, version: Version, layout: Layout<'_>, kernels: usize) -> bool {
    let special = Analysis::new(body, version, true, layout);
    let general = Analysis::new(body, Version::General, true, layout);
    let (mut all, mut gained) = (0, 0);
    for &value in body.blocks.iter().flat_map(|block| &block.instructions) {
        let (looked_at, weight) = match pointer(value) {
            Some(pointer) => (pointer, ACCESS),
            None => (value, 1),
        };
        all += weight;
        if ease(special.shape(looked_at)) > ease(general.shape(looked_at)) {
            gained += weight;
        }
    }
    let instructions = body.blocks.iter().map(|block| block.instructions.len()).sum();
    gained * share(kernels, instructions) >= all
}

/// Returns the pointer that a load or store uses.
fn pointer(value: Value<'_>) -> Option<Value<'_>> {
    match value.opcode()? {
        Opcode::LLVMLoad => Some(value.operand(0)),
        Opcode::LLVMStore => Some(value.operand(1)),
        _ => None,
    }
}

/// Returns how cheap a shape is in lowered code.
fn ease(shape: Shape) -> u32 {
    match shape {
        Shape::Uniform => 3,
        Shape::Affine(_) => 2,
        Shape::Varying { probably_affine } => u32::from(probably_affine),
    }
}
