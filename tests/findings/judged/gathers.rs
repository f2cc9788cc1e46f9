//! Indices that come out of memory.

use super::program::{assumption, cure};
use super::programs::{
    EIGHTH, EIGHTH_MORE, ELEVENTH, FIFTEENTH, FIFTH, FOURTEENTH, FOURTEENTH_LIBRARY, NINTH, SEVENTH, SIXTH_LOSS,
    THIRTEENTH, TWELFTH,
};

#[test]
fn arrays_of_textures_have_an_order_of_their_own() {
    assert!(FIFTH.all("random-gather", "TEXTURE").is_empty() && FIFTH.all("strided-access", "TEXTURE").is_empty());
}

#[test]
fn an_element_of_each_row_cannot_be_sorted() {
    let (_, _, cure) = SIXTH_LOSS.first("random-gather", "ROWS");
    assert!(cure.starts_with("each thread takes an element of a row of its own"), "{cure}");
}

#[test]
fn rows_that_data_chooses_are_shared_by_a_warp() {
    let (_, _, cure) = SEVENTH.first("random-gather", "ROWS");
    assert!(cure.starts_with("each thread goes along a row of `rows`") && cure.contains("a row per warp"), "{cure}");
}

#[test]
fn elements_of_own_columns_cannot_be_sorted() {
    let (_, _, cure) = SEVENTH.first("random-gather", "COLUMNS");
    assert!(cure.starts_with("each thread takes the element of its own column"), "{cure}");
}

#[test]
fn indices_that_are_held_within_an_array_are_neither_strides_nor_gathers() {
    for words in ["CLAMPED", "ROUND", "SCALED"] {
        for id in ["random-gather", "strided-access"] {
            assert!(EIGHTH.all(id, words).is_empty(), "{id}, {words}");
        }
    }
}

#[test]
fn gathers_have_the_cure_of_what_they_are() {
    let (_, _, cure) = EIGHTH_MORE.first("random-gather", "OWN ROWS");
    assert!(cure.contains("transposed (`[element][thread]`)"), "{cure}");
    let (_, _, cure) = EIGHTH_MORE.first("random-gather", "PARTED");
    assert!(cure.starts_with("each thread appends to a part of `low` of its own"), "{cure}");
    let (_, _, cure) = EIGHTH_MORE.first("random-gather", "SCATTERED");
    assert!(cure.starts_with("sort or group the indices"), "{cure}");
    let (_, _, cure) = EIGHTH_MORE.first("random-gather", "TABLE");
    assert!(cure.starts_with("`weights` is a small table"), "{cure}");
}

#[test]
fn what_sorts_is_not_told_to_sort_first() {
    let (_, _, cure) = NINTH.first("random-gather", "SORTED");
    assert!(cure.starts_with("where the indices put the data in order"), "{cure}");
}

#[test]
fn parts_that_threads_fill_and_read_are_interleaved() {
    let (_, _, cure) = NINTH.first("random-gather", "STACK");
    assert!(cure.contains("[element][thread]"), "{cure}");
    let (_, _, cure) = NINTH.first("random-gather", "ALONG");
    assert!(cure.contains("share one list"), "{cure}");
}

#[test]
fn lanes_that_choose_between_two_arrays_gather_nothing() {
    assert!(ELEVENTH.all("random-gather", "TWO ARRAYS").is_empty());
}

#[test]
fn lists_of_records_are_shared_by_lanes() {
    let (_, _, cure) = ELEVENTH.first("random-gather", "TICKS");
    assert!(cure.contains("share one list"), "{cure}");
}

#[test]
fn layouts_of_trees_may_bring_nothing() {
    let walks = [TWELFTH.all("random-gather", "WALKED"), TWELFTH.all("random-gather", "ON ITS WAY")].concat();
    let gains: Vec<&str> = walks.iter().filter(|one| !one["gain"].is_null()).map(|one| assumption(one)).collect();
    assert!(!gains.is_empty(), "{:#}", TWELFTH.document()["findings"]);
    assert!(gains.iter().all(|said| said.contains("another layout may bring nothing")), "{gains:?}");
}

#[test]
fn lists_that_data_ends_are_lists() {
    let (_, _, cure) = TWELFTH.first("random-gather", "LATER STORE");
    assert!(cure.contains("share one list"), "{cure}");
}

#[test]
fn neighbours_of_nodes_are_no_part_of_a_thread() {
    let (_, _, cure) = TWELFTH.first("random-gather", "HEAD");
    assert!(!cure.contains("has a part of"), "{cure}");
}

#[test]
fn small_tables_that_a_checksum_walks_go_into_shared_memory() {
    let (_, _, cure) = THIRTEENTH.first("random-gather", "CHECKSUM");
    assert!(cure.starts_with("`table` is a small table"), "{cure}");
}

#[test]
fn lists_behind_a_prologue_of_unrolling_are_lists() {
    let found = THIRTEENTH.alone("sparse", "random-gather", "ROW OF A LIST");
    let of = |name: &str| found.iter().filter(|finding| finding["object"] == name).map(cure).next().unwrap_or_default();
    let lists: Vec<&str> = ["columns", "values"].into_iter().filter(|name| !of(name).is_empty()).collect();
    let [name] = lists[..] else { panic!("one cause: {found:#?}") };
    assert!(of(name).starts_with(&format!("where each thread goes over a list of `{name}`")), "{found:#?}");
    assert!(of("x").starts_with("sort or group the indices"), "{found:#?}");
}

#[test]
fn slots_of_a_hash_table_are_nobodys_part() {
    let found = THIRTEENTH.alone("slots", "random-gather", "FOUND");
    assert!(found.iter().all(|finding| cure(finding).contains("where it looks for a slot")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
    let found = THIRTEENTH.alone("slots", "random-gather", "SLOT");
    assert!(found.iter().all(|finding| !cure(finding).contains("a part of `table` of its own")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn who_swaps_a_key_in_does_not_get_its_slot_from_the_operation() {
    let found = THIRTEENTH.alone("numbers", "random-gather", "NUMBERED");
    assert!(found.iter().all(|finding| cure(finding).contains("where it looks for a slot")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn fetches_through_textures_have_cures_of_their_own() {
    let found = FOURTEENTH.alone("bounds", "random-gather", "TABLE OF A TEXTURE");
    assert!(found.iter().all(|finding| cure(finding).starts_with("`memory` is a small table")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
    let found = FOURTEENTH.alone("lists", "random-gather", "LISTS OF A TEXTURE");
    assert!(found.iter().all(|finding| cure(finding).starts_with("the lanes fetch through a texture")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn what_follows_a_loaded_begin_is_a_part_and_no_choice() {
    let found = FOURTEENTH.alone("parts", "random-gather", "OWN PART");
    let is_fit = |finding: &serde_json::Value| {
        cure(finding).starts_with("each thread goes along a part of `merged`") && !cure(finding).contains("transposed")
    };
    assert!(found.iter().all(is_fit), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn images_that_are_sampled_have_no_indices_to_sort() {
    let found = FOURTEENTH.alone("sampled", "random-gather", "SAMPLED");
    assert!(found.iter().all(|finding| cure(finding).contains("fetch it through a texture")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn what_a_way_along_a_list_has_found_has_the_way_s_cure() {
    let found = FOURTEENTH.alone("found", "random-gather", "FOUND ON ITS WAY");
    assert!(found.iter().all(|finding| cure(finding).contains("what cures the way")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn what_a_library_shuffles_is_not_to_be_sorted() {
    assert!(FOURTEENTH_LIBRARY.all("random-gather", "SHUFFLED").is_empty());
}

#[test]
fn one_mesh_is_one_thing_to_reorder() {
    let profile = FIFTEENTH.profiled("mesh", &["mesh"]);
    let found = profile["findings"].as_array().expect("findings");
    let found: Vec<_> = found.iter().filter(|finding| finding["id"] == "random-gather").collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0]["lines"].as_array().map(Vec::len), Some(2), "{found:#?}");
    let reason = found[0]["reason"].as_str().expect("a reason");
    assert!(["densities", "energies", "momenta"].iter().all(|name| reason.contains(name)), "{reason}");
}

#[test]
fn numbers_that_count_through_dimensions_are_told_which_goes_first() {
    let found = FIFTEENTH.alone("layers", "random-gather", "LAYERS FIRST");
    let cure = |finding: &serde_json::Value| finding["cure"].as_str().map(str::to_owned).unwrap_or_default();
    assert!(found.iter().all(|finding| cure(finding).contains("the one that changes fastest")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}
