//! Strides between lanes, fields of structures and the shapes of blocks.

use super::program::{assumption, cure};
use super::programs::{
    BYTES_OF_WORDS, EIGHTH, ELEVENTH, EXCHANGED_FIELDS, FIFTEENTH, FIFTEENTH_LIBRARY, FIFTH, FIRST, FOURTEENTH, FOURTH,
    NINTH, SECOND, SEVENTEENTH, SEVENTH, SEVENTH_ROWS, SIXTH, SIXTH_LIBRARY, THIRD, THIRTEENTH, TUNED, TWELFTH,
};
use serde_json::Value;

#[test]
fn a_thread_that_takes_one_element_has_no_row_to_share() {
    let (_, _, cure) = FIRST.only("strided-access", "COLUMN");
    assert!(cure.contains("each thread takes one element") && !cure.contains("per row"), "{cure}");
}

#[test]
fn factors_have_their_whole_names() {
    let (_, reason, cure) = SECOND.first("strided-access", "MEMBER");
    assert!(reason.contains("threadIdx.x is multiplied by `m.cols`"), "{reason}");
    assert!(cure.contains("a warp per row"), "{cure}");
    let (_, reason, _) = SECOND.first("strided-access", "PRODUCT");
    assert!(reason.contains("threadIdx.x is multiplied by `ny * nz`"), "{reason}");
}

#[test]
fn channels_are_not_transposed() {
    let (_, _, cure) = SECOND.first("strided-access", "CHANNELS");
    assert!(cure.contains("a plane") && !cure.contains("transposed"), "{cure}");
}

#[test]
fn three_floats_have_no_wide_access() {
    let (_, _, cure) = SECOND.first("struct-fields", "THREE FLOATS");
    assert!(
        cure.contains("pad `float3` to 16 bytes and write it as a whole") && !cure.contains("4 bytes at a time"),
        "{cure}"
    );
}

#[test]
fn shapes_that_would_cover_other_elements_are_not_compared() {
    let found = THIRD.about("strided-access", "SWAPPED");
    let [finding] = found[..] else { panic!("{found:#?}") };
    // Loaded together with the height, as the members lie side by side.
    let reason = finding["reason"].as_str().expect("a reason");
    let told = ["input", "output"].iter().any(|image| reason.contains(&format!("multiplied by `{image}.width`")));
    assert!(told, "{reason}");
    let findings = THIRD.document()["findings"].as_array().expect("findings");
    let shapes: Vec<_> = findings.iter().filter(|finding| finding["id"] == "block-shape").collect();
    assert!(shapes.is_empty(), "{shapes:#?}");
}

#[test]
fn records_are_no_rows() {
    let (_, _, cure) = THIRD.first("strided-access", "RECORDS");
    assert!(cure.contains("a field of a record of 32 bytes") && !cure.contains("transposed"), "{cure}");
}

#[test]
fn an_index_of_the_grid_runs_along_what_lies_side_by_side() {
    let (_, _, cure) = FOURTH.first("strided-access", "PLANES");
    assert!(cure.contains("exchange threadIdx.x and blockIdx.z") && !cure.contains("transposed"), "{cure}");
}

#[test]
fn block_wide_loads_and_stores_have_other_algorithms() {
    let (_, _, cure) = FOURTH.first("strided-access", "BLOCK LOAD");
    assert!(cure.contains("BLOCK_LOAD_WARP_TRANSPOSE"), "{cure}");
    let (_, _, cure) = FOURTH.first("strided-access", "BLOCK STORE");
    assert!(cure.contains("BLOCK_STORE_WARP_TRANSPOSE"), "{cure}");
}

#[test]
fn what_a_kernel_takes_of_a_structure_elsewhere_is_used() {
    let (_, reason, cure) = FIFTH.first("struct-fields", "ONE MEMBER FIRST");
    assert!(
        reason.contains("uses all of its 16 bytes") && cure.starts_with("read `float4` as a whole"),
        "{reason} {cure}"
    );
}

#[test]
fn memory_of_a_library_has_its_layout() {
    let all = SIXTH_LIBRARY.document()["findings"].as_array().expect("findings");
    assert!(all.iter().all(|finding| finding["id"] != "struct-fields"), "{all:#?}");
}

#[test]
fn a_border_does_not_decide_over_the_layout() {
    let (finding, reason, cure) = SIXTH.first("strided-access", "BORDER");
    assert!(cure.starts_with("other kernels go through `to` along its rows") && !cure.contains("transposed"), "{cure}");
    // One thing to change, on two lines.
    assert_eq!(finding["lines"].as_array().map(Vec::len), Some(1), "{finding:#}");
    assert!(reason.contains("; the same on line "), "{reason}");
    assert!(SIXTH.all("strided-access", "OTHER BORDER").is_empty());
}

#[test]
fn eight_short_numbers_are_one_access() {
    let (_, _, cure) = SIXTH.first("strided-access", "CODES");
    assert!(cure.starts_with("let a thread read its 8 neighbouring elements with one wide access"), "{cure}");
}

#[test]
fn one_or_another_of_two_arrays_has_no_name() {
    let (finding, reason, _) = SEVENTH.first("strided-access", "CHOICE");
    assert!(finding["object"].is_null() && !reason.contains("`early`"), "{finding:#}");
}

#[test]
fn the_begin_of_a_row_that_the_kernel_goes_along_is_no_border() {
    // One finding with the loop's, which stands at the line that matters more.
    let (finding, _, cure) = SEVENTH_ROWS.first("strided-access", "ALONG");
    assert!(!cure.starts_with("other kernels go through"), "{cure}");
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
    assert!(
        reason.ends_with("; the index comes from \"int row = blockIdx.x * blockDim.x + threadIdx.x\" at eighth.cu:43"),
        "{reason}"
    );
    assert_eq!(finding["evidence"]["index_line"], 43.0, "{finding:#}");
}

#[test]
fn records_that_are_taken_whole_are_not_split_into_fields() {
    let (_, _, cure) = NINTH.first("strided-access", "KEY");
    assert!(cure.starts_with("each thread takes all of a record of 10 bytes"), "{cure}");
}

#[test]
fn few_items_of_a_thread_are_no_row() {
    let (_, _, cure) = NINTH.first("strided-access", "ITEMS");
    assert!(cure.contains("i * blockDim.x + threadIdx.x") && !cure.contains("a warp per row"), "{cure}");
}

#[test]
fn stores_that_sides_have_in_common_stand_on_one_of_them() {
    assert!(!NINTH.about("strided-access", "BOTH SIDES").is_empty());
}

#[test]
fn sums_that_stay_in_memory_are_no_transposition() {
    let (_, _, cure) = ELEVENTH.first("strided-access", "ADDED UP");
    assert!(cure.contains("a warp per row") && !cure.contains("transposition"), "{cure}");
    let (_, _, cure) = ELEVENTH.first("strided-access", "COLUMNS");
    assert!(cure.contains("this is a transposition"), "{cure}");
}

#[test]
fn a_first_element_belongs_to_the_part_that_follows() {
    let (_, _, cure) = ELEVENTH.first("strided-access", "OTHER WORDS");
    assert!(cure.contains("let threadIdx.x count the elements that lie side by side"), "{cure}");
    for finding in ELEVENTH.all("strided-access", "FIRST WORD") {
        assert_eq!(finding["cure"].as_str(), Some(cure), "{finding:#}");
    }
}

#[test]
fn columns_of_what_others_go_along_keep_its_layout() {
    let (_, _, cure) = ELEVENTH.first("strided-access", "COLUMN");
    assert!(cure.starts_with("other kernels go through `table` along its rows"), "{cure}");
}

#[test]
fn words_that_a_loop_goes_through_are_no_channels() {
    let (_, _, cure) = ELEVENTH.first("strided-access", "EIGHT WORDS");
    assert!(cure.contains("i * blockDim.x + threadIdx.x") && cure.contains("wide accesses"), "{cure}");
}

#[test]
fn gains_of_short_launches_are_told_with_their_start() {
    let (finding, ..) = TWELFTH.first("strided-access", "SHORT");
    let said = assumption(finding);
    assert!(said.contains(" x with 3 us more for each launch"), "{said}");
}

#[test]
fn threads_that_load_a_halo_are_no_neighbours() {
    assert!(TUNED.all("strided-access", "HALO").is_empty());
}

#[test]
fn operands_of_a_macro_are_told_apart() {
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
        assert!(cure(&finding).starts_with("other kernels go through `picture` along its rows"), "{finding:#}");
    }
    assert!(!THIRTEENTH.all("strided-access", "BORDER COLUMN").is_empty());
}

#[test]
fn words_of_a_loops_step_are_no_planes() {
    let (_, _, cure) = THIRTEENTH.first("strided-access", "EIGHT WORDS");
    assert!(
        cure.starts_with("each thread goes through 32 bytes of its own") && cure.contains("wide accesses"),
        "{cure}"
    );
}

#[test]
fn members_as_wide_as_an_access_are_not_padded() {
    for finding in THIRTEENTH.all("struct-fields", "PAIRS") {
        let cure = cure(finding);
        assert!(cure.starts_with("no access is wider than these 16 bytes") && !cure.contains("pad"), "{cure}");
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
    assert!(found.iter().all(|finding| !cure(finding).contains("exchange threadIdx.x")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn one_element_of_each_thread_is_no_part_of_its_own() {
    let found = FIFTEENTH.alone("dilate", "strided-access", "STORED TRANSPOSED");
    let is_fit = |finding: &Value| cure(finding).contains("transposed") && !cure(finding).contains("of its own here");
    assert!(found.iter().all(is_fit), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn a_library_moves_structures_as_they_are_aligned() {
    let found = FIFTEENTH_LIBRARY.all("strided-access", "SORTED STRUCTURES");
    assert!(!found.is_empty() && found.iter().all(|finding| cure(finding).contains("alignas(8)")), "{found:#?}");
    // Its iterators are no structures that lie in memory.
    assert!(FIFTEENTH_LIBRARY.all("struct-fields", "SORTED STRUCTURES").is_empty());
    for finding in FIFTEENTH_LIBRARY.all("random-gather", "SORTED STRUCTURES") {
        assert!(cure(finding).starts_with("this is the code of `thrust::sort`"), "{finding:#}");
    }
}

#[test]
fn parts_that_begin_anywhere_have_no_wide_accesses() {
    let found = FIFTEENTH.alone("lists", "strided-access", "PAIRS OF A LIST");
    assert!(found.iter().all(|finding| cure(finding).contains("no wide access to them is aligned")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn a_permutation_cannot_be_stored_otherwise() {
    let (_, _, cure) = SEVENTEENTH.first("strided-access", "PERMUTED");
    assert!(cure.contains("read a tile into shared memory") && !cure.contains("store `packed` transposed"), "{cure}");
}

#[test]
fn indices_are_exchanged_for_all_fields_at_once() {
    let (finding, reason, cure) = EXCHANGED_FIELDS.only("strided-access", "CURL");
    assert!(cure.starts_with("exchange threadIdx.x and threadIdx.y"), "{cure}");
    for field in ["h.values", "ex.values", "ey.values"] {
        assert!(reason.contains(&format!("`{field}`")), "{reason}");
    }
    assert!(finding["gain"]["factor"].as_f64() > Some(1.8), "{finding:#}");
}

#[test]
fn bytes_that_are_taken_one_by_one_are_no_gaps() {
    let (_, _, cure) = BYTES_OF_WORDS.first("strided-access", "BYTE BY BYTE");
    assert!(cure.starts_with("let a thread read its 16 neighbouring elements with one wide access"), "{cure}");
}
