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
