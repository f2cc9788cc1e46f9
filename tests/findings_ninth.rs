//! Findings that were wrong or doubtful in a twelfth round of public programs (`docs/design/findings.md`), each as a small case.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::new("tests/judged/ninth.cu", "findings-ninth");

#[test]
fn what_warps_update_on_one_line_no_barrier_orders() {
    let (_, _, cure) = PROGRAM.first("race", "UPDATE");
    assert!(cure.contains("make the update atomic") && !cure.contains("__syncthreads()"), "{cure}");
}

#[test]
fn records_that_are_taken_whole_are_not_split_into_fields() {
    let (_, _, cure) = PROGRAM.first("strided-access", "KEY");
    assert!(cure.starts_with("each thread takes all of a record of 10 bytes"), "{cure}");
}

#[test]
fn few_items_of_a_thread_are_no_row() {
    let (_, _, cure) = PROGRAM.first("strided-access", "ITEMS");
    assert!(cure.contains("i * blockDim.x + threadIdx.x") && !cure.contains("a warp per row"), "{cure}");
}

#[test]
fn what_sorts_is_not_told_to_sort_first() {
    let (_, _, cure) = PROGRAM.first("random-gather", "SORTED");
    assert!(cure.starts_with("where the indices put the data in order"), "{cure}");
}

#[test]
fn short_loops_are_not_only_told_to_sort_the_work() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "BITS");
    assert!(cure.contains("a fixed number of iterations"), "{cure}");
}

#[test]
fn bounds_that_are_no_multiple_of_a_warp_are_no_halving_loop() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "HUNDRED");
    assert!(cure.contains("a bound that is no multiple of 32"), "{cure}");
}

#[test]
fn constant_memory_is_for_what_stays_small() {
    let (_, _, cure) = PROGRAM.first("uniform-load", "STEPS");
    assert!(cure.contains("if it never grows beyond that"), "{cure}");
}

#[test]
fn parts_that_data_chooses_have_no_rows() {
    assert!(PROGRAM.all("misaligned-access", "PART").is_empty());
}

#[test]
fn pairs_of_a_thread_are_no_rows() {
    let (_, _, cure) = PROGRAM.first("bank-conflict", "BOTH SIDES");
    assert!(cure.contains("i and i + blockDim.x") && !cure.contains("rows"), "{cure}");
}

#[test]
fn stores_that_sides_have_in_common_stand_on_one_of_them() {
    PROGRAM.first("strided-access", "BOTH SIDES");
}

#[test]
fn text_that_each_thread_copies_is_a_table() {
    let (_, _, cure) = PROGRAM.first("local-array", "LETTERS");
    assert!(cure.starts_with("every thread writes the same values into `letters`"), "{cure}");
}

#[test]
fn a_window_over_neighbours_has_no_rows() {
    assert!(PROGRAM.all("misaligned-access", "WINDOW").is_empty());
}

#[test]
fn branches_of_a_library_that_a_line_calls_are_not_its_own() {
    assert!(PROGRAM.all("divergent-branch", "LARGEST").is_empty());
}

#[test]
fn less_than_a_warp_of_threads_has_no_border() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "FEW");
    assert!(cure.starts_with("one lane or a few do this part"), "{cure}");
}

#[test]
fn parts_that_threads_fill_and_read_are_interleaved() {
    let (_, _, cure) = PROGRAM.first("random-gather", "STACK");
    assert!(cure.contains("[element][thread]"), "{cure}");
    let (_, _, cure) = PROGRAM.first("random-gather", "ALONG");
    assert!(cure.contains("share one list"), "{cure}");
}
