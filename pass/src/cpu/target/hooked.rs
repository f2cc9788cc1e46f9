//! Marks of warp functions with hooks, for the stages after the lowering.

use crate::llvm::Value;

/// The attribute of warp functions that write records. LLVM does not know it and keeps it.
const HOOKED: &str = "warpline-hooked";

/// Marks a warp function that writes records.
pub fn mark(function: Value<'_>) {
    function.set_string_attribute(HOOKED, "");
}

/// Returns whether a function of a lowered module is a warp function that writes records.
pub fn is_hooked(function: Value<'_>) -> bool {
    function.string_attribute(HOOKED).is_some()
}
