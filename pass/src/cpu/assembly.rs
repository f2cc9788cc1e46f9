//! Inline assembly.

use super::emitter::{Emitted, Emitter};
use super::error::Refusal;
use super::leaf::Leaf;
use crate::llvm::Value;

impl<'c> Emitter<'_, 'c> {
    /// Lowers inline assembly that is understood.
    pub fn assembly(&mut self, call: Value<'c>, asm: Value<'c>) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let text = asm.asm_text();
        Err(Refusal::of(call, format!("the inline assembly `{}`", text.trim())))
    }

    /// Copies and fills that the preparation left over.
    pub fn memory_intrinsic(&mut self, call: Value<'c>, name: &str) -> Emitted<()> {
        Err(Refusal::of(call, format!("the intrinsic {name}")))
    }

    /// `llvm.masked.load` and `store` of the load-store vectoriser.
    pub fn masked_access(&mut self, call: Value<'c>, name: &str) -> Emitted<Option<Vec<Leaf<'c>>>> {
        Err(Refusal::of(call, format!("the intrinsic {name}")))
    }
}
