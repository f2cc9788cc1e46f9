//! Findings that were wrong in an eighth round of public programs (`docs/design/findings.md`), each as a small case in one program.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::new("tests/judged/seventh.cu", "findings-seventh");
static ROWS: Judged = Judged::new("tests/judged/seventh_rows.cu", "findings-seventh-rows");
static SERIES: Judged = Judged::new("tests/judged/seventh_series.cu", "findings-seventh-series");

#[test]
fn the_first_thread_of_a_block_does_not_alternate() {
    let (_, _, cure) = PROGRAM.first("divergent-branch", "FIRST");
    assert!(cure.starts_with("one lane or a few do this part"), "{cure}");
}

#[test]
fn rows_that_data_chooses_are_shared_by_a_warp() {
    let (_, _, cure) = PROGRAM.first("random-gather", "ROWS");
    assert!(cure.starts_with("each thread goes along a row of `rows`") && cure.contains("a row per warp"), "{cure}");
}

#[test]
fn numbers_that_every_thread_writes_are_a_table() {
    let (_, _, cure) = PROGRAM.first("local-array", "TABLE");
    assert!(
        cure.starts_with("every thread writes the same values into `days`") && cure.contains("__constant__"),
        "{cure}"
    );
}

#[test]
fn three_elements_of_a_thread_are_no_row() {
    let (_, _, cure) = PROGRAM.first("strided-access", "POINTS");
    assert!(cure.starts_with("3 elements lie side by side for each thread"), "{cure}");
}

#[test]
fn rows_of_an_array_are_padded_once_for_all_accesses() {
    let all = PROGRAM.all("bank-conflict", "CUBE");
    assert_eq!(all.len(), 1, "{all:#?}");
    assert!(all[0]["lines"].as_array().is_some_and(|lines| lines.len() >= 2), "{:#}", all[0]);
    let cure = all[0]["cure"].as_str().expect("a cure");
    assert!(cure.contains("by 8 elements (24 instead of 16)"), "{cure}");
}

#[test]
fn one_or_another_of_two_arrays_has_no_name() {
    let (finding, reason, _) = PROGRAM.first("strided-access", "CHOICE");
    assert!(finding["object"].is_null() && !reason.contains("`early`"), "{finding:#}");
}

#[test]
fn tickets_are_no_sums() {
    for finding in PROGRAM.all("atomic-contention", "TICKET") {
        let cure = finding["cure"].as_str().expect("a cure");
        assert!(cure.starts_with("what it returns is used"), "{cure}");
    }
    assert!(!PROGRAM.all("atomic-contention", "TICKET").is_empty());
}

#[test]
fn elements_of_own_columns_cannot_be_sorted() {
    let (_, _, cure) = PROGRAM.first("random-gather", "COLUMNS");
    assert!(cure.starts_with("each thread takes the element of its own column"), "{cure}");
}

#[test]
fn the_begin_of_a_row_that_the_kernel_goes_along_is_no_border() {
    // One finding with the loop's, which stands at the line that matters more.
    let (finding, _, cure) = ROWS.first("strided-access", "ALONG");
    assert!(!cure.starts_with("other kernels go through"), "{cure}");
    assert!(finding["lines"].as_array().is_some_and(|lines| !lines.is_empty()), "{finding:#}");
}

#[test]
fn lanes_without_work_leave_no_loop() {
    let (_, _, cure) = SERIES.first("divergent-branch", "ZERO");
    assert!(!cure.contains("loops of about the same length"), "{cure}");
}
