//! LLVM's own options, which hold for the whole process.

use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use std::sync::Once;

/// Bounds how far the register allocator looks for a better place to split a value. Lowered functions are large and have few
/// vector registers for many 32-lane values; the default bound of 10 000 spends half of the allocator's time for
/// code that is 3 % smaller (measured on a tiled matrix product).
pub fn bound_region_splitting() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let arguments = [c"warpline".as_ptr(), c"-grow-region-complexity-budget=500".as_ptr()];
        // SAFETY: two zero-terminated strings that live for ever; called once, as LLVM refuses an option that is given
        // twice (llvm/lib/Support/CommandLine.cpp, Option::addOccurrence), and before any code is generated.
        unsafe { LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr()) }
    });
}
