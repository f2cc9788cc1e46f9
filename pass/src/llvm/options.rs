//! LLVM's own options, which apply to the whole process.

use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use std::sync::Once;

/// Limits work of LLVM's code generator that takes more than linear time on large functions and has hardly any benefit.
///
/// - The register allocator searches far for a better position to split a value. Lowered functions have few vector
///   registers for many 32-lane values. With the default limit of 10 000, the allocator spends half of its time for
///   code that is 3 % smaller (measured on a tiled matrix product).
/// - The list scheduler after register allocation compares each memory access of a block with all others. This takes
///   half of the code generator's time for straight-line code of 14 000 instructions. The host's processors reorder
///   instructions themselves.
pub fn bound_code_generation() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let arguments =
            [c"warpline", c"-grow-region-complexity-budget=500", c"-post-RA-scheduler=false"].map(|one| one.as_ptr());
        // SAFETY: the strings are zero-terminated and live forever. The function is called once, because LLVM refuses
        // an option that is set twice (llvm/lib/Support/CommandLine.cpp, Option::addOccurrence), and before any code is
        // generated.
        unsafe { LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr()) }
    });
}
