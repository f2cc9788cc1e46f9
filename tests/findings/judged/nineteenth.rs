//! The cases of the twentieth round, a run for each.

use super::program::{cause, remedy};
use super::programs::NINETEENTH;
use serde_json::Value;

/// The finding of a case, which is the only one of its id on these lines.
fn only(case: &str, id: &str, words: &str) -> Value {
    let found = NINETEENTH.alone(case, id, words);
    assert_eq!(found.len(), 1, "{case}: {found:#?}");
    found.into_iter().next().expect("a finding")
}

fn reason(finding: &Value) -> &str {
    finding["reason"].as_str().unwrap_or_else(|| panic!("no reason: {finding:#}"))
}

fn gain(finding: &Value, what: &str) -> f64 {
    finding["gain"][what].as_f64().unwrap_or_else(|| panic!("no gain: {finding:#}"))
}

fn lines(finding: &Value) -> usize {
    finding["lines"].as_array().map_or(0, Vec::len)
}

#[test]
fn elements_that_lanes_share_lie_anywhere() {
    let finding = only("shared", "random-gather", "ELEMENTS OF SEVERAL LANES");
    assert_eq!(cause(&finding), "indexed-gather", "{finding:#}");
    assert!(NINETEENTH.alone("row", "random-gather", "ONE OF EACH ROW").is_empty());
}

#[test]
fn objects_whose_functions_are_inlined_have_running_indices() {
    let finding = only("largest", "local-array", "MOVED ON");
    assert_eq!(cause(&finding), "run-time-index-of-member", "{finding:#}");
    assert_eq!(remedy(&finding), "constant-member-indices", "{finding:#}");
}

#[test]
fn blocks_that_load_the_same_are_distinguished() {
    let finding = only("columns", "repeated-load", "ALONG A COLUMN");
    assert_eq!((cause(&finding), remedy(&finding)), ("reloaded-by-each-block", "tile-in-shared-memory"), "{finding:#}");
}

#[test]
fn what_one_kernel_hands_to_the_next_is_found() {
    let finding = only("fused", "cache-sweep", "BOTH LOAD");
    assert_eq!(cause(&finding), "producer-consumer", "{finding:#}");
}

#[test]
fn what_is_looked_up_is_no_list() {
    let finding = only("looked up", "random-gather", "LOOKED UP");
    assert_ne!(cause(&finding), "row-per-thread", "{finding:#}");
}

#[test]
fn what_passes_level_1_already_is_not_advised_to() {
    assert!(NINETEENTH.alone("frames", "cache-thrash", "AGAIN FOR EACH FRAME").is_empty());
}

#[test]
fn arrays_with_one_offset_are_one_finding() {
    let finding = only("region", "misaligned-access", "A REGION");
    assert!(reason(&finding).contains("The same applies to"), "{finding:#}");
}

#[test]
fn rows_that_are_made_of_rows_are_transposed() {
    let finding = NINETEENTH.alone("filtered", "strided-access", "ROW TO ROW");
    let [finding] = &finding[..] else { panic!("{finding:#?}") };
    assert!(cause(finding) == "row-per-thread" && lines(finding) > 0, "{finding:#}");
}

#[test]
fn members_of_a_large_array_are_kept_apart() {
    let finding = only("masses", "struct-fields", "A FEW MEMBERS");
    assert_eq!(remedy(&finding), "array-per-member", "{finding:#}");
}

#[test]
fn two_small_copies_of_one_function_are_one_finding() {
    let finding = only("parts", "redundant-copy", "A PART");
    assert!(finding["remedy"] == "copy-back-once" && lines(&finding) > 0, "{finding:#}");
}

#[test]
fn rows_of_an_unrolled_loop_are_no_neighbours() {
    let found = NINETEENTH.alone("packets", "misaligned-access", "SEVERAL FRAMES");
    assert!(found.iter().any(|finding| remedy(finding).starts_with("pad-rows")), "{found:#?}");
}

#[test]
fn lookups_of_one_statement_are_counted_together() {
    let finding = only("lookups", "constant-serialised", "FOUR LOOKUPS");
    assert!(gain(&finding, "factor") > 4.0 && finding["evidence"]["requests"] == 65536.0, "{finding:#}");
}

#[test]
fn loads_and_stores_of_one_statement_gain_together() {
    let finding = only("reflected", "strided-access", "IN PLACE");
    assert!(gain(&finding, "factor") > 2.5, "{finding:#}");
}

#[test]
fn groups_of_lanes_have_a_computed_index() {
    let finding = only("transformed", "bank-conflict", "BLOCKS");
    assert_eq!((cause(&finding), remedy(&finding)), ("computed-index", "inspect-index"), "{finding:#}");
}

#[test]
fn what_is_found_in_cleared_memory_can_be_a_list() {
    let finding = only("peaks", "partial-write", "WHERE IT WAS");
    assert!(finding["severity"] == "warning" && gain(&finding, "factor") > 1.2, "{finding:#}");
}

#[test]
fn launches_of_a_few_bytes_each_could_be_one() {
    let finding = only("moments", "launch-overhead", "A BODY EACH");
    assert_eq!(finding["severity"], "warning", "{finding:#}");
}

#[test]
fn what_a_code_chooses_is_no_end_of_a_way() {
    let finding = only("decoded", "random-gather", "A CODE");
    assert_eq!(cause(&finding), "indexed-gather", "{finding:#}");
}

#[test]
fn places_in_parts_of_threads_are_transposed() {
    let found = NINETEENTH.alone("wandered", "random-gather", "A PLACE IN ITS PART");
    assert!(!found.is_empty(), "no finding");
    assert!(found.iter().all(|finding| cause(finding) == "private-region"), "{found:#?}");
}

#[test]
fn sorted_indices_are_in_order() {
    assert!(NINETEENTH.alone("picked", "random-gather", "IN ORDER").is_empty());
}

#[test]
fn keys_that_are_made_with_doubles_need_them() {
    assert!(
        NINETEENTH
            .alone("keys", "double-precision", "A GENERATOR")
            .iter()
            .all(|finding| remedy(finding) != "float-literals-and-functions")
    );
}
