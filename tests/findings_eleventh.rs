//! Findings that were wrong or doubtful in a thirteenth round of public programs (`docs/design/findings.md`), each as a small case.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::new("tests/judged/eleventh.cu", "findings-eleventh");

#[test]
fn sums_that_stay_in_memory_are_no_transposition() {
    let (_, _, cure) = PROGRAM.first("strided-access", "ADDED UP");
    assert!(cure.contains("a warp per row") && !cure.contains("transposition"), "{cure}");
    let (_, _, cure) = PROGRAM.first("strided-access", "COLUMNS");
    assert!(cure.contains("this is a transposition"), "{cure}");
}

#[test]
fn constant_memory_is_not_for_what_lanes_read_apart() {
    let (finding, _, cure) = PROGRAM.first("uniform-load", "CHOSEN");
    assert!(!cure.contains("constant memory") && finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn one_block_shares_nothing_with_others() {
    let (_, reason, _) = PROGRAM.first("repeated-load", "AGAIN");
    assert!(reason.contains("a block loads the same data again"), "{reason}");
}

#[test]
fn data_that_gives_few_lanes_work_is_collected() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "FLAG");
    assert!(cure.starts_with("the data decides which lanes have work"), "{cure}");
}

#[test]
fn copies_of_an_array_are_combined_and_not_only_added() {
    let (_, _, cure) = PROGRAM.first("atomic-contention", "BITS");
    assert!(cure.contains("combine these at the end") && cure.contains("and its kin"), "{cure}");
}

#[test]
fn a_first_element_belongs_to_the_part_that_follows() {
    let (_, _, cure) = PROGRAM.first("strided-access", "OTHER WORDS");
    assert!(cure.contains("let threadIdx.x count the elements that lie side by side"), "{cure}");
    for finding in PROGRAM.all("strided-access", "FIRST WORD") {
        assert_eq!(finding["cure"].as_str(), Some(cure), "{finding:#}");
    }
}

#[test]
fn columns_of_what_others_go_along_keep_its_layout() {
    let (_, _, cure) = PROGRAM.first("strided-access", "COLUMN");
    assert!(cure.starts_with("other kernels go through `table` along its rows"), "{cure}");
}

#[test]
fn lanes_that_choose_between_two_arrays_gather_nothing() {
    assert!(PROGRAM.all("random-gather", "TWO ARRAYS").is_empty());
}

#[test]
fn what_lies_between_samples_cannot_be_left_out() {
    let (finding, _, cure) = PROGRAM.first("untouched-copy", "SAMPLED");
    assert!(cure.starts_with("what kernels leave out lies between what they take"), "{cure}");
    assert!(finding["severity"] == "note" && finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn words_that_a_loop_goes_through_are_no_channels() {
    let (_, _, cure) = PROGRAM.first("strided-access", "EIGHT WORDS");
    assert!(cure.contains("i * blockDim.x + threadIdx.x") && cure.contains("wide accesses"), "{cure}");
}

#[test]
fn arrays_that_another_function_fills_are_no_tables() {
    let (_, _, cure) = PROGRAM.first("local-array", "DIGITS");
    assert!(!cure.contains("the same values"), "{cure}");
}

#[test]
fn lists_of_records_are_shared_by_lanes() {
    let (_, _, cure) = PROGRAM.first("random-gather", "TICKS");
    assert!(cure.contains("share one list"), "{cure}");
}

#[test]
fn rows_of_tiles_are_not_told_to_sort_the_work() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "TILE ROW");
    assert!(cure.starts_with("only some iterations leave lanes idle"), "{cure}");
}

#[test]
fn a_few_threads_of_each_block_are_no_border() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "NINE");
    assert!(cure.starts_with("one lane or a few do this part"), "{cure}");
}

#[test]
fn warps_of_blocks_of_odd_width_begin_within_rows() {
    let (_, reason, cure) = PROGRAM.first("misaligned-access", "WITHIN ROWS");
    assert!(reason.contains("a block 85 threads wide") && cure.starts_with("give blocks a width"), "{reason}\n{cure}");
}

#[test]
fn blocks_that_fill_sectors_put_nothing_off() {
    let (_, reason, _) = PROGRAM.first("misaligned-access", "ODD ROWS");
    assert!(reason.contains("where rows happen to begin"), "{reason}");
    let (_, reason, _) = PROGRAM.first("misaligned-access", "BEHIND ONE");
    assert!(reason.contains("8 bytes behind the begin of a sector, in each block"), "{reason}");
}

#[test]
fn first_copies_to_fresh_memory_are_needed() {
    assert!(PROGRAM.all("redundant-copy", "FRESH").is_empty());
}
