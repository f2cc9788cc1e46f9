//! Atomic operations that meet.

use super::program::{assumption, cure};
use super::programs::{ELEVENTH, FIFTEENTH, FIFTH, FIRST, SEVENTEENTH, SEVENTH, THIRD, THIRTEENTH, TUNED, TWELFTH};
use serde_json::Value;

#[test]
fn atomics_on_several_addresses_gain_together_alone() {
    for words in ["ADD", "EXCHANGE", "MAX"] {
        // Those with one cure are one finding.
        let found = FIRST.about("atomic-contention", words);
        let [finding] = found[..] else { panic!("{words}: {found:#?}") };
        // The two others are left, and take as long.
        assert!(assumption(finding).contains("none of them brings anything alone"), "{words}: {finding:#}");
    }
}

#[test]
fn exchanges_are_not_reduced() {
    let (_, _, of_exchange) = FIRST.only("atomic-contention", "EXCHANGE");
    assert!(of_exchange.starts_with("nobody uses what it returns") && !of_exchange.contains("reduce"), "{of_exchange}");
    let found = FIRST.about("atomic-contention", "MAX");
    assert!(found.len() == 1 && cure(found[0]).contains("within the warp"), "{found:#?}");
}

#[test]
fn places_in_a_queue_are_taken_for_a_warp() {
    let (_, _, cure) = THIRD.first("atomic-contention", "QUEUE");
    assert!(cure.contains("__popc(m)") && cure.contains("below it"), "{cure}");
    let (_, _, cure) = THIRD.first("atomic-contention", "HOT WORD");
    assert!(cure.contains("shuffles") && cure.contains("for integers"), "{cure}");
}

#[test]
fn attempts_are_neither_exchanges_nor_loops_of_work() {
    let (_, _, cure) = THIRD.first("atomic-contention", "ATTEMPTS");
    assert!(cure.contains("try again") && !cure.contains("cannot be combined"), "{cure}");
    assert!(THIRD.all("divergent-branch", "ATTEMPTS").is_empty());
    assert!(THIRD.all("uniform-load", "READ ONCE").is_empty());
}

#[test]
fn places_are_given_back_by_subtracting() {
    let (_, _, cure) = FIFTH.first("atomic-contention", "POP");
    assert!(cure.contains("subtract __popc(m)"), "{cure}");
}

#[test]
fn tickets_are_no_sums() {
    for finding in SEVENTH.all("atomic-contention", "TICKET") {
        let cure = finding["cure"].as_str().expect("a cure");
        assert!(cure.contains("let it take more at a time") && !cure.contains("combine"), "{cure}");
    }
    assert!(!SEVENTH.all("atomic-contention", "TICKET").is_empty());
}

#[test]
fn copies_of_an_array_are_combined_and_not_only_added() {
    let (_, _, cure) = ELEVENTH.first("atomic-contention", "BITS");
    assert!(cure.contains("combine these at the end") && cure.contains("and its kin"), "{cure}");
}

#[test]
fn what_each_thread_adds_once_needs_no_copy() {
    let (_, _, cure) = TWELFTH.first("atomic-contention", "ONCE");
    assert!(cure.starts_with("each thread does this once"), "{cure}");
}

#[test]
fn a_copy_per_warp_does_not_part_the_lanes_of_a_warp() {
    let (_, _, cure) = TUNED.first("atomic-contention", "CLUSTERS");
    assert!(cure.contains("neighbouring lanes take different ones") && !cure.contains("per warp"), "{cure}");
}

#[test]
fn flags_need_no_exchange() {
    let (_, _, cure) = THIRTEENTH.first("atomic-contention", "FLAG");
    assert!(cure.starts_with("nobody uses what it returns") && !cure.contains("cannot be combined"), "{cure}");
}

#[test]
fn gains_are_told_for_merged_operations_too() {
    let (finding, ..) = THIRTEENTH.first("atomic-contention", "COLLIDES");
    let said = assumption(finding);
    assert!(said.contains("; 4.0 x where the GPU merges those of a warp anyway"), "{said}");
}

#[test]
fn copies_of_an_array_save_all_its_updates() {
    let found = FIFTEENTH.alone("bins", "atomic-contention", "BINS OF ALL");
    let gain = |finding: &Value| finding["gain"]["factor"].as_f64().unwrap_or(0.0);
    assert!(found.iter().all(|finding| cure(finding).starts_with("privatise") && gain(finding) > 2.0), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn arrays_larger_than_shared_memory_have_no_copies_there() {
    let found = FIFTEENTH.alone("large", "atomic-contention", "TOO LARGE TO COPY");
    assert!(found.iter().all(|finding| !cure(finding).starts_with("privatise")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn places_in_several_lists_are_not_only_counted() {
    let found = FIFTEENTH.alone("kinds", "atomic-contention", "PLACES IN LISTS");
    assert!(found.iter().all(|finding| cure(finding).starts_with("what it returns is used")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn places_are_not_taken_in_copies_of_an_array() {
    let found = FIFTEENTH.alone("places", "atomic-contention", "PLACES OF A BLOCK");
    let is_fit =
        |finding: &Value| cure(finding).contains("__match_any_sync") && !cure(finding).contains("keep several");
    assert!(found.iter().all(is_fit), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn attempts_that_nobody_repeats_are_no_loops() {
    let (_, _, cure) = SEVENTEENTH.first("atomic-contention", "NOT REPEATED");
    assert!(cure.starts_with("nobody uses what it returns") && !cure.contains("until each of them"), "{cure}");
}
