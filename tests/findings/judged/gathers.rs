//! Indices that come out of memory.

use super::program::{cause, remedy};
use super::programs::{
    EIGHTH, EIGHTH_MORE, ELEVENTH, FIFTEENTH, FIFTH, FOURTEENTH, FOURTEENTH_LIBRARY, NINTH, SEVENTH, THIRTEENTH,
    TWELFTH,
};

#[test]
fn arrays_of_textures_have_an_order_of_their_own() {
    assert!(FIFTH.all("random-gather", "TEXTURE").is_empty());
}

#[test]
fn rows_that_data_chooses_are_shared_by_a_warp() {
    let (finding, ..) = SEVENTH.first("random-gather", "ROWS");
    assert_eq!((cause(finding), remedy(finding)), ("row-per-thread", "share-row-among-lanes"), "{finding:#}");
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
    let expected = [
        ("OWN ROWS", "private-region"),
        ("PARTED", "private-region"),
        ("SCATTERED", "indexed-gather"),
        ("TABLE", "small-table"),
    ];
    for (words, expected) in expected {
        let (finding, ..) = EIGHTH_MORE.first("random-gather", words);
        assert_eq!(cause(finding), expected, "{words}: {finding:#}");
    }
}

#[test]
fn what_sorts_is_not_advised_to_sort_first() {
    let (finding, ..) = NINTH.first("random-gather", "SORTED");
    assert_eq!((cause(finding), remedy(finding)), ("indexed-scatter", "sort-within-block"), "{finding:#}");
}

#[test]
fn parts_that_threads_fill_and_read_are_interleaved() {
    let (finding, ..) = NINTH.first("random-gather", "STACK");
    assert_eq!((cause(finding), remedy(finding)), ("private-region", "interleave-regions"), "{finding:#}");
    let (finding, ..) = NINTH.first("random-gather", "ALONG");
    assert_eq!(cause(finding), "row-per-thread", "{finding:#}");
}

#[test]
fn lanes_that_choose_between_two_arrays_gather_nothing() {
    assert!(ELEVENTH.all("random-gather", "TWO ARRAYS").is_empty());
}

#[test]
fn lists_of_records_are_shared_by_lanes() {
    let (finding, ..) = ELEVENTH.first("random-gather", "TICKS");
    assert_eq!(cause(finding), "row-per-thread", "{finding:#}");
}

#[test]
fn layouts_of_trees_may_bring_nothing() {
    let walks = [TWELFTH.all("random-gather", "WALKED"), TWELFTH.all("random-gather", "ON ITS WAY")].concat();
    assert!(walks.iter().any(|one| !one["gain"].is_null()), "{:#}", TWELFTH.document()["findings"]);
    assert!(walks.iter().all(|one| cause(one) == "data-dependent-walk"), "{walks:#?}");
}

#[test]
fn lists_that_data_ends_are_lists() {
    let (finding, ..) = TWELFTH.first("random-gather", "LATER STORE");
    assert_eq!(cause(finding), "row-per-thread", "{finding:#}");
}

#[test]
fn neighbours_of_nodes_are_no_part_of_a_thread() {
    let (finding, ..) = TWELFTH.first("random-gather", "HEAD");
    assert_ne!(cause(finding), "private-region", "{finding:#}");
}

#[test]
fn small_tables_that_a_checksum_walks_go_into_shared_memory() {
    let (finding, ..) = THIRTEENTH.first("random-gather", "CHECKSUM");
    assert_eq!(cause(finding), "small-table", "{finding:#}");
}

#[test]
fn lists_behind_a_prologue_of_unrolling_are_lists() {
    let found = THIRTEENTH.alone("sparse", "random-gather", "ROW OF A LIST");
    let of =
        |name: &str| found.iter().filter(|finding| finding["object"] == name).map(cause).next().unwrap_or_default();
    let lists: Vec<&str> = ["columns", "values"].into_iter().filter(|name| !of(name).is_empty()).collect();
    let [name] = lists[..] else { panic!("one cause: {found:#?}") };
    assert_eq!((of(name), of("x")), ("row-per-thread", "indexed-gather"), "{found:#?}");
}

#[test]
fn slots_of_a_hash_table_are_no_ones_part() {
    let found = THIRTEENTH.alone("slots", "random-gather", "FOUND");
    assert!(found.iter().all(|finding| cause(finding) == "searched-slot"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
    let found = THIRTEENTH.alone("slots", "random-gather", "SLOT");
    assert!(found.iter().all(|finding| cause(finding) != "private-region"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn who_swaps_a_key_in_does_not_get_its_slot_from_the_operation() {
    let found = THIRTEENTH.alone("numbers", "random-gather", "NUMBERED");
    assert!(found.iter().all(|finding| cause(finding) == "searched-slot"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn fetches_through_textures_have_cures_of_their_own() {
    let found = FOURTEENTH.alone("bounds", "random-gather", "TABLE OF A TEXTURE");
    assert!(found.iter().all(|finding| cause(finding) == "small-table"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
    let found = FOURTEENTH.alone("lists", "random-gather", "LISTS OF A TEXTURE");
    assert!(found.iter().all(|finding| cause(finding) == "scattered-texels"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn what_follows_a_loaded_begin_is_a_part_and_no_choice() {
    let found = FOURTEENTH.alone("parts", "random-gather", "OWN PART");
    assert!(found.iter().all(|finding| cause(finding) == "private-region"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn images_that_are_sampled_have_no_indices_to_sort() {
    let found = FOURTEENTH.alone("sampled", "random-gather", "SAMPLED");
    assert!(found.iter().all(|finding| remedy(finding) == "sample-through-texture"), "{found:#?}");
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
fn numbers_that_count_through_dimensions_have_an_unknown_index() {
    let found = FIFTEENTH.alone("layers", "random-gather", "LAYERS FIRST");
    assert!(found.iter().all(|finding| cause(finding) == "unknown-index"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}
