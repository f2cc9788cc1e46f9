//! Findings that experts called wrong when public programs were judged (`docs/design/findings.md`), each as a small case: what is
//! said of it now, and what must not be said again.

#[path = "support/judged.rs"]
mod judged;
mod support_programs;

use judged::Judged;
use serde_json::Value;

static PROGRAM: Judged = Judged::new("tests/judged/cures.cu", "findings-judged");

/// The one finding of this id there: with its reason and its cure.
fn only(id: &str, words: &str) -> (&'static Value, &'static str, &'static str) {
    assert_eq!(PROGRAM.all(id, words).len(), 1, "{words}: {:#}", PROGRAM.document()["findings"]);
    PROGRAM.first(id, words)
}

#[test]
fn atomics_on_several_addresses_are_not_each_the_whole_cost() {
    for words in ["ADD", "EXCHANGE", "MAX"] {
        let (finding, ..) = only("atomic-contention", words);
        // The two others are left, and take as long.
        assert!(finding["gain"].is_null(), "{words}: {finding:#}");
    }
}

#[test]
fn exchanges_are_not_reduced() {
    let (_, _, cure) = only("atomic-contention", "EXCHANGE");
    assert!(cure.contains("cannot be combined") && !cure.contains("reduce"), "{cure}");
    let (_, _, cure) = only("atomic-contention", "MAX");
    assert!(cure.contains("within the warp"), "{cure}");
}

#[test]
fn a_single_warp_is_not_spread_over_all_sms() {
    let (finding, ..) = only("small-launch", "ONE WARP");
    assert!(finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn constant_memory_is_advised_where_data_fits() {
    let (_, _, cure) = only("uniform-load", "SMALL");
    assert!(cure.contains("constant memory"), "{cure}");
    let (_, _, cure) = only("uniform-load", "LARGE");
    assert!(cure.starts_with("let the block load a tile") && !cure.contains("constant memory"), "{cure}");
}

#[test]
fn a_distance_between_lanes_is_not_taken_for_a_row() {
    let (_, _, cure) = only("bank-conflict", "DIAGONAL");
    assert!(cure.contains("neighbouring lanes are 17 instead of 16 elements apart"), "{cure}");
}

#[test]
fn banks_that_the_thread_decides_do_not_depend_on_data() {
    let (_, _, cure) = only("bank-conflict", "HALVES");
    assert!(cure.contains("computed from the thread's number"), "{cure}");
}

#[test]
fn a_thread_that_takes_one_element_has_no_row_to_share() {
    let (_, _, cure) = only("strided-access", "COLUMN");
    assert!(cure.contains("each thread takes one element") && !cure.contains("per row"), "{cure}");
}

#[test]
fn ways_to_one_allocation_are_one_finding() {
    let (finding, reason, _) = only("allocation-churn", "CHURN");
    assert_eq!(finding["evidence"]["allocations"], 50.0);
    assert!(reason.contains("allocated 50 times here"), "{reason}");
}

#[test]
fn copies_that_bring_nothing_are_not_to_be_gathered() {
    only("redundant-copy", "AGAIN");
    assert!(PROGRAM.all("small-copies", "AGAIN").is_empty());
    let (_, _, cure) = only("small-copies", "BACK");
    assert!(cure.starts_with("copy all that is read here at once"), "{cure}");
}
