//! Determines which functions can be launched.

use crate::llvm::Value;

/// The number of the calling convention of kernels.
pub const KERNEL_CONVENTION: u32 = 71;

/// Returns whether a function can be launched.
pub fn is_kernel(function: Value<'_>) -> bool {
    function.calling_convention() == KERNEL_CONVENTION
}
