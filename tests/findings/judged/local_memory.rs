//! Local arrays, and sums that stay in memory.

use super::program::{cause, remedy};
use super::programs::{FIFTH, NINTH, SECOND, SEVENTH, THIRD, THIRTEENTH, TWELFTH};

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
    let (finding, ..) = THIRD.first("local-array", "BY REFERENCE");
    assert_eq!(finding["object"], "scaled");
    assert_eq!((cause(finding), remedy(finding)), ("passed-to-function", "inline-function"), "{finding:#}");
}

#[test]
fn a_value_is_not_unrolled() {
    let (finding, ..) = FIFTH.first("local-array", "ADDRESS");
    assert_eq!((cause(finding), remedy(finding)), ("passed-to-function", "inline-function"), "{finding:#}");
}

/// `ptxas` makes constants of them, so that the array is not in memory.
#[test]
fn numbers_that_every_thread_writes_are_not_in_local_memory() {
    assert!(SEVENTH.all("local-array", "TABLE").is_empty());
}

#[test]
fn text_that_each_thread_copies_has_a_running_index() {
    let (finding, ..) = NINTH.first("local-array", "LETTERS");
    assert_eq!((cause(finding), remedy(finding)), ("run-time-index", "constant-indices-if-small"), "{finding:#}");
}

#[test]
fn volatile_variables_that_the_assembler_keeps_in_registers_have_no_finding() {
    assert!(TWELFTH.all("local-array", "VOLATILE").is_empty());
}

#[test]
fn long_arrays_have_running_indices() {
    let (finding, ..) = THIRTEENTH.first("local-array", "LONG ROW");
    assert_eq!((cause(finding), remedy(finding)), ("run-time-index", "constant-indices-if-small"), "{finding:#}");
}
