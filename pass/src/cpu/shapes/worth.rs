//! Whether a version of a kernel is worth its code.
//!
//! What a version gains over the general one is values that need no vector, and above all accesses whose lanes lie at
//! one address or evenly. A kernel in which nearly everything depends on loaded data gains hardly anything, but would
//! take three times as long to compile.

use super::analysis::{Analysis, Version};
use super::body::Body;
use super::shape::Shape;
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};

/// What an access counts, in other instructions: about the code that scattered lanes take.
const ACCESS: u32 = 12;
/// Instructions of a kernel from which on a version takes seconds to compile.
const LARGE: usize = 3_000;
/// A version must gain at least one part in this many, by the kernels of the module: where there are dozens, as
/// instances of templates, few are ever launched, and all are compiled. Of a large kernel it must gain as much as among
/// many.
fn share(kernels: usize, instructions: usize) -> u32 {
    match kernels {
        0..=16 if instructions <= LARGE => 8,
        0..=64 => 4,
        _ => 2,
    }
}

/// Returns whether `version` of a kernel is worth emitting in addition to the general one, in a module of so many
/// `kernels`.
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

/// Returns the pointer that a load or store goes through.
fn pointer(value: Value<'_>) -> Option<Value<'_>> {
    match value.opcode()? {
        Opcode::LLVMLoad => Some(value.operand(0)),
        Opcode::LLVMStore => Some(value.operand(1)),
        _ => None,
    }
}

/// How easy a shape is on the lowered code.
fn ease(shape: Shape) -> u32 {
    match shape {
        Shape::Uniform => 3,
        Shape::Affine(_) => 2,
        Shape::Varying { probably_affine } => u32::from(probably_affine),
    }
}
