//! LLVM's own options, which hold for the whole process.

use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use std::sync::Once;

/// Keeps LLVM's code generator from work that takes more than linear time on large functions and gains hardly anything.
///
/// - The register allocator looks far for a better place to split a value. Lowered functions have few vector registers
///   for many 32-lane values; the default bound of 10 000 spends half of the allocator's time for code that is 3 % smaller
///   (measured on a tiled matrix product).
/// - The list scheduler after register allocation compares each memory access of a block with all others: half of the
///   code generator's time for straight code of 14 000 instructions. The host's processors reorder instructions themselves.
pub fn bound_code_generation() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let arguments =
            [c"warpline", c"-grow-region-complexity-budget=500", c"-post-RA-scheduler=false"].map(|one| one.as_ptr());
        // SAFETY: zero-terminated strings that live for ever; called once, as LLVM refuses an option that is given
        // twice (llvm/lib/Support/CommandLine.cpp, Option::addOccurrence), and before any code is generated.
        unsafe { LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr()) }
    });
}
