//! Strides between lanes, fields of structures and the shapes of blocks.

use super::program::{assumption, cause, remedy};
use super::programs::{
    BYTES_OF_WORDS, EIGHTH, ELEVENTH, EXCHANGED_FIELDS, FIFTEENTH, FIFTEENTH_LIBRARY, FIFTH, FIRST, FOURTEENTH, FOURTH,
    NINTH, SECOND, SEVENTEENTH, SEVENTH, SEVENTH_ROWS, SIXTH, SIXTH_LIBRARY, THIRD, THIRTEENTH, TUNED, TWELFTH,
};
use serde_json::Value;

#[test]
fn a_thread_that_takes_one_element_has_no_row_to_share() {
    let (finding, ..) = FIRST.only("strided-access", "COLUMN");
    assert_eq!((cause(finding), remedy(finding)), ("column", "transpose-data"), "{finding:#}");
}

#[test]
fn factors_have_their_whole_names() {
    let (finding, reason, _) = SECOND.first("strided-access", "MEMBER");
    assert!(reason.contains("`m.cols`"), "{reason}");
    assert_eq!((cause(finding), remedy(finding)), ("row-per-thread", "share-row-among-lanes"), "{finding:#}");
    let (_, reason, _) = SECOND.first("strided-access", "PRODUCT");
    assert!(reason.contains("`ny * nz`"), "{reason}");
}

#[test]
fn three_floats_have_no_wide_access() {
    let (finding, ..) = SECOND.first("struct-fields", "THREE FLOATS");
    assert_eq!((cause(finding), remedy(finding)), ("member-by-member", "pad-structure"), "{finding:#}");
}

#[test]
fn shapes_that_would_cover_other_elements_are_not_compared() {
    let found = THIRD.about("strided-access", "SWAPPED");
    let [finding] = found[..] else { panic!("{found:#?}") };
    // Loaded together with the height, as the members lie side by side.
    let reason = finding["reason"].as_str().expect("a reason");
    let described = ["input", "output"].iter().any(|image| reason.contains(&format!("`{image}.width`")));
    assert!(described, "{reason}");
    let findings = THIRD.document()["findings"].as_array().expect("findings");
    let shapes: Vec<_> = findings.iter().filter(|finding| finding["id"] == "block-shape").collect();
    assert!(shapes.is_empty(), "{shapes:#?}");
}

#[test]
fn records_are_no_rows() {
    let (finding, ..) = THIRD.first("strided-access", "RECORDS");
    assert_eq!((cause(finding), remedy(finding)), ("field-of-record", "array-per-field"), "{finding:#}");
}

#[test]
fn an_index_of_the_grid_runs_along_what_lies_side_by_side() {
    let (finding, _, cure) = FOURTH.first("strided-access", "PLANES");
    assert_eq!((cause(finding), remedy(finding)), ("other-index-contiguous", "exchange-indices"), "{finding:#}");
    assert!(cure.contains("blockIdx.z"), "{cure}");
}

#[test]
fn what_a_kernel_takes_of_a_structure_elsewhere_is_used() {
    let (finding, ..) = FIFTH.first("struct-fields", "ONE MEMBER FIRST");
    assert_eq!((cause(finding), remedy(finding)), ("member-by-member", "access-whole-structure"), "{finding:#}");
}

#[test]
fn memory_of_a_library_has_its_layout() {
    let all = SIXTH_LIBRARY.document()["findings"].as_array().expect("findings");
    assert!(all.iter().all(|finding| finding["id"] != "struct-fields"), "{all:#?}");
}

#[test]
fn a_border_does_not_decide_over_the_layout() {
    let (finding, reason, _) = SIXTH.first("strided-access", "BORDER");
    assert_eq!(cause(finding), "column", "{finding:#}");
    // One thing to change, on two lines.
    assert_eq!(finding["lines"].as_array().map(Vec::len), Some(1), "{finding:#}");
    assert!(reason.contains("; the same on line "), "{reason}");
    assert!(SIXTH.all("strided-access", "OTHER BORDER").is_empty());
}

#[test]
fn eight_short_numbers_are_one_access() {
    let (finding, ..) = SIXTH.first("strided-access", "CODES");
    assert_eq!((cause(finding), remedy(finding)), ("few-elements-per-thread", "wide-access"), "{finding:#}");
}

#[test]
fn one_or_another_of_two_arrays_has_no_name() {
    let (finding, reason, _) = SEVENTH.first("strided-access", "CHOICE");
    assert!(finding["object"].is_null() && !reason.contains("`early`"), "{finding:#}");
}

#[test]
fn the_begin_of_a_row_that_the_kernel_goes_along_is_no_border() {
    // One finding with the loop's, which stands at the line that matters more.
    let (finding, ..) = SEVENTH_ROWS.first("strided-access", "ALONG");
    assert_ne!(cause(finding), "column", "{finding:#}");
    assert!(finding["lines"].as_array().is_some_and(|lines| !lines.is_empty()), "{finding:#}");
}

#[test]
fn places_that_an_atomic_operation_gives_are_no_stride() {
    assert!(EIGHTH.all("strided-access", "APPENDED").is_empty());
    assert!(EIGHTH.all("random-gather", "APPENDED").is_empty());
}

#[test]
fn the_line_that_makes_the_index_is_named() {
    let (finding, reason, _) = EIGHTH.first("strided-access", "ROW");
    assert!(reason.contains("`int row = blockIdx.x * blockDim.x + threadIdx.x` (eighth.cu:43)"), "{reason}");
    assert_eq!(finding["evidence"]["index_line"], 43.0, "{finding:#}");
}

#[test]
fn records_that_are_taken_whole_are_not_split_into_fields() {
    let (finding, ..) = NINTH.first("strided-access", "KEY");
    assert_eq!(cause(finding), "few-elements-per-thread", "{finding:#}");
}

#[test]
fn few_items_of_a_thread_are_shared_by_lanes() {
    let (finding, ..) = NINTH.first("strided-access", "ITEMS");
    assert_eq!(remedy(finding), "share-row-among-lanes", "{finding:#}");
}

#[test]
fn stores_that_sides_have_in_common_stand_on_one_of_them() {
    assert!(!NINTH.about("strided-access", "BOTH SIDES").is_empty());
}

#[test]
fn sums_that_stay_in_memory_are_no_transposition() {
    let (finding, ..) = ELEVENTH.first("strided-access", "ADDED UP");
    assert_eq!(cause(finding), "row-per-thread", "{finding:#}");
    let (finding, ..) = ELEVENTH.first("strided-access", "COLUMNS");
    assert_eq!(cause(finding), "transposition", "{finding:#}");
}

#[test]
fn a_first_element_belongs_to_the_part_that_follows() {
    let (other, ..) = ELEVENTH.first("strided-access", "OTHER WORDS");
    assert_eq!(remedy(other), "share-row-among-lanes", "{other:#}");
    for finding in ELEVENTH.all("strided-access", "FIRST WORD") {
        assert_eq!(remedy(finding), remedy(other), "{finding:#}");
    }
}

#[test]
fn columns_of_what_others_go_along_keep_its_layout() {
    let (finding, ..) = ELEVENTH.first("strided-access", "COLUMN");
    assert_eq!(cause(finding), "column", "{finding:#}");
}

#[test]
fn words_that_a_loop_goes_through_are_shared_by_lanes() {
    let (finding, ..) = ELEVENTH.first("strided-access", "EIGHT WORDS");
    assert_eq!(remedy(finding), "share-row-among-lanes", "{finding:#}");
}

#[test]
fn gains_of_short_launches_are_reported_with_their_start() {
    let (finding, ..) = TWELFTH.first("strided-access", "SHORT");
    let printed = assumption(finding);
    assert!(printed.contains(" x with 3.00 us more for each launch"), "{printed}");
}

#[test]
fn threads_that_load_a_halo_are_no_neighbours() {
    assert!(TUNED.all("strided-access", "HALO").is_empty());
}

#[test]
fn operands_of_a_macro_are_distinguished() {
    let found = THIRTEENTH.all("strided-access", "TWO OPERANDS");
    let name = |finding: &Value| finding["object"].as_str().map(str::to_owned);
    let mut names: Vec<_> = found.iter().filter_map(|finding| name(finding)).collect();
    names.sort_unstable();
    assert_eq!(names, ["states", "weights"], "{found:#?}");
    let own = |finding: &&Value| finding["reason"].as_str().is_some_and(|reason| !reason.contains("(allocation"));
    assert!(found.iter().all(own), "{found:#?}");
}

#[test]
fn lanes_at_a_border_are_no_stride() {
    let found = THIRTEENTH.alone("border", "strided-access", "AT THE BORDER");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn rows_of_blocks_are_rows() {
    for finding in THIRTEENTH.alone("column", "strided-access", "BORDER COLUMN") {
        assert_eq!(cause(&finding), "column", "{finding:#}");
    }
    assert!(!THIRTEENTH.all("strided-access", "BORDER COLUMN").is_empty());
}

#[test]
fn words_of_a_loops_step_are_no_planes() {
    let (finding, ..) = THIRTEENTH.first("strided-access", "EIGHT WORDS");
    assert_eq!(remedy(finding), "share-row-among-lanes", "{finding:#}");
}

#[test]
fn members_as_wide_as_an_access_are_not_padded() {
    for finding in THIRTEENTH.all("struct-fields", "PAIRS") {
        assert_eq!(remedy(finding), "stage-through-shared-memory", "{finding:#}");
    }
    assert!(!THIRTEENTH.all("struct-fields", "PAIRS").is_empty());
}

#[test]
fn images_at_half_their_scale_have_no_wide_accesses() {
    let found = FOURTEENTH.alone("halve", "strided-access", "HALF SCALE");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn indices_are_not_exchanged_where_that_brings_other_data_apart() {
    let found = FOURTEENTH.alone("products", "strided-access", "TWO OF EACH");
    assert!(found.iter().all(|finding| remedy(finding) != "exchange-indices"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn one_element_of_each_thread_is_no_part_of_its_own() {
    let found = FIFTEENTH.alone("dilate", "strided-access", "STORED TRANSPOSED");
    assert!(found.iter().all(|finding| cause(finding) == "column"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn a_library_moves_structures_as_they_are_aligned() {
    let found = FIFTEENTH_LIBRARY.all("strided-access", "SORTED STRUCTURES");
    assert!(!found.is_empty() && found.iter().all(|finding| remedy(finding) == "reorder-data"), "{found:#?}");
    // Its iterators are no structures that lie in memory.
    assert!(FIFTEENTH_LIBRARY.all("struct-fields", "SORTED STRUCTURES").is_empty());
    for finding in FIFTEENTH_LIBRARY.all("random-gather", "SORTED STRUCTURES") {
        assert_eq!(remedy(finding), "change-library-call", "{finding:#}");
    }
}

#[test]
fn parts_that_begin_anywhere_have_no_wide_accesses() {
    let found = FIFTEENTH.alone("lists", "strided-access", "PAIRS OF A LIST");
    assert!(found.iter().all(|finding| remedy(finding) == "stage-through-shared-memory"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn a_permutation_cannot_be_stored_otherwise() {
    let (finding, ..) = SEVENTEENTH.first("strided-access", "PERMUTED");
    assert_eq!(remedy(finding), "transpose-through-shared-memory", "{finding:#}");
}

#[test]
fn indices_are_exchanged_for_all_fields_at_once() {
    let (finding, reason, _) = EXCHANGED_FIELDS.only("strided-access", "CURL");
    assert_eq!(remedy(finding), "exchange-indices", "{finding:#}");
    for field in ["h.values", "ex.values", "ey.values"] {
        assert!(reason.contains(&format!("`{field}`")), "{reason}");
    }
    assert!(finding["gain"]["factor"].as_f64() > Some(1.8), "{finding:#}");
}

#[test]
fn bytes_that_are_taken_one_by_one_are_no_gaps() {
    let (finding, ..) = BYTES_OF_WORDS.first("strided-access", "BYTE BY BYTE");
    assert_eq!((cause(finding), remedy(finding)), ("few-elements-per-thread", "wide-access"), "{finding:#}");
}
