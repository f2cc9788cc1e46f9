//! Bank conflicts in shared memory.

use super::program::cure;
use super::programs::{
    FIFTEENTH, FIFTH, FIRST, FOURTEENTH, FOURTH, NINTH, SECOND, SEVENTH, SIXTH, THIRD, THIRTEENTH, TUNED, TWELFTH,
};
use serde_json::Value;

#[test]
fn a_distance_between_lanes_is_not_taken_for_a_row() {
    let (_, _, cure) = FIRST.only("bank-conflict", "DIAGONAL");
    assert!(cure.contains("neighbouring lanes are 17 instead of 16 elements apart"), "{cure}");
}

#[test]
fn banks_that_the_thread_decides_do_not_depend_on_data() {
    let (_, _, cure) = FIRST.only("bank-conflict", "HALVES");
    assert!(cure.contains("of padding behind every 32") && cure.contains("1 instead of 2 passes"), "{cure}");
}

#[test]
fn rows_of_a_threads_own_are_turned_round() {
    let (_, _, cure) = SECOND.first("bank-conflict", "OWN BINS");
    assert!(cure.contains("exchange the indices") && cure.contains("[threadIdx.x]"), "{cure}");
}

#[test]
fn joined_words_are_padded_in_bytes() {
    let (_, _, cure) = THIRD.first("bank-conflict", "JOINED WORDS");
    assert!(cure.contains("144 bytes instead of 128 bytes apart") && cure.contains("padding enough"), "{cure}");
}

#[test]
fn members_around_a_ring_are_kept_in_arrays() {
    let (_, _, cure) = THIRD.first("bank-conflict", "RING");
    assert!(cure.starts_with("keep an array of each member") && !cure.contains("changes"), "{cure}");
}

#[test]
fn a_structure_with_an_array_is_no_array_of_structures() {
    let (_, _, cure) = FOURTH.first("bank-conflict", "TILE OF A STRUCTURE");
    assert!(cure.starts_with("pad the rows of `staging` by 1 element"), "{cure}");
}

#[test]
fn chance_meetings_that_cost_no_time_are_left_out() {
    assert!(FOURTH.all("bank-conflict", "TABLE").is_empty());
}

#[test]
fn steps_of_a_tree_get_padding_behind_all_banks() {
    let (_, _, cure) = FIFTH.first("bank-conflict", "TREE");
    assert!(cure.contains("index i becomes i + i / 32") && cure.contains("counted again"), "{cure}");
    assert!(!cure.contains("17 instead of 16"), "{cure}");
}

#[test]
fn structures_of_every_second_lane_are_structures() {
    let (_, _, cure) = FIFTH.first("bank-conflict", "EVERY SECOND");
    assert!(!cure.contains("changes from request to request"), "{cure}");
}

#[test]
fn rows_as_long_as_the_caller_says_are_padded() {
    let (_, _, cure) = SIXTH.first("bank-conflict", "COUNTERS");
    assert!(cure.starts_with("pad the rows of `counts` by 1 element") && cure.contains("33 instead of 32"), "{cure}");
}

#[test]
fn a_step_over_several_rows_is_no_row() {
    for finding in SIXTH.all("bank-conflict", "COLOUR") {
        let cure = finding["cure"].as_str().expect("a cure");
        assert!(!cure.contains("instead of 32)"), "{cure}");
    }
}

#[test]
fn places_of_ranks_are_no_sums_to_copy() {
    let (_, _, cure) = SIXTH.first("bank-conflict", "RANKS");
    assert!(cure.starts_with("the data says where each lane stores") && !cure.contains("copy of the array"), "{cure}");
}

#[test]
fn rows_of_an_array_are_padded_once_for_all_accesses() {
    let all = SEVENTH.all("bank-conflict", "CUBE");
    assert_eq!(all.len(), 1, "{all:#?}");
    assert!(all[0]["lines"].as_array().is_some_and(|lines| lines.len() >= 2), "{:#}", all[0]);
    let cure = all[0]["cure"].as_str().expect("a cure");
    assert!(cure.contains("by 8 elements (24 instead of 16)"), "{cure}");
}

#[test]
fn pairs_of_a_thread_are_no_rows() {
    let (_, _, cure) = NINTH.first("bank-conflict", "BOTH SIDES");
    assert!(cure.contains("i and i + blockDim.x") && !cure.contains("rows"), "{cure}");
}

#[test]
fn words_of_padded_vectors_are_taken_at_once() {
    let (_, _, cure) = TWELFTH.first("bank-conflict", "HALVES OF WORDS");
    assert!(cure.starts_with("take 16 bytes of `staged` with one access"), "{cure}");
}

#[test]
fn steps_of_an_unrolled_sort_have_no_rows_to_pad() {
    let all = TUNED.all("bank-conflict", "SORT");
    assert!(!all.is_empty());
    for finding in all {
        let cure = finding["cure"].as_str().expect("a cure");
        assert!(!cure.contains("rows") && !cure.contains("exchange"), "{cure}");
    }
}

#[test]
fn steps_that_double_are_no_pairs_of_a_thread() {
    let (_, _, cure) = THIRTEENTH.first("bank-conflict", "STEPS DOUBLE");
    assert!(cure.starts_with("the distance between lanes in `row` changes from step to step"), "{cure}");
}

#[test]
fn rows_of_sixteen_threads_need_wider_blocks() {
    let found = THIRTEENTH.alone("turn", "bank-conflict", "ROWS OF SIXTEEN");
    assert!(found.iter().all(|finding| cure(finding).contains("give the block a width of 32 threads")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn elements_of_an_array_in_a_structure_are_no_members() {
    let found = FOURTEENTH.alone("stripe", "bank-conflict", "FOUR ITEMS");
    let is_fit = |finding: &serde_json::Value| {
        cure(finding).starts_with("neighbouring lanes take one of every 4 elements")
            && !cure(finding).contains("member")
    };
    assert!(found.iter().all(is_fit), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn brightness_is_not_the_threads_number() {
    // The atomic finding beside it has the cure of both.
    assert!(FIFTEENTH.alone("blocks", "bank-conflict", "BINS OF A BLOCK").is_empty());
}

#[test]
fn lanes_of_two_arrays_have_no_rows_to_pad() {
    let found = FIFTEENTH.alone("borders", "bank-conflict", "BORDER IN ANOTHER");
    assert!(found.iter().all(|finding| !cure(finding).contains("a width of 32")), "{found:#?}");
    assert!(found.iter().any(|finding| cure(finding).contains("take another array")), "{found:#?}");
}

#[test]
fn fewer_active_lanes_are_no_other_distance() {
    let found = FIFTEENTH.alone("entries", "bank-conflict", "ENTRIES OF ROWS");
    let is_fit = |finding: &Value| !cure(finding).contains("changes from") && cure(finding).contains("pad the rows");
    assert!(!found.is_empty() && found.iter().all(is_fit), "{found:#?}");
}
