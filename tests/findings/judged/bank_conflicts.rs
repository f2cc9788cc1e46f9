//! Bank conflicts in shared memory.

use super::program::{Judged, cause, remedy};
use super::programs::{
    FIFTEENTH, FIFTH, FIRST, FOURTEENTH, FOURTH, NINTH, SECOND, SEVENTH, SIXTH, THIRD, THIRTEENTH, TUNED, TWELFTH,
};
use serde_json::Value;

fn first(program: &'static Judged, words: &str) -> &'static Value {
    program.first("bank-conflict", words).0
}

fn named(finding: &Value) -> (&str, &str) {
    (cause(finding), remedy(finding))
}

/// The padding was applied, and the worst request counted again: elements, those behind which they are, and passes
/// before and then.
fn padded(finding: &Value) -> [u64; 4] {
    assert_eq!(finding["verified"], true, "{finding:#}");
    let evidence =
        |name: &str| finding["evidence"][name].as_f64().unwrap_or_else(|| panic!("{name}: {finding:#}")) as u64;
    ["padding_elements", "padding_period", "worst_passes", "padded_passes"].map(evidence)
}

#[test]
fn a_distance_between_lanes_is_padded_as_a_row() {
    let finding = first(&FIRST, "DIAGONAL");
    assert_eq!((named(finding), padded(finding)[..2].to_vec()), (("strided-words", "pad-rows"), vec![1, 16]));
}

#[test]
fn banks_that_the_thread_decides_do_not_depend_on_data() {
    let finding = first(&FIRST, "HALVES");
    assert_eq!(named(finding), ("computed-index", "inspect-index"));
}

#[test]
fn rows_of_a_threads_own_are_interleaved() {
    assert_eq!(named(first(&SECOND, "OWN BINS")), ("row-per-thread", "interleave-rows"));
}

#[test]
fn joined_words_are_padded() {
    let finding = first(&THIRD, "JOINED WORDS");
    // An element of 16 bytes behind 128 bytes.
    assert_eq!((named(finding), padded(finding)[..2].to_vec()), (("strided-words", "pad-rows"), vec![1, 8]));
}

#[test]
fn members_around_a_ring_are_kept_in_arrays() {
    assert_eq!(named(first(&THIRD, "RING")), ("array-of-structures", "array-per-member"));
}

#[test]
fn a_structure_with_an_array_is_no_array_of_structures() {
    let finding = first(&FOURTH, "TILE OF A STRUCTURE");
    assert_eq!((named(finding), padded(finding)[0]), (("strided-words", "pad-rows"), 1));
}

#[test]
fn chance_meetings_that_cost_no_time_are_left_out() {
    assert!(FOURTH.all("bank-conflict", "TABLE").is_empty());
}

#[test]
fn steps_of_a_tree_get_padding_behind_all_banks() {
    let finding = first(&FIFTH, "TREE");
    assert_eq!((named(finding), padded(finding)[..2].to_vec()), (("changing-stride", "pad-periodically"), vec![1, 32]));
}

#[test]
fn structures_of_every_second_lane_are_structures() {
    assert_ne!(cause(first(&FIFTH, "EVERY SECOND")), "changing-stride");
}

#[test]
fn rows_as_long_as_the_caller_says_are_padded() {
    let finding = first(&SIXTH, "COUNTERS");
    assert_eq!((named(finding), padded(finding)[..2].to_vec()), (("strided-words", "pad-rows"), vec![1, 32]));
}

#[test]
fn a_step_over_several_rows_is_no_row() {
    for finding in SIXTH.all("bank-conflict", "COLOUR") {
        assert_ne!(finding["evidence"]["padding_period"], 32.0, "{finding:#}");
    }
}

#[test]
fn slots_of_ranks_are_no_table_to_copy() {
    assert_eq!(named(first(&SIXTH, "RANKS")), ("data-dependent-index", "inspect-index"));
}

#[test]
fn rows_of_an_array_are_padded_once_for_all_accesses() {
    let all = SEVENTH.all("bank-conflict", "CUBE");
    assert_eq!(all.len(), 1, "{all:#?}");
    assert!(all[0]["lines"].as_array().is_some_and(|lines| lines.len() >= 2), "{:#}", all[0]);
    assert_eq!(
        (named(all[0]), padded(all[0])[..2].to_vec()),
        (("rows-of-the-block", "pad-rows-of-the-block"), vec![8, 16])
    );
}

#[test]
fn pairs_of_a_thread_are_no_rows() {
    let finding = first(&NINTH, "BOTH SIDES");
    assert_eq!((named(finding), padded(finding)[1]), (("strided-words", "pad-rows"), 2));
}

#[test]
fn members_of_a_padded_vector_are_accessed_at_once() {
    assert_eq!(named(first(&TWELFTH, "HALVES OF WORDS")), ("array-of-structures", "array-per-member"));
}

#[test]
fn steps_of_an_unrolled_sort_have_no_rows_to_pad() {
    let all = TUNED.all("bank-conflict", "SORT");
    assert!(!all.is_empty());
    for finding in all {
        assert!(!["pad-rows", "exchange-indices"].contains(&remedy(finding)), "{finding:#}");
    }
}

#[test]
fn steps_that_double_are_no_pairs_of_a_thread() {
    assert_eq!(cause(first(&THIRTEENTH, "STEPS DOUBLE")), "changing-stride");
}

#[test]
fn rows_of_sixteen_threads_that_no_padding_helps_are_left_out() {
    assert!(THIRTEENTH.alone("turn", "bank-conflict", "ROWS OF SIXTEEN").is_empty());
}

#[test]
fn elements_of_an_array_in_a_structure_are_no_members() {
    let found = FOURTEENTH.alone("stripe", "bank-conflict", "FOUR ITEMS");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((cause(&found[0]), remedy(&found[0])), ("strided-words", "pad-periodically"), "{found:#?}");
}

#[test]
fn brightness_is_not_the_threads_number() {
    // The atomic finding of this line has the remedy of both.
    assert!(FIFTEENTH.alone("blocks", "bank-conflict", "BINS OF A BLOCK").is_empty());
}

#[test]
fn fewer_active_lanes_are_no_other_distance() {
    let found = FIFTEENTH.alone("entries", "bank-conflict", "ENTRIES OF ROWS");
    assert!(!found.is_empty() && found.iter().all(|finding| remedy(finding) == "exchange-indices"), "{found:#?}");
}
