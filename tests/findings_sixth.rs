//! Findings that were wrong, or in pieces, in a seventh round of public programs (`docs/design/findings.md`), each as a small case in
//! one program.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::new("tests/judged/sixth.cu", "findings-sixth");
static LOSS: Judged = Judged::new("tests/judged/sixth_loss.cu", "findings-sixth-loss");
static SWEEP: Judged = Judged::new("tests/judged/sixth_sweep.cu", "findings-sixth-sweep");
static LIBRARY: Judged = Judged::new("tests/judged/sixth_library.cu", "findings-sixth-library");

#[test]
fn rows_as_long_as_the_caller_says_are_padded() {
    let (_, _, cure) = PROGRAM.first("bank-conflict", "COUNTERS");
    assert!(cure.starts_with("pad the rows of `counts` by 1 element") && cure.contains("33 instead of 32"), "{cure}");
}

#[test]
fn launches_on_other_memory_sweep_nothing() {
    for finding in SWEEP.all("cache-sweep", "SWEPT") {
        let of_input = finding["object"] == "in";
        let launches = if of_input { 3.0 } else { 6.0 };
        assert_eq!(finding["evidence"]["launches"], launches, "{finding:#}");
    }
    assert!(SWEEP.all("cache-sweep", "SWEPT").iter().any(|finding| finding["object"] == "in"));
}

#[test]
fn memory_of_a_library_has_its_layout() {
    let all = LIBRARY.document()["findings"].as_array().expect("findings");
    assert!(all.iter().all(|finding| finding["id"] != "struct-fields"), "{all:#?}");
}

#[test]
fn one_thread_of_a_block_is_no_border() {
    let (_, _, cure) = LOSS.first("divergent-branch", "ONE");
    assert!(cure.starts_with("one lane or a few do this part"), "{cure}");
}

#[test]
fn instantiations_of_a_template_are_one_finding() {
    let all = LOSS.all("divergent-branch", "ONE");
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!(all[0]["other_kernels"].as_array().map(Vec::len), Some(1), "{:#}", all[0]);
    let reason = all[0]["reason"].as_str().expect("a reason");
    assert!(reason.ends_with("; the same in another instantiation of the kernel"), "{reason}");
}

#[test]
fn an_element_of_each_row_cannot_be_sorted() {
    let (_, _, cure) = LOSS.first("random-gather", "ROWS");
    assert!(cure.starts_with("each thread takes an element of a row of its own"), "{cure}");
}

#[test]
fn a_border_does_not_decide_over_the_layout() {
    let (finding, reason, cure) = PROGRAM.first("strided-access", "BORDER");
    assert!(cure.starts_with("other kernels go through `to` along its rows") && !cure.contains("transposed"), "{cure}");
    // One thing to change, on two lines.
    assert_eq!(finding["lines"].as_array().map(Vec::len), Some(1), "{finding:#}");
    assert!(reason.contains("; the same on line "), "{reason}");
    assert!(PROGRAM.all("strided-access", "OTHER BORDER").is_empty());
}

#[test]
fn a_step_over_several_rows_is_no_row() {
    for finding in PROGRAM.all("bank-conflict", "COLOUR") {
        let cure = finding["cure"].as_str().expect("a cure");
        assert!(!cure.contains("instead of 32)"), "{cure}");
    }
}

#[test]
fn eight_short_numbers_are_one_access() {
    let (_, _, cure) = PROGRAM.first("strided-access", "CODES");
    assert!(cure.starts_with("let a thread read its 8 neighbouring elements with one wide access"), "{cure}");
}

#[test]
fn places_of_ranks_are_no_sums_to_copy() {
    let (_, _, cure) = PROGRAM.first("bank-conflict", "RANKS");
    assert!(cure.starts_with("the data says where each lane stores") && !cure.contains("copy of the array"), "{cure}");
}

#[test]
fn short_launches_have_no_gain_and_steps_by_the_grid_are_seen() {
    for finding in PROGRAM.all("small-launch", "SHORT") {
        assert!(finding["gain"].is_null(), "{finding:#}");
    }
    let (finding, ..) = PROGRAM.first("small-launch", "STEPS");
    assert_eq!(finding["severity"], "warning", "{finding:#}");
}
