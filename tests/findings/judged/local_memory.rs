//! Local arrays, and sums that stay in memory.

use super::program::{cause, remedy};
use super::programs::{ELEVENTH, FIFTH, NINTH, SECOND, SEVENTH, THIRD, THIRTEENTH, TWELFTH};

#[test]
fn arrays_keep_their_names_when_taken_apart() {
    let (finding, ..) = SECOND.first("local-array", "TAKEN APART");
    assert_eq!(finding["object"], "best");
}

#[test]
fn sums_in_memory_belong_in_a_register() {
    let (finding, ..) = SECOND.first("memory-accumulator", "ACCUMULATED");
    // 8 warps of 32 threads, 256 turns each; a store before the loop is another line's.
    assert_eq!(finding["evidence"]["turns"], 256.0, "{finding:#}");
    assert_eq!(finding["evidence"]["requests"], 8.0 * 256.0, "{finding:#}");
    assert_eq!(finding["object"], "y");
    // The compiler keeps the value in a register, but stores it in each iteration.
    assert_eq!((cause(finding), remedy(finding)), ("store-per-iteration", "store-after-loop"), "{finding:#}");
    assert!(SECOND.all("memory-accumulator", "IN A REGISTER").is_empty());
}

#[test]
fn objects_have_no_indices() {
    let (finding, reason, cure) = THIRD.first("local-array", "BY REFERENCE");
    assert_eq!(finding["object"], "scaled");
    assert!(reason.contains("by reference") && cure.contains("__forceinline__"), "{reason} {cure}");
    assert!(!cure.contains("constant indices"), "{cure}");
}

#[test]
fn a_value_is_not_unrolled() {
    let (_, reason, cure) = FIFTH.first("local-array", "ADDRESS");
    assert!(reason.contains("its address is taken") && cure.contains("__forceinline__"), "{reason} {cure}");
}

/// `ptxas` makes constants of them, so that the array is not in memory.
#[test]
fn numbers_that_every_thread_writes_are_not_in_local_memory() {
    assert!(SEVENTH.all("local-array", "TABLE").is_empty());
}

#[test]
fn text_that_each_thread_copies_is_a_table() {
    let (_, _, cure) = NINTH.first("local-array", "LETTERS");
    assert!(cure.starts_with("every thread writes the same values into `letters`"), "{cure}");
}

#[test]
fn arrays_that_another_function_fills_are_no_tables() {
    let (_, _, cure) = ELEVENTH.first("local-array", "DIGITS");
    assert!(!cure.contains("the same values"), "{cure}");
}

#[test]
fn volatile_variables_that_the_assembler_keeps_in_registers_have_no_finding() {
    assert!(TWELFTH.all("local-array", "VOLATILE").is_empty());
}

#[test]
fn long_arrays_fit_neither_registers_nor_columns() {
    let (_, _, cure) = THIRTEENTH.first("local-array", "LONG ROW");
    assert!(cure.starts_with("`row` has 2.9 KiB for each thread, too much for registers"), "{cure}");
    assert!(!cure.contains("unroll"), "{cure}");
}
