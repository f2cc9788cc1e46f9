//! Findings that were wrong in an eleventh round of public programs (`docs/design/findings.md`), each as a small case in one program.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;

static PROGRAM: Judged = Judged::new("tests/judged/eighth.cu", "findings-eighth");

#[test]
fn indices_that_are_held_within_an_array_are_neither_strides_nor_gathers() {
    for words in ["CLAMPED", "ROUND", "SCALED"] {
        for id in ["random-gather", "strided-access"] {
            assert!(PROGRAM.all(id, words).is_empty(), "{id}, {words}");
        }
    }
}

#[test]
fn places_that_an_atomic_operation_gives_are_no_stride() {
    assert!(PROGRAM.all("strided-access", "APPENDED").is_empty());
    assert!(PROGRAM.all("random-gather", "APPENDED").is_empty());
}

#[test]
fn a_warp_that_walks_a_tree_together_loads_what_it_has_to() {
    assert!(PROGRAM.all("uniform-load", "WALK").is_empty());
    assert!(PROGRAM.all("uniform-load", "NEXT").is_empty());
}

#[test]
fn the_line_that_makes_the_index_is_named() {
    let (finding, reason, _) = PROGRAM.first("strided-access", "ROW");
    assert!(
        reason.ends_with("; the index comes from \"int row = blockIdx.x * blockDim.x + threadIdx.x\" at eighth.cu:43"),
        "{reason}"
    );
    assert_eq!(finding["evidence"]["index_line"], 43.0, "{finding:#}");
}

static MORE: Judged = Judged::new("tests/judged/eighth_more.cu", "findings-eighth-more");

#[test]
fn launches_that_another_kernel_feeds_are_not_one() {
    let all = MORE.all("small-launch", "STEPS");
    for finding in &all {
        let cure = finding["cure"].as_str().expect("a cure");
        assert!(!cure.contains("make one launch"), "{cure}");
        assert_eq!(finding["severity"], "note", "{finding:#}");
    }
}

#[test]
fn blocks_that_share_a_border_have_no_rows_to_pad() {
    let (_, reason, cure) = MORE.first("misaligned-access", "SHARES");
    assert!(reason.contains("where the block's share happens to begin"), "{reason}");
    assert!(cure.contains("a multiple of 8 elements") && !cure.contains("row"), "{cure}");
}

#[test]
fn rows_that_are_shorter_than_a_warp_leave_lanes_out() {
    let (_, _, cure) = MORE.first("divergent-branch", "SHORT ROWS");
    assert!(cure.contains("give the threads that are left out elements of their own"), "{cure}");
}

#[test]
fn gathers_have_the_cure_of_what_they_are() {
    let (_, _, cure) = MORE.first("random-gather", "OWN ROWS");
    assert!(cure.contains("transposed (`[element][thread]`)"), "{cure}");
    let (_, _, cure) = MORE.first("random-gather", "PARTED");
    assert!(cure.starts_with("each thread appends to a part of `low` of its own"), "{cure}");
    let (_, _, cure) = MORE.first("random-gather", "SCATTERED");
    assert!(cure.starts_with("sort or group the indices"), "{cure}");
    let (_, _, cure) = MORE.first("random-gather", "TABLE");
    assert!(cure.starts_with("`weights` is a small table"), "{cure}");
}
