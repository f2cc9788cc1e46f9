//! The cases of the nineteenth round, a run for each.

use super::program::{cause, remedy};
use super::programs::EIGHTEENTH;
use serde_json::Value;

/// The finding of a case, which is the only one of its id on these lines.
fn only(case: &str, id: &str, words: &str) -> Value {
    let found = EIGHTEENTH.alone(case, id, words);
    assert_eq!(found.len(), 1, "{case}: {found:#?}");
    found.into_iter().next().expect("a finding")
}

fn factor(finding: &Value) -> f64 {
    finding["gain"]["factor"].as_f64().unwrap_or_else(|| panic!("no gain: {finding:#}"))
}

fn lines(finding: &Value) -> usize {
    finding["lines"].as_array().map_or(0, Vec::len)
}

#[test]
fn halves_of_each_few_are_no_border() {
    let finding = only("halves", "divergent-branch", "FIRST HALF OF EACH");
    assert_eq!(cause(&finding), "threads-left-out", "{finding:#}");
}

#[test]
fn what_is_swapped_in_place_stays_there() {
    for words in ["SWAPPED HERE", "SWAPPED THERE"] {
        assert!(EIGHTEENTH.alone("halves", "partial-write", words).is_empty());
    }
}

#[test]
fn rows_of_a_small_matrix_are_rows() {
    let finding = only("rows", "random-gather", "ALONG A CHOSEN ROW");
    assert_eq!(cause(&finding), "row-per-thread", "{finding:#}");
}

#[test]
fn windows_that_slide_by_what_the_host_says_are_no_rows() {
    assert!(EIGHTEENTH.alone("windows", "misaligned-access", "SLIDES").is_empty());
}

#[test]
fn rows_behind_a_border_are_no_shares_of_blocks() {
    let finding = only("inner", "misaligned-access", "BEHIND A BORDER");
    assert_eq!((cause(&finding), remedy(&finding)), ("row-start", "pad-rows"), "{finding:#}");
}

#[test]
fn few_instructions_of_a_few_lanes_are_nothing_to_spread() {
    let finding = only("leaders", "divergent-branch", "ONE OF EIGHT");
    assert!(remedy(&finding) == "shorten-part" && finding["gain"].is_null(), "{finding:#}");
    assert_eq!(finding["severity"], "note", "{finding:#}");
}

#[test]
fn cases_by_the_threads_number_alternate() {
    let finding = only("cases", "divergent-branch", "FIRST CASE");
    assert_eq!((cause(&finding), remedy(&finding)), ("interleaved-threads", "renumber-threads"), "{finding:#}");
}

#[test]
fn streams_have_no_indices_to_sort() {
    let finding = only("streams", "random-gather", "ALONG A STREAM");
    assert_eq!(cause(&finding), "data-dependent-walk", "{finding:#}");
}

#[test]
fn blocks_that_are_columns_have_one_cure() {
    let finding = only("columns", "strided-access", "HELD WITHIN");
    assert!(remedy(&finding) == "reshape-blocks" && lines(&finding) == 1, "{finding:#}");
    assert!(EIGHTEENTH.alone("columns", "strided-access", "BY COLUMNS").is_empty());
}

#[test]
fn members_that_stay_what_they_were_are_not_stored() {
    assert!(EIGHTEENTH.alone("brighter", "struct-fields", "ALL BUT ONE").is_empty());
}

#[test]
fn arrays_of_constant_indices_are_handed_to_a_function() {
    let finding = only("integrated", "local-array", "HANDED ON");
    assert_eq!((cause(&finding), remedy(&finding)), ("passed-to-function", "inline-function"), "{finding:#}");
    // The finding of what the function calls `slopes` and `state`, too.
    assert_eq!(lines(&finding), 1, "{finding:#}");
}

#[test]
fn lanes_that_data_sets_apart_have_no_table() {
    let finding = only("unpacked", "bank-conflict", "LOADED DISTANCE");
    assert_eq!((cause(&finding), remedy(&finding)), ("data-dependent-index", "inspect-index"), "{finding:#}");
}

#[test]
fn tables_of_a_few_structures_need_no_other_layout() {
    assert!(EIGHTEENTH.alone("table", "struct-fields", "FEW STRUCTURES").is_empty());
}

#[test]
fn flags_that_stay_clear_are_requested_all_the_same() {
    assert!(EIGHTEENTH.alone("flag", "redundant-copy", "A FLAG").is_empty());
}

#[test]
fn small_copies_of_one_function_are_one_finding() {
    let finding = only("coefficients", "redundant-copy", "COEFFICIENTS");
    assert!(finding["remedy"] == "copy-once" && lines(&finding) > 0, "{finding:#}");
}

#[test]
fn sparse_requests_to_shared_memory_are_a_part_of_the_gain() {
    let finding = only("summed", "divergent-branch", "EVERY SECOND THREAD");
    assert!(factor(&finding) > 2.0 && finding["severity"] == "warning", "{finding:#}");
}

#[test]
fn members_of_an_array_are_broadcast_together() {
    let finding = only("lit", "uniform-load", "A LAMP");
    assert_eq!(remedy(&finding), "use-constant-memory", "{finding:#}");
}

#[test]
fn very_deep_updates_of_many_addresses_are_worth_a_word() {
    let finding = only("sorted", "atomic-contention", "ROWS IN ORDER");
    assert_eq!(remedy(&finding), "combine-or-sort", "{finding:#}");
    assert!(finding["severity"] == "warning" && finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn turns_of_launches_that_update_their_own_word_are_counted_for_it() {
    let finding = only("turns", "atomic-contention", "A WORD EACH");
    assert!(factor(&finding) > 2.0, "{finding:#}");
}
