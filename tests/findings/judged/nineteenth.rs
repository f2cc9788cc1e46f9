//! The cases of the twentieth round, a run for each.

use super::program::cure;
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

fn assumption(finding: &Value) -> &str {
    finding["gain"]["assumption"].as_str().unwrap_or_else(|| panic!("no gain: {finding:#}"))
}

fn lines(finding: &Value) -> usize {
    finding["lines"].as_array().map_or(0, Vec::len)
}

#[test]
fn elements_that_lanes_share_lie_anywhere() {
    let finding = only("shared", "random-gather", "ELEMENTS OF SEVERAL LANES");
    assert!(cure(&finding).starts_with("sort or group the indices"), "{finding:#}");
    assert!(NINETEENTH.alone("row", "random-gather", "ONE OF EACH ROW").is_empty());
}

#[test]
fn objects_whose_functions_are_inlined_have_running_indices() {
    let finding = only("largest", "local-array", "MOVED ON");
    assert!(cure(&finding).starts_with("choose the elements of `place_` and `value_` with constant"), "{finding:#}");
    assert!(!cure(&finding).contains("__forceinline__") && !reason(&finding).contains("volatile"), "{finding:#}");
}

#[test]
fn blocks_of_another_shape_share_what_comes_from_level_2() {
    let finding = only("columns", "repeated-load", "ALONG A COLUMN");
    assert!(
        cure(&finding).starts_with("launch blocks of ") && cure(&finding).contains("instead of 1024"),
        "{finding:#}"
    );
}

#[test]
fn what_both_kernels_load_is_a_part_of_the_gain() {
    let finding = only("fused", "cache-sweep", "BOTH LOAD");
    assert!(gain(&finding, "seconds") > 35e-6 && reason(&finding).contains("of what both load"), "{finding:#}");
}

#[test]
fn what_is_looked_up_is_no_list() {
    let finding = only("looked up", "random-gather", "LOOKED UP");
    assert!(!cure(&finding).contains("goes over a list"), "{finding:#}");
}

#[test]
fn what_passes_level_1_already_is_not_told_to() {
    assert!(NINETEENTH.alone("frames", "cache-thrash", "AGAIN FOR EACH FRAME").is_empty());
}

#[test]
fn arrays_with_one_offset_are_one_finding() {
    let finding = only("region", "misaligned-access", "A REGION");
    assert!(reason(&finding).contains("so do those to"), "{finding:#}");
}

#[test]
fn rows_that_are_made_of_rows_are_transposed() {
    let finding = NINETEENTH.alone("filtered", "strided-access", "ROW TO ROW");
    let [finding] = &finding[..] else { panic!("{finding:#?}") };
    assert!(cure(finding).contains("transposed (`[element][thread]`)"), "{finding:#}");
    assert!(!cure(finding).contains("added up") && lines(finding) > 0, "{finding:#}");
}

#[test]
fn members_that_level_2_would_hold_gain_more() {
    let finding = only("masses", "struct-fields", "A FEW MEMBERS");
    assert!(assumption(&finding).contains("; more where L2 keeps the 1.5 MiB"), "{finding:#}");
}

#[test]
fn two_small_copies_of_one_function_are_one_finding() {
    let finding = only("parts", "redundant-copy", "A PART");
    assert!(finding["remedy"] == "copy-once" && lines(&finding) > 0, "{finding:#}");
}

#[test]
fn rows_of_an_unrolled_loop_are_no_neighbours() {
    let found = NINETEENTH.alone("packets", "misaligned-access", "SEVERAL FRAMES");
    assert!(found.iter().any(|finding| cure(finding).contains("the length of a row")), "{found:#?}");
}

#[test]
fn lookups_of_one_statement_are_counted_together() {
    let finding = only("lookups", "constant-serialised", "FOUR LOOKUPS");
    assert!(gain(&finding, "factor") > 4.0 && reason(&finding).contains("65 536 requests"), "{finding:#}");
}

#[test]
fn loads_and_stores_of_one_statement_gain_together() {
    let finding = only("reflected", "strided-access", "IN PLACE");
    assert!(gain(&finding, "factor") > 2.5, "{finding:#}");
}

#[test]
fn groups_of_lanes_get_the_padding_of_their_rows() {
    let finding = only("transformed", "bank-conflict", "BLOCKS");
    assert!(cure(&finding).contains("counted again with that, the request takes 1 instead of 4"), "{finding:#}");
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
    assert!(!cure(&finding).contains("its way along a list"), "{finding:#}");
}

#[test]
fn places_in_parts_of_threads_are_transposed() {
    let found = NINETEENTH.alone("wandered", "random-gather", "A PLACE IN ITS PART");
    assert!(!found.is_empty(), "no finding");
    assert!(found.iter().all(|finding| cure(finding).contains("transposed (`[element][thread]`)")), "{found:#?}");
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
            .all(|finding| !cure(finding).contains("with an f"))
    );
}
